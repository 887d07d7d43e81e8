"""resolve: what a person decided about something under review, as one change that can be undone.

Approving a quarantined record lets it meet what is known like any new statement. Approving one
side of a dispute replaces the others; rejecting it leaves them. Whoever loses the last opponent
by a decision is disputed no longer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from recollect.engine import ATTEMPTS_MAX, Engine
from recollect.errors import Conflict, Invalid, NotFound, Unavailable
from recollect.lifecycle.disputes import Disputes, disputes_of, freed
from recollect.lifecycle.match import meet
from recollect.lifecycle.merge import Outcome, replaced, with_claim
from recollect.ports import Store
from recollect.scopes import is_within, root_of
from recollect.text.inputs import clean_name, one_of
from recollect.text.trust import SUSPICION
from recollect.types import (
    Erase,
    Item,
    ItemStatus,
    Receipt,
    ReceiptItem,
    Record,
    Relation,
    ReviewAction,
    Vector,
)
from recollect.upkeep.consolidate import apply_held, drop_held
from recollect.upkeep.leases import Tries, succeeded
from recollect.verbs.remember import Statement, record_of
from recollect.verbs.review import (
    CONSOLIDATION,
    PROPOSALS,
    desks_of,
    held_record,
    items_of,
    stuck,
    work_id,
)

# What was read in a record's text, and says nothing about a text that takes its place.
_READ_IN_IT = ("subject", "slot", "value", "negated", "exclusive", "entities", "how")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What somebody decided, checked."""

    id: str
    action: ReviewAction
    text: str
    into: str
    actor: str


@dataclass(slots=True, kw_only=True)
class Decision:
    """What is written for it: records as they will be, and what to say about each."""

    records: dict[str, Record] = field(default_factory=dict)
    relations: list[Relation] = field(default_factory=list)
    items: list[ReceiptItem] = field(default_factory=list)
    vectors: dict[str, Vector] = field(default_factory=dict)
    space: str = ""

    def write(self, record: Record, status: ItemStatus, reason: str) -> None:
        self.records[record.id] = record
        self.items.append(ReceiptItem(id=record.id, status=status, reason=reason))


@dataclass(frozen=True, slots=True, kw_only=True)
class Matter:
    """A record under review, where it lives, and what stands against it."""

    engine: Engine
    store: Store
    record: Record
    disputes: Disputes
    wish: Wish

    @property
    def root(self) -> str:
        return root_of(self.record.scope)


async def resolve(
    engine: Engine, id_: str, action: str, *, text: str | None, into: str | None, actor: str
) -> Receipt:
    wish = _checked(id_, action, text, into, actor)
    for _ in range(ATTEMPTS_MAX):
        try:
            return await _resolved(engine, wish)
        except Conflict:
            continue  # somebody changed it meanwhile: look again
    raise Unavailable("this changes faster than it can be decided; try again")


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
    if record.status not in ("quarantined", "disputed"):
        raise Invalid(f"record {record.id!r} is {record.status}: there is nothing to decide")
    disputes = await disputes_of(engine, store, root_of(record.scope), [record])
    matter = Matter(engine=engine, store=store, record=record, disputes=disputes, wish=wish)
    return await _commit(matter, await _DECISIONS[wish.action](matter))


async def _commit(matter: Matter, decision: Decision) -> Receipt:
    engine = matter.engine
    change = engine.new_id()
    fresh = {record.id for record in decision.records.values() if record.version == 0}
    vectors = {id_: vector for id_, vector in decision.vectors.items() if id_ in fresh}
    batch = engine.batch(
        matter.root,
        f"review: {matter.wish.action}",
        actor=matter.wish.actor,
        change=change,
        records=tuple(decision.records.values()),
        relations=tuple(decision.relations),
        vectors=vectors,
        space=decision.space if vectors else "",
    )
    await engine.commit(matter.store, batch)
    return Receipt(items=tuple(decision.items), change=change)


# The four decisions


