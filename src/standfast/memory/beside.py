"""What a process does beside its loop, and what it has to do for itself where another one does the
upkeep of the store."""

from __future__ import annotations

from standfast.memory import AsyncMemory
from standfast.ports import beside

__all__ = ["beside", "keep_beside"]


async def keep_beside(memory: AsyncMemory) -> None:
    """For as long as the memory is open."""
    from standfast.upkeep.background import run_beside

    await run_beside(memory.engine)
