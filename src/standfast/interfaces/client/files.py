"""Exports and imports over the line: piece by piece, never whole in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import IO, Any

from standfast.interfaces.client.connection import Connection
from standfast.interfaces.client.failures import error_of_problem
from standfast.memory.files import source_opened, target_opened
from standfast.types.arguments import FileSource, FileTarget

PIECE_BYTES = 1 << 18
WAIT_SECONDS = 20
LINES = "application/x-ndjson"


async def finished(
    line: Connection, work: Any, progress: Callable[[int], None] | None = None
) -> Any:
    """Wait for work that the server has begun; the work when it is done."""
    path = f"/v1/work/{work['id']}"
    told = 0
    while work["state"] == "running":
        work = await line.read("GET", path, params={"wait": WAIT_SECONDS})
        if progress is not None and work["progress"] > told:
            told = work["progress"]
            progress(told)
    if work["problem"] is not None:
        raise error_of_problem(work["problem"])
    return work


async def download(line: Connection, path: str, target: FileTarget) -> None:
    with target_opened(target) as file:
        async with line.stream(path) as pieces:
            async for piece in pieces:
                await asyncio.to_thread(file.write, piece)


async def upload(line: Connection, source: FileSource, query: list[tuple[str, str]]) -> Any:
    with source_opened(source) as (file, _):
        if file.seekable():
            file.seek(0)  # a local memory reads it from its beginning too
        return await line.begin(
            "/v1/import", params=query, content=_pieces(file), headers={"Content-Type": LINES}
        )


async def _pieces(file: IO[bytes]) -> AsyncIterator[bytes]:
    while piece := await asyncio.to_thread(file.read, PIECE_BYTES):
        yield piece
