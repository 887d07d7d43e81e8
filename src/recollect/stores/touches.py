"""What the journal says about each thing: changed fields, never the text of a memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any

from recollect.types import (
    CursorMove,
    Entry,
    Erase,
    Item,
    Message,
    Record,
    Relation,
    Session,
    Summary,
    Touch,
)

# Beside the fields that name the thing. Counters are not journalled by design, and the state of a
# session is what somebody said.
_NOT_JOURNALLED: Mapping[type, frozenset[str]] = {
    Record: frozenset({"id", "text", "uses", "used_at"}),
    Session: frozenset({"scope", "id", "cursors", "last_seq", "state"}),
    Relation: frozenset({"scope", "source", "target", "kind"}),
    Item: frozenset({"scope", "namespace", "key"}),
}


def touch_record(old: Record | None, new: Record) -> Touch:
    if old is None:
        after = {"version": new.version, "status": new.status, "type": new.type}
        return Touch(kind="record", id=new.id, scope=new.scope, after=after)
    before, after = _difference(old, new)
    return Touch(kind="record", id=new.id, scope=new.scope, before=before, after=after)


def touch_session(old: Session | None, new: Session) -> Touch:
    if old is None:
        return Touch(kind="session", id=new.id, scope=new.scope, after={"version": new.version})
    before, after = _difference(old, new)
    return Touch(kind="session", id=new.id, scope=new.scope, before=before, after=after)


def touch_relation(old: Relation | None, new: Relation) -> Touch:
    id_ = f"{new.source} {new.kind} {new.target}"
    if old is None:
        return Touch(kind="relation", id=id_, scope=new.scope, after={"version": new.version})
    before, after = _difference(old, new)
    return Touch(kind="relation", id=id_, scope=new.scope, before=before, after=after)


def touch_item(old: Item | None, new: Item) -> Touch:
    id_ = f"{new.namespace}/{new.key}"
    if old is None:
        return Touch(kind="item", id=id_, scope=new.scope, after={"version": new.version})
    before, after = _difference(old, new)
    return Touch(kind="item", id=id_, scope=new.scope, before=before, after=after)


def touch_message(message: Message) -> Touch:
    after = {"session": message.session, "seq": message.seq}
    return Touch(kind="message", id=message.id, scope=message.scope, after=after)


def touch_summary(summary: Summary) -> Touch:
    after = {
        "session": summary.session,
        "from_seq": summary.from_seq,
        "to_seq": summary.to_seq,
        "how": summary.how,
    }
    return Touch(kind="summary", id=summary.id, scope=summary.scope, after=after)


def touch_cursor(move: CursorMove) -> Touch:
    return Touch(
        kind="cursor",
        id=f"{move.session.id}/{move.reader}",
        scope=move.session.scope,
        before={"position": move.old},
        after={"position": move.new, "session": move.session.id},
    )


def touch_vector(record: Record, space: str) -> Touch:
    return Touch(kind="vector", id=record.id, scope=record.scope, after={"space": space})


def touch_erased(erase: Erase, scope: str) -> Touch:
    id_ = f"{erase.namespace}/{erase.id}" if erase.kind == "item" else erase.id
    return Touch(kind=erase.kind, id=id_, scope=scope)


def without_details(entry: Entry, erase: Erase) -> Entry:
    """The entry, silent about what is being erased; that it was touched stays known."""
    touched = tuple(
        replace(touch, before=None, after=None) if _mentions(touch, erase) else touch
        for touch in entry.touched
    )
    return entry if touched == entry.touched else replace(entry, touched=touched)


def _mentions(touch: Touch, erase: Erase) -> bool:
    if erase.kind == "record":
        if touch.kind == "relation":
            # Ids may hold blanks: rather silent about one edge too many than too few.
            return touch.id.startswith(f"{erase.id} ") or touch.id.endswith(f" {erase.id}")
        return touch.kind in ("record", "vector") and touch.id == erase.id
    if erase.kind == "summary":
        return touch.kind == "summary" and touch.id == erase.id
    if touch.scope != erase.scope:
        return False
    if erase.kind == "item":
        return touch.kind == "item" and touch.id == f"{erase.namespace}/{erase.id}"
    if erase.kind == "message":
        return touch.kind == "message" and touch.id == erase.id and _session(touch) == erase.session
    return (touch.kind == "session" and touch.id == erase.id) or (
        touch.kind in ("message", "summary", "cursor") and _session(touch) == erase.id
    )


def _session(touch: Touch) -> Any:
    return (touch.after or {}).get("session")


def _difference(old: Any, new: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The journalled fields in which two versions of one thing differ."""
    left_out = _NOT_JOURNALLED[type(new)]
    changed = [
        field.name
        for field in fields(new)
        if field.name not in left_out and getattr(old, field.name) != getattr(new, field.name)
    ]
    before = {name: _plain(getattr(old, name)) for name in changed}
    after = {name: _plain(getattr(new, name)) for name in changed}
    return before, after


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    return list(value) if isinstance(value, tuple) else value
