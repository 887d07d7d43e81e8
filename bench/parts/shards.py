"""A PostgreSQL store that is spread over three databases, beside the same in one database: a mixed
load of many tenants. The databases are made on the servers that ``--store`` names, and dropped.

On one machine the shards share its cores and its disk: what is seen here is what the front costs,
not what more machines bring.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bench.filling import batch_of, query_of
from bench.places import databases, kind_of
from bench.report import Result, Table, ms, nothing_named, times
from bench.running import Bench
from bench.timing import Times
from standfast.ports import Store
from standfast.stores.postgres import PostgresStore
from standfast.stores.postgres.spread import spread

SHARDS = 3
TENANTS = 60
RECORDS = 100  # of each
CLIENTS = 16
SECONDS = 10.0
WRITES = 0.3  # of all calls


async def run(bench: Bench) -> Result:
    tables = []
    for address in bench.stores:
        if kind_of(address) == "postgresql":
            with databases(address, 2 + SHARDS) as (plain, front, *shards):
                await asyncio.to_thread(spread, front, shards)
                measured = {}
                for name, one in (("one database", plain), (f"{SHARDS} shards", front)):
                    bench.say(f"shards: {name}")
                    async with _opened(one) as store:
                        measured[name] = await _mixed(bench, store)
            tables.append(_table(measured))
    return Result("shards", tables or [nothing_named("Shards")], [])


def _table(measured: dict[str, tuple[float, Times, Times]]) -> Table:
    base = next(iter(measured.values()))
    rows = [
        (name, f"{rate:.0f}", times(rate / base[0]), ms(reads.median), ms(writes.median))
        for name, (rate, reads, writes) in measured.items()
    ]
    note = (
        f"{TENANTS} tenants of {RECORDS} records, {CLIENTS} callers at once for {SECONDS:.0f} s, "
        f"{WRITES:.0%} of the calls commits, the rest searches; all databases on one machine."
    )
    columns = ("store", "calls a second", "ratio", "search", "commit")
    return Table("Shards", columns, rows, note)


@asynccontextmanager
async def _opened(address: str) -> AsyncIterator[Store]:
    store = await PostgresStore.open(address)
    try:
        yield store
    finally:
        await store.close()


async def _mixed(bench: Bench, store: Store) -> tuple[float, Times, Times]:
    scopes = [f"user:tenant{number}" for number in range(TENANTS)]
    for scope in scopes:
        for first, chunk in bench.corpus.records(0, RECORDS, RECORDS):
            await store.commit(batch_of(scope, first, chunk))
    questions = bench.corpus.questions(bench.sizes.questions)
    fresh = bench.corpus.records(RECORDS, 10**6, 1)  # no tenant is told the same twice
    reads, writes = Times(), Times()
    ends = time.perf_counter() + SECONDS

    async def call(seed: int) -> int:
        chance, calls = random.Random(seed), 0
        while time.perf_counter() < ends:
            scope, calls = chance.choice(scopes), calls + 1
            if chance.random() < WRITES:
                batch = batch_of(scope, *next(fresh))
                with writes.one():
                    await store.commit(batch)
            else:
                with reads.one():
                    await store.search(query_of(chance.choice(questions), scope))
        return calls

    began = time.perf_counter()
    calls = await asyncio.gather(*(call(seed) for seed in range(CLIENTS)))
    return sum(calls) / (time.perf_counter() - began), reads, writes
