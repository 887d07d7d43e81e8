"""Plans into commits: bounded, all of one change, each step checked against what is there now.

A plan that would retire too much is kept as a proposal until a person has decided. A proposal
names records by id and version and carries none of their text: what is forgotten meanwhile is
gone from it too. There is one per scope that was gone through at most; a newer plan takes its
place. Who goes through a part of a root asks in that part: the rest is others'.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from datetime import datetime
from typing import Any

from standfast import compat
from standfast.changes import Change, EdgeKey, edge_key, slices
from standfast.engine import Engine
from standfast.errors import Conflict, Invalid
from standfast.lifecycle.safety import with_doubt_about
from standfast.lifecycle.settlement import STRENGTH, joined_tags, replaced
from standfast.lifecycle.status import archived, drawn_again, settled, superseded
from standfast.ports import NewId
from standfast.scopes import root_of
from standfast.types import LIVE, Erase, Item, Receipt, ReceiptItem, Record, Relation, RelationKind
from standfast.types.frozen import frozen
from standfast.upkeep.consolidate.marks import Mark, keep
from standfast.upkeep.consolidate.run import ConsolidationRun
from standfast.upkeep.consolidate.steps import Plan, Step, plain_step, step_from

STEPS_PER_COMMIT = 50  # a step writes two records at most
CHANGED = "it was changed meanwhile"


async def apply_steps(run: ConsolidationRun, steps: Sequence[Step]) -> None:
    """Do them. One that somebody was faster with is skipped, and said so."""
    expected: dict[str, int] = {}  # versions that our own commits have made
    for part in slices(steps, STEPS_PER_COMMIT):
        await run.keep_lease()
        if not await _applied(run, part, expected):
            for step in part:
                if not await _applied(run, [step], expected):
                    run.tell(step, skipped=CHANGED)


async def _applied(run: ConsolidationRun, steps: Sequence[Step], expected: dict[str, int]) -> bool:
    """False: a conflict, nothing was written."""
    change = run.begin()
    stock = await _stock(change, steps, expected)
    told: list[tuple[Step, str]] = []
    for step in steps:
        rows = rows_of(step, stock, now=run.engine.now(), new_id=run.engine.new_id)
        change.put(*rows.records)
        change.draw(*rows.relations)
        told.append((step, rows.why_not))
    try:
        run.wrote = await change.commit() or run.wrote
    except Conflict:
        return False
    expected.update({id_: record.version + 1 for id_, record in change.records.items()})
    for step, skipped in told:
        run.tell(step, skipped=skipped)
    return True


@frozen
class Stock:
    """Records and edges as they are now. ``expected`` are versions that our own earlier commits
    made of what was planned on; ``drafted`` is what this commit makes of them so far."""

    records: Mapping[str, Record]
    edges: Mapping[EdgeKey, Relation] = field(default_factory=dict)
    expected: Mapping[str, int] = field(default_factory=dict)
    drafted: Mapping[str, Record] = field(default_factory=dict)

    def current(self, id_: str, version: int) -> tuple[Record | None, str]:
        """The record, or why nothing can be done to it any more."""
        record = self.records.get(id_)
        if record is None:
            return None, "it is gone"
        if record.version != self.expected.get(id_, version) or record.status not in LIVE:
            return None, CHANGED
        drafted = self.drafted.get(id_, record)
        return (drafted, "") if drafted.status in LIVE else (None, CHANGED)


async def _stock(change: Change, steps: Sequence[Step], expected: Mapping[str, int]) -> Stock:
    ids = list(dict.fromkeys(id_ for s in steps for id_ in (s.id, s.other) if id_))
    records: list[Record] = []
    if ids:
        records = await change.store.records(change.root, ids, now=change.engine.now())
    linked = [step.other for step in steps if step.other]
    edges = await change.store.relations(change.root, linked) if linked else []
    return Stock(
        records={record.id: record for record in records},
        edges={edge_key(edge): edge for edge in edges},
        expected=expected,
        drafted=change.records,
    )


@frozen
class StepRows:
    """What a step writes; nothing if ``why_not`` says why it cannot be done any more."""

    records: tuple[Record, ...] = ()
    relations: tuple[Relation, ...] = ()
    why_not: str = ""


def rows_of(step: Step, stock: Stock, *, now: datetime, new_id: NewId) -> StepRows:
    """``new_id`` names what is kept of the past of a record that was true until another one
    replaced it. Pure."""
    record, why = stock.current(step.id, step.version)
    if record is None:
        return StepRows(why_not=why)
    if not step.other:
        return _alone(step, record, now)
    kept, why = stock.current(step.other, step.other_version)
    if kept is None:
        return StepRows(why_not=f"the other one: {why}")
    if step.what == "supersede" and record.status == "disputed":
        rows = replaced((record,), kept, now=now, new_id=new_id)
        return StepRows(records=rows, relations=(_edge(stock, kept, record, now),))
    if step.what == "dispute" and _are((record, kept), "active", "disputed"):
        edge = _edge(stock, record, kept, now, "contradicts")
        both = (with_doubt_about(record, kept), with_doubt_about(kept, record))
        return StepRows(records=both, relations=(edge,))
    if step.what == "merge" and _are((record, kept), "active"):
        rows = (superseded(record, now), joined(kept, record))
        return StepRows(records=rows, relations=(_edge(stock, kept, record, now),))
    return StepRows(why_not=CHANGED)


def _alone(step: Step, record: Record, now: datetime) -> StepRows:
    if step.what == "archive":
        return StepRows(records=(archived(record, now),))
    if step.what == "importance":
        return StepRows(records=(replace(record, importance=step.value),))
    if step.what == "settle" and record.status == "disputed":
        return StepRows(records=(settled(record),))
    return StepRows(why_not=CHANGED)


def _are(records: Sequence[Record], *statuses: str) -> bool:
    return all(record.status in statuses for record in records)


def _edge(
    stock: Stock, kept: Record, gone: Record, now: datetime, kind: RelationKind = "supersedes"
) -> Relation:
    known = stock.edges.get((kept.id, kind, gone.id))
    if known is not None:
        return drawn_again(known)
    return Relation(
        scope=kept.scope,
        source=kept.id,
        target=gone.id,
        kind=kind,
        learned_at=now,
        lineage=gone.lineage,
    )


def joined(kept: Record, gone: Record) -> Record:
    """What stays, with the tags of what goes and, if that is trusted no less, its weight. What
    stays is never trusted less than what goes."""
    weight = gone if gone.trust >= kept.trust else kept
    return replace(
        kept,
        tags=joined_tags(kept, gone),
        importance=max(kept.importance, weight.importance),
        confidence=max(kept.confidence, weight.confidence),
        durability=max(kept.durability, weight.durability, key=STRENGTH.index),
        valid_from=_earlier(kept.valid_from, gone.valid_from),
    )


def _earlier(one: datetime | None, other: datetime | None) -> datetime | None:
    """Since when both held, as far as both say it."""
    return min(one, other) if one and other else one


# Proposals


NAMESPACE = compat.PROPOSALS
PREFIX = "consolidate/"
STEPS_MAX = 10_000


async def hold_plan(run: ConsolidationRun, plan: Plan) -> None:
    """Store the plan instead of doing it, and say how to go on."""
    known = await _held(run.engine, run.scopes[0])
    # Weight is moved by the next run; only what concerns the stock of memories is asked about.
    steps = [plain_step(step) for step in plan.steps if step.what != "importance"][:STEPS_MAX]
    same = known is not None and known.value.get("steps") == steps
    key = known.key if known else f"{PREFIX}{run.change}"
    if not same and not run.dry:
        value = {
            "action": "consolidate",
            "about": f"would retire {plan.retired} of {plan.live} memories",
            "at": run.started.isoformat(),
            "scopes": list(run.scopes),
            "steps": steps,
        }
        await _put(run, key, value, known)
    reason = (
        f"would retire {plan.retired} of {plan.live} memories, which is more than "
        f"{run.engine.profile.consolidate_share_max:.0%}: nothing was done; approve with "
        f"`standfast review approve {key}`, or run maintain --force"
    )
    run.items.append(ReceiptItem(id=key, status="pending", reason=reason))


async def _put(
    run: ConsolidationRun, key: str, value: Mapping[str, Any], known: Item | None
) -> None:
    item = Item(
        scope=run.scopes[0],
        namespace=NAMESPACE,
        key=key,
        value=value,
        version=known.version if known else 0,
    )
    change = Change(run.engine, run.root, "propose", actor=run.actor, id=run.engine.new_id())
    change.items.append(item)
    await change.commit()


async def _held(engine: Engine, scope: str) -> Item | None:
    found = await engine.store.items(
        root_of(scope), NAMESPACE, now=engine.now(), scopes=(scope,), prefix=PREFIX, limit=1
    )
    return found[0] if found and isinstance(found[0].value, Mapping) else None


async def clear_held(run: ConsolidationRun) -> None:
    """A run that went through leaves nothing to ask about."""
    known = await _held(run.engine, run.scopes[0])
    if known is not None:
        with suppress(Conflict):  # somebody is deciding about it just now
            await _erase(run.engine, known, run.actor)


async def apply_held(engine: Engine, item: Item, actor: str) -> Receipt:
    """Do what a held proposal says, as one change. Steps whose records changed meanwhile are
    skipped; the proposal is gone afterwards."""
    steps = held_steps(item)
    run = ConsolidationRun(
        engine=engine,
        root=root_of(item.scope),
        scopes=(item.scope,),
        change=engine.new_id(),
        actor=actor,
        mark=Mark(),
        started=engine.now(),
        renewed=engine.now(),
    )
    await _erase(engine, item, actor)  # first: two people must not both do it
    await apply_steps(run, steps)
    return Receipt(items=tuple(run.items), change=run.change if run.wrote else "")


async def drop_held(engine: Engine, item: Item, actor: str) -> Receipt:
    """Turn a held proposal down: what it wanted to retire stays, and is not proposed again."""
    retired = [step.id for step in held_steps(item) if step.retires]
    await _erase(engine, item, actor)
    await keep(engine, root_of(item.scope), retired)
    reason = f"turned down: {len(retired)} memories stay"
    return Receipt(items=(ReceiptItem(id=item.key, status="stored", reason=reason),))


def held_steps(item: Item) -> list[Step]:
    """The steps of a held proposal."""
    listed = item.value.get("steps") if isinstance(item.value, Mapping) else None
    if item.namespace != NAMESPACE or not isinstance(listed, Sequence):
        raise Invalid(f"{item.key!r} is no proposal of a consolidation")
    return [step for step in map(step_from, listed) if step is not None]


async def _erase(engine: Engine, item: Item, actor: str) -> None:
    root = root_of(item.scope)
    current = await engine.store.items(
        root, NAMESPACE, now=engine.now(), scopes=(item.scope,), keys=(item.key,)
    )
    if not current or current[0].version != item.version:
        raise Conflict(f"the proposal {item.key!r} was changed meanwhile; look again", kind="item")
    decision = Change(engine, root, "decide", actor=actor, id=engine.new_id())
    gone = Erase(kind="item", scope=item.scope, namespace=NAMESPACE, id=item.key)
    decision.erasures.append(gone)
    await decision.commit()
