"""Writing sessions, their messages, cursors and summaries, and items."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from recollect.errors import Conflict, Invalid
from recollect.stores import touches
from recollect.stores.batches import is_journalled, next_seq
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
    " ON CONFLICT (session, id) DO NOTHING"
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
    ends: dict[SessionKey, tuple[int, int]] = {}  # key and last number of each session
    taken: dict[str, None] = {}
    out_of_order: Conflict | None = None
    for message in messages:
        key = SessionKey(message.scope, message.session)
        pk, last = ends.get(key) or _end_of_session(ledger, key)
        ends[key] = (pk, last)
        try:
            if message.seq and not _is_free(ledger, pk, message.id):
                taken[message.id] = None
                continue
            seq = next_seq(message, last)
        except Conflict as conflict:
            out_of_order = out_of_order or conflict
            continue
        ends[key] = (pk, seq)
        if not _append(ledger, pk, message, seq):
            taken[message.id] = None
        ledger.touch(touches.touch_message(replace(message, seq=seq)), also=message.session)
    _check_appended(taken, out_of_order)
    for pk, last in ends.values():
        ledger.db.execute("UPDATE session SET last_seq = ? WHERE pk = ?", (last, pk))
        ledger.db.execute(
            "UPDATE cursor SET behind = 1 WHERE session = ? AND seq < ? AND behind = 0", (pk, last)
        )


def _check_appended(taken: Iterable[str], out_of_order: Conflict | None) -> None:
    """Conflict with all ids that are taken; only if there are none, about a number."""
    if taken:
        raise Conflict(
            f"message ids {', '.join(map(repr, taken))} are already in their session",
            kind="message",
            ids=tuple(taken),
        )
    if out_of_order is not None:
        raise out_of_order


def _append(ledger: Ledger, session: int, message: Message, seq: int) -> bool:
    """False if its id is taken. Looked at only then: nearly all are new."""
    row = (session, *message_row(message, seq))
    ledger.db.execute(_INSERT_MESSAGE, row)
    if not ledger.db.changes() and _is_free(ledger, session, message.id):
        ledger.db.execute(_INSERT_MESSAGE, row)
    return bool(ledger.db.changes())


def _is_free(ledger: Ledger, session: int, id_: str) -> bool:
    """An expired message makes room."""
    row = ledger.get(
        "SELECT pk, expires_at FROM message WHERE session = ? AND id = ?", session, id_
    )
    if row is None:
        return True
    if row[1] is None or row[1] > ledger.at:
        return False
    ledger.db.execute("DELETE FROM message WHERE pk = ?", (row[0],))
    return True


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
    old, new = _put_item(ledger, given)
    if is_journalled(given):
        ledger.touch(touches.touch_item(old, new))


def _put_item(ledger: Ledger, given: Item) -> tuple[Item | None, Item]:
    """The item as it was and as it is."""
    scope = ledger.scope(given.scope)
    key = (ledger.root, plain(given.namespace), scope, plain(given.key))
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
    return old, new
