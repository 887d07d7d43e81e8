"""How the hooks of this machine find the server: a file of the user's own, with its address and a
key for one scope."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from standfast.access import keys
from standfast.errors import StandfastError
from standfast.interfaces.hooks.client import HookServer, runtime_folder, server_file
from standfast.memory import AsyncMemory

KEY_NAME = "hooks of this machine"
LOOK_SECONDS = 1.0


@asynccontextmanager
async def announced(memory: AsyncMemory, address: str, scope: str) -> AsyncIterator[None]:
    """For as long as a server runs, on a machine where somebody has installed hooks: elsewhere
    nothing is written and no key is made. Of several servers the first one counts: hooks that
    found one memory must not be led to another."""
    notice = _Notice(memory, address, scope)
    await notice.look()
    looking = asyncio.create_task(notice.keep_looking())
    try:
        yield
    finally:
        looking.cancel()
        with suppress(asyncio.CancelledError):
            await looking
        notice.end()


class _Notice:
    def __init__(self, memory: AsyncMemory, address: str, scope: str) -> None:
        self._memory = memory
        self._address = address
        self._scope = scope
        self._key = ""  # while this server is the one that is announced

    async def keep_looking(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            with suppress(StandfastError):
                await self.look()

    async def look(self) -> None:
        """Hooks may be installed and taken out while a server runs."""
        wanted = os.path.isdir(runtime_folder())
        if wanted and not self._key and HookServer.found() is None:
            self._key = await _key(self._memory, _read(), self._scope)
            if not _write({**self._told(), "address": self._address, "pid": os.getpid()}):
                self._key = ""
        elif self._key and not wanted:
            secret, self._key = self._key, ""
            key, _ = await keys.with_key(self._memory.engine, secret)
            await keys.revoke_key(self._memory.engine, key.id, actor="serve")

    def _told(self) -> dict[str, str]:
        return {"key": self._key, "scope": self._scope}

    def end(self) -> None:
        """The key stays in the file for the next start, so that starts do not pile up keys."""
        if self._key and _read().get("pid") == os.getpid():
            _write(self._told())


async def _key(memory: AsyncMemory, known: dict[str, Any], scope: str) -> str:
    """The one from before if it still does, else a new one. It passes on what people and agents
    say, and reaches no other scope."""
    with suppress(StandfastError):
        key, _ = await keys.with_key(memory.engine, str(known.get("key", "")))
        if key.scopes == (scope,):
            return str(known["key"])
    _, secret = await keys.create_key(
        memory.engine,
        name=KEY_NAME,
        scopes=[scope],
        rights=("read", "write"),
        holder="service",
        actor="serve",
    )
    return secret


def _read() -> dict[str, Any]:
    try:
        with open(server_file(), encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(told: dict[str, Any]) -> bool:
    """Readable by its owner only, from its first moment; False if there is no place for it."""
    file = server_file()
    fresh = f"{file}.{os.getpid()}"
    try:
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
            json.dump(told, out)
        os.replace(fresh, file)
    except OSError:
        return False
    return True
