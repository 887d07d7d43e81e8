"""The writer: groups, failures of the disk, several processes, sudden death."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import apsw
import pytest

from standfast.errors import Conflict, Invalid, Unavailable
from standfast.stores.sqlite import SqliteStore, writer
from standfast.testing.values import (
    NOW,
    ROOT,
    found_ids,
    make_batch,
    make_message,
    make_record,
    make_search,
    put,
)
from standfast.types import Erase


def child(code: str, *arguments: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,  # what readline() took in advance, communicate() would not see
    )


WRITE_MANY = """
import asyncio, sys
from standfast.stores.sqlite import SqliteStore
from standfast.testing.values import make_batch, make_message, make_record

async def main(path, name, count):
    store = await SqliteStore.open(path)
    for number in range(int(count)):
        id_ = f"{name}-{number}"
        await store.commit(make_batch(make_record(id_), make_message(id_), id=id_))
        print(id_, flush=True)
    await store.close()

asyncio.run(main(*sys.argv[1:]))
"""


def test_X2_processes_on_one_file_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    children = [child(WRITE_MANY, path, f"p{number}", 25) for number in range(4)]
    for one in children:
        _, errors = one.communicate(timeout=120)
        assert one.returncode == 0, errors.decode()

    async def check() -> None:
        store = await SqliteStore.open(path)
        entries = await store.journal(ROOT, limit=1000)
        assert [entry.seq for entry in entries] == list(range(1, 101))
        assert len(await found_ids(store)) == 100
        [session] = await store.sessions(ROOT)
        assert session.last_seq == 100
        await store.close()

    asyncio.run(check())


def test_X2_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    acknowledged: list[str] = []
    for round_ in range(4):
        writing = child(WRITE_MANY, path, f"r{round_}", 10_000)
        assert writing.stdout is not None
        acknowledged.append(writing.stdout.readline().decode().strip())
        time.sleep(0.05 * round_)
        os.kill(writing.pid, signal.SIGKILL)
        out, _ = writing.communicate()
        acknowledged += out.decode().split("\n")[:-1]

    async def check() -> None:
        store = await SqliteStore.open(path)
        entries = await store.journal(ROOT, limit=100_000)
        written = [entry.batch for entry in entries]
        assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
        assert len(set(written)) == len(written)
        assert set(acknowledged) <= set(written)
        assert len(written) <= len(acknowledged) + 4  # at most one more in each round
        await store.close()

    asyncio.run(check())


def test_X2_a_store_sees_what_another_one_wrote_and_erased(tmp_path: Path) -> None:
    async def run() -> None:
        one = await SqliteStore.open(tmp_path / "memory.db")
        other = await SqliteStore.open(tmp_path / "memory.db")
        await put(one, make_record("a", "blue whale"), make_record("b", "white whale"))
        assert await found_ids(other, text="whale") == ["a", "b"]
        await put(one, make_record("a", "blue whale", version=1, status="archived"))
        assert await found_ids(other, text="whale") == ["b"]
        await put(one, Erase(kind="record", id="b"), make_record("c", "grey whale"))
        assert await found_ids(other, text="whale") == ["c"]
        query = make_search(text="whale")
        assert await other.search(query) == await one.search(query)
        await one.close()
        await other.close()

    asyncio.run(run())


def test_a_conflict_in_a_group_fails_only_its_own_batch(tmp_path: Path) -> None:
    async def run() -> None:
        store = await SqliteStore.open(tmp_path / "memory.db")
        await put(store, make_record("taken"))
        batches = [make_batch(make_record(f"r{number}")) for number in range(20)]
        batches.insert(5, make_batch(make_record("half"), make_record("taken")))
        batches.insert(9, make_batch(make_record("bad", importance=float("nan"))))
        answers = await asyncio.gather(*map(store.commit, batches), return_exceptions=True)
        assert isinstance(answers.pop(9), Invalid)
        assert isinstance(answers.pop(5), Conflict)
        assert answers == list(range(2, 22))
        assert "half" not in await found_ids(store)
        await store.close()

    asyncio.run(run())


def test_what_fails_half_written_in_a_group_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = writer.write

    def write_or_fail(db: Any, prepared: Any, changes: Any, keys: Any) -> None:
        write(db, prepared, changes, keys)
        if prepared.batch.id == "bad":
            raise apsw.ConstraintError("as if a row did not fit")

    async def run() -> None:
        monkeypatch.setattr(writer, "write", write_or_fail)
        store = await SqliteStore.open(tmp_path / "memory.db")
        good, bad, twin = await asyncio.gather(
            store.commit(make_batch(make_record("a"), id="good")),
            store.commit(make_batch(make_record("b"), id="bad")),
            store.commit(make_batch(make_record("b"), id="twin")),  # would be one of two
            return_exceptions=True,
        )
        assert (good, twin) == (1, 2)
        assert isinstance(bad, Invalid)
        assert await found_ids(store) == ["a", "b"]
        assert [entry.batch for entry in await store.journal(ROOT)] == ["good", "twin"]
        await store.close()

    asyncio.run(run())


def test_commits_that_wait_share_a_transaction(tmp_path: Path) -> None:
    async def transactions(group_max: int) -> int:
        store = await SqliteStore.open(tmp_path / f"{group_max}.db", group_max=group_max)
        await put(store, make_record("first"))
        commits: list[int] = []
        done = store._writer.run(lambda db: db.set_commit_hook(lambda: bool(commits.append(1))))
        await asyncio.wrap_future(done)
        batches = [make_batch(make_record(f"r{number}")) for number in range(64)]
        await asyncio.gather(*map(store.commit, batches))
        await store.close()
        return len(commits)

    assert asyncio.run(transactions(1)) == 64
    assert asyncio.run(transactions(256)) < 32


def test_whoever_stops_waiting_does_not_stop_the_commit(tmp_path: Path) -> None:
    async def run() -> None:
        store = await SqliteStore.open(tmp_path / "memory.db")
        task = asyncio.create_task(put(store, make_record("a")))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await put(store, make_record("b"))
        assert [entry.touched[0].id for entry in await store.journal(ROOT)] == ["a", "b"]
        await store.close()

    asyncio.run(run())


def test_a_loop_that_ended_holds_nobody_up(tmp_path: Path) -> None:
    first = asyncio.new_event_loop()
    store = first.run_until_complete(SqliteStore.open(tmp_path / "memory.db"))

    async def give_and_leave() -> None:
        store._writer.commit(make_batch(make_record("left behind")))

    first.run_until_complete(give_and_leave())
    first.close()

    async def go_on() -> list[str]:
        await asyncio.wait_for(put(store, make_record("after")), 10)
        await store.close()
        again = await SqliteStore.open(tmp_path / "memory.db")
        found = await found_ids(again)
        await again.close()
        return found

    assert set(asyncio.run(go_on())) >= {"after"}


def test_close_finishes_what_was_given(tmp_path: Path) -> None:
    async def run() -> None:
        path = tmp_path / "memory.db"
        store = await SqliteStore.open(path)
        tasks = [asyncio.create_task(put(store, make_record(f"r{n}"))) for n in range(50)]
        await asyncio.sleep(0)
        await store.close()
        assert await asyncio.gather(*tasks) == list(range(1, 51))
        store = await SqliteStore.open(path)
        assert len(await found_ids(store)) == 50
        await store.close()

    asyncio.run(run())


def test_a_full_disk_loses_nothing_and_later_commits_work(tmp_path: Path) -> None:
    async def run() -> None:
        store = await SqliteStore.open(tmp_path / "memory.db")
        await put(store, make_record("a"))

        def fill(db: apsw.Connection) -> None:
            db.pragma("max_page_count", db.pragma("page_count") + 2)

        await asyncio.wrap_future(store._writer.run(fill))
        large = make_batch(make_record("b", "word " * 50_000), id="large")
        with pytest.raises(Unavailable, match="no space left") as failure:
            await store.commit(large)
        assert not failure.value.outcome_unknown
        assert await found_ids(store) == ["a"]
        # The failed connection was given up, and its limit with it: there is space again.
        assert await store.commit(large) == 2
        assert await found_ids(store) == ["a", "b"]
        await store.close()

    asyncio.run(run())


FAILING_SYNC = """
import asyncio, sys
import apsw
from standfast.errors import Unavailable
from standfast.stores.sqlite import SqliteStore
from standfast.testing.values import found_ids, make_batch, make_record

