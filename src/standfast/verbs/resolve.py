"""resolve: what a person decided about something under review, as one change that can be undone.

Approving a quarantined record lets it meet what is known like any new statement. Approving one
side of a dispute replaces the others; rejecting it leaves them. Whoever loses the last opponent
by a decision is disputed no longer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from standfast.changes import Change, retried
from standfast.engine import Engine
from standfast.errors import Conflict, Invalid, NotFound
from standfast.lifecycle.disputes import Disputes, disputes_of, freed
from standfast.lifecycle.match import meet
from standfast.lifecycle.settlement import Outcome, joined_tags, replaced
from standfast.lifecycle.status import archived, released, settled, superseded
from standfast.ports import Store
from standfast.scopes import is_within, root_of
from standfast.text.inputs import clean_name, one_of
from standfast.types import Erase, Item, ItemStatus, Receipt, ReceiptItem, Record, ReviewAction
from standfast.types.frozen import frozen
from standfast.upkeep.consolidate import apply_held, drop_held
from standfast.upkeep.leases import Tries, succeeded
from standfast.verbs.review import (
    CONSOLIDATION,
    PROPOSALS,
    desks_of,
    held_record,
    items_of,
    stuck,
    work_id,
)
from standfast.verbs.statement import corrected, record_of


@frozen
class Wish:
    """What somebody decided, checked."""

    id: str
    action: ReviewAction
    text: str
    into: str
    actor: str


@frozen
class Matter:
    """A record under review, what stands against it, and the change that decides."""

    engine: Engine
    record: Record
    disputes: Disputes
    wish: Wish
    change: Change

    def write(self, record: Record, status: ItemStatus, reason: str) -> None:
        self.change.put(record)
        self.change.tell(record.id, status, reason)


async def resolve(
    engine: Engine, id_: str, action: str, *, text: str | None, into: str | None, actor: str
) -> Receipt:
    wish = _checked(id_, action, text, into, actor)

    async def attempt(_: Conflict | None) -> Receipt:
        return await _resolved(engine, wish)

    return await retried(attempt, "this changes faster than it can be decided; try again")


def _checked(id_: str, action: str, text: str | None, into: str | None, actor: str) -> Wish:
    chosen: ReviewAction = one_of(action, ReviewAction, "action")
    if (chosen == "edit") != bool(text and text.strip()):
        raise Invalid("edit needs the new text, and only edit takes one")
    if (chosen == "merge") != bool(into):
        raise Invalid("merge needs into, the id of the record that stays, and only merge does")
    return Wish(
        id=clean_name(id_, "an id"), action=chosen, text=text or "", into=into or "", actor=actor
    )


async def _resolved(engine: Engine, wish: Wish) -> Receipt:
    """Foreign ids are unknown like those that never were."""
    found = await engine.find_records([wish.id])
    roots = {root_of(record.scope) for record, _ in found.values()}
    for desk in await desks_of(engine, None):
        if roots and desk.root not in roots:
            continue
        async for item in items_of(desk, PROPOSALS):
            if wish.id in (item.key, held_record(item)):
                return await _decide_proposal(engine, item, wish)
    async for store, work in stuck(engine, None):
        if work_id(work) == wish.id:
            return await _try_again(engine, store, work, wish)
    if wish.id not in found or not engine.may_change(found[wish.id][0].scope):
        raise NotFound(f"there is nothing to decide under {wish.id!r}")
    record, store = found[wish.id]
    change = _change(engine, root_of(record.scope), wish, store)
    disputes = await disputes_of(engine, store, change.root, [record])
    # What is trusted more than its opponent is believed meanwhile, and a side all the same.
    is_side = any(one.status == "disputed" for one in disputes.opponents(record.id))
    if record.status not in ("quarantined", "disputed") and not (
        record.status == "active" and is_side
    ):
        raise Invalid(f"record {record.id!r} is {record.status}: there is nothing to decide")
    matter = Matter(engine=engine, record=record, disputes=disputes, wish=wish, change=change)
    await _DECISIONS[wish.action](matter)
    await change.commit()
    return change.receipt()


def _change(engine: Engine, root: str, wish: Wish, store: Store) -> Change:
    reason = f"review: {wish.action}"
    return Change(engine, root, reason, store=store, actor=wish.actor, id=engine.new_id())


# The four decisions


async def _approve(matter: Matter) -> None:
    record = matter.record
    if record.status != "quarantined":
        await _decide_for(matter)
        return
    approved = released(record)
    if record.kind == "episodic":  # what happened is compared with nothing
        matter.write(approved, "stored", "approved")
        return
    outcome = await _met(matter, approved)
    if outcome.id != record.id:
        gone = superseded(approved, matter.engine.now())
        matter.write(gone, "merged", f"approved, and {outcome.reason}: {outcome.id}")
        await _replaces(matter, outcome.id, record)
    else:
        said = f": {outcome.reason}" if outcome.reason else ""
        matter.change.tell(record.id, outcome.status, f"approved{said}")


async def _met(matter: Matter, record: Record, *gone: Record) -> Outcome:
    """What becomes of a record among those that are known, without those that go."""
    change = matter.change
    await change.embed([record])
    vector, space = change.vector_of(record), change.space
    outcome = await meet(matter.engine, change.store, record, vector, space, pending=gone)
    change.put(*outcome.records)
    change.draw(*outcome.relations)
    await change.embed()
    return outcome


async def _decide_for(matter: Matter) -> None:
    """This side of a dispute holds. A record above its scope is not changed from below: the
    edge alone hides it where this one is seen."""
    record, engine = matter.record, matter.engine
    matter.write(settled(record), "stored", "approved")
    others = matter.disputes.opponents(record.id)
    below = [one for one in others if is_within(one.scope, record.scope)]
    losing = [one for one in below if engine.may_change(one.scope)]
    for written in replaced(losing, record, now=engine.now(), new_id=engine.new_id):
        if written.version:
            matter.write(written, "superseded", f"{record.id} was approved")
        else:
            matter.change.put(written)
    await _replaces(matter, record.id, *others)
    await _free(matter, losing)


async def _reject(matter: Matter) -> None:
    gone = archived(matter.record, matter.engine.now())
    matter.write(gone, "stored", "rejected: archived")
    await _free(matter)


async def _edit(matter: Matter) -> None:
    """The new text is what the person who decides says: it is compared with all the others."""
    old, engine, change = matter.record, matter.engine, matter.change
    _must_be_a_statement(old)
    fresh, _ = record_of(corrected(old, matter.wish.text), engine)
    gone = superseded(old, engine.now())
    outcome = await _met(matter, fresh, gone)
    change.put(gone)
    await _replaces(matter, outcome.id, old)
    said = f"; {outcome.reason}" if outcome.reason else ""
    change.tell(outcome.id, outcome.status, f"supersedes {old.id}{said}")
    change.tell(old.id, "superseded", "edited")
    await _free(matter)


async def _merge(matter: Matter) -> None:
    """The other record stays as it reads, and takes over the tags and the lineage."""
    old, change = matter.record, matter.change
    _must_be_a_statement(old)
    into = await _stays(matter, matter.wish.into)
    matter.write(superseded(old, matter.engine.now()), "merged", f"into {into.id}")
    await _free(matter)
    kept = change.records.get(into.id, into)
    same_log = old.session_key == into.session_key
    lineage = tuple(dict.fromkeys((*kept.lineage, *old.lineage))) if same_log else kept.lineage
    change.put(replace(kept, tags=joined_tags(kept, old), lineage=lineage))
    await _replaces(matter, into.id, old)


async def _stays(matter: Matter, id_: str) -> Record:
    found = await matter.engine.find_records([clean_name(id_, "into")])
    record, store = found.get(id_, (None, matter.change.store))
    ours = record is not None and matter.engine.may_change(record.scope)
    if record is None or not ours or store is not matter.change.store:
        raise NotFound(f"there is no record {id_!r} to merge into")
    if root_of(record.scope) != matter.change.root or record.id == matter.record.id:
        raise Invalid("a record is merged into another one of the same root")
    if record.status not in ("active", "disputed") or record.type == "turn":
        raise Invalid(f"record {id_!r} is a {record.type} that is {record.status}: choose another")
    return record


_DECISIONS = {"approve": _approve, "reject": _reject, "edit": _edit, "merge": _merge}


def _must_be_a_statement(record: Record) -> None:
    if record.type == "turn":
        raise Invalid("a turn is what somebody said: approve it or reject it")


async def _replaces(matter: Matter, new_id: str, *olds: Record) -> None:
    ids = [old.id for old in olds]
    await matter.change.link_again(new_id, "supersedes", ids, scope=matter.record.scope)


async def _free(matter: Matter, more: Sequence[Record] = ()) -> None:
    """Nobody stays disputed for the sake of a record that is gone."""
    disputes, change = matter.disputes, matter.change
    if more:
        gone = [matter.record, *more]
        disputes = await disputes_of(matter.engine, change.store, change.root, gone)
    fresh_edges = [edge for edge in change.relations.values() if edge.kind == "contradicts"]
    disputes = replace(disputes, edges=(*disputes.edges, *fresh_edges))
    for record in freed(disputes, change.records):
        if matter.engine.may_change(record.scope):
            matter.write(record, "restored", "nothing speaks against it any more")


# Proposals and stuck work


async def _decide_proposal(engine: Engine, item: Item, wish: Wish) -> Receipt:
    if wish.action not in ("approve", "reject"):
        raise Invalid("a change set is approved or rejected as a whole")
    if item.key.startswith(CONSOLIDATION):
        decide = apply_held if wish.action == "approve" else drop_held
        return await decide(engine, item, wish.actor)
    if wish.action == "approve":
        raise Invalid(
            "this is an update of MEMORY.md: approve it with `standfast review approve "
            f"{item.key} --workspace FOLDER`"
        )
    return await _drop_update(engine, item, wish)


async def _drop_update(engine: Engine, item: Item, wish: Wish) -> Receipt:
    change = _change(engine, root_of(item.scope), wish, engine.store)
    kept = await engine.store.records(change.root, (held_record(item),), now=engine.now())
    change.put(*(archived(one, engine.now()) for one in kept))
    erase = Erase(kind="item", scope=item.scope, namespace=PROPOSALS, id=item.key)
    change.erasures.append(erase)
    await change.commit()
    change.tell(item.key, "stored", "rejected: nothing was changed")
    return change.receipt()


async def _try_again(engine: Engine, store: Store, work: Tries, wish: Wish) -> Receipt:
    if wish.action != "approve":
        raise Invalid("stuck work can only be tried again: approve it")
    await succeeded(engine, store, work.scope, work.key)
    told = ReceiptItem(id=wish.id, status="pending", reason="will be tried again")
    return Receipt(items=(told,))
