"""A decided batch written into the database: a few statements, none of which waits for another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from psycopg import Cursor

from standfast.index.codes import code, micros
from standfast.stores.commit import Changes
from standfast.stores.postgres import erase
from standfast.stores.postgres.connection import (
    Db,
    PackedHashes,
    PackedVector,
    is_spread,
    to_text,
)
from standfast.stores.postgres.held import ITEM, RELATION, Numbers
from standfast.stores.prepared import Prepared
from standfast.stores.rows import (
    CHECKSUM_BYTES,
    MESSAGE_COLUMNS,
    RECORD_BIRTH,
    RECORD_CHANGES,
    SESSION_COLUMNS,
    SUMMARY_COLUMNS,
    TOUCHES,
    item_row,
    lineage_rows,
    message_row,
    plain,
    relation_row,
    session_row,
    summary_row,
    to_json,
)
from standfast.types import Entry, Session


def _insert(table: str, columns: str, behind: str = "") -> str:
    places = ", ".join(["%s"] * len(columns.split(", ")))
    return f"INSERT INTO {table} ({columns}) VALUES ({places}){behind}"


def _upsert(table: str, columns: str, key: str) -> str:
    changed = [name for name in columns.split(", ") if name not in key.split(", ")]
    set_ = ", ".join(f"{name} = excluded.{name}" for name in changed)
    return _insert(table, columns, f" ON CONFLICT ({key}) DO UPDATE SET {set_}")


_RECORD = _insert(
    "record",
    ", ".join(
        (*("root", "key", "scope", "changed", "space", "hashes"), *RECORD_BIRTH, *RECORD_CHANGES)
    ),
)
_TERMS = RECORD_BIRTH.index("terms")
_CHECKSUM = RECORD_BIRTH.index("checksum")
_SINGLE = 1 + RECORD_CHANGES.index("single")  # in a row for the next statement
_RECORD_CHANGED = (
    f"UPDATE record SET changed = %s, {', '.join(f'{name} = %s' for name in RECORD_CHANGES)},"
    # What never changes keeps its own half.
    f" checksum = substring(checksum FOR {CHECKSUM_BYTES}) || %s WHERE root = %s AND id = %s"
)
_LINEAGE = _insert("lineage", "root, source, ref, record", " ON CONFLICT DO NOTHING")
_SESSION = _upsert(
    "session",
    f"root, behind, scope, {SESSION_COLUMNS}, cursors, checksum",
    "root, scope, id",
)
_MESSAGE = _insert("message", f"root, scope, session, {MESSAGE_COLUMNS}, checksum")
_SUMMARY = _insert("summary", f"root, scope, session, {SUMMARY_COLUMNS}, checksum")
_RELATION = _upsert(
    "relation",
    f"root, {RELATION}",
    "root, source, kind, target",
)
_ITEM = _upsert(
    "item",
    f"root, {ITEM}",
    "root, namespace, scope, key",
)
_EMBEDDING = _insert("embedding", "root, scope, space, record, small, vector")
_EMBEDDING_ANEW = (
    "INSERT INTO embedding (root, scope, space, record, small, vector)"
    " SELECT root, scope, %s, key, %s, %s::vector FROM record WHERE root = %s AND id = %s"
    " ON CONFLICT (root, scope, space, record)"
    " DO UPDATE SET small = excluded.small, vector = excluded.vector"
)
_EMBEDDED = (
    "UPDATE record SET space = %s, changed = %s WHERE root = %s AND id = ANY(%s)"
    " AND (space IS DISTINCT FROM %s OR changed <> %s)"
)
# Rows of several batches in one list: named values, as JSON.
_SCOPES = (
    "INSERT INTO scope (root, path, stamp) SELECT root, path, stamp"
    " FROM json_to_recordset(%s) AS one (root text, path text, stamp bigint)"
    " ON CONFLICT (root, path) DO UPDATE SET stamp = excluded.stamp"
)
_JOURNAL = (
    "INSERT INTO journal (root, seq, at, batch, change, reason, actor)"
    " SELECT root, seq, at, batch, change, reason, actor FROM json_to_recordset(%s)"
    " AS one (root text, seq bigint, at bigint, batch text, change text, reason text, actor text)"
)
_TOUCH = (
    "INSERT INTO touch (root, seq, place, kind, scope, ref, also, before, after)"
    " SELECT root, seq, place, kind, scope, ref, also, before::json, after::json"
    " FROM json_to_recordset(%s) AS one (root text, seq bigint, place int, kind int, scope text,"
    " ref text, also text, before text, after text)"
)
_USED = (
    "UPDATE record SET uses = uses + used.times, used_at = %s"
    " FROM unnest(%s::text[], %s::bigint[]) AS used (id, times)"
    " WHERE record.root = %s AND record.id = used.id"
    " AND (record.expires_at IS NULL OR record.expires_at > %s)"
)
_ROOT = "UPDATE root SET head = %s, stamp = %s, made = %s, news = news OR %s WHERE name = %s"
# Two roots that begin the same space at once: the second waits here, and then looks again.
_SPACE = "INSERT INTO space (name, dimensions) VALUES (%s, %s)"


class WrittenBatch(NamedTuple):
    """A batch on its way into the tables, with the counters of its root."""

    prepared: Prepared
    changes: Changes
    numbers: Numbers


# In this order: of one text one record may live in a scope, so first those change that make room.
_STATEMENTS = (
    _SESSION, _MESSAGE, _SUMMARY, _RECORD_CHANGED, _RECORD, _LINEAGE, _SCOPES, _SPACE, _EMBEDDING,
    _EMBEDDING_ANEW, _EMBEDDED, _RELATION, _ITEM, _USED, _JOURNAL, _TOUCH, _ROOT,
)  # fmt: skip
ROWS_MAX = 50  # that a statement writes
_LISTED = (_SCOPES, _JOURNAL, _TOUCH)
Rows = dict[str, list[Any]]  # by statement


def write(db: Db, all_: Sequence[WrittenBatch]) -> None:
    """The caller has begun a transaction in a pipeline, and commits. Nothing is waited for. Batches
    of several roots are written together, one of each."""
    rows: Rows = {sql: [] for sql in _STATEMENTS}
    for one in all_:
        _write_one(db, rows, one)
    rows[_SPACE] = list(dict.fromkeys(map(tuple, rows[_SPACE])))
    with db.cursor() as cursor:
        for sql, found in rows.items():
            if found and sql in _LISTED:
                cursor.execute(sql, (to_json(found),))
            elif len(found) == 1:
                cursor.execute(sql, found[0])
            elif " VALUES " in sql and is_spread(db):
                _insert_many(cursor, sql, found)
            elif found:
                cursor.executemany(sql, found)


def _insert_many(cursor: Cursor[Any], sql: str, rows: Sequence[Sequence[Any]]) -> None:
    """Some rows in one statement: a front sends its shard a statement at a time, and waits."""
    head, _, behind = sql.partition(" VALUES ")
    places, _, behind = behind.partition(")")
    for start in range(0, len(rows), ROWS_MAX):
        some = rows[start : start + ROWS_MAX]
        values = ", ".join([f"{places})"] * len(some))
        given = [value for row in some for value in row]
        cursor.execute(f"{head} VALUES {values}{behind}", given)


def _write_one(db: Db, rows: Rows, one: WrittenBatch) -> None:
    """What it erases, at once; all else into ``rows``."""
    changes, numbers, root = one.changes, one.numbers, one.changes.batch.root
    searched = bool(
        changes.records
        or changes.records_gone
        or changes.vectors
        or changes.batch.drop_space
        or numbers.sweeps
    )
    numbers.stamp += searched
    numbers.head = changes.seq
    erase.silence(db, changes)
    erase.remove(db, changes, numbers)
    _add_sessions(rows, changes, root)
    _add_records(rows, one)
    _add_vectors(rows, one)
    rows[_RELATION] += ((root, *relation_row(edge)) for edge in changes.relations.values())
    rows[_ITEM] += ((root, *item_row(item)) for item in changes.items.values())
    if changes.used:
        at = micros(changes.batch.at)
        ids, times = [*changes.used], [*changes.used.values()]
        rows[_USED].append((at, ids, times, root, at))
    if changes.entry is not None:
        _add_entry(rows, changes, changes.entry)
    if changes.entry is not None or searched or changes.used:
        news = bool(changes.entry is not None or changes.used)
        rows[_ROOT].append((changes.seq, numbers.stamp, numbers.made, news, root))


def _add_sessions(rows: Rows, changes: Changes, root: str) -> None:
    rows[_SESSION] += (_session_row(one, root) for one in changes.sessions.values())
    for one in changes.messages:
        *row, text, original, checksum = message_row(one, one.seq)
        place = (root, one.scope, one.session)
        rows[_MESSAGE].append((*place, *row, to_text(text), to_text(original), checksum))
    for summary in changes.summaries:
        *row, text, checksum = summary_row(summary)
        rows[_SUMMARY].append((root, *row, to_text(text), checksum))


def _session_row(one: Session, root: str) -> tuple[Any, ...]:
    behind = any(seq < one.last_seq for seq in one.cursors.values())
    return (root, behind, *session_row(one))


def _add_records(rows: Rows, one: WrittenBatch) -> None:
    prepared, changes, numbers = one
    root, stamp = changes.batch.root, numbers.stamp
    changed = []
    for id_, record in changes.records.items():
        ready = prepared.records[id_]
        if id_ in changes.made:
            numbers.made += 1
            vector = changes.vectors.get(id_)
            space = None if vector is None else changes.batch.space
            *birth, text = ready.birth
            hashes = PackedHashes(birth[_TERMS])
            place = (root, numbers.made, record.scope, stamp, space, hashes)
            rows[_RECORD].append((*place, *birth, to_text(text), *ready.changes))
            lineage = lineage_rows(0, numbers.made, record)
            rows[_LINEAGE] += [(root, *row[1:]) for row in lineage]
            if vector is not None:
                key = (root, record.scope, space, numbers.made)
                rows[_EMBEDDING].append((*key, prepared.small[id_], PackedVector(vector)))
        else:
            state = ready.birth[_CHECKSUM][CHECKSUM_BYTES:]
            changed.append((stamp, *ready.changes, state, root, id_))
    rows[_RECORD_CHANGED] += sorted(changed, key=lambda row: row[_SINGLE])
    scopes = {record.scope for record in changes.records.values()}
    if changes.entry is not None and changes.vectors:
        scopes |= {touch.scope for touch in changes.entry.touched if touch.kind == "vector"}
    rows[_SCOPES] += [{"root": root, "path": path, "stamp": stamp} for path in sorted(scopes)]


def _add_vectors(rows: Rows, one: WrittenBatch) -> None:
    """Those of records that were there before, and the space of all."""
    prepared, changes, numbers = one
    if not changes.vectors:
        return
    root, space = changes.batch.root, changes.batch.space
    if numbers.new_space:
        dimensions = len(next(iter(changes.vectors.values()))) // 4
        rows[_SPACE].append((plain(space), dimensions))
    old = [id_ for id_ in changes.vectors if id_ not in changes.made]
    for id_ in old:
        vector = PackedVector(changes.vectors[id_])
        rows[_EMBEDDING_ANEW].append((space, prepared.small[id_], vector, root, id_))
    if old:
        rows[_EMBEDDED].append((space, numbers.stamp, root, old, space, numbers.stamp))


def _add_entry(rows: Rows, changes: Changes, entry: Entry) -> None:
    number = {"root": entry.root, "seq": entry.seq}
    said = {name: plain(getattr(entry, name)) for name in ("batch", "change", "reason", "actor")}
    rows[_JOURNAL].append({**number, "at": micros(entry.at), **said})
    rows[_TOUCH] += [
        {
            **number,
            "place": place,
            "kind": code(TOUCHES, touch.kind),
            "scope": touch.scope,
            "ref": touch.id,
            "also": also,
            "before": None if touch.before is None else to_json(touch.before),
            "after": None if touch.after is None else to_json(touch.after),
        }
        for place, (touch, also) in enumerate(zip(entry.touched, changes.also, strict=True))
    ]
