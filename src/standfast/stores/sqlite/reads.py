"""Everything that is read without a search: plain SQL, one short look each. All rows are fetched
before one is looked at: a cursor that an error leaves open holds the file as it was then."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import apsw

from standfast.errors import Invalid
from standfast.index.codes import micros, moment
from standfast.scopes import root_of
from standfast.stores.rows import (
    MESSAGE_COLUMNS,
    RECORD_WITH_SCOPE,
    SESSION_COLUMNS,
    SUMMARY_COLUMNS,
    cursors_json,
    item_of,
    record_of,
    relation_of,
    session_of,
    sound,
    sound_messages,
    strictly_sound,
    summary_of,
    to_json,
    touch_of,
)
from standfast.types import (
    Entry,
    Item,
    Message,
    Record,
    Relation,
    Session,
    SessionKey,
    Summary,
)
from standfast.types.frozen import frozen

FEW = 8

_ROOT = "(SELECT pk FROM root WHERE name = ?)"
_SESSION = (
    "(SELECT session.pk FROM session JOIN scope ON scope.pk = session.scope"
    " WHERE scope.path = ? AND session.id = ?)"
)
_CURSORS = "(SELECT json_group_object(reader, seq) FROM cursor WHERE cursor.session = session.pk)"

_TOUCHED = (
    "(SELECT json_group_array(json_array(kind, ref, scope.path, before, after) ORDER BY place)"
    " FROM touch JOIN scope ON scope.pk = touch.scope"
    " WHERE touch.root = journal.root AND touch.seq = journal.seq)"
)


def records(
    db: apsw.Connection, root: str | None, ids: Sequence[str], now: datetime
) -> list[Record]:
    rows = db.execute(
        f"SELECT {RECORD_WITH_SCOPE} FROM record JOIN scope ON scope.pk = record.scope"
        " WHERE record.id IN (SELECT value FROM json_each(?))"
        f" AND (? IS NULL OR record.root = {_ROOT})"
        " AND (record.expires_at IS NULL OR record.expires_at > ?)",
        (to_json(list(ids)), root, root, micros(now)),
    ).fetchall()
    found = {record.id: record for record in map(record_of, rows)}
    return [found[id_] for id_ in ids if id_ in found]


def edges(
    db: apsw.Connection, root: str, ids: Sequence[str], most: int = -1
) -> tuple[list[Relation], bool]:
    """The relations of these records, and whether there are any in the file. ``most``: some of them
    are enough, if there are more in either direction."""
    *rows, (_, there, *_) = db.execute(
        "WITH asked AS MATERIALIZED (SELECT record.pk FROM json_each(?) CROSS JOIN record"
        f" ON record.id = value WHERE record.root = {_ROOT})"
        " SELECT scope.path, source.id, target.id, edge.kind, edge.learned_at, edge.retired_at,"
        " edge.version, edge.lineage, edge.checksum FROM"
        " (SELECT * FROM (SELECT * FROM relation WHERE source IN asked LIMIT ?3)"
        " UNION SELECT * FROM (SELECT * FROM relation WHERE target IN asked LIMIT ?3)) AS edge"
        " JOIN record AS source ON source.pk = edge.source"
        " JOIN record AS target ON target.pk = edge.target"
        " JOIN scope ON scope.pk = edge.scope"
        " UNION ALL SELECT NULL, EXISTS (SELECT 1 FROM relation), 0, 0, 0, 0, 0, 0, 0",
        (to_json(list(ids)), root, most),
    ).fetchall()
    found = sound("relation", rows, relation_of)
    return sorted(found, key=lambda edge: (edge.source, edge.kind, edge.target)), bool(there)


def sessions(
    db: apsw.Connection, root: str, keys: Sequence[SessionKey], after: SessionKey | None, limit: int
) -> list[Session]:
    columns = ", ".join(f"session.{name}" for name in SESSION_COLUMNS.split(", "))
    if keys:
        asked = to_json([key for key in keys if root_of(key.scope) == root])
        rows = db.execute(
            f"SELECT scope.path, {columns}, {_CURSORS}, checksum FROM json_each(?) AS asked"
            " CROSS JOIN scope ON scope.path = asked.value ->> 0"
            " CROSS JOIN session ON session.scope = scope.pk AND session.id = asked.value ->> 1"
            " ORDER BY asked.key",
            (asked,),
        ).fetchall()
    else:
        rows = db.execute(
            f"SELECT scope.path, {columns}, {_CURSORS}, checksum FROM scope"
            " CROSS JOIN session ON session.scope = scope.pk"
            f" WHERE scope.root = {_ROOT} AND (scope.path, session.id) > (?, ?)"
            " ORDER BY scope.path, session.id LIMIT ?",
            (root, *(after or ("", "")), max(0, limit)),
        ).fetchall()
    told = ((*row[:-2], cursors_json(json.loads(str(row[-2]))), row[-1]) for row in rows)
    if keys:
        return list(sound("session", told, session_of))
    return [session_of(row) for row in strictly_sound("session", told)]


def messages(
    db: apsw.Connection,
    session: SessionKey,
    now: datetime,
    ids: Sequence[str],
    between: tuple[int, int | None],
    limit: int,
    newest: bool,
) -> list[Message]:
    sql = (
        f"SELECT {MESSAGE_COLUMNS}, checksum FROM message WHERE session = {_SESSION}"
        " AND (expires_at IS NULL OR expires_at > ?) AND "
    )
    bindings = (*session, micros(now))
    if ids:
        # By a plus the planner does not go through the whole session to have them in order.
        condition = "id IN (SELECT value FROM json_each(?)) ORDER BY +seq"
        rows = db.execute(sql + condition, (*bindings, to_json(list(ids)))).fetchall()
    else:
        way = "DESC" if newest else "ASC"
        condition = f"seq > ? AND seq < ifnull(?, 1 << 62) ORDER BY seq {way} LIMIT ?"
        rows = db.execute(sql + condition, (*bindings, *between, max(0, limit))).fetchall()
        if newest:
            rows.reverse()
    return sound_messages(*session, rows)


def summaries(
    db: apsw.Connection, session: SessionKey, after: int, limit: int, newest: bool
) -> list[Summary]:
    way = "DESC" if newest else "ASC"
    rows = db.execute(
        f"SELECT {SUMMARY_COLUMNS}, checksum FROM summary"
        " WHERE scope = (SELECT pk FROM scope WHERE path = ?) AND session = ? AND to_seq > ?"
        f" ORDER BY to_seq {way}, from_seq {way}, id {way} LIMIT ?",
        (*session, after, max(0, limit)),
    ).fetchall()
    found = list(sound("summary", ((*session, *row) for row in rows), summary_of))
    return found[::-1] if newest else found


def items(
    db: apsw.Connection,
    root: str,
    namespace: str | None,
    now: datetime,
    scopes: Sequence[str],
    keys: Sequence[str],
    prefix: str,
    after: Item | None,
    limit: int,
) -> list[Item]:
    if namespace is not None and not prefix and after is None:
        named = [(scope, namespace, key) for scope in scopes for key in keys]
        if 0 < len(named) <= FEW:
            return _named_items(db, root, named, now)[: max(0, limit)]
    conditions = [
        f"item.root = {_ROOT}",
        "(item.expires_at IS NULL OR item.expires_at > ?)",
    ]
    bindings: list[Any] = [root, micros(now)]
    if namespace is not None:
        conditions.append("item.namespace = ?")
        bindings.append(namespace)
    if after is not None:
        conditions.append("(item.namespace, scope.path, item.key) > (?, ?, ?)")
        bindings += [after.namespace, after.scope, after.key]
    for column, values in (("scope.path", scopes), ("item.key", keys)):
        if values:
            conditions.append(f"{column} IN (SELECT value FROM json_each(?))")
            bindings.append(to_json(list(values)))
    if prefix:
        conditions.append("substr(item.key, 1, ?) = ?")
        bindings += [len(prefix), prefix]
    rows = db.execute(
        "SELECT scope.path, namespace, key, value, expires_at, version, checksum FROM item"
        f" JOIN scope ON scope.pk = item.scope WHERE {' AND '.join(conditions)}"
        " ORDER BY namespace, scope.path, key LIMIT ?",
        (*bindings, max(0, limit)),
    ).fetchall()
    return list(sound("item", rows, item_of))


def _named_items(
    db: apsw.Connection, root: str, named: Sequence[tuple[str, str, str]], now: datetime
) -> list[Item]:
    """A few by scope, namespace and key, each along the index: every request looks some up."""
    rows = db.execute(
        f"WITH asked AS (VALUES {', '.join(['(?, ?, ?)'] * len(named))})"
        " SELECT scope.path, namespace, key, value, expires_at, version, checksum FROM asked"
        " CROSS JOIN scope ON scope.path = column1"
        " CROSS JOIN item ON item.root = scope.root AND item.namespace = column2"
        " AND item.scope = scope.pk AND item.key = column3"
        f" WHERE (expires_at IS NULL OR expires_at > ?) AND item.root = {_ROOT}",
        (*(part for name in named for part in name), micros(now), root),
    ).fetchall()
    return list(sound("item", sorted(set(rows)), item_of))


@frozen
class ReadWish:
    """Which entries of the journal; see ``Store.journal``."""

    root: str | None
    after: int
    before: int | None
    limit: int
    newest: bool
    change: str
    touching: str


def journal(db: apsw.Connection, wanted: ReadWish) -> list[Entry]:
    narrow = bool(wanted.change or wanted.touching)
    if wanted.root is None and not narrow:
        raise Invalid("a journal without root needs a change or an id that it touches")
    conditions: list[str] = []
    bindings: list[object] = []
    for condition, value in (
        ("journal.seq > ?", wanted.after),
        ("journal.seq < ?", wanted.before),
        # A plus keeps SQLite from walking through all of a root for one change or id.
        (f"{'+' if narrow else ''}journal.root = {_ROOT}", wanted.root),
        ("journal.change = ?", wanted.change or None),
        (
            "(journal.root, journal.seq) IN (SELECT root, seq FROM touch WHERE ref = ?)",
            wanted.touching or None,
        ),
    ):
        if value is not None:
            conditions.append(condition)
            bindings.append(value)
    down = " DESC" if wanted.newest else ""
    rows = db.execute(
        f"SELECT root.name, seq, at, batch, change, reason, actor, {_TOUCHED} FROM journal"
        f" JOIN root ON root.pk = journal.root WHERE {' AND '.join(conditions)}"
        f" ORDER BY root.name{down}, seq{down} LIMIT ?",
        (*bindings, max(0, wanted.limit)),
    ).fetchall()
    entries = [_entry(row) for row in rows]
    return entries[::-1] if wanted.newest else entries


def _entry(row: Sequence[Any]) -> Entry:
    name, seq, at, batch, change, reason, actor, touched = row
    return Entry(
        root=name,
        seq=seq,
        at=moment(at),
        batch=batch,
        change=change,
        reason=reason,
        actor=actor,
        touched=tuple(map(touch_of, json.loads(touched))),
    )


def roots(db: apsw.Connection, after: str, limit: int) -> list[str]:
    rows = db.execute(
        "SELECT name FROM root WHERE head > 0 AND name > ? ORDER BY name LIMIT ?",
        (after, max(0, limit)),
    )
    return [name for (name,) in rows]
