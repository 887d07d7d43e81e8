"""Search indexes kept in the file: the same answers with and without them, whatever becomes of
them, and nothing of what was erased."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest

from standfast import Memory
from standfast.index.derived import hash_of, quantised
from standfast.stores.sqlite import SqliteStore, snapshots
from standfast.stores.sqlite.backup import backup
from standfast.stores.sqlite.cipher import CAN_ENCRYPT, NEEDED, set_key
from standfast.stores.sqlite.doctor import check, rebuild
from standfast.testing.values import (
    ROOT,
    make_batch,
    make_query,
    make_record,
    make_search,
    moment,
    put,
)
from standfast.types import Erase, Record

SPACE = "s"
DIMENSIONS = 16
WORDS = "amber birch cedar delta ember fjord grove heath inlet juniper kelp larch moss".split()
KEY = b"k" * 32


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that few rows have many parts."""
    monkeypatch.setattr(snapshots, "ROWS_LEAST", 1)
    monkeypatch.setattr(snapshots, "GROWN_LEAST", 10)
    monkeypatch.setattr(snapshots, "BEHIND_MAX", 1)
    monkeypatch.setattr(snapshots, "ROWS_MAX", 7)
    monkeypatch.setattr(snapshots, "VECTORS_MAX", 5)


def vector_of(number: int) -> bytes:
    numbers = np.random.default_rng(number).standard_normal(DIMENSIONS)
    return (numbers / np.linalg.norm(numbers)).astype("<f4").tobytes()


def record_of(number: int) -> Record:
    """Every third a turn of one of two sessions; some have tags, some run out."""
    chance = random.Random(number)
    id_ = f"r{number:04}" + ("x" * 60 if number == 11 else "")
    text = " ".join(chance.choices(WORDS, k=chance.randint(2, 9))) + f" number{number}"
    turn = {"type_": "turn", "session": f"chat{number % 2}", "session_scope": ROOT}
    return make_record(
        id_,
        text,
        **(turn if number % 3 == 0 else {}),
        author=chance.choice(["", "ann", "bob"]),
        tags=(chance.choice(WORDS),) if number % 4 == 0 else (),
        importance=chance.random(),
        learned_at=moment(number % 17),
        expires_at=moment(1000 + number) if number % 5 == 0 else None,
    )


async def fill(store: SqliteStore, first: int, end: int) -> None:
    numbers = range(first, end)
    records = [record_of(number) for number in numbers]
    vectors = {
        one.id: vector_of(number)
        for one, number in zip(records, numbers, strict=True)
        if number % 7
    }
    await put(store, *records, vectors=vectors, space=SPACE)


async def answers(store: SqliteStore) -> list[Any]:
    """To the last digit: by words, by meaning, by both with what stands around, by columns."""
    asked = [
        make_search(text="amber fjord", limit=9),
        make_search(text="number11 moss", vector=vector_of(3), space=SPACE, around=True, limit=9),
        make_search(vector=vector_of(900), space=SPACE, limit=9, now=moment(1020)),
        make_search(text="heath kelp", tags=("larch", "moss"), limit=9),
        make_search(text="grove", authors=("ann",), limit=9),
    ]
    hits = [[(replace(hit, record=hit.record), hit.record.id) for hit in await store.search(one)]
            for one in asked]  # fmt: skip
    listed = await store.listing(make_query(order="important", limit=20))
    return [*hits, [one.id for one in listed]]


def run_on(path: Path, *steps: Callable[[SqliteStore], Awaitable[Any]]) -> list[Any]:
    """Each step in a store of its own, as in a process of its own."""

    async def run() -> list[Any]:
        done = []
        for step in steps:
            store = await SqliteStore.open(path)
            try:
                done.append(await step(store))
            finally:
                await store.close()
        return done

    return asyncio.run(run())


async def saved(store: SqliteStore) -> list[Any]:
    found = await answers(store)
    await store.save_indexes()
    return found


@contextmanager
def opened(path: Path):
    db = apsw.Connection(str(path))
    db.execute("PRAGMA secure_delete = ON")
    try:
        yield db
    finally:
        db.close()


def parts_in(path: Path) -> int:
    with opened(path) as db:
        return int(db.execute("SELECT count(*) FROM snapshot").get)


def without(path: Path) -> list[Any]:
    """The answers of the rows."""
    with opened(path) as db:
        db.execute("DELETE FROM snapshot")
    return run_on(path, answers)[0]


