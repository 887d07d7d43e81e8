"""The search index: exact, whatever order and portions the rows came in."""

import asyncio
import random
from itertools import pairwise
from pathlib import Path
from typing import get_args, get_type_hints

import apsw
import numpy as np
import pytest

from standfast.index.codes import DURABILITIES, KINDS, SOURCES, STATUSES, TYPES
from standfast.index.derived import terms_blob
from standfast.index.postings import Postings, merged, segment_of
from standfast.stores.dict import DictStore
from standfast.stores.rows import RELATIONS, ROLES, TOUCHES
from standfast.stores.sqlite import SqliteStore, erase
from standfast.testing.values import (
    NOW,
    ROOT,
    ask,
    make_batch,
    make_query,
    make_record,
    make_search,
    moment,
    put,
)
from standfast.types import (
    Durability,
    Erase,
    Find,
    Kind,
    RelationKind,
    Role,
    Source,
    Status,
    Touch,
    Type,
    Where,
)


def test_every_name_has_a_number() -> None:
    for names, literal in (
        (KINDS, Kind),
        (TYPES, Type),
        (STATUSES, Status),
        (SOURCES, Source),
        (DURABILITIES, Durability),
        (ROLES, Role),
        (RELATIONS, RelationKind),
        (TOUCHES, get_type_hints(Touch)["kind"]),
    ):
        assert set(names) == set(get_args(literal))
        assert len(set(names)) == len(names)


