"""The database searches by itself, and knows how much it looks at: what it has counted once holds
until something changes."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace

import pytest

from standfast.stores.dict import DictStore
from standfast.stores.postgres import PostgresStore
from standfast.stores.postgres.sizes import ScopeSize, ScopeSizes
from standfast.testing.values import ROOT, make_batch, make_record, make_search, moment, unit
from standfast.types import Batch, Erase, Record, Search, Vector
from tests import postgres

DIMENSIONS = 8
SPACE = f"test/{DIMENSIONS}"
BELOW = f"{ROOT}:agent:a"


@pytest.fixture
def address() -> Iterator[str]:
    with postgres.database() as address:
        yield address


async def _both(address: str, work: Callable[[PostgresStore, DictStore], Awaitable[None]]) -> None:
    store = await PostgresStore.open(address)
    store._place.native_above = -1  # there is always more than that
    try:
        await work(store, DictStore())
    finally:
        await store.close()


async def _written(stores: Sequence[PostgresStore | DictStore], batch: Batch) -> None:
    for store in stores:
        await store.commit(batch)


async def _compare(store: PostgresStore, reference: DictStore, asked: Search) -> None:
    """The same scores to the last digits: so they counted the same."""
    right = {hit.record.id: hit for hit in await reference.search(asked)}
    found = {hit.record.id: hit for hit in await store.search(asked)}
    assert right
    assert found.keys() == right.keys()
    for id_, hit in found.items():
        assert hit.keyword == pytest.approx(right[id_].keyword, abs=1e-9)


def test_L1_what_the_database_counted_follows_every_change(address: str) -> None:
    async def work(store: PostgresStore, reference: DictStore) -> None:
        both = (store, reference)
        asked = make_search(BELOW, text="apples pears", limit=50)
        first = [
            make_record("r1", "apples and pears"),
            make_record("r2", "only pears", BELOW),
            make_record("r3", "apples for an hour", BELOW, expires_at=moment(60)),
        ]
        await _written(both, make_batch(*first))
        await _compare(store, reference, asked)
        await _written(both, make_batch(make_record("r4", "apples apples apples", BELOW)))
        await _compare(store, reference, asked)
        later = make_search(BELOW, text="apples pears", limit=50, now=moment(61))
        await _compare(store, reference, later)
        await _compare(store, reference, asked)  # and an hour before that
        gone = Erase(kind="record", scope=BELOW, id="r4")
        await _written(both, make_batch(gone, root=ROOT))
        await _compare(store, reference, asked)

    asyncio.run(_both(address, work))


def test_L1_lifts_come_from_a_sample_where_there_is_much(address: str) -> None:
    chance = random.Random(3)

    def some(scope: str, start: int, end: int) -> Batch:
        records, vectors = list[Record](), dict[str, Vector]()
        for number in range(start, end):
            records.append(make_record(f"r{number:04}", f"word{number % 50}", scope))
            vectors[f"r{number:04}"] = unit(*(chance.gauss(0.5, 1) for _ in range(DIMENSIONS)))
        return make_batch(*records, vectors=vectors, space=SPACE)

    async def work(store: PostgresStore, reference: DictStore) -> None:
        for scope, start, end in ((ROOT, 0, 450), (BELOW, 450, 600)):
            await _written((store, reference), some(scope, start, end))
        vector = unit(*(chance.gauss(0.5, 1) for _ in range(DIMENSIONS)))
        asked = make_search(BELOW, text="word7", vector=vector, space=SPACE, limit=10)
        right = {hit.record.id: hit for hit in await reference.search(asked)}
        found = {hit.record.id: hit for hit in await store.search(asked)}
        assert found.keys() == right.keys()
        for id_, hit in found.items():
            assert hit.similarity == pytest.approx(right[id_].similarity, abs=1e-6)
            assert hit.lift == pytest.approx(right[id_].lift, abs=0.6)

    asyncio.run(_both(address, work))


def test_L1_places_of_a_sample_lie_everywhere() -> None:
    sizes = {"a": ScopeSize(900, 1, 1, 1800), "b": ScopeSize(100, 1, 101, 200)}
    places = ScopeSizes(sizes, 1000, 2).places(200)
    assert len(places) == len(set(places)) == 200
    assert sum(scope == "a" for scope, _ in places) == 180
    assert all(sizes[scope].first <= key <= sizes[scope].last for scope, key in places)
    assert len({key // 180 for scope, key in places if scope == "a"}) == 10


def test_L1_a_row_that_was_checked_is_checked_again_when_it_changed(address: str) -> None:
    """What a caller writes into an answer, and what is forgotten, is in no later one."""

    async def work(store: PostgresStore, _: DictStore) -> None:
        record = make_record("r1", "apples", data={"a": [1]})
        await store.commit(make_batch(record, make_record("r2", "apples and pears")))
        asked = make_search(text="apples", limit=10)
        first, second = [await store.search(asked) for _ in range(2)]
        assert [hit.record for hit in first] == [hit.record for hit in second]
        kept = store._native._rows.read.cache_info()
        assert (kept.hits, kept.currsize) == (2, 2)
        next(hit for hit in second if hit.record.id == "r1").record.data["a"].append(2)
        [found] = [hit.record for hit in await store.search(asked) if hit.record.id == "r1"]
        assert found.data == {"a": [1]}
        await store.commit(make_batch(replace(found, importance=0.9)))
        [found] = [hit.record for hit in await store.search(asked) if hit.record.id == "r1"]
        assert found.importance == 0.9
        await store.commit(make_batch(Erase(kind="record", scope=ROOT, id="r1"), root=ROOT))
        assert store._native._rows.read.cache_info().currsize == 0
        assert [hit.record.id for hit in await store.search(asked)] == ["r2"]

    asyncio.run(_both(address, work))
