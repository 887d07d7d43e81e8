"""Commands of this machine and of the server's own user, answered from what it has in memory: see
``standfast.interfaces.nearby``, where they come from."""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import secrets
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from standfast.interfaces.nearby import (
    LINE_BYTES_MAX,
    NONCE_LETTERS,
    SECONDS_MAX,
    VERBS,
    Line,
    proof_of,
    socket_of,
)
from standfast.interfaces.render import as_json
from standfast.memory import AsyncMemory

_CREDENTIALS = struct.Struct("3i")  # of who asks: process, user, group


@asynccontextmanager
async def answering(
    memory: AsyncMemory, file: Path | None, told: Line, key: bytes | None = None
) -> AsyncIterator[None]:
    """For as long as a server runs. ``told``: what a command must have been told as well, or it
    would get another answer from the store itself. ``key``: of the store, if it is encrypted."""
    place = None if file is None else socket_of(file)
    desk = None if place is None else await _opened(place, _Desk(memory, told, key))
    try:
        yield
    finally:
        if desk is not None and place is not None:
            desk.close()
            with suppress(OSError):
                place.unlink()


async def _opened(place: Path, desk: _Desk) -> asyncio.Server | None:
    """None if another server of the same store answers there, or if there is no room for it."""
    try:
        for folder in (place.parent.parent, place.parent):  # a mode is only for the last one made
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        place.parent.chmod(0o700)
        if place.exists() and not await _is_left_behind(place):
            return None
        place.unlink(missing_ok=True)
        return await asyncio.start_unix_server(desk.answer, place, limit=LINE_BYTES_MAX)
    except OSError:
        return None


async def _is_left_behind(place: Path) -> bool:
    """By a server that was killed."""
    try:
        _, writer = await asyncio.open_unix_connection(place)
    except OSError:
        return True
    writer.close()
    return False


class _Desk:
    def __init__(self, memory: AsyncMemory, told: Line, key: bytes | None) -> None:
        self._memory = memory
        self._told = told
        self._key = key

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One question. What it may not be asked, or cannot answer, it leaves to the command."""
        with suppress(OSError, ValueError, TimeoutError):
            if _is_own_user(writer.get_extra_info("socket")):
                async with asyncio.timeout(SECONDS_MAX):
                    await self._converse(reader, writer)
        writer.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonce = secrets.token_hex(NONCE_LETTERS // 2).encode()
        writer.write(nonce + b"\n")
        found = await self._found(nonce, (await reader.readline()).rstrip(b"\n"))
        writer.write(json.dumps(found).encode() + b"\n")
        await writer.drain()

    async def _found(self, nonce: bytes, line: bytes) -> Line:
        proof, _, asked = line.partition(b" ")
        if not hmac.compare_digest(proof, proof_of(self._key, nonce, asked)):
            return {}
        try:
            question = json.loads(asked)
            verb = question["verb"]
            if verb not in VERBS or question["told"] != self._told:
                return {}
            await self._check_file(question["file"])
            answer = await getattr(self._memory, verb)(**question["arguments"])
            await self._check_file(question["file"])  # it may have gone meanwhile
        except Exception:  # the command asks the store itself, and tells of it as it always does
            return {}
        return {"answer": as_json(answer)}

    async def _check_file(self, file: Any) -> None:
        """Unavailable if the command would open another one."""
        store: Any = self._memory.engine.store  # in a file, or nobody could ask
        await store.check_same_file(*file)


def _is_own_user(line: Any) -> bool:
    """Where the system says who asks; elsewhere the folder keeps others out."""
    asked_by = getattr(socket, "SO_PEERCRED", None)
    if asked_by is None:
        return True
    raw = line.getsockopt(socket.SOL_SOCKET, asked_by, _CREDENTIALS.size)
    return _CREDENTIALS.unpack(raw)[1] in (os.getuid(), 0)
