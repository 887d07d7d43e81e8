"""What a tenant costs does not grow with the other tenants of the same store. Counted on real
engines, not timed: statements, rows and commands."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest
import redis

from standfast import AsyncMemory
from standfast.errors import Unavailable
from standfast.stores.leftovers import EXPIRED_SECONDS, Leftovers
from standfast.stores.sqlite import SqliteStore
from standfast.testing.values import make_batch, make_item, make_message, make_record
from standfast.types import Batch, Erase, Session
from standfast.upkeep.loop import one_round
from tests import postgres
from tests.architecture.statements import is_of_a_verb
from tests.redis import own_server

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
MANY = 25
ROUNDS = 3
ANN = "user:ann"

Counts = Counter[str]
Doing = Callable[[AsyncMemory], Awaitable[None]]
_numbers = count()


async def recall(memory: AsyncMemory) -> None:
    await memory.recall("what is known", scope=ANN)


async def idle_round(memory: AsyncMemory) -> None:
    await one_round(memory._engine, shared=True)


async def expiry(memory: AsyncMemory) -> None:
    """Something has expired in one of them."""
    item = make_item(f"k{next(_numbers)}", scope=ANN, expires_at=NOW - timedelta(days=1))
    await memory._engine.store.commit(make_batch(item, at=NOW - timedelta(days=2)))
    assert await memory._engine.store.due(NOW, root=ANN, kinds=("expire",))
    await one_round(memory._engine, shared=True)
    assert not await memory._engine.store.due(NOW, root=ANN, kinds=("expire",))


async def news(memory: AsyncMemory) -> None:
    """Something was said in one of them."""
    await memory.observe("chat", f"I moved to Rome {next(_numbers)}", scope=ANN)
    await one_round(memory._engine, shared=True)


async def what_is_due(memory: AsyncMemory) -> None:
    await memory.due(scope=ANN)
    await memory.due()


DOINGS: tuple[Doing, ...] = (recall, idle_round, expiry, news, what_is_due)


async def opened(address: str) -> AsyncMemory:
    return await AsyncMemory.open(address, clock=lambda: NOW, embedder="hashing", background=False)


async def fill(address: str, tenants: int) -> None:
    async with await opened(address) as memory:
        for name in (ANN, *(f"user:tenant{n}" for n in range(tenants - 1))):
            records = [make_record(f"{name}-{n}", f"fact {n}", scope=name) for n in range(3)]
            await memory._engine.store.commit(make_batch(*records, at=NOW))
        for _ in range(3):
            await one_round(memory._engine, shared=True)


async def costs(address: str, counted: Callable[[], Counts]) -> dict[str, Counts]:
    """Of opening, and of each thing once it is warm. ``counted``: all that was done so far by
    those who have closed."""

    async def spent(doing: Doing | None, times: int) -> Counts:
        begun = counted()
        async with await opened(address) as memory:
            for _ in range(times):
                assert doing is not None
                await doing(memory)
        ended = counted()
        ended.subtract(begun)
        return ended

    found = {"opening": await spent(None, 0)}
    for doing in DOINGS:
        first = await spent(doing, 2)
        whole = await spent(doing, 2 + ROUNDS)
        whole.subtract(first)
        found[doing.__name__] = whole
    return found


@contextmanager
def sqlite(folder: Path) -> Iterator[tuple[list[str], Callable[[], Counts]]]:
    made = Counter[str]()

    def statement(_: Any, text: str, __: Any) -> bool:
        made["statements"] += is_of_a_verb(text)  # a thread that reads first opens a connection
        return True

    def hook(db: apsw.Connection) -> None:
        db.exec_trace = statement
        db.row_trace = lambda _, row: made.update(["rows"]) or row
        db.set_progress_handler(lambda: bool(made.update(["hundreds of steps"])), 100)

    apsw.connection_hooks.append(hook)
    try:
        yield [str(folder / name) for name in ("one.db", "many.db")], lambda: Counter(made)
    finally:
        apsw.connection_hooks.remove(hook)


_READ = (
    "SELECT sum(seq_scan + coalesce(idx_scan, 0))::int,"
    " sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int, sum(vacuum_count)::int"
    " FROM pg_stat_user_tables WHERE schemaname = 'standfast'"
)
_CONNECTED = (
    "SELECT pid FROM pg_stat_activity"
    " WHERE datname = current_database() AND application_name = 'standfast'"
)


@contextmanager
def unused() -> Iterator[str]:
    address = postgres.new_database()
    yield address
    postgres.drop_database(address)


@contextmanager
def postgresql(_: Path) -> Iterator[tuple[list[str], Callable[[], Counts]]]:
    """A connection tells what it has done at the latest when it closes. Tables are so small here
    that their indexes would not be asked: where there is one, it is. And the planner knows nothing
    about databases that nobody has used."""
    indexed = "?options=-c%20enable_seqscan%3Doff"
    with unused() as one, unused() as many:

        def counted() -> Counts:
            found = Counter[str]()
            for address in (one, many):
                with psycopg.connect(address, autocommit=True) as db:
                    while db.execute(_CONNECTED).fetchall():
                        time.sleep(0.005)
                    row = db.execute(_READ).fetchone()
                    assert row
                    names = ("scans", "rows", "times all tables were vacuumed")
                    found.update(dict(zip(names, (value or 0 for value in row), strict=True)))
            return found

        yield [one + indexed, many + indexed], counted


@contextmanager
def redis_server(_: Path) -> Iterator[tuple[list[str], Callable[[], Counts]]]:
    """One of its own: nobody else's commands are counted."""
    server = own_server("--appendfsync", "no")
    client = redis.Redis(port=server.port)

    def counted() -> Counts:
        told = client.info("commandstats")
        found = Counter({name: told[name]["calls"] for name in told if "info" not in name})
        found["bytes"] = client.info("stats")["total_net_output_bytes"] // 1000
        return found

    try:
        yield [f"{server.url}?prefix={name}" for name in ("one", "many")], counted
    finally:
        client.close()
        server.remove()


