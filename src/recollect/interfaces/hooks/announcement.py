"""How the hooks of this machine find the server: a file of the user's own, with its address and a
key for one scope."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from recollect.access import keys
from recollect.errors import RecollectError
from recollect.interfaces.hooks.client import HookServer, runtime_folder, server_file
from recollect.memory import AsyncMemory

KEY_NAME = "hooks of this machine"


@asynccontextmanager
async def announced(memory: AsyncMemory, address: str, scope: str) -> AsyncIterator[None]:
    """For as long as a server runs, unless another one is announced already: hooks that found
    one memory must not be led to another. The key stays in the file for the next start, so that
    starts do not pile up keys."""
    if HookServer.found() is not None:
        yield
        return
    known = _read()
    told = {"key": await _key(memory, known, scope), "scope": scope}
    written = _write({**told, "address": address, "pid": os.getpid()})
    try:
        yield
    finally:
        if written and _read().get("pid") == os.getpid():
            _write(told)


async def _key(memory: AsyncMemory, known: dict[str, Any], scope: str) -> str:
    """The one from before if it still does, else a new one. It passes on what people and agents
    say, and reaches no other scope."""
    with suppress(RecollectError):
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
    """Readable by its owner only, from its first moment. A machine without a place for it has no
    hooks to find it."""
    file = server_file()
    fresh = f"{file}.{os.getpid()}"
    try:
        os.makedirs(runtime_folder(), mode=0o700, exist_ok=True)
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
            json.dump(told, out)
        os.replace(fresh, file)
    except OSError:
        return False
    return True
