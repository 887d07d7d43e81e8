"""Commits of several roots that wait together share a transaction, and nobody notices."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import psycopg
import pytest

from standfast.errors import Conflict
from standfast.stores.postgres import PostgresStore
from standfast.testing.values import NOW, make_batch, make_record, unit
from standfast.types import Batch
from tests import postgres

ROOTS = [f"user:u{number}" for number in range(12)]


@pytest.fixture
def address() -> Iterator[str]:
    with postgres.database() as address:
        yield address


def _batches(name: str) -> list[Batch]:
    """One of each root."""
    batches = []
    for root in ROOTS:
        record = make_record(f"{name}-{root}", f"{name} of {root}", root)
        vectors = {record.id: unit(1, 2, 3)}
        batches.append(make_batch(record, vectors=vectors, space="test/3"))
    return batches


async def _together(store: PostgresStore, batches: list[Batch]) -> list[int | BaseException]:
    commits = (store.commit(batch) for batch in batches)
    return await asyncio.gather(*commits, return_exceptions=True)


async def _texts(store: PostgresStore, root: str) -> set[str]:
    entries = await store.journal(root)
    ids = [touch.id for entry in entries for touch in entry.touched if touch.kind == "record"]
    return {record.text for record in await store.records(root, ids, now=NOW)}


def test_X2_commits_of_several_roots_share_a_transaction(address: str) -> None:
    async def work() -> None:
        store = await PostgresStore.open(address)
        assert await _together(store, _batches("first")) == [1] * len(ROOTS)
        before = store.trips
        assert await _together(store, _batches("second")) == [2] * len(ROOTS)
        assert store.trips - before < len(ROOTS)  # two each, if each went alone
        for root in ROOTS:
            assert await _texts(store, root) == {f"first of {root}", f"second of {root}"}
        again = await _together(store, _batches("third")[:1] * 3)
        assert again == [3, 3, 3]  # applied once
        await store.close()

    asyncio.run(work())


def test_X2_one_that_is_refused_harms_none_of_the_others(address: str) -> None:
    async def work() -> None:
        store = await PostgresStore.open(address)
        await _together(store, _batches("first"))
        batches = _batches("second")
        # A change of a record that has another version; and an id that two roots want at once.
        stale = make_record(f"first-{ROOTS[3]}", f"first of {ROOTS[3]}", ROOTS[3], version=7)
        batches[3] = make_batch(stale)
        batches[8] = make_batch(make_record(f"second-{ROOTS[7]}", "mine, too", ROOTS[8]))
        answers = await _together(store, batches)
        assert isinstance(answers[3], Conflict)
        failed = [answer for answer in (answers[7], answers[8]) if isinstance(answer, Conflict)]
        assert len(failed) == 1
        others = [number for number in range(len(ROOTS)) if number not in (3, 7, 8)]
        assert [answers[number] for number in others] == [2] * len(others)
        for number in others:
            assert f"second of {ROOTS[number]}" in await _texts(store, ROOTS[number])
        await store.close()

    asyncio.run(work())


def test_X2_nobody_waits_for_a_root_that_another_holds(address: str) -> None:
    async def work() -> None:
        store = await PostgresStore.open(address)
        await _together(store, _batches("first"))
        with psycopg.connect(address) as other:  # another process, in the middle of its commit
            other.execute("SELECT 1 FROM standfast.root WHERE name = %s FOR UPDATE", (ROOTS[5],))
            waiting = [asyncio.ensure_future(store.commit(batch)) for batch in _batches("second")]
            held = waiting.pop(5)
            _, others = await asyncio.wait(waiting, timeout=5)
            assert not others
            assert not held.done()
            other.rollback()
        assert await asyncio.gather(held, *waiting) == [2] * len(ROOTS)
        await store.close()

    asyncio.run(work())