ENGINES = {"sqlite": sqlite, "postgresql": postgresql, "redis": redis_server}


@pytest.mark.parametrize("engine", ENGINES)
def test_L6_a_tenant_costs_the_same_among_many(tmp_path: Path, engine: str) -> None:
    async def both() -> tuple[dict[str, Counts], dict[str, Counts]]:
        await fill(one, 1)
        await fill(many, MANY)
        return await costs(one, counted), await costs(many, counted)

    with ENGINES[engine](tmp_path) as ([one, many], counted):
        alone, among = asyncio.run(both())
    for what, counts in among.items():
        print(f"{what}: {dict(alone[what])}; among {MANY}: {dict(counts)}")
    for what, counts in among.items():
        for name, number in counts.items():
            assert number <= 1.2 * alone[what][name] + MANY / 2, (what, name)


def test_L6_sweeping_a_tenant_passes_by_what_has_expired_of_others(tmp_path: Path) -> None:
    """Records, messages and items of others wait to be dropped, as after a weekend off."""

    async def spent(address: str, others: int) -> int:
        store = await SqliteStore.open(address)
        try:
            for root in (ANN, *(f"user:tenant{n}" for n in range(others))):
                await store.commit(_over(root, 30))
            begun = counted()["hundreds of steps"]
            work = await store.due(NOW, root=ANN, kinds=("expire", "review"), limit=1000)
            assert len(work) == 4 * 30
            await store.commit(make_batch(at=NOW, root=ANN, sweep=True))
            taken = counted()["hundreds of steps"] - begun
            assert not await store.due(NOW, root=ANN, kinds=("expire",))
            left = await store.due(NOW, kinds=("expire",), limit=10_000)
            assert len(left) == 3 * 30 * others, "of others nothing is dropped"
            return taken
        finally:
            await store.close()

    with sqlite(tmp_path) as ([one, many], counted):
        alone, among = asyncio.run(spent(one, 0)), asyncio.run(spent(many, MANY))
    print(f"alone {alone}, among {MANY}: {among} hundreds of steps")
    assert among <= 1.2 * alone + 5


