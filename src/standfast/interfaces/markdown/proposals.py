"""Approving an update of MEMORY.md that was held because it would drop too much."""

from __future__ import annotations

from standfast.changes import Change
from standfast.engine import Engine
from standfast.errors import Invalid
from standfast.interfaces.markdown.exchange import update_of
from standfast.interfaces.markdown.intake import EditOutcome
from standfast.interfaces.markdown.mirror import memory_page
from standfast.interfaces.markdown.pages import FactLine
from standfast.interfaces.markdown.updates import PROPOSALS, apply_update
from standfast.interfaces.markdown.view import facts_of
from standfast.lifecycle.status import archived
from standfast.scopes import root_of
from standfast.types import Erase, Item, Receipt, Record, Summary
from standfast.verbs.review import CONSOLIDATION, desks_of, held_record, items_of


async def held_update(engine: Engine, id_: str) -> Item | None:
    """The held update of that name, if there is one."""
    for desk in await desks_of(engine, None):
        async for item in items_of(desk, PROPOSALS):
            if not item.key.startswith(CONSOLIDATION) and id_ in (item.key, held_record(item)):
                return item
    return None


async def approve_update(engine: Engine, item: Item, actor: str) -> Receipt:
    """Apply it to the facts as they are now, as one change; the proposal is gone afterwards.
    MEMORY.md follows with the next sync."""
    now = engine.now()
    kept = await engine.store.records(root_of(item.scope), (held_record(item),), now=now)
    if not kept:
        raise Invalid("the text of this update was forgotten; reject it")
    facts = await facts_of(engine, item.scope)
    page = await memory_page(engine, item.scope, facts, ())
    shown = [FactLine(id=record.id, text=record.text, type=record.type) for record in page.shown]
    outcome = EditOutcome()
    messages = await engine.store.messages(
        kept[0].session_key, now=now, ids=kept[0].lineage, limit=max(1, len(kept[0].lineage))
    )
    await apply_update(
        engine,
        item.scope,
        _summary(kept[0]),
        update_of(kept[0].text, shown),
        facts,
        messages,
        outcome,
        approved=True,
    )
    change = outcome.changes[-1] if outcome.changes else engine.new_id()
    await _close(engine, item, kept[0], actor, change)
    return Receipt(items=tuple(outcome.items), change=change, notes=tuple(outcome.notes))


def _summary(record: Record) -> Summary:
    """What the update was made from, as its record remembers it."""
    key = record.session_key
    return Summary(
        id=record.id,
        scope=key.scope,
        session=key.id,
        from_seq=0,
        to_seq=0,
        text="",
        how="model",
        lineage=record.lineage,
        learned_at=record.learned_at,
    )


async def _close(engine: Engine, item: Item, record: Record, actor: str, change: str) -> None:
    closing = Change(engine, root_of(item.scope), "review: approve", actor=actor, id=change)
    closing.put(archived(record, engine.now()))
    erase = Erase(kind="item", scope=item.scope, namespace=PROPOSALS, id=item.key)
    closing.erasures.append(erase)
    await closing.commit()
