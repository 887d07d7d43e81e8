"""edit: another text in the place of a record's. The old one stays known as what was believed."""

from __future__ import annotations

from standfast.engine import Engine
from standfast.errors import Denied, Invalid, NotFound
from standfast.text.inputs import clean_name
from standfast.types import Receipt, ReceiptItem
from standfast.verbs.remember import remember
from standfast.verbs.resolve import resolve
from standfast.verbs.statement import corrected

UNDER_REVIEW = ("disputed", "quarantined")


async def edit(engine: Engine, id_: str, text: str, *, actor: str) -> Receipt:
    """Whoever edits says it: the new record is theirs, with the old one's scope, tags and times."""
    found = await engine.find_records([clean_name(id_, "an id")])
    if id_ not in found:
        raise NotFound(f"there is no record {id_!r}")
    record, _ = found[id_]
    if not engine.may_change(record.scope):
        raise Denied(f"record {id_!r} belongs to {record.scope!r}, which this handle only reads")
    if record.type == "turn":
        raise Invalid("a turn is what somebody said: remember() what is right, or forget() it")
    if record.type == "procedure":
        raise Invalid("a procedure gets a new version by save_procedure() under its name")
    if isinstance(text, str) and text.strip() == record.text.strip():
        return Receipt(items=(ReceiptItem(id=id_, status="skipped", reason="it reads so already"),))
    if record.status in UNDER_REVIEW:  # the decision is an edit, and frees the other side
        return await resolve(engine, id_, "edit", text=text, into=None, actor=actor)
    return await remember(engine, corrected(record, text, supersedes=id_), actor=actor)