def _over(root: str, many: int) -> Batch:
    """Things that have expired by now, and some to look at again."""
    past = {"scope": root, "expires_at": NOW - timedelta(days=1)}
    rows: list[Any] = [Session(scope=root, id="chat")]
    for n in range(many):
        rows += [
            make_record(f"{root} {n}", f"fact {n}", **past),
            make_message(f"m{n}", session="chat", **past),
            make_item(f"k{n}", **past),
            make_record(f"{root} again {n}", f"more {n}", scope=root, review_at=NOW),
        ]
    return make_batch(*rows, at=NOW - timedelta(days=2))


def test_X12_many_who_wait_for_news_look_as_often_as_one(tmp_path: Path) -> None:
    """Each hears of what is theirs, whichever process wrote it; until then one look is enough."""
    roots = [f"user:tenant{n}" for n in range(10)]

    async def main() -> None:
        store, other = [await SqliteStore.open(tmp_path / "one.db") for _ in range(2)]
        waiting = [
            asyncio.create_task(store.journal(root, wait=30)) for root in roots for _ in range(20)
        ]
        await asyncio.sleep(0.3)
        before = counted()["statements"]
        await asyncio.sleep(0.5)
        looks = counted()["statements"] - before
        assert 1 <= looks <= 15, looks
        assert not any(one.done() for one in waiting)
        for number, root in enumerate(roots):
            await (store, other)[number % 2].commit(make_batch(make_record(root, scope=root)))
        async with asyncio.timeout(10):
            found = await asyncio.gather(*waiting)
        assert [entry.root for [entry] in found] == [root for root in roots for _ in range(20)]
        last = asyncio.create_task(store.journal(ANN, wait=30))
        await asyncio.sleep(0.1)
        await store.close()
        with pytest.raises(Unavailable, match="closed"):
            await last
        await other.close()

    with sqlite(tmp_path) as (_, counted):
        asyncio.run(main())


# What an engine cleans up goes through all that it holds


def test_X10_an_engine_is_asked_to_clean_up_once_after_something_was_erased() -> None:
    moment = [0.0]
    left = Leftovers(lambda: moment[0])
    left.note(make_batch(make_record("r"), at=NOW))
    assert not left.taken(), "nothing was erased"
    left.note(make_batch(at=NOW, root=ANN, erase=(Erase(kind="record", id="r"),)))
    assert left.taken()
    assert not left.taken()
    left.put_back()
    assert left.taken(), "it could not be done"


def test_X10_what_somebody_left_who_was_killed_is_cleaned_up_within_an_hour() -> None:
    moment = [0.0]
    left = Leftovers(lambda: moment[0])
    assert not left.taken(), "short processes do not go through all there is"
    moment[0] = EXPIRED_SECONDS
    assert left.taken()
    moment[0] *= 3
    assert not left.taken()


def test_X10_what_expired_is_cleaned_up_now_and_then() -> None:
    moment = [0.0]
    left = Leftovers(lambda: moment[0])
    left.note(make_batch(at=NOW, root=ANN, sweep=True))
    assert not left.taken()
    moment[0] = EXPIRED_SECONDS
    assert left.taken()
    moment[0] *= 3
    assert not left.taken(), "nothing has expired since"


@pytest.mark.parametrize(
    ("engine", "what"),
    [("postgresql", "times all tables were vacuumed"), ("redis", "cmdstat_bgrewriteaof")],
)
def test_X10_forgetting_cleans_up_and_rounds_of_upkeep_do_not(
    tmp_path: Path, engine: str, what: str
) -> None:
    async def forgetting(address: str) -> None:
        async with await opened(address) as memory:
            [kept] = (await memory.remember("a secret", scope=ANN)).items
            await memory.forget(ids=[kept.id])

    async def rounds(address: str) -> None:
        async with await opened(address) as memory:
            for _ in range(3):
                await expiry(memory)

    with ENGINES[engine](tmp_path) as ([address, _], counted):
        before = counted()[what]
        asyncio.run(forgetting(address))
        after = counted()[what]
        asyncio.run(rounds(address))
        assert counted()[what] == after > before
