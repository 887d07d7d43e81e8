"""Short ways to open a memory with an embedding service and to look at it."""

from __future__ import annotations

import asyncio
from typing import Any

from standfast import Memory
from standfast.models.budgets import days_of
from standfast.models.calls import Patience
from standfast.models.embedder import CarefulEmbedder
from tests.requirements.conftest import OpenMemory


def opened(open_memory: OpenMemory, *, seconds: float = 30.0, **options: Any) -> Memory:
    """Without upkeep in the background, without pauses, and without a chosen embedder. A busy
    machine needs some seconds for an answer; where none comes, say fewer."""
    memory = open_memory(**{"background": False, "embedder": None, **options})
    embedder = memory._memory._engine.embedder

    async def no_pause(_: float) -> None: ...

    if isinstance(embedder, CarefulEmbedder):
        embedder._sleep = no_pause
        embedder._patience = Patience(tries=1, seconds=seconds)
    return memory


def space(memory: Memory) -> str:
    embedder = memory._memory._engine.embedder
    return embedder.space if embedder else "none"


def similarity(memory: Memory, query: str, scope: str = "user:ann") -> float | None:
    return memory.recall(query, scope=scope).hits[0].similarity


def degraded(memory: Memory, query: str = "tea", scope: str = "user:ann") -> str:
    return " ".join(n for n in memory.recall(query, scope=scope).notes if "degraded" in n)


def books(memory: Memory, root: str) -> dict[str, Any]:
    engine = memory._memory._engine

    async def read() -> dict[str, Any]:
        days = days_of(engine.store.registry, root, now=engine.now())
        return {f"{day}/{what}": spent async for _, day, by in days for what, spent in by.items()}

    return asyncio.run(read())
