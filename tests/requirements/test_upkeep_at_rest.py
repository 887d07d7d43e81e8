"""Upkeep that has nothing to do writes nothing, what it costs does not grow with the tenants, and
several processes share it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest

from standfast import AsyncMemory, Memory
from standfast.ports import Cell
from standfast.stores.sqlite import SqliteStore
from standfast.testing.values import make_batch, make_record
from standfast.upkeep.consolidate import consolidate_due
from standfast.upkeep.leases import hold, release
from standfast.upkeep.loop import one_round
from tests.requirements.conftest import MovableClock, OpenMemory

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
ROUNDS = 1000


def tables_of(path: Path) -> dict[str, int]:
    """How many rows there are in each table."""
    db = apsw.Connection(str(path))
    try:
        rows = db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        return {name: db.execute(f'SELECT count(*) FROM "{name}"').get for (name,) in rows}
    finally:
        db.close()


@contextmanager
def statements() -> Iterator[list[str]]:
    """What SQLite is asked from now on, by connections that are opened from now on."""
    seen: list[str] = []

    def hook(db: apsw.Connection) -> None:
        db.exec_trace = lambda _cursor, sql, _bindings: seen.append(sql) or True

    apsw.connection_hooks.append(hook)
    try:
        yield seen
    finally:
        apsw.connection_hooks.remove(hook)


async def at_rest(path: Path, clock: Any, **options: Any) -> AsyncMemory:
    """A memory in which something was said, learned and gone through."""
    memory = await AsyncMemory.open(
        str(path), clock=clock, embedder="hashing", background=False, **options
    )
    await memory.observe("chat", ["I like tea", "I live in Berlin"], scope="user:ann")
    for _ in range(3):
        await memory.maintain()
    return memory


def test_L6_a_thousand_rounds_with_nothing_to_do_write_nothing(
    tmp_path: Path, clock: MovableClock
) -> None:
    path = tmp_path / "memory.db"

    async def rounds() -> tuple[dict[str, int], int, dict[str, int], int]:
        async with await at_rest(path, clock) as memory:
            before, versions = tables_of(path), last_version(path)
            for number in range(ROUNDS):
                clock.forward(seconds=5)
                if number % 10 == 0:
                    assert (await memory.maintain()).items == ()
                assert (await one_round(memory._engine, shared=True)).items == ()
            return before, versions, tables_of(path), last_version(path)

    before, versions, after, versions_after = asyncio.run(rounds())
    assert after == before
    assert versions_after == versions, "not even something that is gone again"


def last_version(path: Path) -> int:
    db = apsw.Connection(str(path))
    try:
        found: int = db.execute("SELECT total(seq) FROM sqlite_sequence").get
        return found
    finally:
        db.close()


def test_L6_a_round_with_nothing_to_do_asks_little(tmp_path: Path, clock: MovableClock) -> None:
    async def count() -> list[str]:
        with statements() as seen:
            async with await at_rest(tmp_path / "memory.db", clock) as memory:
                seen.clear()
                await memory.maintain()
                return list(seen)

    seen = asyncio.run(count())
    assert len(seen) <= 5, seen


async def many_roots(path: Path, roots: int, clock: MovableClock) -> AsyncMemory:
    store = await SqliteStore.open(path, group_max=2000)
    batches = [
        make_batch(make_record(f"r{n}", scope=f"user:{n:05}"), at=clock.now) for n in range(roots)
    ]
    for start in range(0, roots, 1000):
        await asyncio.gather(*(store.commit(batch) for batch in batches[start : start + 1000]))
    await store.close()
    db = apsw.Connection(str(path))  # settled one by one it would take minutes
    until = int((clock.now + timedelta(days=1)).timestamp() * 1e6)
    db.execute("UPDATE upkeep SET news = 0, until = ?", (until,))
    db.close()
    return await AsyncMemory.open(str(path), clock=clock, embedder="none", background=False)


def steps(path: Path, roots: int, clock: MovableClock) -> tuple[int, int]:
    """How many statements, and how many steps of SQLite's machine, a round takes in which
    something is due in one root."""

    async def count() -> tuple[int, int]:
        made = Counter[str]()

        def hook(db: apsw.Connection) -> None:
            db.exec_trace = lambda *_: made.update(["statements"]) or True
            db.set_progress_handler(lambda: bool(made.update(["steps"])), 10)

        apsw.connection_hooks.append(hook)
        try:
            async with await many_roots(path, roots, clock) as memory:
                for _ in range(2):  # the first one warms up what is kept between rounds
                    await memory.remember("something to go through", scope="user:00000")
                    await memory.observe("chat", "I moved to Rome", scope="user:00000")
                    made.clear()
                    await memory.maintain()
                return made["statements"], made["steps"]
        finally:
            apsw.connection_hooks.remove(hook)

    return asyncio.run(count())


def test_L6_a_round_costs_the_same_among_many_roots(
    tmp_path: Path, clock: MovableClock, proving: bool
) -> None:
    """Counted, not timed: at most 1.2 times as much with 10,000 roots as with one."""
    many = 10_000 if proving else 2000
    alone = steps(tmp_path / "one.db", 1, clock)
    among = steps(tmp_path / "many.db", many, clock)
    print(f"1 root: {alone}; {many} roots: {among} (statements, tens of steps)")
    assert among[0] <= 1.2 * alone[0]
    assert among[1] <= 1.2 * alone[1] + 5


# Several processes


def test_L6_a_lease_is_of_one_root_and_given_back(memory: Memory, clock: MovableClock) -> None:
    engine, store = memory._memory._engine, memory._memory._engine.store
    run = memory._loop.run
    assert run(hold(engine, store, "user:ann", "upkeep", 60, "one"))
    assert not run(hold(engine, store, "user:ann", "upkeep", 60, "two"))
    assert run(hold(engine, store, "user:ann", "upkeep", 60, "one")), "who has it may keep it"
    assert run(hold(engine, store, "user:bob", "upkeep", 60, "two"))
    run(release(engine, store, "user:ann", "upkeep", "two"))
    assert not run(hold(engine, store, "user:ann", "upkeep", 60, "two"))
    run(release(engine, store, "user:ann", "upkeep", "one"))
    assert run(hold(engine, store, "user:ann", "upkeep", 60, "two"))
    clock.forward(seconds=61)
    assert run(hold(engine, store, "user:ann", "upkeep", 60, "one")), "its holder died"


def test_L6_a_lease_far_in_the_future_is_not_believed(memory: Memory, clock: MovableClock) -> None:
    engine, store = memory._memory._engine, memory._memory._engine.store
    run = memory._loop.run
    clock.forward(days=3650)
    assert run(hold(engine, store, "user:ann", "upkeep", 60, "from the future"))
    clock.forward(days=-3650)
    assert run(hold(engine, store, "user:ann", "upkeep", 60, "of today"))
    clock.forward(seconds=-5)
    assert not run(hold(engine, store, "user:ann", "upkeep", 60, "a clock that is 5 s behind"))


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    return open_memory(background=False)


class Slow:
    """An embedder that takes its time and remembers what it was asked."""

    space, dimensions, local = "slow/2", 2, False

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        await asyncio.sleep(0.01)
        self.asked += texts
        return [[1.0, float(len(text))] for text in texts]


def test_L6_processes_share_the_upkeep_and_do_nothing_twice(tmp_path: Path) -> None:
    path, roots = str(tmp_path / "memory.db"), 30

    async def share() -> list[list[str]]:
        embedders = [Slow() for _ in range(5)]
        handles = [
            await AsyncMemory.open(path, embedder=embedder, background=False, clock=lambda: NOW)
            for embedder in embedders
        ]
        for n in range(roots):
            await handles[0].remember(f"fact {n}", scope=f"user:{n}")
        await asyncio.gather(*(one_round(handle._engine, shared=True) for handle in handles))
        leases = await handles[0]._engine.store.registry.list("lease\t", now=NOW)
        assert leases == [], "all were given back"
        for handle in handles:
            await handle.close()
        return [embedder.asked for embedder in embedders]

    asked = asyncio.run(share())
    assert sorted(text for texts in asked for text in texts) == sorted(
        f"fact {n}" for n in range(roots)
    )
    assert sum(bool(texts) for texts in asked) >= 4, "the work was shared"


WORKER = """
import asyncio, sys
from standfast import AsyncMemory
from tests.requirements.test_upkeep_at_rest import Slow

