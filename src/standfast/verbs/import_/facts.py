"""Records and the relations between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from standfast.changes import Change, edge_key
from standfast.ports import beside, breath
from standfast.text.trust import SUSPICION
from standfast.types import LIVE, TRUST_OF_SOURCE, Find, Record, Relation, Where
from standfast.verbs.import_.file import ExportLine
from standfast.verbs.import_.run import (
    EXPIRED,
    FORGOTTEN,
    KNOWN,
    OPTED_OUT,
    OTHER,
    REDACTED,
    Filled,
    ImportOutcome,
    ImportRun,
    import_lines,
    skipped,
)
from standfast.verbs.import_.secrets import clean_record


@dataclass(slots=True, kw_only=True)
class FactPlan:
    records: dict[str, Record] = field(default_factory=dict)
    merged: dict[str, str] = field(default_factory=dict)
    outcomes: list[ImportOutcome] = field(default_factory=list)


async def import_records(run: ImportRun, lines: Sequence[ExportLine]) -> None:
    await import_lines(run, lines, _fill_records)


async def _fill_records(
    run: ImportRun, change: Change, lines: Sequence[ExportLine], careful: bool
) -> Filled:
    plan = await _planned(run, change.root, lines, careful=careful)
    change.put(*plan.records.values())
    pending = "" if run.dry_run else await change.embed()

    def note() -> None:
        run.embedded += change.embedded
        run.pending |= {pending} if pending else set()
        run.merged |= plan.merged
        run.planned |= plan.records.keys() if run.dry_run else set()

    return plan.outcomes, note


async def _planned(
    run: ImportRun, root: str, lines: Sequence[ExportLine], *, careful: bool
) -> FactPlan:
    engine = run.engine
    records = []
    for line in lines:
        if isinstance(line.value, Record):
            await breath()
            records.append(await beside(line.size, partial(_taken, run, line.value)))
    ids = list(dict.fromkeys(record.id for record in records))
    found = await engine.store.records(root, ids, now=engine.now())
    known = {record.id: record.text for record in found}
    unseen = {record.id for record in found if not engine.may_see(record.scope)}
    stones = await run.stones_of(root)
    buried = await stones.records(records) if stones else set()
    run.forgotten.records |= buried - known.keys()
    new = [record for record in records if record.id not in known]
    equals = await _equals(run, new) if careful else {}
    plan = FactPlan()
    asked: dict[tuple[str, str], bool] = {}
    for line, record in zip(lines, records, strict=True):
        if record.id in unseen:
            plan.outcomes.append(skipped(line, OTHER))  # whatever it says there
        elif record.id in known or record.id in plan.records:
            text = known[record.id] if record.id in known else plan.records[record.id].text
            plan.outcomes.append(skipped(line, KNOWN if text == record.text else OTHER))
        elif reason := await _why_not(run, record, asked):
            plan.outcomes.append(skipped(line, reason))
        else:
            _write_or_merge(run, plan, line, record, equals)
    return plan


def _taken(run: ImportRun, record: Record) -> Record:
    return run.believed(clean_record(record, run.engine.redactor))


async def _why_not(run: ImportRun, record: Record, asked: dict[tuple[str, str], bool]) -> str:
    if run.forgotten.has_record(record):
        run.forgotten.records.add(record.id)
        return FORGOTTEN
    if record.expires_at is not None and record.expires_at <= run.engine.now():
        return EXPIRED
    persists = await run.persists(asked, record.scope, record.author)
    return "" if persists else OPTED_OUT


def _write_or_merge(
    run: ImportRun,
    plan: FactPlan,
    line: ExportLine,
    record: Record,
    equals: dict[tuple[str, str], str],
) -> None:
    single = bool(record.hash) and record.status in LIVE
    equal = equals.get((record.scope, record.hash)) if single else None
    if equal is not None:
        plan.merged[record.id] = equal
        reason = f"{equal} says the same here"
        plan.outcomes.append(ImportOutcome(line=line, id=equal, status="merged", reason=reason))
        return
    if single:
        equals[record.scope, record.hash] = record.id
    made_from = tuple(run.merged.get(id_, id_) for id_ in record.derived_from)
    plan.records[record.id] = replace(record, derived_from=made_from, version=0)
    same = isinstance(line.value, Record) and record.text == line.value.text
    notes = [] if same and _same_beside(record, line.value) else [REDACTED]
    if record.status == "quarantined" and not _was_held(line.value):
        notes.append(f"not recalled until approved: it {record.data[SUSPICION]}")
    plan.outcomes.append(run.stored(line, record.id, "; ".join(notes)))


def _was_held(value: Any) -> bool:
    return isinstance(value, Record) and value.status == "quarantined"


def _same_beside(record: Record, value: Any) -> bool:
    """Is there nothing redacted beside its text? A reason to doubt it is no redaction."""
    data = {name: one for name, one in record.data.items() if name != SUSPICION}
    known = {name: one for name, one in value.data.items() if name != SUSPICION}
    return data == known and record.tags == value.tags


async def _equals(run: ImportRun, records: Sequence[Record]) -> dict[tuple[str, str], str]:
    """Scope and hash -> the record that says it here already."""
    by_scope: dict[str, set[str]] = {}
    for record in records:
        if record.hash and record.status in LIVE:
            by_scope.setdefault(record.scope, set()).add(record.hash)
    found: dict[tuple[str, str], str] = {}
    for scope, hashes in by_scope.items():
        query = Find(
            where=Where(scopes=(scope,), now=run.engine.now(), exact=True, statuses=LIVE),
            hashes=tuple(hashes),
            limit=len(hashes),
        )
        for record in await run.engine.store.find(query):
            found[scope, record.hash] = record.id
    return found


async def import_relations(run: ImportRun, lines: Sequence[ExportLine]) -> None:
    await import_lines(run, lines, _fill_relations)


async def _fill_relations(
    run: ImportRun, change: Change, lines: Sequence[ExportLine], _: bool
) -> Filled:
    engine = run.engine
    edges = [_moved(run, line.value) for line in lines if isinstance(line.value, Relation)]
    ends = {id_ for edge in edges for id_ in (edge.source, edge.target)}
    found = await engine.store.records(change.root, list(ends), now=engine.now())
    scopes = {record.id: record.scope for record in found if engine.may_see(record.scope)}
    trust = {record.id: record.trust for record in found}
    stored = await engine.store.relations(change.root, [edge.source for edge in edges])
    known = {edge_key(edge) for edge in stored}
    outcomes: list[ImportOutcome] = []
    for line, edge in zip(lines, edges, strict=True):
        await breath()
        reason = _why_no_edge(run, edge, scopes)
        if not reason and (edge_key(edge) in known or edge_key(edge) in change.relations):
            reason = KNOWN
        if not reason and not run.trusting and _takes_over(edge, trust):
            reason = "who is trusted less replaces nothing"
        if reason:
            outcomes.append(skipped(line, reason))
            continue
        change.draw(replace(edge, scope=scopes.get(edge.source, edge.scope), version=0))
        outcomes.append(run.stored(line, " ".join(edge_key(edge))))
    return outcomes, lambda: None


def _takes_over(edge: Relation, trust: dict[str, int]) -> bool:
    least = TRUST_OF_SOURCE["import"]
    return edge.kind == "supersedes" and trust.get(edge.source, least) < trust.get(
        edge.target, least
    )


def _moved(run: ImportRun, edge: Relation) -> Relation:
    """Where an end was merged into another record, the edge goes to that one."""
    return replace(
        edge,
        source=run.merged.get(edge.source, edge.source),
        target=run.merged.get(edge.target, edge.target),
    )


def _why_no_edge(run: ImportRun, edge: Relation, scopes: dict[str, str]) -> str:
    """``scopes`` are those of the records that can be seen: nothing tells of others."""
    if edge.source == edge.target:
        return "both ends are one record here"
    for id_ in (edge.source, edge.target):
        if id_ not in scopes and id_ not in run.planned:
            return "one of its records is not here"
    if not run.engine.may_change(scopes.get(edge.source, edge.scope)):
        return "it begins at a record of others"
    return ""
