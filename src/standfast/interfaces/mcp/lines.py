"""Lines of a file descriptor for asynchronous code.

Read in a thread of its own: whatever else a file is, a pipe, a terminal or a plain file, a thread
can read it; and one that nobody waits for does not keep a process from ending.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import CancelledError

PIECE_BYTES = 1 << 16
LINE_BYTES_MAX = 32 << 20
WAITING_MAX = 64  # lines; then whoever writes to us has to wait


async def lines_of(descriptor: int) -> AsyncIterator[str]:
    loop = asyncio.get_running_loop()
    waiting: asyncio.Queue[str | None] = asyncio.Queue(WAITING_MAX)

    def read() -> None:
        try:
            for line in split(pieces(descriptor)):
                asyncio.run_coroutine_threadsafe(waiting.put(line), loop).result()
            asyncio.run_coroutine_threadsafe(waiting.put(None), loop).result()
        except (RuntimeError, CancelledError):
            return  # the loop has ended

    threading.Thread(target=read, name="standfast-stdin", daemon=True).start()
    while (line := await waiting.get()) is not None:
        yield line


def pieces(descriptor: int) -> Iterator[bytes]:
    while piece := os.read(descriptor, PIECE_BYTES):
        yield piece


def split(pieces: Iterator[bytes], longest: int = LINE_BYTES_MAX) -> Iterator[str]:
    """Lines without their ends. One that is too long is cut, and what is cut is no JSON."""
    held = bytearray()
    skipping = False
    for piece in pieces:
        *whole, rest = piece.split(b"\n")
        for part in whole:
            if not skipping:
                held += part
                yield held[:longest].decode("utf-8", "replace")
            held.clear()
            skipping = False
        if skipping:
            continue
        held += rest
        if len(held) > longest:
            yield held[:80].decode("utf-8", "replace")
            held.clear()
            skipping = True
    if held:
        yield held.decode("utf-8", "replace")