async def main(path):
    slow = Slow()
    memory = await AsyncMemory.open(path, embedder=slow, background=False)
    from standfast.upkeep.loop import one_round
    print("ready", flush=True)
    sys.stdin.readline()
    await one_round(memory._engine, shared=True)
    await memory.close()
    print(" ".join(text.split()[1] for text in slow.asked), flush=True)

asyncio.run(main(sys.argv[1]))
"""


def test_L6_real_processes_share_it_too(tmp_path: Path) -> None:
    path, roots = str(tmp_path / "memory.db"), 24
    with Memory.open(path, embedder=Slow(), background=False) as memory:
        for n in range(roots):
            memory.remember(f"fact {n}", scope=f"user:{n}")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, path],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    for worker in workers:
        assert worker.stdout
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        assert worker.stdin
        worker.stdin.write("go\n")
        worker.stdin.flush()
    done = [worker.communicate(timeout=60)[0].split() for worker in workers]
    assert sorted(n for numbers in done for n in numbers) == sorted(map(str, range(roots)))
    assert sum(map(bool, done)) >= 2, "the work was shared"


def test_L11_a_root_is_consolidated_once_however_many_want_to(
    tmp_path: Path, clock: MovableClock
) -> None:
    path = str(tmp_path / "memory.db")

    async def share() -> Counter[str]:
        handles = [
            await AsyncMemory.open(path, embedder="none", background=False, clock=clock)
            for _ in range(4)
        ]
        for n in range(10):
            await handles[0].remember(f"fact {n}", scope=f"user:{n}")
        settled: Counter[str] = Counter()
        for handle in handles:
            registry = handle._engine.store.registry
            settle = registry.settle

            async def counting(root: str, settle: Any = settle, **more: Any) -> None:
                settled[root] += 1
                await settle(root, **more)

            registry.settle = counting  # type: ignore[method-assign]
        await asyncio.gather(*(consolidate_due(handle._engine) for handle in handles))
        for handle in handles:
            await handle.close()
        return settled

    assert asyncio.run(share()) == Counter({f"user:{n}": 1 for n in range(10)})


def test_X1_a_root_that_is_forgotten_leaves_nothing_in_the_registry(
    memory: Memory, clock: MovableClock
) -> None:
    from standfast.upkeep.leases import failed

    engine = memory._memory._engine
    for scope in ("user:ann", "user:ann:project:x", "user:anna"):
        memory.remember("a fact", scope=scope)
        memory._loop.run(failed(engine, engine.store, scope, "fold/chat", "the model is gone"))
    memory.maintain()
    memory.forget(scope="user:ann", descend=True)
    cells: list[Cell] = memory._loop.run(engine.store.registry.list("", now=clock.now, limit=100))
    left = {cell.key for cell in cells}
    assert not [key for key in left if "user:ann\t" in key or key.endswith("user:ann")], left
    assert [key for key in left if "user:anna" in key]
