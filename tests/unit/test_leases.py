"""Work that is due: one reader's backlog must not hide another's."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from standfast import AsyncMemory
from standfast.access.quotas import SharedRates
from standfast.memory.workbook import Workbook
from standfast.types import Work
from standfast.upkeep import consolidate, leases
from standfast.upkeep.consolidate.marks import Mark
from standfast.upkeep.leases import lagging

NOW = datetime(2026, 11, 15, tzinfo=UTC)


class Backlog:
    """A store that tells what is due, in order, as much as was asked for."""

    def __init__(self, readers: Sequence[str]) -> None:
        self.work = [
            Work(kind="fold", root="user:ann", scope="user:ann", id=f"s{number:05}", detail=reader)
            for number, reader in enumerate(readers)
        ]
        self.asked: list[int] = []

    async def due(
        self, now: datetime, *, root: str | None, kinds: Sequence[str], limit: int
    ) -> list[Work]:
        assert (now, root, kinds) == (NOW, None, ("fold",))
        self.asked.append(limit)
        return self.work[:limit]


def found(store: Any, reader: str, most: int) -> list[str]:
    return [work.id for work in asyncio.run(lagging(store, NOW, reader, most))]


def test_the_backlog_of_another_reader_hides_nothing() -> None:
    store = Backlog(["extract"] * 230 + ["fold"])
    assert found(store, "fold", 100) == ["s00230"]
    assert store.asked == [100, 1000]


def test_no_more_than_asked_for_and_no_look_too_many() -> None:
    store = Backlog(["fold"] * 300)
    assert len(found(store, "fold", 100)) == 100
    assert store.asked == [100]
    assert found(Backlog([]), "fold", 100) == []


FAR = timedelta(days=400)


def test_A9_nothing_that_a_wrong_clock_wrote_keeps_anybody_waiting() -> None:
    """Each of these was believed for as long as the clock had been ahead."""
    moment = [NOW + FAR]

    async def main() -> None:
        async with await AsyncMemory.open(
            "dict:", embedder="none", background=False, clock=lambda: moment[0]
        ) as memory:
            engine, store = memory.engine, memory.engine.store
            for _ in range(leases.ATTEMPTS_MAX):
                await leases.failed(engine, store, "user:ann", "fold s", "no")
            rates = SharedRates(engine, 60)
            while not await rates.take("user:ann"):
                pass
            book = Workbook(engine)
            await book.write("one", {"state": "running"}, kept=timedelta(days=1))
            mark = Mark(tried=moment[0])
            assert await leases.may_try(engine, store, "user:ann", "fold s")
            assert consolidate._is_fresh(engine, mark)
            assert book.is_alive((await book.read("one"))["one"])
            moment[0] = NOW
            assert await leases.may_try(engine, store, "user:ann", "fold s") == ""
            assert not consolidate._is_fresh(engine, mark)
            assert not book.is_alive((await book.read("one"))["one"])
            assert await rates.take("user:ann") == 0

    asyncio.run(main())
