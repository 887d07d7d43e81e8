"""Steps into commits: bounded, all of one change, each checked against what is there now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from recollect.changes import Change, EdgeKey, edge_key, slices
from recollect.errors import Conflict
from recollect.lifecycle.merge import replaced
from recollect.lifecycle.merge.settlement import STRENGTH
from recollect.lifecycle.status import archived, disputed, drawn_again, settled, superseded
from recollect.ports import NewId
from recollect.types import LIVE, Record, Relation, RelationKind
from recollect.upkeep.consolidate.run import ConsolidationRun
from recollect.upkeep.consolidate.steps import Step

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


@dataclass(frozen=True, slots=True, kw_only=True)
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


@dataclass(frozen=True, slots=True, kw_only=True)
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
        both = (disputed(record, by=kept), disputed(kept, by=record))
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
    """What stays, with the tags and the weight of what goes."""
    return replace(
        kept,
        tags=tuple(sorted({*kept.tags, *gone.tags})),
        importance=max(kept.importance, gone.importance),
        confidence=max(kept.confidence, gone.confidence),
        durability=max(kept.durability, gone.durability, key=STRENGTH.index),
        trust=max(kept.trust, gone.trust),
        valid_from=_earlier(kept.valid_from, gone.valid_from),
    )


def _earlier(one: datetime | None, other: datetime | None) -> datetime | None:
    """Since when both held, as far as both say it."""
    return min(one, other) if one and other else one
