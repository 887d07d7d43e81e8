"""From the first schema to the second: the store's own books leave the journal, whatever happens
on the way, and the file becomes small again."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from standfast import AsyncMemory, Memory
from standfast.access import keys
from standfast.stores.sqlite import SqliteStore, doctor, upgrade
from standfast.testing.values import NOW
from tests.unit.stores.old_file import SECRET, SPENT, make_old_file

# Opens the file and is killed at some point of the migration: what to wrap, and at which call.
KILLED = """
import asyncio, os, signal, sys
from standfast.stores.sqlite import SqliteStore, migrate, upgrade
path, name, calls = sys.argv[1], sys.argv[2], int(sys.argv[3])
upgrade.ENTRIES_AT_ONCE = 200
whole = getattr(upgrade, name)
def dying(*given):
    global calls
    answer = whole(*given)
    calls -= 1
    if not calls:
        os.kill(os.getpid(), signal.SIGKILL)
    return answer
setattr(upgrade, name, dying)
migrate._STEPS[2] = upgrade.move_items
asyncio.run(SqliteStore.open(path))
"""
OPENED = """
import asyncio, sys
from standfast.stores.sqlite import SqliteStore
asyncio.run(SqliteStore.open(sys.argv[1]))
"""
BEGUN = """
import asyncio, sys
from standfast.stores.sqlite import SqliteStore
print("begun", flush=True)
asyncio.run(SqliteStore.open(sys.argv[1]))
"""


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def sql(path: Path, text: str) -> Any:
    db = apsw.Connection(str(path))
    try:
        return db.execute(text).get
    finally:
        db.close()


def with_store(path: Path, use: Callable[[SqliteStore], Awaitable[None]]) -> None:
    async def run() -> None:
        store = await SqliteStore.open(path)
        try:
            await use(store)
        finally:
            await store.close()

    asyncio.run(run())


def assert_moved(path: Path, records: int) -> None:
    """Everything is in its new place, nothing is in the old one, and the rows are as they were."""
    report = doctor.check(path)
    assert report.is_sound, report.findings
    assert report.records == records
    assert sql(path, "SELECT count(*) FROM item WHERE namespace <> 'policy'") == 0
    assert sql(path, "SELECT group_concat(name) FROM root") == "user:ann,user:bob"
    kept = sql(path, "SELECT count(*) FROM journal WHERE reason = 'test'")
    assert kept == 2 * -(-records // 2 // 500)
    assert sql(path, "SELECT group_concat(batch) FROM journal WHERE reason = 'lease'") == (
        "user:bob " + str(sql(path, "SELECT head FROM root WHERE name = 'user:bob'"))
    ), "the last entry of a journal stays"
    assert sql(path, "SELECT count(*) FROM journal WHERE reason = 'set policy'") == 1
    assert sql(path, "SELECT count(*) FROM meta WHERE key = 'shrink'") == 0

    async def look(store: SqliteStore) -> None:
        cells = {c.key: c.value for c in await store.registry.list("", now=NOW, limit=100)}
        assert {key.split("\t")[0] for key in cells} == {
            "key", "device", "space", "quota", "job", "consolidated", "brought-back", "work",
            "budget",
        }  # fmt: skip
        assert cells["budget\tuser:ann\t2026-05-03"] == {
            **{name: 2 * value for name, value in SPENT.items()},
            "by": {"extract/openai:x": SPENT, "summarize/openai:x": SPENT},
            "last": "",
        }
        assert await store.roots() == ["user:ann", "user:bob"]
        assert await store.registry.unsettled(NOW, news=False) == ["user:ann", "user:bob"]

    with_store(path, look)


def test_X8_an_old_file_shrinks_and_keeps_what_counts(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    make_old_file(path, records=40, leases=4000)
    before = path.stat().st_size
    assert_moved(path, 40)
    assert path.stat().st_size < before / 10, "it was vacuumed"


def test_X8_keys_devices_costs_and_stuck_work_are_known_as_before(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    make_old_file(path, records=2, leases=3)

    async def look() -> None:
        memory = await AsyncMemory.open(str(path), clock=lambda: NOW, background=False)
        async with memory:
            engine = memory._engine
            key, narrowed = await keys.with_key(engine, SECRET)
            assert (key.name, narrowed.bound) == ("ann's", ("user:ann",))
            assert await keys.scope_of_device(engine, "kitchen") == "user:ann"
            assert await engine.space() == "hashing/384"
            spent = (await memory.usage(scope="user:ann")).items
            assert [(s.day, s.operation, s.model, s.calls) for s in spent] == [
                ("2026-05-03", "extract", "openai:x", 2),
                ("2026-05-03", "summarize", "openai:x", 2),
            ]
            assert [one.scope for one in (await memory.due()).stuck] == ["user:ann"]
            await memory.resolve("work/user:ann/fold/chat", "approve")
            assert (await memory.due()).stuck == ()

    asyncio.run(look())


@pytest.mark.parametrize(
    ("name", "calls"),
    [("move_items", 1), ("_page", 1), ("_page", 3), ("_drop_some", 2), ("_drop_system_root", 1),
     ("_drop_some", 13), ("_vacuum", 1)],
)  # fmt: skip
def test_X8_a_migration_that_is_killed_goes_on_where_it_was(
    tmp_path: Path, name: str, calls: int
) -> None:
    path = tmp_path / "memory.db"
    make_old_file(path, records=40, leases=800)
    child = [sys.executable, "-c", KILLED, str(path), name, str(calls)]
    died = subprocess.run(child, env=environment(), timeout=60, check=False)
    assert died.returncode == -signal.SIGKILL
    if name in ("_drop_some", "_vacuum"):
        assert sql(path, "SELECT value FROM meta WHERE key = 'shrink'") != "0 0", "it came this far"
    assert_moved(path, 40)


def test_X8_two_processes_migrate_one_file(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    make_old_file(path, records=40, leases=3000)
    command = [sys.executable, "-c", OPENED, str(path)]
    children = [subprocess.Popen(command, env=environment()) for _ in range(3)]
    assert [child.wait(timeout=60) for child in children] == [0, 0, 0]
    assert_moved(path, 40)


def test_X8_without_room_for_a_copy_the_free_pages_are_used_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "memory.db"
    make_old_file(path, records=40, leases=1000)
    whole = upgrade._vacuum
    monkeypatch.setattr(upgrade, "_vacuum", lambda db: whole(FullDisk(db)))  # type: ignore[arg-type]
    before = path.stat().st_size
    assert_moved(path, 40)
    assert path.stat().st_size <= before * 1.1
    free = sql(path, "PRAGMA freelist_count")
    assert free * 4096 > before / 2
    with Memory.open(str(path), embedder="none", background=False) as memory:
        for number in range(50):
            memory.remember(f"the {number}th thing", scope="user:ann")
    assert sql(path, "PRAGMA freelist_count") < free
    assert path.stat().st_size <= before * 1.1


class FullDisk:
    """A connection on a disk that has no room for a copy of the file."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def __getattr__(self, name: str) -> Any:
        return getattr(self._db, name)

    def execute(self, text: str) -> Any:
        if text == "VACUUM":
            raise apsw.FullError("database or disk is full")
        return self._db.execute(text)


@pytest.mark.proof
def test_X8_100_000_records_killed_again_and_again_in_the_middle(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    make_old_file(path, records=100_000, leases=100_000)
    before = path.stat().st_size
    dice, kills = random.Random(1), 0
    while True:
        command = [sys.executable, "-c", BEGUN, str(path)]
        child = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE)
        assert child.stdout
        assert child.stdout.readline() == b"begun\n"
        try:  # longer each time, so that the last step, which is one, ends some day
            assert child.wait(timeout=dice.uniform(0.02, 0.2) * (1 + kills / 4)) == 0
            break
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
            kills += 1
            assert kills < 200, "it gets nowhere"
        finally:
            child.stdout.close()
    assert kills > 2
    assert_moved(path, 100_000)
    print(f"killed {kills} times; {before:,} bytes before, {path.stat().st_size:,} now")
    assert path.stat().st_size < before * 0.75