failing = False

class File(apsw.VFSFile):
    def xSync(self, flags):
        if failing:
            raise apsw.IOError("no sync today")
        return super().xSync(flags)

class Disk(apsw.VFS):
    def __init__(self):
        super().__init__("failing", "unix", makedefault=True)
    def xOpen(self, name, flags):
        return File("unix", name, flags)

async def main(path):
    global failing
    store = await SqliteStore.open(path)
    await store.commit(make_batch(make_record("a")))
    failing = True
    batch = make_batch(make_record("b"), id="once")
    try:
        await store.commit(batch)
    except Unavailable as error:
        assert error.outcome_unknown, error
    else:
        raise AssertionError("the sync did not fail")
    failing = False
    assert await store.commit(batch) == 2
    assert await store.commit(batch) == 2
    assert await found_ids(store) == ["a", "b"]
    await store.close()

disk = Disk()
asyncio.run(main(sys.argv[1]))
"""


def test_a_failed_sync_says_that_the_outcome_is_unknown(tmp_path: Path) -> None:
    one = child(FAILING_SYNC, tmp_path / "memory.db")
    _, errors = one.communicate(timeout=60)
    assert one.returncode == 0, errors.decode()


@pytest.mark.parametrize(
    "record",
    [
        make_record("a", "half a character: \ud800"),
        make_record("nul\x00"),
        make_record("a", tags=("\udfff",)),
        make_record("a", trust=2**70),
        make_record("a", type_="fact", kind="unknown"),
        make_record("a", learned_at=NOW.replace(tzinfo=None)),
        make_record("a", data={"a": object()}),
    ],
    ids=["surrogate", "nul", "tag", "number", "kind", "naive", "data"],
)
def test_what_cannot_be_stored_is_invalid(tmp_path: Path, record) -> None:
    async def run() -> None:
        store = await SqliteStore.open(tmp_path / "memory.db")
        with pytest.raises(Invalid):
            await store.commit(make_batch(make_message("m"), record))
        assert await store.roots() == []
        await put(store, make_record("fine"))
        await store.close()

    asyncio.run(run())


def test_a_journal_that_waits_hears_of_another_process(tmp_path: Path) -> None:
    async def run() -> None:
        store = await SqliteStore.open(tmp_path / "memory.db")
        waiting = asyncio.create_task(store.journal(ROOT, wait=30))
        one = child(WRITE_MANY, tmp_path / "memory.db", "other", 1)
        [entry] = await waiting
        assert entry.batch == "other-0"
        one.communicate(timeout=30)
        await store.close()

    asyncio.run(run())


@pytest.mark.parametrize("field", ["importance", "confidence"])
def test_zero_is_zero_whatever_its_sign(tmp_path: Path, field: str) -> None:
    """The file keeps one of both, and a record has to be read as it was sealed."""

    async def main() -> None:
        store = await SqliteStore.open(tmp_path / "memory.db")
        await put(store, make_record("a", **{field: -0.0}))
        (found,) = await store.records(ROOT, ["a"], now=NOW)
        assert getattr(found, field) == 0.0
        await store.close()

    asyncio.run(main())
