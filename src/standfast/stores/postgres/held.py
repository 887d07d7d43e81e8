"""What a batch has to know, read in one trip: the lock of its root first, then everything else."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from standfast.errors import Unavailable
from standfast.index.codes import code, micros, moment_or_none
from standfast.index.derived import label_of
from standfast.stores.commit import Held, Needs, needs_of
from standfast.stores.postgres.connection import Db, columns, from_text, is_spread
from standfast.stores.rows import (
    RECORD,
    RELATIONS,
    SESSION_COLUMNS,
    SUMMARY_COLUMNS,
    Row,
    cursors_json,
    damaged,
    is_sound,
    item_of,
    read_record,
    relation_of,
    session_of,
    strictly_sound,
)
from standfast.types import Batch, Record, SessionKey

# What ``as_record`` reads.
RECORD_COLUMNS = "record.checksum, record.scope, " + columns("record", RECORD.split(", "))
# Along the index, whatever the planner believes.
_ITS_VECTOR = (
    "(SELECT vector_send(embedding.vector) FROM embedding WHERE embedding.root = record.root"
    " AND embedding.scope = record.scope AND embedding.space = %s"
    " AND embedding.record = record.key)"
)
_VECTORS = (
    "SELECT record, vector_send(vector) FROM embedding"
    " WHERE root = %s AND space = %s AND record = ANY(%s)"
)
SESSION = columns("session", ["scope", *SESSION_COLUMNS.split(", "), "cursors", "checksum"])
RELATION = "scope, source, target, kind, learned_at, retired_at, version, lineage, checksum"
ITEM = "scope, namespace, key, value, expires_at, version, checksum"
SEALED_ROWS = {
    "session": f"SELECT {SESSION} FROM session",
    "summary": f"SELECT scope, session, {SUMMARY_COLUMNS}, checksum FROM summary",
    "relation": f"SELECT {RELATION} FROM relation",
    "item": f"SELECT {ITEM} FROM item",
}

_MAKE_ROOT = "INSERT INTO root (name) VALUES (%s) ON CONFLICT DO NOTHING"
# Locked until the transaction ends: what follows sees every commit to the root before this one.
_LOCK_ROOT = "SELECT name, head, stamp, made FROM root WHERE name = %s FOR UPDATE"
_LOCK_SOME = "SELECT name, head, stamp, made FROM root WHERE name = ANY(%s) FOR UPDATE SKIP LOCKED"
# What a shard shows is of the moment in which it is first asked: so those who wait, wait before.
_WAIT_AT_FRONT = "SELECT pg_advisory_xact_lock(%s)"
_NUMBER = "SELECT root, seq FROM journal WHERE root = %s AND batch = %s"
_NUMBERS = (
    "SELECT asked.root, found.seq FROM unnest(%s::text[], %s::text[]) AS asked (root, batch)"
    " CROSS JOIN LATERAL (SELECT seq FROM journal WHERE journal.root = asked.root"
    " AND journal.batch = asked.batch LIMIT 1) AS found"
)
# Ids are looked up in every root (they are unique), for all that are asked for together; hashes in
# their own.
_RECORDS = f"SELECT {RECORD_COLUMNS} FROM record WHERE id = ANY(%s)"
_TWINS = (
    f"SELECT {RECORD_COLUMNS} FROM record"
    " JOIN unnest(%s::text[], %s::text[]) AS asked (scope, hash) USING (scope, hash)"
    " WHERE root = %s AND hash <> '' AND status IN (0, 3, 4)"
)
_SESSIONS = (
    f"SELECT {SESSION} FROM session JOIN unnest(%s::text[], %s::text[]) AS asked (scope, id)"
    " USING (scope, id) WHERE root = %s"
)
_MESSAGES = (
    "SELECT scope, session, id, expires_at FROM message"
    " JOIN unnest(%s::text[], %s::text[], %s::text[]) AS asked (scope, session, id)"
    " USING (scope, session, id) WHERE root = %s"
)
_SUMMARIES = "SELECT id, scope, session FROM summary WHERE id = ANY(%s)"
_ITEMS = (
    f"SELECT {ITEM} FROM item"
    " JOIN unnest(%s::text[], %s::text[], %s::text[]) AS asked (scope, namespace, key)"
    " USING (scope, namespace, key) WHERE root = %s"
)
_RELATIONS = (
    f"SELECT {RELATION} FROM relation"
    " JOIN unnest(%s::text[], %s::bigint[], %s::text[]) AS asked (source, kind, target)"
    " USING (source, kind, target) WHERE root = %s"
)
_SPACE = "SELECT dimensions FROM space WHERE name = %s"
_SWEEP = "SELECT EXISTS (SELECT 1 FROM record WHERE root = %s AND expires_at <= %s)"


_UNIQUE = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


@dataclass(slots=True)
class Numbers:
    """The counters of a root while it is locked, and what else the writing needs."""

    head: int = 0
    stamp: int = 0
    made: int = 0
    new_space: bool = False  # nobody has vectors of the batch's space yet
    sweeps: bool = False  # it asks to drop what expired, and there are such records


def read(
    db: Db, batches: Sequence[Batch], numbers: dict[str, Numbers]
) -> list[Held | Unavailable | None]:
    """What each has to know; each is of another root. The caller has begun a transaction in a
    pipeline: nothing is sent before the first answer is asked for, and nothing waits for another.
    ``numbers``: those of the roots, if an earlier batch of the same transaction has locked them;
    else they are put there. None: of several roots one that is new, or that somebody else holds.
    Unavailable: what it has to know is damaged."""
    needs = [needs_of(batch) for batch in batches]
    lock = None if numbers else _lock(db, [one.root for one in needs])
    written = _ask_numbers(db, needs)
    named = {one.space for one in needs if one.space}
    spaces = {space: db.execute(_SPACE, (space,)) for space in named}
    records = _ask_records(db, needs)
    asked = [
        {name: db.execute(*one) for name, one in _questions(batch, need, is_spread(db)).items()}
        for batch, need in zip(batches, needs, strict=True)
    ]
    for name, *counted in lock.fetchall() if lock else ():
        numbers[name] = Numbers(*counted)
    known: dict[str, int] = dict(written.fetchall())
    dimensions = {name: cursor.fetchall() for name, cursor in spaces.items()}
    by_id = {row[2]: row for row in records.fetchall()} if records else {}
    found: list[Held | Unavailable | None] = []
    for batch, need, cursors in zip(batches, needs, asked, strict=True):
        answers = {name: cursor.fetchall() for name, cursor in cursors.items()}
        answers["records"] = [by_id[id_] for id_ in need.records if id_ in by_id]
        mine = numbers.get(need.root)
        if mine is None:
            found.append(None)
            continue
        held = Held(number=known.get(need.root), head=mine.head)
        try:
            _take(answers, held, mine, batch)
        except Unavailable as error:
            found.append(error)
            continue
        if need.space:
            mine.new_space = not dimensions[need.space]
            held.dimensions = 0 if mine.new_space else dimensions[need.space][0][0]
        found.append(held)
    if found == [None]:  # the first commit to it
        db.execute(_MAKE_ROOT, (needs[0].root,))
        return read(db, batches, numbers)
    return found


def _ask_numbers(db: Db, needs: Sequence[Needs]) -> Any:
    """Which of the batches are in the journal already?"""
    if len(needs) == 1:
        return db.execute(_NUMBER, (needs[0].root, needs[0].batch))
    return db.execute(_NUMBERS, ([one.root for one in needs], [one.batch for one in needs]))


def _ask_records(db: Db, needs: Sequence[Needs]) -> Any:
    ids = [id_ for one in needs for id_ in one.records]
    return db.execute(*_by_id(_RECORDS, ids, needs[0].root, is_spread(db))) if ids else None


def _lock(db: Db, roots: list[str]) -> Any:
    """One is waited for. Nobody who holds one of several waits for another."""
    if len(roots) > 1:
        return db.execute(_LOCK_SOME, (roots,))
    if is_spread(db):
        db.execute(_WAIT_AT_FRONT, (label_of(roots[0]) >> 1,))
    return db.execute(_LOCK_ROOT, (roots[0],))


def _questions(batch: Batch, needs: Needs, spread: bool) -> Mapping[str, tuple[Any, Sequence[Any]]]:
    root = needs.root
    asked: dict[str, tuple[Any, Sequence[Any]]] = {}
    if needs.hashes:
        asked["twins"] = (_TWINS, (*_turned(needs.hashes), root))
    if needs.sessions:
        asked["sessions"] = (_SESSIONS, (*_turned(needs.sessions), root))
    if needs.messages:
        asked["messages"] = (_MESSAGES, (*_turned(needs.messages), root))
    if needs.summaries:
        asked["summaries"] = _by_id(_SUMMARIES, needs.summaries, root, spread)
    if needs.items:
        asked["items"] = (_ITEMS, (*_turned(needs.items), root))
    if needs.relations:
        edges = [
            (source, code(RELATIONS, kind), target) for source, kind, target in needs.relations
        ]
        asked["relations"] = (_RELATIONS, (*_turned(edges), root))
    if spread:  # a shard takes a list, but no join with it: else all rows would come to the front
        for name, (column, values) in _narrowed(needs).items():
            if name in asked:
                sql, given = asked[name]
                asked[name] = (f"{sql} AND {column} = ANY(%s)", (*given, values))
    if batch.sweep:
        asked["sweep"] = (_SWEEP, (root, micros(batch.at)))
    return asked


def _narrowed(needs: Needs) -> Mapping[str, tuple[str, list[str]]]:
    return {
        "twins": ("hash", [hash_ for _, hash_ in needs.hashes]),
        "sessions": ("id", [one.id for one in needs.sessions]),
        "messages": ("id", [id_ for _, _, id_ in needs.messages]),
        "items": ("key", [key for _, _, key in needs.items]),
        "relations": ("source", [source for source, _, _ in needs.relations]),
    }


def _by_id(sql: str, ids: Sequence[str], root: str, spread: bool) -> tuple[str, tuple[Any, ...]]:
    """In every root. Where roots are spread over servers nobody asks all of them for an id that
    was made to be the only one."""
    if spread and all(map(_UNIQUE.fullmatch, ids)):
        return f"{sql} AND root = %s", (list(ids), root)
    return sql, (list(ids),)


def _turned(rows: Iterable[Sequence[Any]]) -> list[list[Any]]:
    """Columns of rows."""
    return [list(column) for column in zip(*rows, strict=True)]


def _take(
    answers: Mapping[str, list[tuple[Any, ...]]], held: Held, numbers: Numbers, batch: Batch
) -> None:
    """What is damaged is not changed, but it can be erased."""
    gone = {(one.kind, one.scope, one.namespace, one.id) for one in batch.erase}
    erased = {one.id for one in batch.erase if one.kind == "record"}
    records = [*answers.get("records", ()), *answers.get("twins", ())]
    told = [told_record(row) if row[2] in erased else as_record(row) for row in records]
    held.records = {record.id: record for record in told if record is not None}
    talks = [
        row for row in answers.get("sessions", ()) if ("session", row[0], "", row[1]) not in gone
    ]
    sessions = [session_of(row) for row in strictly_sound("session", map(with_cursors, talks))]
    held.sessions = {SessionKey(one.scope, one.id): one for one in sessions}
    held.messages = {
        (scope, session, id_): moment_or_none(expires)
        for scope, session, id_, expires in answers.get("messages", ())
    }
    held.summaries = {id_: SessionKey(*key) for id_, *key in answers.get("summaries", ())}
    put = [row for row in answers.get("items", ()) if ("item", *row[:3]) not in gone]
    items = [item_of(row) for row in strictly_sound("item", put)]
    held.items = {(one.scope, one.namespace, one.key): one for one in items}
    drawn = answers.get("relations", ())
    edges = [relation_of(row) for row in strictly_sound("relation", drawn)]
    held.relations = {(one.source, one.kind, one.target): one for one in edges}
    numbers.sweeps = bool(answers.get("sweep") and answers["sweep"][0][0])


def ask_with_vectors(
    db: Db, root: str, keys: Sequence[int], space: str
) -> Callable[[], list[tuple[Any, ...]]]:
    """Ask for records by key with their vectors of a space (None: it has no name, or they have
    none). What is returned reads the answer: key, vector and ``RECORD_COLUMNS``."""
    vector, given, beside = "NULL::bytea", list[Any](), None
    if space and is_spread(db):  # a join would bring all vectors of a shard to the front
        beside = db.execute(_VECTORS, (root, space, list(keys)), binary=True)
    elif space:
        vector, given = _ITS_VECTOR, [space]
    asked = db.execute(
        f"SELECT key, {vector}, {RECORD_COLUMNS} FROM record WHERE root = %s AND key = ANY(%s)",
        (*given, root, list(keys)),
        binary=True,
    )

    def read() -> list[tuple[Any, ...]]:
        vectors: dict[int, bytes] = dict(beside.fetchall()) if beside else {}
        return [(key, vectors.get(key, told), *row) for key, told, *row in asked.fetchall()]

    return read


def as_record(row: Sequence[Any]) -> Record:
    """From the columns of ``RECORD_COLUMNS``. Unavailable if it is not as it was written."""
    record = sound_record(row)
    if record is None:
        raise damaged(str(row[2]))
    return record


def sound_record(row: Sequence[Any]) -> Record | None:
    """The same; None if it is not as it was written."""
    try:
        whole = (*row[1:-1], from_text(row[-1]), bytes(row[0]))
        return read_record(whole) if is_sound(whole) else None
    except (IndexError, ValueError):
        return None


def told_record(row: Sequence[Any]) -> Record | None:
    """The same, whatever it says; None if that is nothing that a record can say."""
    try:
        return read_record((*row[1:-1], from_text(row[-1])))
    except (IndexError, ValueError):
        return None


def with_cursors(row: Row) -> Row:
    """A row of ``SESSION`` with its readers in the one order that its checksum knows."""
    return (*row[:-2], cursors_json(json.loads(row[-2])), row[-1])


def told_row(what: str, row: Row) -> Row:
    """A row of ``SEALED_ROWS`` as its checksum knows it."""
    if what == "session":
        return with_cursors(row)
    return (*row[:-2], from_text(row[-2]), row[-1]) if what == "summary" else row