async def _approve(matter: Matter) -> Decision:
    record = matter.record
    if record.status == "disputed":
        return await _decide_for(matter)
    approved = replace(record, status="active", data=_without(record.data, (SUSPICION,)))
    decision = Decision()
    if record.kind == "episodic":  # what happened is compared with nothing
        decision.write(approved, "stored", "approved")
        return decision
    outcome = await _met(matter, approved, decision)
    if outcome.id != record.id:
        gone = replace(approved, status="superseded", retired_at=matter.engine.now())
        decision.write(gone, "merged", f"approved, and {outcome.reason}: {outcome.id}")
        decision.relations.append(await _edge(matter, outcome.id, record))
    else:
        said = f": {outcome.reason}" if outcome.reason else ""
        decision.items.append(
            ReceiptItem(id=record.id, status=outcome.status, reason=f"approved{said}")
        )
    return decision


async def _met(matter: Matter, record: Record, decision: Decision, *gone: Record) -> Outcome:
    """What becomes of a record among those that are known, without those that go."""
    engine = matter.engine
    vectors, space, _ = await engine.embed_for_writing([record])
    outcome = await meet(engine, matter.store, record, vectors.get(record.id), space, pending=gone)
    closed = [one for one in outcome.unembedded if one.id != record.id]
    more, more_space, _ = await engine.embed_for_writing(closed)
    decision.vectors = {**vectors, **(more if more_space == space else {})}
    decision.space = space
    decision.records |= {one.id: one for one in outcome.records}
    decision.relations += outcome.relations
    return outcome


async def _decide_for(matter: Matter) -> Decision:
    """This side of a dispute holds. A record above its scope is not changed from below: the
    edge alone hides it where this one is seen."""
    record, engine = matter.record, matter.engine
    decision = Decision()
    decision.write(replace(record, status="active"), "stored", "approved")
    others = matter.disputes.opponents(record.id)
    below = [one for one in others if is_within(one.scope, record.scope)]
    losing = [one for one in below if engine.may_change(one.scope)]
    for written in replaced(losing, record, now=engine.now(), new_id=engine.new_id):
        if written.version:
            decision.write(written, "superseded", f"{record.id} was approved")
        else:
            decision.records[written.id] = written
    decision.relations += [await _edge(matter, record.id, one) for one in others]
    await _free(matter, decision, losing)
    return decision


async def _reject(matter: Matter) -> Decision:
    decision = Decision()
    gone = replace(matter.record, status="archived", retired_at=matter.engine.now())
    decision.write(gone, "stored", "rejected: archived")
    await _free(matter, decision)
    return decision


async def _edit(matter: Matter) -> Decision:
    """The new text is what the person who decides says: it is compared with all the others."""
    old, engine = matter.record, matter.engine
    _must_be_a_statement(old)
    decision = Decision()
    fresh, _ = record_of(_statement(old, matter.wish.text), engine)
    gone = replace(old, status="superseded", retired_at=engine.now())
    outcome = await _met(matter, with_claim(fresh), decision, gone)
    decision.records[gone.id] = gone
    decision.relations.append(await _edge(matter, outcome.id, old))
    said = f"; {outcome.reason}" if outcome.reason else ""
    decision.items += [
        ReceiptItem(id=outcome.id, status=outcome.status, reason=f"supersedes {old.id}{said}"),
        ReceiptItem(id=old.id, status="superseded", reason="edited"),
    ]
    await _free(matter, decision)
    return decision


def _statement(old: Record, text: str) -> Statement:
    return Statement(
        text=text,
        scope=old.scope,
        kind=old.kind,
        type=old.type,
        tags=old.tags,
        importance=old.importance,
        confidence=old.confidence,
        durability=old.durability,
        valid_from=old.valid_from,
        valid_to=old.valid_to,
        expires_at=old.expires_at,
        source="user",
        author=old.author,
        data=_without(old.data, (SUSPICION, *_READ_IN_IT)),
    )


async def _merge(matter: Matter) -> Decision:
    """The other record stays as it reads, and takes over the tags and the lineage."""
    old, engine = matter.record, matter.engine
    _must_be_a_statement(old)
    into = await _stays(matter, matter.wish.into)
    decision = Decision()
    gone = replace(old, status="superseded", retired_at=engine.now())
    decision.write(gone, "merged", f"into {into.id}")
    await _free(matter, decision)
    kept = decision.records.get(into.id, into)
    same_log = old.session_key == into.session_key
    decision.records[into.id] = replace(
        kept,
        tags=tuple(sorted({*kept.tags, *old.tags})),
        lineage=tuple(dict.fromkeys((*kept.lineage, *old.lineage))) if same_log else kept.lineage,
    )
    decision.relations.append(await _edge(matter, into.id, old))
    return decision


