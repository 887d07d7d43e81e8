"""The search of the database itself, for scopes that are too large to hold in a process.

Words are found along an inverted index (GIN) of their hashes, and scored here over all that match;
vectors are compared by pgvector within the scope, because an approximate index over all scopes
would miss most of what a small share of them holds. So both arms are exact, and only how
similarities are spread is taken from a sample.

How large a scope is decides how it is best searched. So these statements are planned each time
(``prepare=False``): a plan for whatever scope is up to ten times as slow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from standfast.index.codes import DURABILITIES, KINDS, SOURCES, STATUSES, TYPES, code, micros
from standfast.index.derived import TERM, hash_of, label_of
from standfast.ports import NativeArms, NativeHit, note_left_out
from standfast.scopes import root_of
from standfast.stores.postgres.connection import Db, PackedVector, is_spread, select, vector_of
from standfast.stores.postgres.held import ask_with_vectors, sound_record
from standfast.stores.postgres.pool import LONG_SECONDS, ThreadPool
from standfast.stores.postgres.sizes import ScopeSizes, SizeCache
from standfast.stores.postgres.walk import visible
from standfast.text import analysis
from standfast.types import Record, Search, Vector, Where

SAMPLE = 200
SPARE = 8  # more than were asked for, of each arm
ROWS_KEPT = 5000
WIDER = 4  # times as many are looked at, so that those that pass are enough
_ONE_MOMENT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_AT = "coalesce(record.valid_from, record.learned_at)"
_TURN = "record.type = 0 AND record.session <> ''"  # the very words of the partial index


class Condition(NamedTuple):
    """A part of a statement, and what it is given."""

    sql: str
    given: list[Any]


class PostgresSearch:
    """``standfast.ports.NativeSearch``."""

    def __init__(self, pool: ThreadPool) -> None:
        self._pool = pool
        self._sizes = SizeCache()
        self._rows = SoundRows()

    def let_go(self) -> None:
        """Of all that was read: something was erased."""
        self._rows.read.cache_clear()

    async def arms(self, asked: Search, terms: Sequence[str]) -> NativeArms:
        return await self._pool.run(
            lambda db: _arms(db, self._sizes, self._rows, asked, terms), seconds=LONG_SECONDS
        )

    async def turns(
        self, asked: Search, ids: Sequence[str], reach: int
    ) -> Mapping[str, Sequence[NativeHit]]:
        return await self._pool.run(
            lambda db: _turns(db, self._rows, asked, ids, reach), seconds=LONG_SECONDS
        )

    async def is_larger(self, where: Where, size: int) -> bool:
        """Have these scopes more records than that? Counts no further."""
        seen = _seen(where)
        sql = f"SELECT count(*) FROM (SELECT 1 FROM record WHERE {seen.sql} LIMIT %s) AS counted"
        [(found,)] = await self._pool.run(lambda db: select(db, sql, *seen.given, size + 1))
        return bool(found > size)


class SoundRows:
    """What was made of rows: a conversation is asked about again and again, and one that is the
    same to the last byte needs no second check. From any thread."""

    def __init__(self) -> None:
        self.read = lru_cache(maxsize=ROWS_KEPT)(_read_row)

    def record(self, row: Sequence[Any]) -> Record | None:
        """None: it is not as it was written."""
        record, data = self.read(tuple(row))
        if record is not None and record.data != data:  # a caller has written into it
            return sound_record(row)
        return record


def _read_row(row: tuple[Any, ...]) -> tuple[Record | None, Any]:
    """And a copy of its data, the one part of it that can be written into."""
    record = sound_record(row)
    return record, deepcopy(record.data) if record is not None else None


def _arms(
    db: Db, sizes: SizeCache, rows: SoundRows, asked: Search, terms: Sequence[str]
) -> NativeArms:
    with db.pipeline():
        db.execute(_ONE_MOMENT)
        stamps = sizes.ask(db, asked.where)
        worded = _ask_words(db, asked, terms)
        near = _ask_meaning(db, asked)
        stamped = stamps.fetchall()
        matches = worded.fetchall() if worded else []
        nearest = [key for (key,) in near.fetchall()] if near else []
    size = sizes.told(db, asked.where, stamped)
    if near and len(nearest) < asked.limit:  # the filter let few of the nearest pass
        nearest = [key for (key,) in select(db, *_nearest_that_pass(asked))]
    frequencies, best = _scored(matches, terms, size.documents, size.words, asked.limit + SPARE)
    with db.pipeline():
        sample = _ask_sample(db, asked, size)
        found = _ask_hits(db, asked, {*best, *nearest})
        db.execute("COMMIT")
        similar = [similarity for (similarity,) in sample.fetchall()] if sample else []
        read = found()
    hits = _hits(rows, read, asked)
    return NativeArms(
        by_word=[hits[key]._replace(keyword=score) for key, score in best.items() if key in hits],
        by_meaning=[hits[key] for key in nearest if key in hits],
        documents=size.documents,
        words=size.words,
        frequencies=frequencies,
        sample=similar,
    )


def _ask_words(db: Db, asked: Search, terms: Sequence[str]) -> Any:
    """Every visible record that holds one of the terms, and whether it passes."""
    if not terms:
        return None
    seen, alive, passing = _seen(asked.where), _alive(asked.where), _passing(asked.where)
    return db.execute(
        f"SELECT key, words, terms, {passing.sql} FROM record"
        f" WHERE {seen.sql} AND {alive.sql} AND hashes && %s::bigint[]",
        (*passing.given, *seen.given, *alive.given, _hashes(terms)),
        binary=True,
        prepare=False,
    )


def _ask_meaning(db: Db, asked: Search) -> Any:
    """Those of the nearest that pass: most do, so most records need not be looked at."""
    if asked.vector is None:
        return None
    sql, given = visible(asked.where)
    alive, passing = _alive(asked.where), _passing(asked.where)
    root, most = root_of(asked.where.scopes[0]), asked.limit + SPARE
    return db.execute(
        "SELECT record.key FROM (SELECT record, vector <=> %s::vector AS far FROM embedding"
        f" WHERE root = %s AND space = %s AND {sql} ORDER BY far LIMIT %s) AS near"
        f" JOIN record ON record.root = %s AND record.key = near.record"
        f" WHERE {alive.sql} AND {passing.sql} ORDER BY near.far LIMIT %s",
        (
            *(PackedVector(asked.vector), root, asked.space, *given, WIDER * most),
            *(root, *alive.given, *passing.given, most),
        ),
        prepare=False,
    )


def _nearest_that_pass(asked: Search) -> tuple[Any, ...]:
    """Of all that pass: a statement, and what it is given."""
    one = _embedded(asked)
    assert asked.vector is not None
    sql = f"SELECT record.key FROM {one.sql} ORDER BY embedding.vector <=> %s::vector LIMIT %s"
    return sql, *one.given, PackedVector(asked.vector), asked.limit + SPARE


def _ask_sample(db: Db, asked: Search, size: ScopeSizes) -> Any:
    """Chosen by nothing that the search asks for: all, if they are few; else those at evenly
    spread numbers, each found along the index."""
    if asked.vector is None:
        return None
    wanted = PackedVector(asked.vector)
    if size.documents > 2 * SAMPLE and not is_spread(db):
        root, places = root_of(asked.where.scopes[0]), size.places(SAMPLE)
        alive, passing = _alive(asked.where), _passing(asked.where)
        return db.execute(
            "SELECT DISTINCT ON (near.record) 1 - (near.vector <=> %s::vector)"
            " FROM unnest(%s::text[], %s::bigint[]) AS asked (scope, key)"
            " CROSS JOIN LATERAL (SELECT record, vector FROM embedding WHERE root = %s"
            " AND scope = asked.scope AND space = %s AND record >= asked.key"
            " ORDER BY record LIMIT 1) AS near"
            " CROSS JOIN LATERAL (SELECT 1 FROM record WHERE root = %s AND key = near.record"
            f" AND {alive.sql} AND {passing.sql} LIMIT 1) AS passing",
            (
                *(wanted, [scope for scope, _ in places], [key for _, key in places]),
                *(root, asked.space, root, *alive.given, *passing.given),
            ),
        )
    one = _embedded(asked)
    return db.execute(
        f"SELECT 1 - (embedding.vector <=> %s::vector) FROM {one.sql}"
        " AND embedding.record %% %s = 0 LIMIT %s",
        (wanted, *one.given, max(1, size.documents // SAMPLE), 2 * SAMPLE),
        prepare=False,
    )


def _embedded(asked: Search) -> Condition:
    """Vectors of records that pass."""
    seen, alive, passing = _seen(asked.where), _alive(asked.where), _passing(asked.where)
    return Condition(
        "embedding JOIN record ON record.root = embedding.root AND record.key = embedding.record"
        f" WHERE embedding.root = %s AND embedding.space = %s AND {seen.sql} AND {alive.sql}"
        f" AND {passing.sql}",
        [
            root_of(asked.where.scopes[0]),
            asked.space,
            *seen.given,
            *alive.given,
            *passing.given,
        ],
    )


def _ask_hits(db: Db, asked: Search, keys: set[int]) -> Callable[[], list[tuple[Any, ...]]]:
    space = asked.space if asked.vector is not None else ""
    return ask_with_vectors(db, root_of(asked.where.scopes[0]), sorted(keys), space)


def _hits(rows: SoundRows, read: Sequence[tuple[Any, ...]], asked: Search) -> dict[int, NativeHit]:
    """By key, with their exact similarity."""
    found: dict[int, NativeHit] = {}
    for key, vector, *row in read:
        record = rows.record(row)
        if record is not None:
            found[key] = NativeHit(record, _product(vector, asked.vector))
        else:
            note_left_out([str(row[2])])
    return found


def _product(sent: bytes | None, wanted: Vector | None) -> float | None:
    if sent is None or wanted is None:
        return None
    own = np.frombuffer(vector_of(sent), dtype="<f4").astype(np.float64)
    return float((own * np.frombuffer(wanted, dtype="<f4")).sum())


def _hashes(terms: Sequence[str]) -> list[int]:
    """As the database holds them."""
    numbers = np.array([hash_of(term) for term in terms], dtype=np.uint64)
    found: list[int] = numbers.astype(np.int64).tolist()
    return found


def _scored(
    matches: Sequence[tuple[Any, ...]], terms: Sequence[str], documents: int, words: int, limit: int
) -> tuple[dict[str, int], dict[int, float]]:
    """How many hold each term, and the best that pass: key -> score."""
    if not matches:
        return dict.fromkeys(terms, 0), {}
    held = np.frombuffer(b"".join(row[2] for row in matches), dtype=TERM)
    owner = np.repeat(np.arange(len(matches)), [len(row[2]) // TERM.itemsize for row in matches])
    lengths = np.array([row[1] for row in matches], dtype=np.float64)
    norm = analysis.K1 * (1 - analysis.B + analysis.B * lengths / (words / documents or 1.0))
    scores = np.zeros(len(matches))
    frequencies: dict[str, int] = {}
    for term in terms:
        places = np.flatnonzero(held["hash"] == hash_of(term))
        frequencies[term] = len(places)
        rows, times = owner[places], held["count"][places].astype(np.float64)
        weight = analysis.idf(documents, len(places))
        scores[rows] += weight * times * (analysis.K1 + 1) / (times + norm[rows])
    passing = np.array([bool(row[3]) for row in matches])
    rows = np.flatnonzero(passing & (scores > 0))
    best = rows[np.argsort(-scores[rows], kind="stable")][:limit]
    if len(best):  # all that equal the last of them: their ids will decide
        best = np.union1d(best, rows[scores[rows] == scores[best[-1]]][: 4 * limit])
    return frequencies, {matches[row][0]: float(scores[row]) for row in best.tolist()}


# Conditions on a record


def _seen(where: Where) -> Condition:
    sql, given = visible(where)
    return Condition(
        f"record.root = %s AND {sql.replace('scope', 'record.scope')}",
        [root_of(where.scopes[0]), *given],
    )


def _alive(where: Where) -> Condition:
    return Condition("(record.expires_at IS NULL OR record.expires_at > %s)", [micros(where.now)])


def _passing(where: Where) -> Condition:
    """``standfast.index.filters.passes``, but for scope and expiry; with tags it may let a few
    more pass."""
    parts = [*_matching(where), *_in_time(where)]
    sql = " AND ".join(part.sql for part in parts) or "true"
    return Condition(f"({sql})", [value for part in parts for value in part.given])


def _matching(where: Where) -> Iterator[Condition]:
    for column, names, chosen in (
        ("kind", KINDS, where.kinds),
        ("type", TYPES, where.types),
        ("durability", DURABILITIES, where.durabilities),
        ("source", SOURCES, where.sources),
    ):
        if chosen:
            yield Condition(f"record.{column} = ANY(%s)", [[code(names, one) for one in chosen]])
    if where.authors:
        yield Condition("record.author = ANY(%s)", [[*where.authors]])
    if where.session:
        yield Condition("record.session = %s", [where.session])
    if where.tags:
        labels = [label_of(tag).to_bytes(8, "little") for tag in where.tags]
        each = " OR ".join(["position(%s::bytea in record.labels) > 0"] * len(labels))
        yield Condition(f"({each})", list(labels))


def _in_time(where: Where) -> Iterator[Condition]:
    if where.since is not None:
        yield Condition(f"{_AT} >= %s", [micros(where.since)])
    if where.until is not None:
        yield Condition(f"{_AT} < %s", [micros(where.until)])
    if where.as_of is None and where.known_at is None:
        if where.statuses:
            yield Condition(
                "record.status = ANY(%s)", [[code(STATUSES, one) for one in where.statuses]]
            )
        return
    yield Condition("record.status <> %s", [code(STATUSES, "quarantined")])
    books = micros(where.known_at or where.now)
    yield Condition("(record.retired_at IS NULL OR record.retired_at > %s)", [books])
    if where.known_at is not None:
        yield Condition("record.learned_at <= %s", [books])
    if where.as_of is not None:
        at = micros(where.as_of)
        yield Condition("(record.valid_from IS NULL OR record.valid_from <= %s)", [at])
        yield Condition("(record.valid_to IS NULL OR record.valid_to > %s)", [at])


# Turns beside a turn


def _turns(
    db: Db, rows: SoundRows, asked: Search, ids: Sequence[str], reach: int
) -> Mapping[str, Sequence[NativeHit]]:
    """Along the index of conversations, from each turn back and forth."""
    root, alive = root_of(asked.where.scopes[0]), _alive(asked.where)

    def side(way: str, order: str) -> str:
        return (
            f"(SELECT record.key, {_AT} AS at FROM record WHERE record.root = one.root"
            " AND record.scope = one.scope AND record.session = one.session"
            f" AND record.session_scope = one.session_scope AND {_TURN} AND {alive.sql}"
            f" AND ({_AT}, record.key) {way} (coalesce(one.valid_from, one.learned_at), one.key)"
            f" ORDER BY {_AT} {order}, record.key {order} LIMIT %s)"
        )

    beside_each = select(
        db,
        "SELECT one.id, near.key FROM record AS one CROSS JOIN LATERAL"
        f" ({side('<=', 'DESC')} UNION ALL {side('>', 'ASC')}) AS near"
        " WHERE one.root = %s AND one.id = ANY(%s) AND one.type = 0"
        " ORDER BY one.id, near.at, near.key",
        *(*alive.given, reach + 1, *alive.given, reach, root, [*ids]),
    )
    hits = _hits(rows, _ask_hits(db, asked, {key for _, key in beside_each})(), asked)
    found: dict[str, list[NativeHit]] = {}
    for id_, key in beside_each:
        beside = found.setdefault(id_, [])
        if key in hits:
            beside.append(hits[key])
    return found
