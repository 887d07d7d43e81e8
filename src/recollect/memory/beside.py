"""What a process has to do for itself where another one does the upkeep of the store."""

from __future__ import annotations

from recollect.memory import AsyncMemory


async def keep_beside(memory: AsyncMemory) -> None:
    """For as long as the memory is open."""
    from recollect.upkeep.background import run_beside

    await run_beside(memory.engine)