async def _stays(matter: Matter, id_: str) -> Record:
    found = await matter.engine.find_records([clean_name(id_, "into")])
    record, store = found.get(id_, (None, matter.store))
    if record is None or not matter.engine.may_change(record.scope) or store is not matter.store:
        raise NotFound(f"there is no record {id_!r} to merge into")
    if root_of(record.scope) != matter.root or record.id == matter.record.id:
        raise Invalid("a record is merged into another one of the same root")
    if record.status not in ("active", "disputed") or record.type == "turn":
        raise Invalid(f"record {id_!r} is a {record.type} that is {record.status}: choose another")
    return record


_DECISIONS = {"approve": _approve, "reject": _reject, "edit": _edit, "merge": _merge}


def _must_be_a_statement(record: Record) -> None:
    if record.type == "turn":
        raise Invalid("a turn is what somebody said: approve it or reject it")


def _without(data: object, names: Iterable[str]) -> dict[str, object]:
    assert hasattr(data, "items")
    left_out = frozenset(names)
    return {name: value for name, value in data.items() if name not in left_out}


async def _edge(matter: Matter, new_id: str, old: Record) -> Relation:
    """That a record replaces another; where undo had retired the edge it is there again."""
    known = await matter.store.relations(matter.root, (old.id,))
    same = [e for e in known if (e.source, e.kind, e.target) == (new_id, "supersedes", old.id)]
    return Relation(
        scope=matter.record.scope,
        source=new_id,
        target=old.id,
        kind="supersedes",
        learned_at=matter.engine.now(),
        version=same[0].version if same else 0,
    )


async def _free(matter: Matter, decision: Decision, more: Sequence[Record] = ()) -> None:
    """Nobody stays disputed for the sake of a record that is gone."""
    disputes = matter.disputes
    if more:
        gone = [matter.record, *more]
        disputes = await disputes_of(matter.engine, matter.store, matter.root, gone)
    fresh_edges = [edge for edge in decision.relations if edge.kind == "contradicts"]
    disputes = replace(disputes, edges=(*disputes.edges, *fresh_edges))
    for record in freed(disputes, decision.records):
        if matter.engine.may_change(record.scope):
            decision.write(record, "restored", "nothing speaks against it any more")


# Proposals and stuck work


async def _decide_proposal(engine: Engine, item: Item, wish: Wish) -> Receipt:
    if wish.action not in ("approve", "reject"):
        raise Invalid("a change set is approved or rejected as a whole")
    if item.key.startswith(CONSOLIDATION):
        decide = apply_held if wish.action == "approve" else drop_held
        return await decide(engine, item, wish.actor)
    if wish.action == "approve":
        raise Invalid(
            "this is an update of MEMORY.md: approve it with `recollect review approve "
            f"{item.key} --workspace FOLDER`"
        )
    return await _drop_update(engine, item, wish)


async def _drop_update(engine: Engine, item: Item, wish: Wish) -> Receipt:
    root = root_of(item.scope)
    kept = await engine.store.records(root, (held_record(item),), now=engine.now())
    gone = tuple(replace(one, status="archived", retired_at=engine.now()) for one in kept)
    change = engine.new_id()
    erase = Erase(kind="item", scope=item.scope, namespace=PROPOSALS, id=item.key)
    batch = engine.batch(
        root, "review: reject", actor=wish.actor, change=change, records=gone, erase=(erase,)
    )
    await engine.commit(engine.store, batch)
    told = ReceiptItem(id=item.key, status="stored", reason="rejected: nothing was changed")
    return Receipt(items=(told,), change=change)


async def _try_again(engine: Engine, store: Store, work: Tries, wish: Wish) -> Receipt:
    if wish.action != "approve":
        raise Invalid("stuck work can only be tried again: approve it")
    await succeeded(engine, store, work.scope, work.key)
    told = ReceiptItem(id=wish.id, status="pending", reason="will be tried again")
    return Receipt(items=(told,))
