"""Many tenants in one store: opening it, a round of upkeep with work due in one of them, and a
recall of one, beside a store that has this tenant alone. In a file, and on servers that ``--store``
names."""

from __future__ import annotations

import asyncio
import os
from contextlib import AsyncExitStack
from dataclasses import replace

from bench.filling import AT_ONCE, NOW, batch_of
from bench.places import fresh, kind_of
from bench.report import Claim, Result, Table, ms, times
from bench.running import Bench
from bench.timing import Times
from standfast.memory import AsyncMemory
from standfast.ports import Store
from standfast.types import Batch, Item
from standfast.upkeep.loop import one_round
from standfast.wiring import open_engine

RECORDS = 100
ROUNDS = 15
RATIO_MAX = 1.2
WHAT = ("opening", "a round of upkeep, work due in one", "recall of one")


async def run(bench: Bench) -> Result:
    """As many tenants as the size has records of others, a hundred each."""
    count = max(10, bench.sizes.others // RECORDS)
    tables: list[Table] = []
    claims: list[Claim] = []
    with bench.desk() as desk:
        bench.say("tenants")
        places = {str(desk / "alone.db"): 1, str(desk / "many.db"): count}
        _tell("in a SQLite file", count, await _measured(bench, places), tables, claims)
    for address in bench.stores:
        bench.say(f"tenants, {kind_of(address)}")
        with fresh(address) as alone, fresh(address) as many:
            measured = await _measured(bench, {alone: 1, many: count})
        _tell(f"on {kind_of(address)}", count, measured, tables, claims)
    return Result("tenants", tables, claims)


def _tell(
    where: str,
    count: int,
    measured: list[tuple[Times, Times, Times]],
    tables: list[Table],
    claims: list[Claim],
) -> None:
    rows = []
    for what, alone, many in zip(WHAT, *measured, strict=True):
        ratio = many.median / alone.median
        rows.append((what, ms(alone.median), ms(many.median), times(ratio)))
        claim = f"{what}, {count:,} tenants {where} beside one"
        claims.append(Claim(claim, times(ratio), f"<= {RATIO_MAX}x", ratio <= RATIO_MAX))
    columns = ("", "one tenant alone", f"among {count:,}", "ratio")
    title = "Tenants" if not tables else f"Tenants {where}"
    tables.append(Table(title, columns, rows, f"{RECORDS} records each, {where}."))


async def _measured(bench: Bench, places: dict[str, int]) -> list[tuple[Times, Times, Times]]:
    """Of each place, with so many tenants. All are filled first and then take turns: right after
    so much was written the system is still busy with it, and a busy minute hits all alike."""
    for place, tenants in places.items():
        async with await _opened(place) as memory:
            await _fill(bench, memory.engine.store, tenants)
            await one_round(memory.engine)
    os.sync()
    found = {place: (Times(), Times(), Times()) for place in places}
    for _ in range(ROUNDS):
        for place, (opening, _, _) in found.items():
            with opening.one():
                memory = await _opened(place)
            await memory.close()
    async with AsyncExitStack() as stack:
        memories = {p: await stack.enter_async_context(await _opened(p)) for p in places}
        questions = bench.corpus.questions(1 + ROUNDS)
        for number, question in enumerate(questions):
            for place, tenants in places.items():
                scope, memory = _tenant(tenants // 2), memories[place]
                _, upkeep, recall = found[place] if number else (Times(), Times(), Times())
                with recall.one():
                    await memory.recall(question.text, scope=scope)
                await memory.engine.store.commit(_due(number, scope))
                with upkeep.one():
                    await one_round(memory.engine)
    return list(found.values())


async def _opened(place: str) -> AsyncMemory:
    return AsyncMemory(await open_engine(place, embedder="none"))


def _tenant(number: int) -> str:
    return f"user:tenant{number}"


async def _fill(bench: Bench, store: Store, tenants: int) -> None:
    """All have the same records: what is measured does not depend on what they say."""
    [(first, chunk)] = bench.corpus.records(0, RECORDS, RECORDS)
    for start in range(0, tenants, AT_ONCE):
        bench.count("tenants", start, tenants)
        some = range(start, min(start + AT_ONCE, tenants))
        batches = (batch_of(_tenant(number), first, chunk) for number in some)
        await asyncio.gather(*(store.commit(replace(one, vectors={}, space="")) for one in batches))


def _due(number: int, scope: str) -> Batch:
    """Something that has expired by now."""
    item = Item(scope=scope, namespace="bench", key=str(number), value=number, expires_at=NOW)
    return Batch(id=f"due-{number}", root=scope, at=NOW, reason="bench", items=(item,))
