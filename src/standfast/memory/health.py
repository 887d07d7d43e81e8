"""Is a memory well? For whoever watches a server."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from typing import Any

from standfast.engine import active_space
from standfast.errors import StandfastError, Unavailable
from standfast.memory import AsyncMemory
from standfast.ports import cell_key
from standfast.scopes import root_of
from standfast.settings import Settings
from standfast.upkeep.inspection import DAMAGE
from standfast.upkeep.learn.unread import count_unread
from standfast.upkeep.readers import why_not
from standfast.upkeep.reembedding import progress_of
from standfast.verbs.lists.upkeep import list_stuck

LOOK_SECONDS = 30.0
STUCK_MAX = 1000
OPERATIONS = ("summarize", "extract", "rerank", "consolidate")
# Where files lie on this machine is nobody's business on the other end.
NOT_TOLD = ("store", "store_folder", "model_folder")
_LOGIN_IN_URL = re.compile(r"(?<=//)[^/@\s]+@")


class Health:
    """Looks at stuck work now and then, not for every request: anybody may ask."""

    def __init__(self, memory: AsyncMemory, clock: Callable[[], float] = time.monotonic) -> None:
        self._memory = memory
        self._clock = clock
        self._stuck = 0
        self.unread = 0  # messages at which every reader failed
        self._looked = float("-inf")
        self._looking = asyncio.Lock()
        self._away_since: datetime | None = None

    @property
    def kept_as_said(self) -> int:
        """How many texts this process composed and refused for words that nobody said so."""
        return self._memory.engine.kept_as_said.total()

    @property
    def learning(self) -> str:
        """ "on", "off", or why nothing is learned."""
        return learning_of(self._memory)

    async def _is_damaged(self) -> bool:
        """Has upkeep found rows that are not as they were written?"""
        engine = self._memory.engine
        noted = cell_key(DAMAGE, "")
        return bool(await engine.store.registry.list(noted, now=engine.now(), limit=1))

    async def look(self) -> tuple[str, int]:
        """The status, and how much work is stuck. StandfastError if the store does not answer;
        ``away`` says more."""
        try:
            found = await self._look()
        except StandfastError:
            self._away_since = self._away_since or self._memory.engine.now()
            raise
        self._away_since = None
        return found

    def away(self, error: StandfastError) -> dict[str, str]:
        """What anybody may know about a store that does not answer: that it is, and since when
        somebody has seen it."""
        slow = isinstance(error, Unavailable) and error.slow
        since = self._away_since or self._memory.engine.now()
        return {"store": "slow" if slow else "unreachable", "since": since.isoformat()}

    async def _look(self) -> tuple[str, int]:
        engine = self._memory.engine
        if trouble := getattr(engine.store, "trouble", ""):  # a store without a file has none
            raise Unavailable(trouble)
        await active_space(engine.store, engine.now())
        async with self._looking:
            if self._clock() - self._looked >= LOOK_SECONDS:
                self._stuck = len(await list_stuck(engine, None, STUCK_MAX))
                self.unread = await count_unread(engine)
                self._looked = self._clock()
        away = engine.queue.trouble if engine.queue else ""
        unwell = self._stuck or away or engine.disk.trouble or await self._is_damaged()
        return ("degraded" if unwell else "ok"), self._stuck


def learning_of(memory: AsyncMemory) -> str:
    engine = memory.engine
    if engine.profile.learn == "off":
        return "off"
    return why_not(engine, engine.store) or "on"


async def unread_in(memory: AsyncMemory) -> int:
    """How many messages no reader could read, in the roots that are this handle's own."""
    engine = memory.engine
    roots = tuple({root for root in map(root_of, engine.bound) if engine.may_change(root)})
    return await count_unread(engine, roots) if roots or not engine.bound else 0


def in_force(memory: AsyncMemory, settings: Settings, version: str) -> dict[str, Any]:
    """What a server works with, for whoever runs it: no paths, no passwords."""
    engine = memory.engine
    asked = engine.models
    models = {one: model.name for one in OPERATIONS if asked and (model := asked.model_for(one))}
    told = {name: value for name, value in asdict(settings).items() if name not in NOT_TOLD}
    return {
        "version": version,
        "store": engine.store.capabilities.name,
        "erasure": engine.store.capabilities.erasure,
        "profile": settings.profile,
        "embedder": engine.embedder.space if engine.embedder else "",
        "learning": learning_of(memory),
        "space": engine.trusted.space,
        "reembedding": str(progress_of(engine) or ""),
        "models": models,
        "settings": {n: _without_login(v) for n, v in told.items()},
    }


def _without_login(value: Any) -> Any:
    return _LOGIN_IN_URL.sub("", value) if isinstance(value, str) else value
