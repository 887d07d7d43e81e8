"""undo: take a change back with a new change. Nothing is destroyed by it.

What the change created is archived, what it altered gets its old fields back. The message log
stays. Undo refuses where something later builds on the change, and skips what was erased. What it
brings back is disputed if something learned since speaks against it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any

from recollect.engine import Engine
from recollect.errors import Conflict, NotFound
from recollect.lifecycle.match import disputed_again
from recollect.ports import Store
from recollect.text.inputs import clean_name
from recollect.types import LIVE, Entry, Query, Receipt, ReceiptItem, Record, Relation, Touch
from recollect.verbs.lists.changes import visible_entries

ENTRIES_MAX = 10_000
PAGE = 100
_TIMES = {f.name for f in (*fields(Record), *fields(Relation)) if "datetime" in str(f.type)}
_KEPT = {
    "message": "the message log is kept; forget() erases it",
    "session": "the session stays",
    "summary": "summaries are never edited",
    "cursor": "cursors never go back",
    "vector": "vectors follow their record",
    "item": "settings are changed by setting them again",
}


@dataclass(slots=True, kw_only=True)
class Reversal:
    """What the change did to one thing, over all its commits."""

    touch: Touch
    first_before: Mapping[str, Any] | None
    last_after: Mapping[str, Any] | None


@dataclass(slots=True, kw_only=True)
class UndoPlan:
    records: dict[str, Record] = field(default_factory=dict)
    relations: dict[str, Relation] = field(default_factory=dict)
    revived: list[str] = field(default_factory=list)  # believed again, after not being so
    items: list[ReceiptItem] = field(default_factory=list)
    blockers: list[str] = field(default_factory=list)


async def undo(engine: Engine, change: str, *, scope: str | None, actor: str) -> Receipt:
    clean_name(change, "change")
    entries, store = await _entries_of(engine, change, scope)
    root = entries[0].root
    plan = UndoPlan()
    reversals = _collapse(entries)
    await _plan_records(engine, store, root, reversals, plan)
    await _plan_relations(store, root, reversals, plan)
    await _dispute(engine, store, root, plan)
    for reversal in reversals:
        reason = _KEPT.get(reversal.touch.kind)
        if reason and reversal.touch.kind != "vector":
            item = ReceiptItem(id=reversal.touch.id, status="skipped", reason=reason)
            plan.items.append(item)
    if plan.blockers:
        raise Conflict(
            f"change {change} cannot be undone, later changes build on it: "
            + "; ".join(plan.blockers)
            + ". Undo those first",
            kind="record",
        )
    undone = engine.new_id()
    await _apply(engine, store, root, plan, actor=actor, change=undone, of=change)
    return Receipt(items=tuple(plan.items), change=undone)


async def _entries_of(engine: Engine, change: str, scope: str | None) -> tuple[list[Entry], Store]:
    by_root, _ = await engine.read_scopes(scope, descend=False)
    wanted: list[str | None] = list(by_root) if scope or engine.bound else [None]
    for store in (engine.store, engine.volatile):
        for root in wanted:
            entries = await store.journal(root, change=change, limit=ENTRIES_MAX)
            touched = [touch.scope for entry in entries for touch in entry.touched]
            seen = await visible_entries(engine, entries)
            if entries and sum(len(entry.touched) for entry in seen) == len(touched):
                _must_be_ours(engine, touched)
                return entries, store
    raise NotFound(f"there is no change {change!r}")


def _must_be_ours(engine: Engine, touched: Sequence[str]) -> None:
    for scope in touched:
        engine.write_scope(scope)


def _collapse(entries: Sequence[Entry]) -> list[Reversal]:
    found: dict[tuple[str, str], Reversal] = {}
    for entry in entries:
        for touch in entry.touched:
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


async def _plan_records(
    engine: Engine, store: Store, root: str, reversals: list[Reversal], plan: UndoPlan
) -> None:
    touched = {r.touch.id: r for r in reversals if r.touch.kind == "record"}
    current = {r.id: r for r in await store.records(root, tuple(touched), now=engine.now())}
    created = [id_ for id_, r in touched.items() if r.first_before is None and id_ in current]
    await _block_dependents(engine, store, root, created, touched, plan)
    for id_, reversal in touched.items():
        record = current.get(id_)
        if record is None or reversal.last_after is None:
            reason = "erased for good"
            plan.items.append(ReceiptItem(id=id_, status="skipped", reason=reason))
        elif record.version != reversal.last_after.get("version"):
            plan.blockers.append(await _who_changed(store, root, record, reversal))
        else:
            before = plan.records[id_] = _reversed(record, reversal, engine.now())
            plan.items.append(ReceiptItem(id=id_, status="restored", reason=_said(reversal)))
            if before.status in LIVE and record.status not in LIVE:
                plan.revived.append(id_)


def _said(reversal: Reversal) -> str:
    return "archived: the change had created it" if reversal.first_before is None else ""


def _reversed(record: Record, reversal: Reversal, now: datetime) -> Record:
    if reversal.first_before is None:
        return replace(record, status="archived", retired_at=now)
    return replace(record, **_fields_of(Record, reversal.first_before))


def _fields_of(kind: type, before: Mapping[str, Any]) -> dict[str, Any]:
    """Journal values are JSON: times come back as times, lists as tuples."""
    known = {f.name for f in fields(kind)} - {"version", "uses", "used_at"}
    restored: dict[str, Any] = {}
    for name, value in before.items():
        if name not in known:
            continue
        if name in _TIMES and isinstance(value, str):
            value = datetime.fromisoformat(value)
        restored[name] = tuple(value) if isinstance(value, list) else value
    return restored


async def _block_dependents(
    engine: Engine,
    store: Store,
    root: str,
    created: list[str],
    touched: Mapping[str, Reversal],
    plan: UndoPlan,
) -> None:
    """Records made from what the change created stand in the way while they are believed."""
    for start in range(0, len(created), PAGE):
        query = Query(
            scopes=(root,),
            now=engine.now(),
            descend=True,
            derived_from=tuple(created[start : start + PAGE]),
            limit=PAGE,
        )
        plan.blockers += [
            f"{_named(engine, hit.record)} was made from it"
            for hit in await store.search(query)
            if hit.record.id not in touched
        ]


def _named(engine: Engine, record: Record) -> str:
    return f"record {record.id}" if engine.may_see(record.scope) else "something of others"


async def _who_changed(store: Store, root: str, record: Record, reversal: Reversal) -> str:
    version = (reversal.last_after or {}).get("version", 0)
    entries = await store.journal(root, touching=record.id, limit=ENTRIES_MAX)
    later = [
        entry.change
        for entry in entries
        for touch in entry.touched
        if touch.id == record.id and touch.after and touch.after.get("version", 0) > version
    ]
    return f"record {record.id} was changed by {', '.join(dict.fromkeys(later)) or 'others'}"


async def _plan_relations(
    store: Store, root: str, reversals: list[Reversal], plan: UndoPlan
) -> None:
    for reversal in reversals:
        if reversal.touch.kind != "relation":
            continue
        source, kind, target = reversal.touch.id.split(" ")
        found = [
            edge
            for edge in await store.relations(root, (source,))
            if (edge.source, edge.kind, edge.target) == (source, kind, target)
        ]
        after = reversal.last_after or {}
        if not found:
            plan.items.append(
                ReceiptItem(id=reversal.touch.id, status="skipped", reason="erased for good")
            )
        elif found[0].version != after.get("version"):
            plan.blockers.append(f"relation {reversal.touch.id} was changed later")
        else:
            plan.relations[reversal.touch.id] = _reversed_edge(found[0], reversal)
            plan.items.append(ReceiptItem(id=reversal.touch.id, status="restored"))


def _reversed_edge(edge: Relation, reversal: Reversal) -> Relation:
    if reversal.first_before is None:
        return replace(edge, retired_at=edge.learned_at)
    return replace(edge, **_fields_of(Relation, reversal.first_before))


async def _dispute(engine: Engine, store: Store, root: str, plan: UndoPlan) -> None:
    """What is believed again meets what was learned since. Where both cannot be true, a person
    has to decide."""
    for id_ in plan.revived:
        pending = list(plan.records.values())
        outcome = await disputed_again(engine, store, plan.records[id_], pending=pending)
        if outcome is None:
            continue
        plan.records |= {record.id: record for record in outcome.records}
        plan.items.append(ReceiptItem(id=id_, status="disputed", reason=outcome.reason))
        drawn = {
            f"{edge.source} {edge.kind} {edge.target}": edge.version
            for edge in await store.relations(root, (id_,))
        }
        for edge in outcome.relations:
            name = f"{edge.source} {edge.kind} {edge.target}"
            plan.relations[name] = replace(edge, version=drawn.get(name, 0))


async def _apply(
    engine: Engine, store: Store, root: str, plan: UndoPlan, *, actor: str, change: str, of: str
) -> None:
    """In bounded commits of one change, so that the undo can itself be undone. What goes makes
    room first: two versions of one procedure share their name."""
    records = sorted(plan.records.values(), key=lambda record: record.status in LIVE)
    relations = list(plan.relations.values())
    for start in range(0, max(len(records), len(relations)), PAGE):
        batch = engine.batch(
            root,
            f"undo {of}",
            actor=actor,
            change=change,
            records=tuple(records[start : start + PAGE]),
            relations=tuple(relations[start : start + PAGE]),
        )
        await engine.commit(store, batch)
