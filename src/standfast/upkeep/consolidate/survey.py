"""Reading a root page by page, and planning from what is there."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from standfast.changes import slices
from standfast.engine import chunked, every_entry, every_record
from standfast.errors import Unavailable
from standfast.index.vectors import says_nothing
from standfast.lifecycle.match import Known, opponents, same_as
from standfast.models.calls import sum_of
from standfast.ports import breath
from standfast.scopes import is_visible
from standfast.types import KIND_OF_TYPE, LIVE, Listing, Record, Relation, Search, Touch, Where
from standfast.upkeep.consolidate.findings import (
    Age,
    Dispute,
    Evidence,
    clashes,
    doubles,
    look_at,
    settled,
)
from standfast.upkeep.consolidate.run import ConsolidationRun
from standfast.upkeep.consolidate.steps import Plan, Step

PAGE = 500
ENTRIES = 20  # of the journal; each may be about thousands of records
DISPUTED_MAX = 2000
STEPS_MAX = 50_000
COMPARED_MAX = 300  # new facts whose neighbours one run looks for
NEIGHBOURS = 8
AT_ONCE = timedelta(minutes=1)
FACTS = frozenset(type_ for type_, kind in KIND_OF_TYPE.items() if kind == "semantic")


@dataclass(slots=True, kw_only=True)
class RootSurvey:
    """A root at a glance: counts by scope, and what age alone would do to its records."""

    live: int = 0
    disputed: list[str] = field(default_factory=list)
    aging: list[Step] = field(default_factory=list)
    facts: Counter[str] = field(default_factory=Counter)
    core: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True, kw_only=True)
class News:
    """What the journal says since the last run: new facts, and what somebody brought back."""

    seq: int
    fresh: list[str] = field(default_factory=list)
    back: list[str] = field(default_factory=list)


async def survey(run: ConsolidationRun) -> RootSurvey:
    """One walk over everything that is live; turns are passed by."""
    found = RootSurvey()
    profile = run.engine.profile
    last = run.mark.at or run.started - timedelta(hours=profile.consolidate_hours)
    age = Age(now=run.started, last=last, stale=profile.stale)
    async for record in _walked(run):
        if record.type == "turn":
            continue
        found.live += 1
        if record.status == "disputed":
            found.disputed += [record.id] if len(found.disputed) < DISPUTED_MAX else []
            continue
        if record.kind == "semantic" and record.status == "active":
            found.facts[record.scope] += 1
            found.core[record.scope] += record.durability == "core"
        step = look_at(record, age)
        if step is not None and _may(step, run) and len(found.aging) < STEPS_MAX:
            found.aging.append(step)
    return found


def _may(step: Step, run: ConsolidationRun) -> bool:
    """Weight moves with the time since the last run, which only runs over a whole root know."""
    return run.whole if step.what == "importance" else step.id not in run.mark.kept


async def _walked(run: ConsolidationRun) -> AsyncIterator[Record]:
    query = Listing(
        where=Where(scopes=run.scopes, now=run.started, descend=True, exact=True, statuses=LIVE),
        order="id",
    )
    async for page in chunked(every_record(run.engine.store, query)):
        for record in page:
            yield record
        await run.give_way()


async def news(run: ConsolidationRun) -> News:
    """From the journal, so that its cost is that of what happened since."""
    found = News(seq=run.mark.seq)
    journal = every_entry(run.engine.store, run.root, after=run.mark.seq, size=ENTRIES)
    async for entry in journal:
        full = len(found.fresh) >= COMPARED_MAX
        for part in slices(entry.touched, PAGE):
            await run.give_way()
            _take_in(part, found, full=full)
        found.seq = found.seq if full else entry.seq
    return found


def _take_in(touched: Sequence[Touch], found: News, *, full: bool) -> None:
    """What is too much for one run is found again by the next."""
    for touch in touched:
        if touch.kind != "record" or touch.after is None:
            continue
        if touch.before is None and touch.after.get("type") in FACTS and not full:
            found.fresh.append(touch.id)
        retired = (touch.before or {}).get("status") in ("archived", "superseded")
        if retired and touch.after.get("status") in LIVE:
            found.back.append(touch.id)


async def planned(run: ConsolidationRun, surveyed: RootSurvey, happened: News) -> Plan:
    """Every record is in one step at most: what is in doubt first, what is only old last."""
    decided, parties = await _disputes(run, surveyed.disputed)
    steps = [step for step in decided if not (step.retires and step.id in run.mark.kept)]
    changed = await _changed(run, happened)
    steps += await _clashes(run, changed.values(), frozenset(happened.back), parties)
    taken = {id_ for step in steps for id_ in (step.id, step.other)} | parties
    for step in (*await _doubles(run, happened, changed), *surveyed.aging):
        ids = {step.id, step.other} - {""}
        if ids & taken or (step.retires and step.id in run.mark.kept):
            continue
        steps.append(step)
        taken |= ids
    return Plan(steps=tuple(steps), live=surveyed.live)


# Disputes


async def _disputes(run: ConsolidationRun, ids: Sequence[str]) -> tuple[list[Step], set[str]]:
    """What can be decided, and everybody who has a part in a dispute: no other step touches
    them."""
    if not ids:
        return [], set()
    store = run.engine.store
    edges = [edge for edge in await _edges(run, ids) if edge.retired_at is None]
    against = [edge for edge in edges if edge.kind == "contradicts"]
    linked = {id_ for edge in edges for id_ in (edge.source, edge.target)}
    records: dict[str, Record] = {}
    for part in slices(sorted({*ids, *linked}), PAGE):
        found = await store.records(run.root, part, now=run.started)
        records |= {record.id: record for record in found}
    origins = {record.origin for record in records.values() if record.origin} - records.keys()
    for part in slices(sorted(origins), PAGE):
        found = await store.records(run.root, part, now=run.started)
        records |= {record.id: record for record in found}
    evidence = _evidence(records, edges)
    dispute = Dispute(
        now=run.started, records=records, edges=against, evidence=evidence, kept=run.mark.kept
    )
    asked = set(ids)
    parties = {id_ for edge in against for id_ in (edge.source, edge.target)}
    return [step for step in settled(dispute) if step.id in asked], parties


async def _edges(run: ConsolidationRun, ids: Sequence[str]) -> list[Relation]:
    found: dict[tuple[str, str, str], Relation] = {}
    for part in slices(ids, PAGE):
        for edge in await run.engine.store.relations(run.root, part):
            found[edge.source, edge.kind, edge.target] = edge
    return list(found.values())


def _evidence(records: dict[str, Record], edges: Iterable[Relation]) -> dict[str, Evidence]:
    """Who said it since, and what supports it."""
    since = {
        id_: edge.learned_at
        for edge in edges
        if edge.kind == "contradicts"
        for id_ in (edge.source, edge.target)
    }
    supports: dict[str, set[str]] = {}
    said: dict[str, int] = {}
    for edge in edges:
        source = records.get(edge.source)
        if edge.kind == "supports" and source is not None and source.status in LIVE:
            supports.setdefault(edge.target, set()).add(source.origin or source.id)
            moment = since.get(edge.target)
            again = source.type == "turn" and source.source == "user"
            if again and moment is not None and source.at > moment:
                said[edge.target] = said.get(edge.target, 0) + 1
    found: dict[str, Evidence] = {}
    for id_ in since:
        record = records.get(id_)
        if record is not None and record.status in LIVE:
            found[id_] = Evidence(said=said.get(id_, 0), supports=len(supports.get(id_, ())))
    return found


# Clashes


async def _changed(run: ConsolidationRun, happened: News) -> dict[str, Record]:
    """The facts that were written or brought back since the last run, as far as it is theirs."""
    found: list[Record] = []
    for ids in slices(list(dict.fromkeys([*happened.fresh, *happened.back])), PAGE):
        found += await run.engine.store.records(run.root, ids, now=run.started)
    return {
        record.id: record
        for record in found
        if record.status == "active"
        and record.kind == "semantic"
        and is_visible(record.scope, run.scopes, descend=True, exact=True)
    }


def _at_once(one: Record, other: Record) -> bool:
    """Whether two processes may have written them without seeing the other."""
    return abs(one.learned_at - other.learned_at) < AT_ONCE


async def _clashes(
    run: ConsolidationRun, changed: Iterable[Record], back: frozenset[str], taken: set[str]
) -> list[Step]:
    """Those beside what is near. A pair is named once, by the one that was looked at first."""
    steps: dict[frozenset[str], Step] = {}
    for record in changed:
        await breath()
        if record.id in taken:
            continue
        found = await opponents(run.engine, run.engine.store, record)
        unmet = [one for one in found if record.id in back or _at_once(one, record)]
        for step in clashes(record, unmet):
            if step.other not in taken:
                steps.setdefault(frozenset((step.id, step.other)), step)
    return list(steps.values())


# Doubles


async def _doubles(
    run: ConsolidationRun, happened: News, changed: Mapping[str, Record]
) -> list[Step]:
    fresh = [changed[id_] for id_ in dict.fromkeys(happened.fresh) if id_ in changed]
    if not fresh or await run.engine.vector_trouble():
        return []
    steps: list[Step] = []
    try:
        for part in slices(fresh):
            steps += await _doubles_of(run, part)
    except Unavailable as error:
        happened.seq = run.mark.seq  # they are looked at again
        run.notes.append(f"near duplicates were not looked for: {error}")
    return steps


async def _doubles_of(run: ConsolidationRun, records: Sequence[Record]) -> list[Step]:
    engine = run.engine
    if trouble := await engine.vector_trouble():
        raise Unavailable(trouble)
    embedded = await engine.embed_records(records)
    run.usage = sum_of(run.usage, embedded.usage)
    if embedded.trouble:
        raise Unavailable(embedded.trouble)
    steps: list[Step] = []
    for record, vector in zip(records, embedded.vectors, strict=True):
        if vector is None or says_nothing(vector) or engine.embedder is None:
            continue
        query = Search(
            where=Where(
                scopes=(record.scope,),
                now=run.started,
                exact=True,
                kinds=("semantic",),
                statuses=("active",),
            ),
            vector=vector,
            space=engine.embedder.space,
            similar_above=engine.profile.duplicate_above,
            limit=NEIGHBOURS,
        )
        near = [Known(hit.record, hit.similarity) for hit in await engine.store.search(query)]
        steps += doubles(record, await same_as(engine, record, near))
    return steps