def clustered(count: int, dimensions: int, seed: int) -> np.ndarray:
    """Unit vectors in tight clusters: many nearly equal neighbours."""
    chance = np.random.default_rng(seed)
    centres = chance.standard_normal((max(1, count // 50), dimensions))
    points = centres[chance.integers(0, len(centres), count)]
    points = points + 0.05 * chance.standard_normal((count, dimensions))
    return (points / np.linalg.norm(points, axis=1)[:, None]).astype("<f4")


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_O1_the_nearest_are_the_exact_ones_among_near_equals(tmp_path: Path, seed: int) -> None:
    matrix = clustered(3000, 96, seed)
    ids = [f"r{number:05}" for number in range(len(matrix))]

    async def run() -> None:
        store = await SqliteStore.open(tmp_path / "memory.db")
        for start in range(0, len(ids), 500):
            part = ids[start : start + 500]
            vectors = {id_: matrix[int(id_[1:])].tobytes() for id_ in part}
            await put(store, *map(make_record, part), vectors=vectors, space="s")
        for probe in clustered(20, 96, seed + 10).tolist() + matrix[:20].tolist():
            query = np.array(probe, dtype="<f4")
            exact = matrix.astype(np.float64) @ query.astype(np.float64)
            best = np.argsort(-exact, kind="stable")[:10]
            hits = await store.search(make_search(vector=query.tobytes(), space="s", limit=10))
            found = sorted(hits, key=lambda hit: -(hit.similarity or 0))
            assert [hit.record.id for hit in found] == [ids[row] for row in best]
            assert [hit.similarity for hit in found] == pytest.approx(exact[best].tolist())
        await store.close()

    asyncio.run(run())


def test_equal_vectors_and_equal_times_are_told_apart_by_id(tmp_path: Path) -> None:
    ids = [f"r{number:04}" for number in range(600)]
    shuffled = random.Random(1).sample(ids, len(ids))
    vector = clustered(1, 8, 1)[0].tobytes()

    async def run() -> None:
        store = await SqliteStore.open(tmp_path / "memory.db")
        await put(
            store,
            *(make_record(id_, "same") for id_ in shuffled),
            vectors=dict.fromkeys(ids, vector),
            space="s",
        )
        for query in (
            make_query(limit=5),
            make_query(limit=5, order="important"),
            make_query(limit=5, order="id"),
            make_query(limit=5, text="same"),
            make_query(limit=5, vector=vector, space="s"),
        ):
            assert [record.id for record in await ask(store, query)] == ids[:5]
        await store.close()

    asyncio.run(run())


def test_scores_equal_the_references_through_many_small_changes(tmp_path: Path) -> None:
    chance = random.Random(7)
    words = [f"word{number}" for number in range(60)]
    scopes = [ROOT, f"{ROOT}:agent:a", f"{ROOT}:agent:b", f"{ROOT}:agent:a:task:1"]

    async def run() -> None:
        # A cache too small for two indexes: they are thrown out and loaded anew all the time.
        tight = await SqliteStore.open(tmp_path / "memory.db", cache_bytes=1)
        roomy = await SqliteStore.open(tmp_path / "memory.db")
        reference = DictStore()
        alive: list[str] = []
        for step in range(120):
            things = []
            for number in range(chance.randrange(1, 6)):
                text = " ".join(chance.choices(words, k=chance.randrange(1, 12)))
                expires = moment(60) if chance.random() < 0.1 else None
                tags = tuple(chance.sample(["red", "Blue", "é"], k=chance.randrange(3)))
                id_ = f"r{step}-{number}"
                scope = chance.choice(scopes)
                things.append(make_record(id_, text, scope, expires_at=expires, tags=tags))
            if len(alive) > 20 and chance.random() < 0.5:
                erased = alive.pop(chance.randrange(len(alive)))
                things.append(Erase(kind="record", id=erased))
            alive += [thing.id for thing in things if not isinstance(thing, Erase)]
            batch = make_batch(*things, root=ROOT)
            await reference.commit(batch)
            await tight.commit(batch)
            query = make_search(
                chance.choice(scopes),
                text=" ".join(chance.choices(words, k=3)),
                descend=chance.random() < 0.3,
                tags=("BLUE",) if chance.random() < 0.3 else (),
                now=moment(chance.choice([0, 90])),
                limit=chance.choice([3, 1000]),
            )
            expected = await reference.search(query)
            for store in (tight, roomy):
                found = await store.search(query)
                assert found == expected
        for store in (tight, roomy):
            await store.close()

    asyncio.run(run())


def test_an_index_that_lost_most_of_its_rows_is_built_anew(tmp_path: Path) -> None:
    async def run() -> None:
        store = await SqliteStore.open(tmp_path / "memory.db")
        ids = [f"r{number:04}" for number in range(1500)]
        await put(store, *(make_record(id_, "same", expires_at=moment(1)) for id_ in ids[:1400]))
        await put(store, *(make_record(id_, "same") for id_ in ids[1400:]))
        assert len(await store.search(make_search(text="same", limit=5))) == 5
        await store.commit(make_batch(root=ROOT, at=moment(2), sweep=True))
        query = make_search(text="same", limit=2000)
        assert len(await store.search(query)) == 100
        assert len(await store.search(query)) == 100
        [index] = [index for index, _ in store._cache._indexes.values()]
        assert index.size == 100
        await store.close()

    asyncio.run(run())


def test_a_store_that_missed_the_list_of_what_is_gone_loads_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erase, "ERASED_MAX", 3)

    async def run() -> None:
        one = await SqliteStore.open(tmp_path / "memory.db")
        other = await SqliteStore.open(tmp_path / "memory.db")
        await put(one, *(make_record(f"r{n}", "same", expires_at=moment(1)) for n in range(9)))
        await put(one, make_record("kept", "same"))
        query = make_search(text="same")
        assert len(await other.search(query)) == 10
        await one.commit(make_batch(root=ROOT, at=moment(2), sweep=True))
        [hit] = await other.search(query)
        assert [hit] == await one.search(query)
        [index] = [index for index, _ in other._cache._indexes.values()]
        assert (index.size, index.absent) == (1, 0)
        await one.close()
        await other.close()

    asyncio.run(run())


def test_segments_merge_into_the_same_postings() -> None:
    chance = random.Random(3)
    texts = [" ".join(chance.choices("abcdefgh", k=chance.randrange(9))) for _ in range(300)]
    blobs = [terms_blob(text, "")[1] for text in texts]
    whole = segment_of(blobs, 0)
    cuts = [0, 1, 7, 130, 131, 300]
    parts = [segment_of(blobs[a:b], a) for a, b in pairwise(cuts)]
    joined = merged(parts)
    for one, other in (
        (whole.hashes, joined.hashes),
        (whole.offsets, joined.offsets),
        (whole.rows, joined.rows),
        (whole.counts, joined.counts),
    ):
        assert one.tolist() == other.tolist()
    postings = Postings()
    for row, blob in enumerate(blobs):
        postings.append(segment_of([blob], row))
    for place, hash_ in enumerate(whole.hashes.tolist()):
        found = [row for rows, _ in postings.find(hash_) for row in rows.tolist()]
        assert found == whole.rows[whole.offsets[place] : whole.offsets[place + 1]].tolist()


@pytest.mark.parametrize("cuts", [[0, 300], [0, 1, 2, 3, 70, 300], [0, 64, 65, 66, 131, 299, 300]])
def test_words_that_wait_are_found_with_those_before_them(cuts: list[int]) -> None:
    """Whatever is asked in between: nothing, one word, several, or all of them to be saved."""
    chance = random.Random(4)
    texts = [" ".join(chance.choices("abcdefgh", k=chance.randrange(9))) for _ in range(300)]
    blobs = [terms_blob(text, "")[1] for text in texts]
    whole, postings = segment_of(blobs, 0), Postings()
    hashes = whole.hashes.tolist()
    for number, (start, end) in enumerate(pairwise(cuts)):
        if number == 3:
            postings.append(segment_of(blobs[start:end], start))
        else:
            postings.add(blobs[start:end], start)
        assert postings.nbytes > 0
        if number == 1:
            assert postings.find_all([]) == []
            assert all(rows.tolist()[-1] < end for rows, _ in postings.find(hashes[0]))
    found = [
        [row for rows, _ in parts for row in rows.tolist()] for parts in postings.find_all(hashes)
    ]
    assert found == [
        whole.rows[start:end].tolist() for start, end in pairwise(whole.offsets.tolist())
    ]
    postings.add(blobs[:5], 300)
    kept = postings.some(np.arange(305))
    again = segment_of([*blobs, *blobs[:5]], 0)
    assert kept.rows.tolist() == again.rows.tolist()


def test_texts_without_any_word_are_no_hindrance() -> None:
    postings = Postings()
    postings.extend([segment_of([b"", b""], 0)])
    assert postings.find_all([1, 2]) == [[], []]


def test_what_is_looked_up_by_a_key_is_walked_to_whatever_the_number_of_records(
    tmp_path: Path,
) -> None:
    """The indexes leave out what another one has: a hash that is single, an origin that is the
    record's own. All are found all the same, and no statement goes through the records."""
    said: list[str] = []

    def watch(database: apsw.Connection) -> None:
        database.exec_trace = lambda _, sql, __: said.append(sql) or True

    records = [
        make_record("a-old", hash="h", origin="a-old", status="superseded"),
        make_record("b-now", hash="h", origin="b-now"),
        make_record("c-copy", scope=f"{ROOT}:topic:x", hash="h", origin="b-now"),
        make_record("d-other", hash="other", origin=""),
        make_record("e-turn", type_="turn"),
    ]
    statuses: tuple[Status, ...] = ("active", "superseded")
    where = Where(scopes=(ROOT,), now=NOW, descend=True, statuses=statuses)

    async def found() -> tuple[list[str], ...]:
        store = await SqliteStore.open(tmp_path / "m.db")
        try:
            await store.commit(make_batch(*records))
            asked = (
                Find(where=where, hashes=("h",), order="id"),
                Find(where=where, origins=("b-now",), order="id"),
                Find(where=where, origins=("a-old", "b-now"), hashes=("h",), order="id"),
            )
            return tuple([[one.id for one in await store.find(each)] for each in asked])
        finally:
            await store.close()

    apsw.connection_hooks.append(watch)
    try:
        of_hash, of_origin, of_both = asyncio.run(found())
    finally:
        apsw.connection_hooks.remove(watch)
    assert of_hash == of_both == ["a-old", "b-now", "c-copy"]
    assert of_origin == ["b-now", "c-copy"]
    looked_up = [sql for sql in said if sql.startswith("SELECT scope.path, record.id")]
    assert len(looked_up) == 4
    database = apsw.Connection(str(tmp_path / "m.db"))
    for sql in looked_up:
        plan = database.execute(f"EXPLAIN QUERY PLAN {sql}", ["[]"] * sql.count("?")).fetchall()
        assert not [step for *_, step in plan if step.startswith("SCAN record")], sql
    database.close()
