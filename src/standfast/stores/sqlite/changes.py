"""A decided batch written into the file: few statements, whatever is in it. What hangs on a row
follows by ``triggers.sql``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any
from zlib import crc32

import apsw

from standfast.index.codes import code, micros
from standfast.stores.commit import Changes
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
    message_row,
    plain,
    relation_row,
    session_row,
    summary_row,
    to_json,
)
from standfast.stores.sqlite import erase
from standfast.stores.sqlite.held import Keys, make_places
from standfast.types import Entry, Touch

# In one statement: of many few sizes, so that each is soon ready.
ROWS_AT_ONCE = (64, 32, 16, 8, 7, 6, 5, 4, 3, 2, 1)

_RECORD_COLUMNS = ("pk", "root", "scope", "changed", "space", *RECORD_BIRTH, *RECORD_CHANGES)
_TOUCH_CODES = {kind: code(TOUCHES, kind) for kind in TOUCHES}
_ID, _SINGLE = _RECORD_COLUMNS.index("id"), _RECORD_COLUMNS.index("single")
_RECORD = f"INSERT INTO record ({', '.join(_RECORD_COLUMNS)}) VALUES "
_RECORD_CHANGED = " ON CONFLICT (id) DO UPDATE SET " + ", ".join(
    [
        *(f"{name} = excluded.{name}" for name in ("changed", *RECORD_CHANGES)),
        # What never changes keeps its own half.
        f"checksum = CAST(substr(record.checksum, 1, {CHECKSUM_BYTES})"
        f" || substr(excluded.checksum, {CHECKSUM_BYTES + 1}) AS BLOB)",
    ]
)
_MESSAGE = f"INSERT INTO message (session, {MESSAGE_COLUMNS}, checksum) VALUES "
_MESSAGE_ROW = "((SELECT pk FROM session WHERE scope = ? AND id = ?)" + ", ?" * 15 + ")"
_TOUCH_ROW = "(?, ?, ?, ?, (SELECT pk FROM scope WHERE path = ?), ?, ?, ?, ?)"
_TALK = f"INSERT INTO talk (scope, {SESSION_COLUMNS}, cursors, checksum) VALUES "
_SUMMARY = f"INSERT INTO summary (scope, session, {SUMMARY_COLUMNS}, checksum) VALUES "


def write(db: apsw.Connection, prepared: Prepared, changes: Changes, keys: Keys) -> None:
    if keys.unknown or keys.root is None:
        make_places(db, keys, changes.batch.root, set(_paths(changes)))
    searched = _is_searched(changes, keys)
    keys.stamp += searched
    erase.silence(db, changes, keys)
    if changes.entry is not None:
        _write_entry(db, changes, changes.entry, keys)
    elif searched:
        db.execute("UPDATE root SET stamp = ? WHERE pk = ?", (keys.stamp, keys.root))
    erase.remove(db, changes, keys)
    if changes.sessions or changes.summaries:
        _write_sessions(db, changes, keys)
    if changes.records or changes.vectors or changes.relations:
        _write_records(db, prepared, changes, keys)
    _write_items(db, changes, keys)
    if changes.used and keys.root is not None:
        db.execute(
            "UPDATE record SET uses = uses + used.value, used_at = ?1 FROM json_each(?2) AS used"
            " WHERE record.id = used.key AND record.root = ?3"
            " AND (record.expires_at IS NULL OR record.expires_at > ?1)",
            (micros(changes.batch.at), to_json(dict(changes.used)), keys.root),
        )


def _paths(changes: Changes) -> Iterator[str]:
    """Every scope that a row to be written names."""
    if changes.entry is not None:
        yield changes.batch.root
        yield from (touch.scope for touch in changes.entry.touched)
    yield from (item.scope for item in changes.items.values())


def _is_searched(changes: Changes, keys: Keys) -> bool:
    """Does anything change that search indexes must see?"""
    dropping = bool(changes.batch.drop_space) and keys.root is not None
    return bool(changes.records or changes.records_gone or changes.vectors or keys.sweeps) or (
        dropping
    )


def _write_entry(db: apsw.Connection, changes: Changes, entry: Entry, keys: Keys) -> None:
    """The entry, and the root's new numbers."""
    db.execute(
        "INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            keys.root,
            entry.seq,
            micros(entry.at),
            plain(entry.batch),
            plain(entry.change),
            plain(entry.reason),
            plain(entry.actor),
            keys.stamp,
        ),
    )
    known = keys.scopes.keys() >= {touch.scope for touch in entry.touched}
    told = _Told()
    root, seq, scopes = keys.root, entry.seq, keys.scopes
    touched = [
        (
            root,
            seq,
            place,
            _TOUCH_CODES[touch.kind],
            scopes[touch.scope] if known else touch.scope,
            touch.id,
            also,
            None if touch.before is None else to_json(touch.before),
            told.of(touch),
        )
        for place, (touch, also) in enumerate(zip(entry.touched, changes.also, strict=True))
    ]
    _insert(db, "INSERT INTO touch VALUES ", touched, row="" if known else _TOUCH_ROW)


