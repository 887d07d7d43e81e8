"""A decided batch written into the database: a few statements, none of which waits for another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from recollect.index.codes import code, micros
from recollect.index.derived import quantised
from recollect.stores.commit import Changes
from recollect.stores.postgres import erase
from recollect.stores.postgres.connection import Db, PackedVector, hashes_of, to_text
from recollect.stores.postgres.held import ITEM, RELATION, Numbers
from recollect.stores.prepared import Prepared
from recollect.stores.rows import (
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
from recollect.types import Entry, Session


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
_EMBEDDING = (
    "INSERT INTO embedding (root, scope, space, record, small, vector)"
    " SELECT root, scope, %s, key, %s, %s::vector FROM record WHERE root = %s AND id = %s"
    " ON CONFLICT (root, scope, space, record)"
    " DO UPDATE SET small = excluded.small, vector = excluded.vector"
)
_EMBEDDED = (
    "UPDATE record SET space = %s, changed = %s WHERE root = %s AND id = ANY(%s)"
    " AND (space IS DISTINCT FROM %s OR changed <> %s)"
)
_SCOPES = (
    "INSERT INTO scope (root, path, stamp) SELECT %s, path, %s FROM unnest(%s::text[]) AS path"
    " ON CONFLICT (root, path) DO UPDATE SET stamp = excluded.stamp"
)
_USED = (
    "UPDATE record SET uses = uses + used.times, used_at = %s"
    " FROM unnest(%s::text[], %s::bigint[]) AS used (id, times)"
    " WHERE record.root = %s AND record.id = used.id"
    " AND (record.expires_at IS NULL OR record.expires_at > %s)"
)
_JOURNAL = _insert("journal", "root, seq, at, batch, change, reason, actor")
_TOUCH = (
    "INSERT INTO touch (root, seq, place, kind, scope, ref, also, before, after)"
    " SELECT %s, %s, place, kind, scope, ref, also, before::json, after::json"
    " FROM json_to_recordset(%s) AS one (place int, kind int, scope text, ref text, also text,"
    " before text, after text)"
)
_ROOT = "UPDATE root SET head = %s, stamp = %s, made = %s, news = news OR %s WHERE name = %s"
# Two roots that begin the same space at once: the second waits here, and then looks again.
_SPACE = "INSERT INTO space (name, dimensions) VALUES (%s, %s)"


def write(db: Db, prepared: Prepared, changes: Changes, numbers: Numbers) -> None:
    """The caller has begun a transaction in a pipeline, and commits. Nothing is waited for."""
    root = changes.batch.root
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
    _write_sessions(db, changes, root)
    _write_records(db, prepared, changes, numbers)
    _write_vectors(db, changes, numbers)
    _many(db, _RELATION, ((root, *relation_row(one)) for one in changes.relations.values()))
    _many(db, _ITEM, ((root, *item_row(one)) for one in changes.items.values()))
    if changes.used:
        at = micros(changes.batch.at)
        ids, times = [*changes.used], [*changes.used.values()]
        db.execute(_USED, (at, ids, times, root, at))
    if changes.entry is not None:
        _write_entry(db, changes, changes.entry)
    if changes.entry is not None or searched or changes.used:
        news = bool(changes.entry is not None or changes.used)
        db.execute(_ROOT, (changes.seq, numbers.stamp, numbers.made, news, root))


def _many(db: Db, sql: str, rows: Iterable[Sequence[Any]]) -> None:
    found = list(rows)
    if len(found) == 1:
        db.execute(sql, found[0])
    elif found:
        with db.cursor() as cursor:
            cursor.executemany(sql, found)


def _write_sessions(db: Db, changes: Changes, root: str) -> None:
    _many(db, _SESSION, (_session_row(one, root) for one in changes.sessions.values()))
    messages = []
    for one in changes.messages:
        *row, text, original, checksum = message_row(one, one.seq)
        place = (root, one.scope, one.session)
        messages.append((*place, *row, to_text(text), to_text(original), checksum))
    _many(db, _MESSAGE, messages)
    summaries = []
    for summary in changes.summaries:
        *row, text, checksum = summary_row(summary)
        summaries.append((root, *row, to_text(text), checksum))
    _many(db, _SUMMARY, summaries)


def _session_row(one: Session, root: str) -> tuple[Any, ...]:
    behind = any(seq < one.last_seq for seq in one.cursors.values())
    return (root, behind, *session_row(one))


def _write_records(db: Db, prepared: Prepared, changes: Changes, numbers: Numbers) -> None:
    root, stamp = changes.batch.root, numbers.stamp
    made, changed, lineage = [], [], []
    for id_, record in changes.records.items():
        ready = prepared.records[id_]
        if id_ in changes.made:
            numbers.made += 1
            space = changes.batch.space if id_ in changes.vectors else None
            *birth, text = ready.birth
            hashes = hashes_of(birth[_TERMS])
            place = (root, numbers.made, record.scope, stamp, space, hashes)
            made.append((*place, *birth, to_text(text), *ready.changes))
            rows = lineage_rows(0, numbers.made, record)
            lineage += [(root, *row[1:]) for row in rows]
        else:
            state = ready.birth[_CHECKSUM][CHECKSUM_BYTES:]
            changed.append((stamp, *ready.changes, state, root, id_))
    # Of one text one record may live in a scope: first those that make room for it.
    changed.sort(key=lambda row: row[_SINGLE])
    _many(db, _RECORD_CHANGED, changed)
    _many(db, _RECORD, made)
    _many(db, _LINEAGE, lineage)
    scopes = {record.scope for record in changes.records.values()}
    if changes.entry is not None and changes.vectors:
        scopes |= {touch.scope for touch in changes.entry.touched if touch.kind == "vector"}
    if scopes:
        db.execute(_SCOPES, (root, stamp, sorted(scopes)))


def _write_vectors(db: Db, changes: Changes, numbers: Numbers) -> None:
    if not changes.vectors:
        return
    root, space = changes.batch.root, changes.batch.space
    if numbers.new_space:
        dimensions = len(next(iter(changes.vectors.values()))) // 4
        db.execute(_SPACE, (plain(space), dimensions))
    rows = (
        (space, quantised(vector), PackedVector(vector), root, id_)
        for id_, vector in changes.vectors.items()
    )
    _many(db, _EMBEDDING, rows)
    old = [id_ for id_ in changes.vectors if id_ not in changes.made]
    if old:
        db.execute(_EMBEDDED, (space, numbers.stamp, root, old, space, numbers.stamp))


def _write_entry(db: Db, changes: Changes, entry: Entry) -> None:
    said = (plain(entry.batch), plain(entry.change), plain(entry.reason), plain(entry.actor))
    db.execute(_JOURNAL, (entry.root, entry.seq, micros(entry.at), *said))
    touched = [
        {
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
    if touched:
        db.execute(_TOUCH, (entry.root, entry.seq, to_json(touched)))
