"""A blocking memory on the loop that an asynchronous one lives on already.

What is written for ``Memory`` can so be used by a server that has an ``AsyncMemory``: in a thread
beside its loop, never on it.
"""

from __future__ import annotations

import asyncio

from standfast.memory import AsyncMemory
from standfast.memory.sync import BackgroundLoop, Memory


class CallersLoop(BackgroundLoop):
    """Somebody else's loop: neither it nor the memory on it is started, closed or stopped here."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    @property
    def running(self) -> bool:
        return self._loop.is_running()

    def adopt(self, facade: Memory, memory: AsyncMemory) -> None:  # noqa: ARG002
        return

    def close(self, memory: AsyncMemory) -> None:  # noqa: ARG002
        return

    def leave(self, memory: AsyncMemory) -> None:  # noqa: ARG002
        return

    def stop(self) -> None:
        return


def blocking(memory: AsyncMemory) -> Memory:
    """Call it on the memory's loop; use what it gives in another thread. To close it closes
    nothing: the memory stays that of its owner."""
    return Memory(memory, CallersLoop(asyncio.get_running_loop()))
