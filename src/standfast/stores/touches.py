"""What the journal says about each thing: changed fields, never the text of a memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any

from standfast.types import (
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

FORGOTTEN = "forgotten"

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


def touch_made(records: Iterable[Record]) -> list[Touch]:
    """``touch_record`` of new ones. What is born together is mostly born alike: that is told by one
    and the same object."""
    told: dict[tuple[str, str], Mapping[str, Any]] = {}
    found = []
    for new in records:
        alike = (new.status, new.type)
        if alike not in told:
            told[alike] = {"version": 1, "status": new.status, "type": new.type}
        found.append(Touch(kind="record", id=new.id, scope=new.scope, after=told[alike]))
    return found


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


def touch_vectors(records: Iterable[Record], space: str) -> list[Touch]:
    after = {"space": space}
    return [Touch(kind="vector", id=one.id, scope=one.scope, after=after) for one in records]


def touch_erased(erase: Erase, scope: str) -> Touch:
    return Touch(kind=erase.kind, id=name_left(erase) or erase.id, scope=scope)


def name_left(erase: Erase) -> str:
    """What the journal calls an erased thing whose name somebody gave it, and so may tell what it
    was about; "": it keeps its own. Who erases a session has its messages forgotten by name, too.
    """
    if erase.kind == "item":
        return f"{erase.namespace}/{FORGOTTEN}"
    return FORGOTTEN if erase.kind == "session" else ""


def to_silence(
    erased: Iterable[Erase],
) -> dict[tuple[str, str], list[tuple[str, str, str]]]:
    """For stores that change their journal by statements: for each kind, and what the journal calls
    such things from now on ("": as before), their scopes, sessions and names."""
    found: dict[tuple[str, str], list[tuple[str, str, str]]] = {}
    for one in erased:
        name = f"{one.namespace}/{one.id}" if one.kind == "item" else one.id
        found.setdefault((one.kind, name_left(one)), []).append((one.scope, one.session, name))
    return found


def without_details(
    entry: Entry, also: Sequence[str | None], erase: Erase
) -> tuple[Entry, list[str | None]]:
    """The entry, silent about what is being erased; that something was touched stays known. And
    what its touches mention beside, see ``Changes.also``."""
    touched, beside = list(entry.touched), list(also)
    name = name_left(erase)
    for place, (touch, other) in enumerate(zip(entry.touched, also, strict=True)):
        if _mentions(touch, other, erase):
            new = replace(touch, before=None, after=None)
            touched[place] = replace(new, id=name) if name and touch.kind != "summary" else new
            beside[place] = None if name else other
    same = tuple(touched) == entry.touched
    return entry if same else replace(entry, touched=tuple(touched)), beside


def _mentions(touch: Touch, also: str | None, erase: Erase) -> bool:
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
        return touch.kind == "message" and touch.id == erase.id and also == erase.session
    return touch.kind in ("session", "message", "summary", "cursor") and also == erase.id


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
