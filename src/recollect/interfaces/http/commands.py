"""Commands of this machine and of the server's own user, answered from what it has in memory: see
``recollect.interfaces.nearby``, where they come from."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from recollect.interfaces.nearby import (
    GREETING,
    LINE_BYTES_MAX,
    SECONDS_MAX,
    VERBS,
    Line,
    socket_of,
)
from recollect.interfaces.render import as_json
from recollect.memory import AsyncMemory

_CREDENTIALS = struct.Struct("3i")  # of who asks: process, user, group


@asynccontextmanager
async def answering(memory: AsyncMemory, file: Path | None, told: Line) -> AsyncIterator[None]:
    """For as long as a server runs. ``told``: what a command must have been told as well, or it
    would get another answer from the store itself."""
    place = None if file is None else socket_of(file)
    desk = None if place is None else await _opened(place, _Desk(memory, told))
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
    def __init__(self, memory: AsyncMemory, told: Line) -> None:
        self._memory = memory
        self._told = told

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One question. What it may not be asked, or cannot answer, it leaves to the command."""
        with suppress(OSError, ValueError, RecursionError, TimeoutError):
            if _is_own_user(writer.get_extra_info("socket")):
                writer.write(GREETING)
                async with asyncio.timeout(SECONDS_MAX):
                    found = await self._found(json.loads(await reader.readline()))
                writer.write(json.dumps(found).encode() + b"\n")
                await writer.drain()
        writer.close()

    async def _found(self, question: Any) -> Line:
        try:
            verb = question["verb"]
            if verb not in VERBS or question["told"] != self._told:
                return {}
            answer = await getattr(self._memory, verb)(**question["arguments"])
        except Exception:  # the command asks the store itself, and tells of it as it always does
            return {}
        return {"answer": as_json(answer)}


def _is_own_user(line: Any) -> bool:
    """Where the system says who asks; elsewhere the folder keeps others out."""
    asked_by = getattr(socket, "SO_PEERCRED", None)
    if asked_by is None:
        return True
    raw = line.getsockopt(socket.SOL_SOCKET, asked_by, _CREDENTIALS.size)
    return _CREDENTIALS.unpack(raw)[1] in (os.getuid(), 0)
