"""undo: take a change back with a new change. Nothing is destroyed by it.

What the change created is archived, what it altered gets its old fields back. The message log
stays. Undo refuses where something later builds on the change, and skips what was erased. What it
brings back is disputed if something learned since speaks against it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from standfast.changes import PER_COMMIT, Change, EdgeKey, edge_key, slices
from standfast.engine import Engine
from standfast.errors import Conflict, NotFound
from standfast.lifecycle.match import disputed_again
from standfast.lifecycle.status import archived, cut, undone
from standfast.ports import Store, breath
from standfast.text.inputs import clean_name
from standfast.types import LIVE, Entry, Find, Receipt, Record, Relation, Touch, Where
from standfast.verbs.lists.changes import visible_entries

ENTRIES_MAX = 10_000
_KEPT = {
    "message": "the message log is kept; forget() erases it",
    "session": "the session stays",
    "summary": "summaries are never edited",
    "cursor": "cursors never go back",
    "item": "settings are changed by setting them again",
}


@dataclass(slots=True, kw_only=True)
class Reversal:
    """What the change did to one thing, over all its commits."""

    touch: Touch
    first_before: Mapping[str, Any] | None
    last_after: Mapping[str, Any] | None


async def undo(
    engine: Engine, change: str, *, scope: str | None, dry_run: bool, actor: str
) -> Receipt:
    clean_name(change, "change")
    entries, store = await _entries_of(engine, change, scope)
    plan = Change(
        engine, entries[0].root, f"undo {change}", store=store, actor=actor, id=engine.new_id()
    )
    reversals = await _collapse(entries)
    revived, blockers = await _plan_records(plan, reversals)
    blockers += await _plan_relations(plan, reversals)
    await _dispute(plan, revived, since=min(entry.seq for entry in entries))
    for touch in (reversal.touch for reversal in reversals):
        if touch.kind in _KEPT:
            plan.tell(touch.id, "skipped", _KEPT[touch.kind])
    if blockers:
        raise Conflict(
            f"change {change} cannot be undone, later changes build on it: "
            + "; ".join(blockers)
            + ". Undo those first",
            kind="record",
        )
    if dry_run:
        return plan.receipt("dry run: nothing was changed", wrote=False)
    # What goes makes room first: two versions of one procedure share their name.
    plan.records = dict(sorted(plan.records.items(), key=lambda one: one[1].status in LIVE))
    await plan.commit_in_parts()
    return plan.receipt()


async def _entries_of(engine: Engine, change: str, scope: str | None) -> tuple[list[Entry], Store]:
    by_root, _ = await engine.read_scopes(scope, descend=False)
    wanted: list[str | None] = list(by_root) if scope or engine.bound else [None]
    for store in (engine.store, engine.volatile):
        for root in wanted:
            entries = await store.journal(root, change=change, limit=ENTRIES_MAX)
            touched = [touch.scope for entry in entries for touch in entry.touched]
            seen = await visible_entries(engine, entries)
            if entries and sum(len(entry.touched) for entry in seen) == len(touched):
                for touched_scope in set(touched):
                    engine.write_scope(touched_scope)
                return entries, store
    raise NotFound(f"there is no change {change!r}; `changes` lists those there are")


async def _collapse(entries: Sequence[Entry]) -> list[Reversal]:
    found: dict[tuple[str, str], Reversal] = {}
    for entry in entries:
        for touch in entry.touched:
            await breath()
            known = found.get((touch.kind, touch.id))
            if known is None:
                found[touch.kind, touch.id] = Reversal(
                    touch=touch, first_before=touch.before, last_after=touch.after
                )
            else:
                known.last_after = touch.after
                # A later commit may change other fields: what each was at first counts.
                if known.first_before is not None and touch.before is not None:
                    known.first_before = {**touch.before, **known.first_before}
    return list(found.values())


async def _plan_records(plan: Change, reversals: list[Reversal]) -> tuple[list[Record], list[str]]:
    """Those that are believed again after not being so, and what stands in the way."""
    now = plan.engine.now()
    touched = {r.touch.id: r for r in reversals if r.touch.kind == "record"}
    current = {r.id: r for r in await plan.store.records(plan.root, tuple(touched), now=now)}
    created = [id_ for id_, r in touched.items() if r.first_before is None and id_ in current]
    blockers = await _dependents(plan, created, touched)
    revived: list[Record] = []
    for id_, reversal in touched.items():
        await breath()
        record, before = current.get(id_), reversal.first_before
        if record is None or reversal.last_after is None:
            plan.tell(id_, "skipped", "erased for good")
        elif record.version != reversal.last_after.get("version"):
            blockers.append(await _who_changed(plan, record, reversal))
        elif before is None:
            plan.engine.check_retires(record)
            plan.put(archived(record, now))
            plan.tell(id_, "restored", "archived: the change had created it")
        else:
            back = undone(record, before, now)
            if record.status in LIVE and back.status not in LIVE:
                plan.engine.check_retires(record)
            plan.put(back)
            plan.tell(id_, "restored")
            if back.status in LIVE and record.status not in LIVE:
                revived.append(back)
    return revived, blockers


async def _dependents(
    plan: Change, created: list[str], touched: Mapping[str, Reversal]
) -> list[str]:
    """Records made from what the change created stand in the way while they are believed."""
    found: list[str] = []
    for ids in slices(created):
        query = Find(
            where=Where(scopes=(plan.root,), now=plan.engine.now(), descend=True),
            derived_from=tuple(ids),
            limit=PER_COMMIT,
        )
        found += [
            f"{_named(plan.engine, record)} was made from it"
            for record in await plan.store.find(query)
            if record.id not in touched
        ]
    return found


def _named(engine: Engine, record: Record) -> str:
    return f"record {record.id}" if engine.may_see(record.scope) else "something of others"


async def _who_changed(plan: Change, record: Record, reversal: Reversal) -> str:
    version = (reversal.last_after or {}).get("version", 0)
    entries = await plan.store.journal(plan.root, touching=record.id, limit=ENTRIES_MAX)
    later = [
        entry.change
        for entry in entries
        for touch in entry.touched
        if touch.id == record.id and touch.after and touch.after.get("version", 0) > version
    ]
    return f"record {record.id} was changed by {', '.join(dict.fromkeys(later)) or 'others'}"


async def _plan_relations(plan: Change, reversals: list[Reversal]) -> list[str]:
    """What stands in the way of it."""
    touched: dict[EdgeKey, Reversal] = {}
    for reversal in reversals:
        if reversal.touch.kind == "relation":
            source, kind, target = reversal.touch.id.split(" ")
            touched[source, kind, target] = reversal
    known = await _edges(plan, [source for source, _, _ in touched])
    now = plan.engine.now()
    blockers: list[str] = []
    for key, reversal in touched.items():
        await breath()
        edge, before = known.get(key), reversal.first_before
        if edge is None:
            plan.tell(reversal.touch.id, "skipped", "erased for good")
        elif edge.version != (reversal.last_after or {}).get("version"):
            blockers.append(f"relation {reversal.touch.id} was changed later")
        else:
            plan.draw(cut(edge, now) if before is None else undone(edge, before, now))
            plan.tell(reversal.touch.id, "restored")
    return blockers


async def _edges(plan: Change, ids: Sequence[str]) -> dict[EdgeKey, Relation]:
    found = [edge for part in slices(ids) for edge in await plan.store.relations(plan.root, part)]
    return {edge_key(edge): edge for edge in found}


async def _is_news(plan: Change, record: Record, since: int) -> bool:
    """Whether it was learned, or brought back, behind that place of the journal: what stood beside
    the other before the change does so again."""
    entries = await plan.store.journal(
        plan.root, after=since, touching=record.id, limit=ENTRIES_MAX
    )
    touched = (one for entry in entries for one in entry.touched if one.id == record.id)
    return any(
        one.before is None or one.before.get("status", "active") not in LIVE for one in touched
    )


async def _dispute(plan: Change, revived: Sequence[Record], *, since: int) -> None:
    """What is believed again meets what was learned since. Where both cannot be true, a person
    has to decide. Those that come back together were believed beside each other before."""
    together = {one.id for one in plan.records.values() if one.status in LIVE}
    for record in revived:
        record = plan.records[record.id]
        beside = [one for id_, one in plan.records.items() if id_ not in together]
        outcome = await disputed_again(
            plan.engine,
            plan.store,
            record,
            pending=beside,
            counts=lambda one: _is_news(plan, one, since),
            but=together,
        )
        if outcome is None:
            continue
        plan.put(*outcome.records)
        plan.tell(record.id, "disputed", outcome.reason)
        drawn = await _edges(plan, (record.id,))
        for edge in outcome.relations:
            known = drawn.get(edge_key(edge))
            plan.draw(replace(edge, version=known.version if known else 0))
