"""revoke: nothing that came from somewhere is believed any more. Nothing is erased by it.

Everything made of the chosen messages and records is retired in one change, which can be undone:
turns, facts, and what was derived from them. What also has a source of its own stays, and is
named. What a retired record had replaced, and nothing else has, is believed again. The messages
stay in the log; nothing is learned from them again, because their turns are retired.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import field
from functools import partial

from standfast.changes import Change, retried, slices
from standfast.engine import Engine
from standfast.errors import Conflict
from standfast.lifecycle.disputes import disputes_of, freed
from standfast.lifecycle.match import disputed_again, live_equal
from standfast.lifecycle.status import archived, cut, revived
from standfast.ports import beside, breath
from standfast.types import (
    LIVE,
    TRUST_OF_SOURCE,
    Find,
    Message,
    Receipt,
    ReceiptItem,
    Record,
    Relation,
    Status,
    Where,
)
from standfast.types.frozen import frozen
from standfast.verbs.selection import (
    EVERY_STATUS,
    Doomed,
    Selection,
    checked,
    follow_derivations,
    messages_of,
    select,
)

COPIES_MAX = 100
_NO_SUPPORT: tuple[Status, ...] = ("archived", "quarantined")


@frozen
class Retiring:
    """What a revocation does in one store and root, and why."""

    doomed: Doomed
    change: Change
    revived: dict[str, str] = field(default_factory=dict)  # id -> why
    said: set[tuple[str, str]] = field(default_factory=set)  # by these: scope and hash
    survivors: dict[str, str] = field(default_factory=dict)

    @property
    def engine(self) -> Engine:
        return self.change.engine

    def revive(self, record: Record, why: str) -> None:
        self.change.put(record)
        self.revived[record.id] = why
        if record.hash:
            self.said.add((record.scope, record.hash))


async def revoke(engine: Engine, selection: Selection, *, actor: str) -> Receipt:
    wanted = checked(selection, "revoke")
    change = engine.new_id()

    async def attempt(_: Conflict | None) -> Receipt:
        doomed, missing = await select(engine, selection, wanted)
        plans = [await _planned(engine, group, selection.ids, actor, change) for group in doomed]
        telling = partial(_receipt, plans, missing, change, dry_run=selection.dry_run)
        receipt = await beside(sum(len(plan.change.records) for plan in plans), telling)
        for plan in [] if selection.dry_run else plans:
            await _commit(plan)
        return receipt

    # What is retired stays so when it is looked at again.
    too_fast = "these memories change faster than they can be revoked; try again"
    return await retried(attempt, too_fast)


async def _planned(
    engine: Engine, doomed: Doomed, named: Collection[str], actor: str, id_: str
) -> Retiring:
    await follow_derivations(engine, doomed, sources=False)
    change = Change(engine, doomed.root, "revoke", store=doomed.store, actor=actor, id=id_)
    survivors = await _survivors(engine, doomed, frozenset(named))
    plan = Retiring(doomed=doomed, change=change, survivors=survivors)
    going = [record for id_, record in doomed.records.items() if id_ not in survivors]
    retired = [record for record in going if record.retired_at is None]
    for record in retired:
        engine.check_retires(record)
    now = engine.now()
    for record in retired:
        await breath()
        change.put(archived(record, now))
    await _revive(plan, [record for record in retired if record.status in LIVE])
    disputes = await disputes_of(engine, doomed.store, doomed.root, retired)
    for record in freed(disputes, change.records):
        if engine.may_change(record.scope):
            plan.revive(record, "nothing speaks against it any more")
    change.notes += _told(doomed)
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


async def _revive(plan: Retiring, fallen: Iterable[Record]) -> None:
    """What only the fallen had replaced is believed again, and no longer closed."""
    store, root = plan.doomed.store, plan.doomed.root
    fallen_ids = {record.id for record in fallen}
    for ids in slices(sorted(fallen_ids)):
        edges = [edge for edge in await store.relations(root, ids) if _replaces(edge)]
        targets = {edge.target for edge in edges if edge.source in fallen_ids}
        for old in await store.records(root, sorted(targets), now=plan.engine.now()):
            await _revive_one(plan, old, fallen_ids)


def _replaces(edge: Relation) -> bool:
    return edge.kind == "supersedes" and edge.retired_at is None


async def _revive_one(plan: Retiring, old: Record, fallen: Collection[str]) -> None:
    if old.id in plan.doomed.records or old.status != "superseded":
        return
    engine, change = plan.engine, plan.change
    edges = await change.store.relations(change.root, (old.id,))
    onto = [edge for edge in edges if _replaces(edge) and edge.target == old.id]
    if any(edge.source not in fallen for edge in onto):
        return
    reason = await _why_not_revived(plan, old)
    if reason:
        if engine.may_see(old.scope):
            change.notes.append(f"{old.id}, which it had replaced, stays retired: {reason}")
        return
    now = engine.now()
    ended = any(plan.doomed.records[edge.source].valid_from == old.valid_to for edge in onto)
    plan.revive(revived(old, None if ended else old.valid_to), "what had replaced it was revoked")
    change.draw(*(cut(edge, now) for edge in onto))
    change.put(*(archived(closed, now) for closed in await _closed_copies(plan, old)))


async def _why_not_revived(plan: Retiring, old: Record) -> str:
    engine, change = plan.engine, plan.change
    if not engine.may_change(old.scope):
        return f"{old.scope} is not this handle's"
    known = await live_equal(change.store, old.scope, old.hash, engine.now())
    if known or (old.scope, old.hash) in plan.said:
        return "the same was said again since"
    believed = revived(old, old.valid_to)
    pending = list(change.records.values())
    against = await disputed_again(engine, change.store, believed, pending=pending)
    return "something that is known by now speaks against it" if against else ""


async def _closed_copies(plan: Retiring, old: Record) -> list[Record]:
    """Being replaced had left a copy that says until when it was true."""
    made = Find(
        where=Where(
            scopes=(plan.doomed.root,), now=plan.engine.now(), descend=True, statuses=EVERY_STATUS
        ),
        derived_from=(old.id,),
        limit=COPIES_MAX,
    )
    found = await plan.doomed.store.find(made)
    return [
        one
        for one in found
        if one.text == old.text and one.retired_at is None and one.learned_at == old.retired_at
    ]


def _told(doomed: Doomed) -> Iterator[str]:
    if doomed.messages:
        yield (
            f"{len(doomed.messages)} messages stay in the log, and nothing is learned from them; "
            "forget() erases them"
        )
    sessions = sorted({erase.session for erase in doomed.summaries.values()})
    if sessions:
        yield f"the summaries of {', '.join(sessions)} may still tell of it; forget() erases them"


async def _commit(plan: Retiring) -> None:
    """What is believed again first, each part with its edges: a record that an edge still hides
    would be neither."""
    change = plan.change
    records, edges = change.records, list(change.relations.values())
    for ids in slices(list(plan.revived)):
        change.clear()
        change.put(*(records.pop(id_) for id_ in ids))
        change.draw(*(edge for edge in edges if edge.target in ids))
        await change.commit()
    change.clear()
    change.put(*records.values())
    await change.commit_in_parts()


def _receipt(
    plans: list[Retiring], missing: list[ReceiptItem], change: str, *, dry_run: bool
) -> Receipt:
    """What others made of it falls or stays too, but is not named to whoever cannot see it."""
    survivors = {
        id_: why
        for plan in plans
        for id_, why in plan.survivors.items()
        if plan.engine.may_see(plan.doomed.records[id_].scope)
    }
    notes = [note for plan in plans for note in plan.change.notes]
    notes += [f"{id_} stays: {why}" for id_, why in survivors.items()]
    items = [
        _item(record, plan.revived.get(id_, ""), dry_run=dry_run)
        for plan in plans
        for id_, record in plan.change.records.items()
        if plan.engine.may_see(record.scope)
    ]
    return Receipt(
        items=(*missing, *items),
        change=change if items and not dry_run else "",
        survivors=tuple(survivors),
        notes=tuple(notes),
    )


def _item(record: Record, back: str, *, dry_run: bool) -> ReceiptItem:
    message = record.lineage[0] if record.type == "turn" and record.lineage else ""
    reason = back or "archived"
    if dry_run:
        reason = f"dry run: would be {'believed again' if back else 'archived'}"
    return ReceiptItem(
        id=message or record.id,
        status="pending" if dry_run else "restored" if back else "stored",
        reason=reason,
        record=record.id,
        text=record.text if dry_run else "",
        author=record.author if dry_run else "",
    )