async def built_rows(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many rows the first answers are made of that no part had."""
    read: list[int] = []
    select = snapshots.select

    def counted(db: apsw.Connection, sql: str, *bindings: Any) -> list[tuple[Any, ...]]:
        rows = select(db, sql, *bindings)
        read.append(len(rows) if "terms" in sql else 0)
        return rows

    with monkeypatch.context() as patch:
        patch.setattr("standfast.stores.sqlite.feed.select", counted)
        await answers(store)
    return sum(read)


@pytest.mark.parametrize("seed", range(4))
def test_O1_the_answers_are_those_of_the_rows_after_any_history(tmp_path: Path, seed: int) -> None:
    path, chance = tmp_path / "memory.db", random.Random(seed)

    async def live(store: SqliteStore) -> None:
        made, alive = 0, []
        for step in range(14):
            what = chance.choice(["more", "more", "change", "erase", "save"]) if step else "more"
            if what == "more":
                count = chance.randint(1, 12)
                await fill(store, made, made + count)
                alive += range(made, made + count)
                made += count
            elif what == "change":
                some = chance.sample(alive, min(3, len(alive)))
                changed = [
                    replace(one, importance=0.9, tags=("moss",))
                    for one in await store.records(
                        None, [record_of(number).id for number in some], now=moment(0)
                    )
                ]
                await put(store, *changed, vectors={changed[0].id: vector_of(step)}, space=SPACE)
            elif what == "erase" and len(alive) > 3:
                gone = alive.pop(chance.randrange(len(alive)))
                await store.commit(
                    make_batch(Erase(kind="record", id=record_of(gone).id, scope=ROOT))
                )
            else:
                await saved(store)

    run_on(path, live, saved)
    first, again = run_on(path, answers, answers)
    assert parts_in(path) > 2
    assert first == again == without(path)


def test_Q5_a_new_process_builds_nothing_that_was_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "memory.db"

    async def read(store: SqliteStore) -> int:
        return await built_rows(store, monkeypatch)

    (_, before) = run_on(path, lambda store: fill(store, 0, 60), read)
    _, after = run_on(path, saved, read)
    assert (before, after) == (60, 0)
    _, few = run_on(path, lambda store: fill(store, 60, 64), read)
    assert few == 0, "what came behind it is read as changes, not as a gap"
    assert run_on(path, answers)[0] == without(path)


def test_Q5_who_has_written_much_saves_what_others_would_have_to_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "memory.db"

    async def read(store: SqliteStore) -> int:
        return await built_rows(store, monkeypatch)

    async def written(store: SqliteStore) -> None:
        await fill(store, 0, 60)
        await store.save_indexes()
        assert store._cache.scopes() == [], "it drives nothing out that is searched"

    _, built = run_on(path, written, read)
    assert built == 0

    async def more(store: SqliteStore) -> None:
        await answers(store)
        await fill(store, 60, 90)  # the index in memory does not know of these
        await store.save_indexes()

    _, built = run_on(path, more, read)
    assert built == 0
    with opened(path) as db:
        ((rows,),) = db.execute("SELECT sum(rows) FROM snapshot WHERE part = ''")
    assert rows == 90
    assert run_on(path, answers)[0] == without(path)


def test_Q5_a_few_writes_and_a_process_without_time_save_nothing(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"

    async def hurried(store: SqliteStore) -> None:
        await fill(store, 0, 60)
        await store.save_indexes(seconds=0.0)

    async def few(store: SqliteStore) -> None:
        await fill(store, 60, 65)
        await store.save_indexes()

    run_on(path, hurried, few)
    assert parts_in(path) == 0


def test_only_what_changed_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    run_on(path, lambda store: fill(store, 0, 60), saved)

    def kept() -> set[int]:
        with opened(path) as db:
            return {pk for (pk,) in db.execute("SELECT pk FROM snapshot")}

    before = kept()
    run_on(path, lambda store: fill(store, 60, 80), saved)
    assert len(before & kept()) >= len(before) - 2, "the last part of each kind took more in"
    with opened(path) as db:
        stamps = [stamp for (stamp,) in db.execute("SELECT DISTINCT stamp FROM snapshot")]
    assert len(stamps) == 1, "those that stay are right as of now"


def test_X10_nothing_of_an_erased_record_stays_in_a_part(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    gone = record_of(31)
    traces = [
        hash_of("number31").to_bytes(8, "little"),
        quantised(vector_of(31))[4:],
        gone.id.encode(),
    ]

    def held() -> list[bool]:
        files = [file.read_bytes() for file in tmp_path.iterdir()]
        return [any(trace in file for file in files) for trace in traces]

    run_on(path, lambda store: fill(store, 0, 60), saved)
    count = parts_in(path)
    with opened(path) as db:  # the parts do hold it
        bodies = [body for (body,) in db.execute("SELECT body FROM snapshot")]
    assert all(any(trace in body for body in bodies) for trace in traces)

    async def forget(store: SqliteStore) -> None:
        await store.commit(make_batch(Erase(kind="record", id=gone.id, scope=ROOT)))
        assert await store.scrub()
        assert held()[:2] == [False, False]

    run_on(path, forget)
    assert held()[:2] == [False, False]
    assert 0 < parts_in(path) < count, "only the parts that told of it are gone"
    run_on(path, saved)
    assert held()[:2] == [False, False]
    assert run_on(path, answers)[0] == without(path)


def test_X10_a_trigger_does_it_and_its_absence_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    run_on(path, lambda store: fill(store, 0, 60), saved)
    with opened(path) as db:
        db.execute("DROP TRIGGER record_erased")

    async def forget(store: SqliteStore) -> None:
        await store.commit(make_batch(Erase(kind="record", id=record_of(31).id, scope=ROOT)))
        await store.scrub()

    run_on(path, forget)
    assert hash_of("number31").to_bytes(8, "little") in path.read_bytes()


def test_X10_an_index_that_lags_behind_an_erasure_is_not_saved(tmp_path: Path) -> None:
    """What another process erased since must not come back by what this one still holds."""
    path = tmp_path / "memory.db"

    async def run() -> None:
        one, other = await SqliteStore.open(path), await SqliteStore.open(path)
        try:
            await fill(one, 0, 40)
            await answers(one)
            await other.commit(make_batch(Erase(kind="record", id=record_of(31).id, scope=ROOT)))
            await one.save_indexes()
        finally:
            await one.close()
            await other.close()

    asyncio.run(run())
    assert hash_of("number31").to_bytes(8, "little") not in path.read_bytes()
    assert run_on(path, saved)[0] == without(path)


DAMAGE = {
    "a bit of a body": "UPDATE snapshot SET body = CAST(substr(body, 1, length(body) - 20) || x'07'"
    " || substr(body, length(body) - 18) AS BLOB) WHERE pk % 2",
    "a missing part": "DELETE FROM snapshot WHERE pk % 3 = 1",
    "the first part": "DELETE FROM snapshot WHERE first = (SELECT min(first) FROM snapshot)",
    "the last parts": "DELETE FROM snapshot WHERE last = (SELECT max(last) FROM snapshot)",
    "another form": "UPDATE snapshot SET form = form - 1 WHERE pk % 2",
    "a future stamp": "UPDATE snapshot SET stamp = stamp + 1000",
    "an older stamp": "UPDATE snapshot SET stamp = stamp - 1 WHERE pk % 2",
    "other keys": "UPDATE snapshot SET last = last - 1",
    "another scope's": "UPDATE snapshot SET part = 's' WHERE part = ''",
    "an empty body": "UPDATE snapshot SET body = x''",
}


@pytest.mark.parametrize("sql", DAMAGE.values(), ids=DAMAGE)
def test_X18_a_part_that_does_not_fit_is_passed_over(tmp_path: Path, sql: str) -> None:
    path = tmp_path / "memory.db"
    run_on(path, lambda store: fill(store, 0, 50), saved)
    with opened(path) as db:
        db.execute(sql)
        assert db.changes()
    (found,) = run_on(path, answers)
    assert check(path).is_sound
    assert found == without(path)


def test_whoever_makes_the_index_anew_drops_it(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    run_on(path, lambda store: fill(store, 0, 30), saved)
    rebuild(path)
    assert parts_in(path) == 0
    run_on(path, saved, lambda store: store.commit(make_batch(root=ROOT, drop_space=SPACE)))
    assert parts_in(path) == 0


@pytest.mark.skipif(not CAN_ENCRYPT, reason=NEEDED)
def test_X1_an_encrypted_file_encrypts_it_too(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    set_key(path, KEY)
    try:
        _, before, after = run_on(path, lambda store: fill(store, 0, 40), saved, answers)
        assert before == after
        content = path.read_bytes()
        assert hash_of("number31").to_bytes(8, "little") not in content
        assert quantised(vector_of(31))[4:] not in content
    finally:
        set_key(path, None)


def test_X2_a_backup_leaves_it_out(tmp_path: Path) -> None:
    path, copy = tmp_path / "memory.db", tmp_path / "copy.db"
    run_on(path, lambda store: fill(store, 0, 40), saved)
    (before,) = run_on(path, answers)
    assert backup(path, copy).is_sound
    assert (parts_in(copy), parts_in(path) > 0) == (0, True)
    assert run_on(copy, answers)[0] == before


def test_Q5_upkeep_writes_it_when_a_memory_is_closed_and_no_verb_does(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    for background, parts in ((False, 0), (True, 2)):
        with Memory.open(path, embedder="hashing", background=background) as memory:
            memory.remember("the ferry leaves at nine", scope="user:ann")
            assert memory.recall("when does the ferry leave?", scope="user:ann").hits
            assert parts_in(path) == 0
        assert parts_in(path) == parts


def test_X13_who_ends_leaves_what_takes_long_to_another(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"

    async def end(store: SqliteStore) -> None:
        await answers(store)
        await store.save_indexes(rows_max=2_000)

    run_on(path, lambda store: fill(store, 0, 2_200), end)
    assert parts_in(path) == 0
    run_on(path, saved)
    assert parts_in(path) > 0
