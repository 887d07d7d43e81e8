"""What a connection need not read twice: never at the price of an old answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

import apsw
import pytest

from standfast.index.search import READY_RECORDS_MAX, READY_ROWS_MAX
from standfast.stores import rows
from standfast.stores.sqlite import SqliteStore, feed, seen
from standfast.stores.sqlite.feed import LITTLE
from standfast.testing.values import (
    NOW,
    ROOT,
    make_record,
    make_relation,
    make_search,
    put,
    unit,
)
from standfast.types import Erase, Hit, Listing

TEA = make_search(text="tea", vector=unit(1.0, 0.0), space="s")
Checks = list[str]


def on_a_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    @wraps(test)
    def plain(**given: Any) -> None:
        asyncio.run(test(**given))

    return plain


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> Checks:
    """The ids of records whose checksums were compared."""
    found: Checks = []

    def counted(row: Any) -> bool:
        found.append(row[1])
        return rows.is_sound(row)

    monkeypatch.setattr(feed, "is_sound", counted)
    return found


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


async def filled(file: Path) -> SqliteStore:
    store = await SqliteStore.open(file)
    one, two = make_record("one", text="green tea"), make_record("two", text="black tea")
    vectors = {"one": unit(1.0, 0.0), "two": unit(0.6, 0.8)}
    await put(store, one, two, vectors=vectors, space="s")
    return store


def told(hits: list[Hit]) -> dict[str, tuple[str, float | None, int]]:
    return {hit.record.id: (hit.record.text, hit.similarity, hit.record.uses) for hit in hits}


@on_a_loop
async def test_what_nobody_changed_is_neither_read_nor_checked_again(
    file: Path, checks: Checks
) -> None:
    store = await filled(file)
    first = await store.search(TEA)
    assert len(checks) == 2
    for _ in range(2):  # on this thread, which has its own connection
        assert await store.search(TEA) == first
    assert len(checks) == 2
    await store.close()


@on_a_loop
async def test_a_change_by_another_process_is_seen_and_only_that_is_checked(
    file: Path, checks: Checks
) -> None:
    store = await filled(file)
    for _ in range(2):
        await store.search(TEA)
    other = await SqliteStore.open(file)
    [two] = await other.records(ROOT, ["two"], now=NOW)
    await put(other, replace(two, tags=("strong",), importance=0.9))
    await other.close()
    checks.clear()
    for _ in range(2):
        tags = {hit.record.id: hit.record.tags for hit in await store.search(TEA)}
        assert tags == {"one": (), "two": ("strong",)}
    assert set(checks) == {"two"}
    await store.close()


@on_a_loop
async def test_the_first_relation_is_seen_whoever_writes_it(file: Path) -> None:
    store = await filled(file)
    for _ in range(3):  # nothing is related so far, and that is kept in mind
        assert await store.relations(ROOT, ["one"]) == []
    other = await SqliteStore.open(file)
    await put(other, make_relation("one", "two"))
    await other.close()
    for _ in range(3):
        assert [edge.target for edge in await store.relations(ROOT, ["one"])] == ["two"]
    await put(store, erase=(Erase(kind="record", id="two"),), root=ROOT)
    assert await store.relations(ROOT, ["one"]) == []
    await store.close()


@on_a_loop
async def test_a_use_and_a_new_vector_are_seen(file: Path) -> None:
    store = await filled(file)
    for _ in range(2):
        await store.search(TEA)
    await put(store, used={"one": 3}, root=ROOT)
    assert told(await store.search(TEA))["one"] == ("green tea", 1.0, 3)
    await put(store, vectors={"one": unit(0.0, 1.0)}, space="s", root=ROOT)
    for _ in range(2):
        assert told(await store.search(TEA))["one"] == ("green tea", 0.0, 3)
    await put(store, drop_space="s", root=ROOT)
    for _ in range(2):
        assert told(await store.search(TEA))["one"] == ("green tea", None, 3)
    await store.close()


@on_a_loop
async def test_the_erased_is_let_go_of_at_once(file: Path) -> None:
    store = await filled(file)
    for _ in range(2):
        await store.search(TEA)
    await put(store, erase=(Erase(kind="record", id="one"),), root=ROOT)
    assert store._seen.sizes() == (0, 0)
    for _ in range(2):
        assert set(told(await store.search(TEA))) == {"two"}
    await store.close()


@pytest.mark.parametrize("column", ["text", "author", "uses"])
@on_a_loop
async def test_X1_a_row_changed_behind_our_back_is_noticed_though_it_was_read_before(
    file: Path, checks: Checks, column: str
) -> None:
    store = await filled(file)
    for _ in range(3):
        await store.search(TEA)
    checks.clear()
    db = apsw.Connection(str(file))
    db.execute(f"UPDATE record SET {column} = ? WHERE id = 'one'", ("7",))
    db.close()
    found = told(await store.search(TEA))
    assert checks == ["one"]
    if column == "uses":  # which no checksum tells of
        assert found["one"] == ("green tea", 1.0, 7)
    else:
        assert set(found) == {"two"}
    await store.close()


@on_a_loop
async def test_what_a_caller_does_to_a_record_reaches_nobody_else(file: Path) -> None:
    store = await SqliteStore.open(file)
    given: dict[str, Any] = {"parts": [1, 2], "of": {"a": "b"}}
    await put(store, make_record("one", text="tea", data=given), make_record("two", text="tea too"))
    for _ in range(4):
        found = {hit.record.id: hit.record for hit in await store.search(make_search(text="tea"))}
        assert (found["one"].data, found["two"].data) == (given, {})
        data: Any = found["one"].data
        data["parts"].append(3)
        data["of"]["a"] = "c"
        written: Any = found["two"].data
        written["planted"] = True
    await store.close()


@on_a_loop
async def test_what_is_kept_has_a_bound(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seen, "RECORDS_BYTES_MAX", 20_000)
    store = await SqliteStore.open(file)
    await put(store, *(make_record(f"r{n}", text=f"tea {n} " + "x" * 900) for n in range(20)))
    for _ in range(3):
        assert len(await store.search(make_search(text="tea"))) == 20
    held, size = store._seen.sizes()
    assert 0 < held < 20
    assert 3900 * held <= size <= 20_000
    await store.close()


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Where searches went to another thread."""
    found: list[str] = []
    away = SqliteStore._read_at_once

    async def counted(self: SqliteStore, read: Any) -> Any:
        found.append("away")
        return await away(self, read)

    monkeypatch.setattr(SqliteStore, "_read_at_once", counted)
    return found