class _Told:
    """What touches of one entry tell about how things are now, as JSON. What is told by the same
    object is written down once."""

    def __init__(self) -> None:
        self._known: dict[int, str] = {}
        self._sessions: dict[str, str] = {}

    def of(self, touch: Touch) -> str | None:
        after = touch.after
        if after is None:
            return None
        if touch.kind == "message":
            return self._of_message(after)
        text = self._known.get(id(after))
        if text is None:
            text = self._known[id(after)] = to_json(after)
        return text

    def _of_message(self, after: Mapping[str, Any]) -> str:
        """A session has many, and JSON takes longer to begin than to write."""
        session = after["session"]
        if session not in self._sessions:
            self._sessions[session] = to_json(session)
        return f'{{"session":{self._sessions[session]},"seq":{after["seq"]}}}'


def _insert(
    db: apsw.Connection, sql: str, rows: Sequence[Sequence[Any]], end: str = "", row: str = ""
) -> None:
    """Several rows a statement. ``row``: how one is written, if not as so many values."""
    if len(rows) == 1:  # as most commits write them
        db.execute(_statement(sql, row, len(rows[0]), 1, end), rows[0])
        return
    start = 0
    while start < len(rows):
        size = next(size for size in ROWS_AT_ONCE if size <= len(rows) - start)
        part = rows[start : start + size]
        values = part[0] if size == 1 else list(chain.from_iterable(part))
        db.execute(_statement(sql, row, len(rows[0]), size, end), values)
        start += size


@cache
def _statement(sql: str, row: str, width: int, rows: int, end: str) -> str:
    row = row or f"({', '.join('?' * width)})"
    return sql + ", ".join([row] * rows) + end


def _write_sessions(db: apsw.Connection, changes: Changes, keys: Keys) -> None:
    sessions = [
        (keys.scopes[one.scope], *session_row(one)[1:]) for one in changes.sessions.values()
    ]
    _insert(db, _TALK, sessions)
    messages = [
        (keys.scopes[one.scope], one.session, *message_row(one, one.seq))
        for one in changes.messages
    ]
    _insert(db, _MESSAGE, messages, row=_MESSAGE_ROW)
    summaries = [(keys.scopes[one.scope], *summary_row(one)[1:]) for one in changes.summaries]
    _insert(db, _SUMMARY, summaries)


def _write_records(db: apsw.Connection, prepared: Prepared, changes: Changes, keys: Keys) -> None:
    if changes.vectors and keys.space is None:
        dimensions = len(next(iter(changes.vectors.values()))) // 4
        db.execute(
            "INSERT INTO space (name, dimensions) VALUES (?, ?)",
            (plain(changes.batch.space), dimensions),
        )
        keys.space = db.last_insert_rowid()
    made = {id_: keys.last + place for place, id_ in enumerate(_made(changes), start=1)}
    rows = []
    root, stamp, space, scopes = keys.root, keys.stamp, keys.space, keys.scopes
    for id_, record in changes.records.items():
        ready = prepared.records[id_]
        its_space = space if id_ in changes.vectors else None
        place = (made.get(id_), root, scopes[record.scope], stamp, its_space)
        rows.append(place + ready.birth + ready.changes)
    if len(made) < len(rows):
        # Of one text one record may live in a scope: first those that make room for it. New ones
        # stay in the order in which they were made.
        rows.sort(key=lambda row: row[_ID] in made or row[_SINGLE])
    _insert(db, _RECORD, rows, _RECORD_CHANGED if len(made) < len(rows) else "")
    _write_relations(db, changes)
    _write_vectors(db, changes, keys, made)


def _made(changes: Changes) -> list[str]:
    return [id_ for id_ in changes.records if id_ in changes.made]


def _write_vectors(
    db: apsw.Connection, changes: Changes, keys: Keys, made: Mapping[str, int]
) -> None:
    """Those of new records know the number of theirs."""
    new = [
        (made[id_], keys.space, vector, crc32(vector))
        for id_, vector in changes.vectors.items()
        if id_ in made
    ]
    _insert(db, "INSERT INTO vector (record, space, f32, checksum) VALUES ", new)
    old = [
        (id_, keys.space, keys.stamp, vector, crc32(vector))
        for id_, vector in changes.vectors.items()
        if id_ not in made
    ]
    _insert(db, "INSERT INTO embedding (record, space, changed, f32, checksum) VALUES ", old)


def _write_relations(db: apsw.Connection, changes: Changes) -> None:
    if not changes.relations:
        return
    db.execute(
        "INSERT OR REPLACE INTO relation SELECT source.pk, target.pk, edge.value ->> 3, scope.pk,"
        " edge.value ->> 4, edge.value ->> 5, edge.value ->> 6, edge.value ->> 7,"
        " unhex(edge.value ->> 8)"
        " FROM json_each(?) AS edge CROSS JOIN record AS source ON source.id = edge.value ->> 1"
        " CROSS JOIN record AS target ON target.id = edge.value ->> 2"
        " CROSS JOIN scope ON scope.path = edge.value ->> 0",
        (_as_json(map(relation_row, changes.relations.values())),),
    )


def _write_items(db: apsw.Connection, changes: Changes, keys: Keys) -> None:
    rows = []
    for item in changes.items.values():
        scope, namespace, key, value, expires_at, version, checksum = item_row(item)
        place = (keys.root, namespace, keys.scopes[scope], key)
        rows.append((*place, version, expires_at, value, checksum))
    _insert(db, "INSERT OR REPLACE INTO item VALUES ", rows)


def _as_json(rows: Iterable[Sequence[Any]]) -> str:
    """JSON has no bytes: the checksums behind them as digits."""
    return to_json([(*row[:-1], row[-1].hex()) for row in rows])
