"""Upkeep that runs by itself gives way to whoever waits for an answer; upkeep that somebody asks
for does not. Counted in how long it sleeps, not in how long anything takes."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from standfast.errors import Denied
from standfast.memory import AsyncMemory
from standfast.upkeep.learn import lanes
from standfast.upkeep.loop import one_round

ANN = "user:ann"
SAID = ["I live in Oslo.", "My sister Eva is a nurse.", "I am allergic to nuts."]
real_sleep = asyncio.sleep


async def learned(path: Path, monkeypatch: pytest.MonkeyPatch, **how: Any) -> list[float]:
    """How long a round of learning from three messages slept, each time that it gave way."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        await real_sleep(0)

    async with await AsyncMemory.open(path, embedder="hashing", background=False) as memory:
        await memory.observe("s", SAID, scope=ANN)
        memory.engine.callers.waiting += how.pop("waiting", 0)
        with monkeypatch.context() as patch:
            patch.setattr(lanes, "asyncio", SimpleNamespace(sleep=sleep))
            await one_round(replace(memory.engine, **how), everything=True)
        kept = await memory.records(scope=ANN, types=("fact",))
        assert any("nuts" in record.text for record in kept.items), kept
    return slept


@pytest.mark.parametrize(
    ("how", "waits"),
    [
        ({"yields": True, "waiting": 1}, True),
        ({"yields": True, "waiting": 0}, False),
        ({"yields": False, "waiting": 1}, False),
    ],
)
def test_learning_by_itself_waits_behind_each_message_while_somebody_is_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: dict[str, Any], waits: bool
) -> None:
    slept = asyncio.run(learned(tmp_path / "m.db", monkeypatch, **how))
    assert len(slept) >= len(SAID)
    assert all((seconds > 0) == waits for seconds in slept)


def test_it_waits_so_many_times_as_long_as_it_worked(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    clock = iter((10.0, 10.5))

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async def work() -> None:
        async with await AsyncMemory.open("dict:", embedder="hashing", background=False) as memory:
            memory.engine.callers.waiting += 1
            with monkeypatch.context() as patch:
                patch.setattr(lanes, "asyncio", SimpleNamespace(sleep=sleep))
                patch.setattr(lanes, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
                async with lanes.giving_way(replace(memory.engine, yields=True)):
                    pass

    asyncio.run(work())
    assert slept == [0.5 * lanes.PATIENCE]


def test_who_waits_is_counted_while_they_wait_and_no_longer() -> None:
    async def ask() -> None:
        async with await AsyncMemory.open("dict:", embedder="hashing", background=False) as memory:
            callers = memory.engine.callers
            asked = asyncio.create_task(memory.recall("tea", scope=ANN))
            await memory.remember("Ann likes tea.", scope=ANN)
            await asked
            assert callers.waiting == 0
            reader = AsyncMemory(memory.engine.narrowed((ANN,), ("read",)))
            assert reader.engine.callers is callers
            with pytest.raises(Denied):
                await reader.remember("Ann likes milk.", scope=ANN)
            assert callers.waiting == 0

    asyncio.run(ask())
