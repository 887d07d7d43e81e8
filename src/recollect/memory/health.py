"""Is a memory well? For whoever watches a server."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from recollect.engine import active_space
from recollect.memory import AsyncMemory
from recollect.verbs.lists.upkeep import list_stuck

LOOK_SECONDS = 30.0
STUCK_MAX = 1000


class Health:
    """Looks at stuck work now and then, not for every request: anybody may ask."""

    def __init__(self, memory: AsyncMemory, clock: Callable[[], float] = time.monotonic) -> None:
        self._memory = memory
        self._clock = clock
        self._stuck = 0
        self._looked = float("-inf")
        self._looking = asyncio.Lock()

    async def look(self) -> tuple[str, int]:
        """The status, and how much work is stuck. RecollectError if the store does not answer."""
        engine = self._memory.engine
        await active_space(engine.store, engine.now())
        async with self._looking:
            if self._clock() - self._looked >= LOOK_SECONDS:
                self._stuck = len(await list_stuck(engine, None, STUCK_MAX))
                self._looked = self._clock()
        unwell = self._stuck or engine.disk.trouble
        return ("degraded" if unwell else "ok"), self._stuck
