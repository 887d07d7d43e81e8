"""Writing sessions, their messages, cursors and summaries, and items."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from recollect.errors import Conflict, Invalid
from recollect.stores import touches
from recollect.stores.batches import next_seq
from recollect.stores.sqlite.ledger import Ledger
from recollect.stores.sqlite.rows import (
    MESSAGE_COLUMNS,
    SESSION_COLUMNS,
    SUMMARY_COLUMNS,
    item_of,
    message_row,
    micros_or_none,
    plain,
    session_of,
    session_row,
    summary_row,
    to_json,
)
from recollect.types import CursorMove, Item, Message, Session, SessionKey, Summary

_INSERT_MESSAGE = (
    f"INSERT INTO message (session, {MESSAGE_COLUMNS}, checksum) VALUES ({', '.join('?' * 16)})"
)
_INSERT_SUMMARY = (
    f"INSERT INTO summary (scope, session, {SUMMARY_COLUMNS}) VALUES ({', '.join('?' * 9)})"
)


def write_session(ledger: Ledger, given: Session) -> int:
    """Create or change a session; its key."""
    scope = ledger.scope(given.scope)
    row = ledger.get(
        f"SELECT pk, {SESSION_COLUMNS} FROM session WHERE scope = ? AND id = ?", scope, given.id
    )
    old = session_of(given.scope, row[1:], {}) if row else None
    if given.version != (old.version if old else 0):
        raise Conflict(
            f"session {given.id!r} was changed meanwhile; read it again",
            kind="session",
            ids=(given.id,),
        )
    state = json.loads(to_json(dict(given.state)))
    new = replace(given, state=state, version=given.version + 1)
    if row is None:
        pk = _create_session(ledger, scope, new)
    else:
        pk = row[0]
        ledger.db.execute(
            "UPDATE session SET channel = ?, policy = ?, state = ?, started_at = ?, ended_at = ?,"
            " version = ? WHERE pk = ?",
            (*session_row(new), pk),
        )
    ledger.touch(touches.touch_session(old, new), also=new.id)
    return pk


def _create_session(ledger: Ledger, scope: int, new: Session) -> int:
    ledger.db.execute(
        "INSERT INTO session (scope, id, channel, policy, state, started_at, ended_at, version)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (scope, plain(new.id), *session_row(new)),
    )
    pk = ledger.db.last_insert_rowid()
    ledger.db.executemany(
        "INSERT INTO cursor VALUES (?, ?, ?, ?)",
        [(pk, plain(reader), seq, int(seq < 0)) for reader, seq in new.cursors.items()],
    )
    return pk


def append_messages(ledger: Ledger, messages: Sequence[Message]) -> None:
    """Number the messages and add them, each to its session, made if missing."""
    _check_message_ids(ledger, messages)
    ends: dict[SessionKey, tuple[int, int]] = {}  # key and last number of each session
    for message in messages:
        key = SessionKey(message.scope, message.session)
        pk, last = ends.get(key) or _end_of_session(ledger, key)
        seq = next_seq(message, last)
        ends[key] = (pk, seq)
        ledger.db.execute(_INSERT_MESSAGE, (pk, *message_row(message, seq)))
        stored = replace(message, seq=seq)
        ledger.touch(touches.touch_message(stored), also=message.session)
    for pk, last in ends.values():
        ledger.db.execute("UPDATE session SET last_seq = ? WHERE pk = ?", (last, pk))
        ledger.db.execute(
            "UPDATE cursor SET behind = 1 WHERE session = ? AND seq < ? AND behind = 0", (pk, last)
        )


def _end_of_session(ledger: Ledger, key: SessionKey) -> tuple[int, int]:
    found = _find_session(ledger, key)
    if found is None:
        session = Session(scope=key.scope, id=key.id, started_at=ledger.batch.at)
        found = write_session(ledger, session), 0
    return found


def _find_session(ledger: Ledger, key: SessionKey) -> tuple[int, int] | None:
    """Key and last number."""
    found: tuple[int, int] | None = ledger.get(
        "SELECT pk, last_seq FROM session WHERE scope = ? AND id = ?",
        ledger.scope(key.scope),
        key.id,
    )
    return found


def _check_message_ids(ledger: Ledger, messages: Sequence[Message]) -> None:
    """Conflict with all ids that are taken; an expired message makes room."""
    seen: set[tuple[str, str, str]] = set()
    taken: dict[str, None] = {}
    for message in messages:
        key = (message.scope, message.session, message.id)
        if key in seen or not _is_free(ledger, message):
            taken[message.id] = None
        seen.add(key)
    if taken:
        raise Conflict(
            f"message ids {', '.join(map(repr, taken))} are already in their session",
            kind="message",
            ids=tuple(taken),
        )


def _is_free(ledger: Ledger, message: Message) -> bool:
    row = ledger.get(
        "SELECT message.pk, message.expires_at FROM message"
        " JOIN session ON session.pk = message.session"
        " WHERE session.scope = ? AND session.id = ? AND message.id = ?",
        ledger.scope(message.scope),
        message.session,
        message.id,
    )
    if row is None:
        return True
    if row[1] is None or row[1] > ledger.at:
        return False
    ledger.db.execute("DELETE FROM message WHERE pk = ?", (row[0],))
    return True


def move_cursor(ledger: Ledger, move: CursorMove) -> None:
    found = _find_session(ledger, move.session)
    if found is None:
        raise Invalid(f"no session {move.session.id!r} in {move.session.scope!r} to move in")
    pk, last_seq = found
    position = ledger.get(
        "SELECT seq FROM cursor WHERE session = ? AND reader = ?", pk, move.reader
    )
    if (position or 0) != move.old:
        raise Conflict(
            f"cursor {move.reader!r} of session {move.session.id!r} was moved meanwhile",
            kind="cursor",
            ids=(f"{move.session.id}/{move.reader}",),
        )
    if not move.old <= move.new <= last_seq:
        raise Invalid(
            f"cursor {move.reader!r} cannot go from {move.old} to {move.new}: "
            f"it never goes back, and session {move.session.id!r} ends at {last_seq}"
        )
    ledger.db.execute(
        "INSERT OR REPLACE INTO cursor VALUES (?, ?, ?, ?)",
        (pk, plain(move.reader), move.new, int(move.new < last_seq)),
    )
    ledger.touch(touches.touch_cursor(move), also=move.session.id)


def add_summary(ledger: Ledger, summary: Summary) -> None:
    if ledger.get("SELECT pk FROM summary WHERE id = ?", summary.id) is not None:
        raise Conflict(
            f"summary {summary.id!r} exists; summaries are never edited",
            kind="summary",
            ids=(summary.id,),
        )
    ledger.db.execute(
        _INSERT_SUMMARY,
        (ledger.scope(summary.scope), plain(summary.session), *summary_row(summary)),
    )
    ledger.touch(touches.touch_summary(summary), also=summary.session)


def write_item(ledger: Ledger, given: Item) -> None:
    key = (ledger.root, plain(given.namespace), ledger.scope(given.scope), plain(given.key))
    row = ledger.get(
        "SELECT value, expires_at, version FROM item"
        " WHERE root = ? AND namespace = ? AND scope = ? AND key = ?",
        *key,
    )
    old = item_of((given.scope, given.namespace, given.key, *row)) if row else None
    if old is not None and old.expires_at is not None and old.expires_at <= ledger.batch.at:
        old = None
    if given.version != (old.version if old else 0):
        raise Conflict(
            f"item {given.key!r} of {given.namespace!r} was changed meanwhile; read it again",
            kind="item",
            ids=(given.key,),
        )
    value = to_json(given.value)
    new = replace(given, value=json.loads(value), version=given.version + 1)
    ledger.db.execute(
        "INSERT OR REPLACE INTO item VALUES (?, ?, ?, ?, ?, ?, ?)",
        (*key, new.version, micros_or_none(new.expires_at), value),
    )
    ledger.touch(touches.touch_item(old, new))
