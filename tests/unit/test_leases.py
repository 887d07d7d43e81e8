"""Leases and tries beside a clock that is wrong."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from standfast import AsyncMemory
from standfast.access.quotas import SharedRates
from standfast.memory.workbook import Workbook
from standfast.upkeep import consolidate, leases
from standfast.upkeep.consolidate.marks import Mark

NOW = datetime(2026, 11, 15, tzinfo=UTC)
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