@on_a_loop
async def test_a_small_search_stays_on_its_thread_once_the_index_is_there(
    file: Path, threads: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await filled(file)
    await store.search(TEA)
    assert len(threads) == 1, "the index is loaded elsewhere"
    await store.search(TEA)
    assert len(threads) == 1
    await put(store, make_record("three", text="white tea"))
    found = await store.search(TEA)
    assert "three" in {hit.record.id for hit in found}
    assert len(threads) == 1, "a little that came later is taken in at once"
    await put(store, *(make_record(f"n{n}", text=f"tea {n}") for n in range(LITTLE + 1)))
    assert len(await store.search(TEA)) == len(found) + LITTLE + 1
    assert len(threads) == 2, "and more of it elsewhere"
    assert READY_ROWS_MAX > 1000
    monkeypatch.setattr("standfast.index.search.READY_ROWS_MAX", 2)
    await store.search(TEA)
    assert len(threads) == 3, "a large one takes too long for it"
    await store.close()


@on_a_loop
async def test_a_listing_of_little_stays_on_its_thread_too(file: Path, threads: list[str]) -> None:
    store = await filled(file)
    tagged = Listing(where=replace(TEA.where, tags=("hot",)), limit=10)
    assert await store.listing(tagged) == []
    assert len(threads) == 1
    await put(store, make_record("three", text="white tea", tags=("hot",)))
    assert [one.id for one in await store.listing(tagged)] == ["three"]
    assert len(threads) == 1
    await store.listing(replace(tagged, limit=READY_RECORDS_MAX + 1))
    assert len(threads) == 2, "many records take too long to decode"
    await store.close()
