"""revoke: nothing that came from somewhere is believed any more. Nothing is erased by it.

Everything made of the chosen messages and records is retired in one change, which can be undone:
turns, facts, and what was derived from them. What also has a source of its own stays, and is
named. What a retired record had replaced, and nothing else has, is believed again. The messages
stay in the log; nothing is learned from them again, because their turns are retired.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from recollect.engine import ATTEMPTS_MAX, Engine
from recollect.errors import Conflict, Unavailable
from recollect.lifecycle.disputes import disputes_of, freed
from recollect.lifecycle.match import disputed_again
from recollect.types import (
    LIVE,
    TRUST_OF_SOURCE,
    Message,
    Query,
    Receipt,
    ReceiptItem,
    Record,
    Relation,
    Status,
)
from recollect.verbs.selection import (
    EVERY_STATUS,
    Doomed,
    Selection,
    checked,
    follow_derivations,
    messages_of,
    select,
    slices,
)

PER_COMMIT = 100
COPIES_MAX = 100
_NO_SUPPORT: tuple[Status, ...] = ("archived", "quarantined")


@dataclass(slots=True, kw_only=True)
class Retiring:
    """What a revocation does in one store and root."""

    doomed: Doomed
    records: dict[str, Record] = field(default_factory=dict)  # as they will be
    relations: list[Relation] = field(default_factory=list)
    revived: dict[str, str] = field(default_factory=dict)  # id -> why
    survivors: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


async def revoke(engine: Engine, selection: Selection, *, actor: str) -> Receipt:
    wanted = checked(selection, "revoke")
    change = engine.new_id()
    for _ in range(ATTEMPTS_MAX):
        doomed, missing = await select(engine, selection, wanted)
        plans = [await _planned(engine, group, selection.ids) for group in doomed]
        try:
            if not selection.dry_run:
                for plan in plans:
                    await _commit(engine, plan, actor, change)
            return _receipt(engine, plans, missing, change, dry_run=selection.dry_run)
        except Conflict:
            continue  # something changed meanwhile: look again; what is retired stays so
    raise Unavailable("these memories change faster than they can be revoked; try again")


async def _planned(engine: Engine, doomed: Doomed, named: Collection[str]) -> Retiring:
    await follow_derivations(engine, doomed, sources=False)
    plan = Retiring(doomed=doomed)
    plan.survivors = await _survivors(engine, doomed, frozenset(named))
    going = [record for id_, record in doomed.records.items() if id_ not in plan.survivors]
    retired = [record for record in going if record.retired_at is None]
    now = engine.now()
    plan.records = {
        record.id: replace(record, status="archived", retired_at=now) for record in retired
    }
    await _revive(engine, plan, [record for record in retired if record.status in LIVE])
    disputes = await disputes_of(engine, doomed.store, doomed.root, retired)
    for record in freed(disputes, plan.records):
        if engine.may_change(record.scope):
            plan.records[record.id] = record
            plan.revived[record.id] = "nothing speaks against it any more"
    _tell(plan)
    return plan


async def _survivors(engine: Engine, doomed: Doomed, named: frozenset[str]) -> dict[str, str]:
    """Records with a source that does not fall, and why they stay. A record that survives is a
    source of others in its turn, so this goes on until nothing changes."""
    staying: dict[str, str] = {}
    sources: dict[str, list[str]] = {}
    for id_, record in doomed.records.items():
        if record.type != "turn" and id_ not in named:
            messages = list((await messages_of(engine, doomed, [record])).values())
            sources[id_] = await _sources(engine, doomed, record, messages)
            if _is_confirmed(record, messages):
                staying[id_] = "somebody more trusted has said it too"
    while True:
        falling = doomed.records.keys() - staying.keys()
        more = [
            id_
            for id_, ids in sources.items()
            if id_ not in staying and any(one not in falling for one in ids)
        ]
        if not more:
            return staying
        staying |= dict.fromkeys(more, "it has other sources too")


def _is_confirmed(record: Record, messages: Iterable[Message]) -> bool:
    """A memory is trusted more than where it came from only because others said it again."""
    most = max((message.trust for message in messages), default=TRUST_OF_SOURCE[record.source])
    return record.trust > most


async def _sources(
    engine: Engine, doomed: Doomed, record: Record, messages: Iterable[Message]
) -> list[str]:
    """The records it was made from that still count, and the messages that do not fall."""
    found = await doomed.store.records(doomed.root, record.derived_from, now=engine.now())
    ids = [one.id for one in found if one.status not in _NO_SUPPORT or one.id in doomed.records]
    for message in messages:
        if (record.session_key, message.id) not in doomed.messages:
            ids.append(f"message {message.id}")
    return ids


async def _revive(engine: Engine, plan: Retiring, fallen: Iterable[Record]) -> None:
    """What only the fallen had replaced is believed again, and no longer closed."""
    store, root = plan.doomed.store, plan.doomed.root
    fallen_ids = {record.id for record in fallen}
    for ids in slices(sorted(fallen_ids)):
        edges = [edge for edge in await store.relations(root, ids) if _replaces(edge)]
        targets = {edge.target for edge in edges if edge.source in fallen_ids}
        replaced = await store.records(root, sorted(targets), now=engine.now())
        for old in replaced:
            await _revive_one(engine, plan, old, fallen_ids)


def _replaces(edge: Relation) -> bool:
    return edge.kind == "supersedes" and edge.retired_at is None


async def _revive_one(engine: Engine, plan: Retiring, old: Record, fallen: Collection[str]) -> None:
    if old.id in plan.doomed.records or old.status != "superseded":
        return
    store, root = plan.doomed.store, plan.doomed.root
    edges = [edge for edge in await store.relations(root, (old.id,)) if _replaces(edge)]
    onto = [edge for edge in edges if edge.target == old.id]
    if any(edge.source not in fallen for edge in onto):
        return
    reason = await _why_not_revived(engine, plan, old)
    if reason:
        if engine.may_see(old.scope):
            plan.notes.append(f"{old.id}, which it had replaced, stays retired: {reason}")
        return
    now = engine.now()
    ended = any(plan.doomed.records[edge.source].valid_from == old.valid_to for edge in onto)
    end = None if ended else old.valid_to
    plan.records[old.id] = replace(old, status="active", retired_at=None, valid_to=end)
    plan.revived[old.id] = "what had replaced it was revoked"
    plan.relations += [replace(edge, retired_at=now) for edge in onto]
    for closed in await _closed_copies(engine, plan, old):
        plan.records[closed.id] = replace(closed, status="archived", retired_at=now)


async def _why_not_revived(engine: Engine, plan: Retiring, old: Record) -> str:
    if not engine.may_change(old.scope):
        return f"{old.scope} is not this handle's"
    same = Query(
        scopes=(old.scope,),
        now=engine.now(),
        exact=True,
        statuses=LIVE,
        hashes=(old.hash,),
        limit=1,
    )
    known = await plan.doomed.store.search(same) if old.hash else []
    twins = [plan.records[id_] for id_ in plan.revived if plan.records[id_].hash == old.hash]
    if known or any(twin.scope == old.scope for twin in twins if twin.hash):
        return "the same was said again since"
    believed = replace(old, status="active", retired_at=None)
    others = list(plan.records.values())
    against = await disputed_again(engine, plan.doomed.store, believed, pending=others)
    return "something that is known by now speaks against it" if against else ""


async def _closed_copies(engine: Engine, plan: Retiring, old: Record) -> list[Record]:
    """Being replaced had left a copy that says until when it was true."""
    made = Query(
        scopes=(plan.doomed.root,),
        now=engine.now(),
        descend=True,
        statuses=EVERY_STATUS,
        derived_from=(old.id,),
        limit=COPIES_MAX,
    )
    found = [hit.record for hit in await plan.doomed.store.search(made)]
    return [
        one
        for one in found
        if one.text == old.text and one.retired_at is None and one.learned_at == old.retired_at
    ]


def _tell(plan: Retiring) -> None:
    doomed = plan.doomed
    if doomed.messages:
        plan.notes.append(
            f"{len(doomed.messages)} messages stay in the log, and nothing is learned from them; "
            "forget() erases them"
        )
    sessions = sorted({erase.session for erase in doomed.summaries.values()})
    if sessions:
        plan.notes.append(
            f"the summaries of {', '.join(sessions)} may still tell of it; forget() erases them"
        )


async def _commit(engine: Engine, plan: Retiring, actor: str, change: str) -> None:
    """The edges with the first part: a revived record and its edge belong together."""
    revived_first = sorted(plan.records.values(), key=lambda one: one.id not in plan.revived)
    for start in range(0, len(revived_first), PER_COMMIT):
        parts: dict[str, Any] = {"records": tuple(revived_first[start : start + PER_COMMIT])}
        if start == 0:
            parts["relations"] = tuple(plan.relations)
        batch = engine.batch(plan.doomed.root, "revoke", actor=actor, change=change, **parts)
        await engine.commit(plan.doomed.store, batch)


def _receipt(
    engine: Engine,
    plans: list[Retiring],
    missing: list[ReceiptItem],
    change: str,
    *,
    dry_run: bool,
) -> Receipt:
    """What others made of it falls or stays too, but is not named to whoever cannot see it."""
    survivors = {
        id_: why
        for plan in plans
        for id_, why in plan.survivors.items()
        if engine.may_see(plan.doomed.records[id_].scope)
    }
    notes = [note for plan in plans for note in plan.notes]
    notes += [f"{id_} stays: {why}" for id_, why in survivors.items()]
    items = [
        item
        for plan in plans
        for item in _items(plan, dry_run=dry_run)
        if engine.may_see(plan.records[item.record].scope)
    ]
    done = bool(items) and not dry_run
    return Receipt(
        items=(*missing, *items),
        change=change if done else "",
        survivors=tuple(survivors),
        notes=tuple(notes),
    )


def _items(plan: Retiring, *, dry_run: bool) -> Iterable[ReceiptItem]:
    for id_, record in plan.records.items():
        revived = plan.revived.get(id_)
        what = revived or "archived"
        message = record.lineage[0] if record.type == "turn" and record.lineage else ""
        yield ReceiptItem(
            id=message or id_,
            status="pending" if dry_run else "restored" if revived else "stored",
            reason=f"dry run: would be {'believed again' if revived else what}"
            if dry_run
            else what,
            record=id_,
        )
