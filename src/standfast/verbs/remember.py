"""remember: statements into long-term memory, merged with what is there already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from standfast.changes import OPTED_OUT, PER_COMMIT, Change, retried
from standfast.engine import Engine
from standfast.errors import Conflict, Invalid, NotFound, StandfastError
from standfast.index.vectors import cosines
from standfast.lifecycle.match import copies_of, live_equal, meet
from standfast.lifecycle.safety import is_protected, may_replace, needs_review, with_safety_note
from standfast.lifecycle.settlement import Outcome, Verdict, VerdictKind, replaced, settle
from standfast.ports import breath
from standfast.scopes import is_within, root_of
from standfast.text.normal import fold
from standfast.text.trust import SUSPICION
from standfast.types import (
    LIVE,
    PERSON_TRUST,
    ItemStatus,
    Listing,
    Receipt,
    Record,
    Where,
)
from standfast.types.frozen import frozen
from standfast.verbs.statement import KEY_TAG, Statement, in_place, record_of

LESS_TRUSTED = "who is trusted less replaces nothing"
_JOURNALLED: Mapping[VerdictKind, str] = {
    "new": "remember",
    "outdated": "remember",
    "duplicate": "merge",
    "enriches": "merge",
    "supersedes": "supersede",
    "ends": "supersede",
    "contradicts": "dispute",
}


@frozen
class _Said:
    """A statement that was checked. ``number``: its place among many; 0: it is alone."""

    number: int
    statement: Statement
    record: Record
    notes: tuple[str, ...]


async def remember(engine: Engine, said: Statement | Iterable[Statement], *, actor: str) -> Receipt:
    """One statement, or many of one root: each hundred in one commit, all of them one change.
    Within a hundred they are compared with each other as if they came one by one."""
    alone = isinstance(said, Statement)
    coming = enumerate([said] if isinstance(said, Statement) else said, start=1)
    whole = Change(engine, "", "remember", actor=actor, id=engine.new_id())
    while True:
        kept = len(whole.told)
        try:
            part = []
            for number, one in islice(coming, PER_COMMIT):
                await breath()
                part.append(_checked(engine, one, 0 if alone else number))
            if part:
                await _remember_part(whole, part)
        except StandfastError as error:
            if kept:
                error.args = (f"{error}; the first {kept} are kept, nothing behind those",)
            raise
        if len(part) < PER_COMMIT:
            return whole.receipt(wrote=bool(whole.told))


def _checked(engine: Engine, statement: Statement, number: int) -> _Said:
    try:
        record, notes = record_of(statement, engine)
    except StandfastError as error:
        raise in_place(error, number) if number else error from None
    return _Said(number=number, statement=statement, record=record, notes=tuple(notes))


async def _remember_part(whole: Change, part: Sequence[_Said]) -> None:
    """One commit; two where some of them may not be kept."""
    engine = whole.engine
    whole.root = whole.root or root_of(part[0].record.scope)
    for one in part:
        if root_of(one.record.scope) != whole.root:
            error = Invalid(
                f"{one.record.scope} is not of {whole.root}; each root takes its own call"
            )
            raise in_place(error, one.number)
    asked = {(one.record.scope, one.record.author) for one in part}
    persists = {who: await engine.persists(who[0], (who[1],)) for who in asked}
    told: dict[int, tuple[str, ItemStatus, str]] = {}
    for kept in (True, False):
        ours = [one for one in part if persists[one.record.scope, one.record.author] == kept]
        if ours:
            change = Change(engine, whole.root, whole.reason, actor=whole.actor, id=whole.id)
            told |= await _write(change if kept else change.aside(OPTED_OUT), ours)
            whole.embedded += change.embedded
    for number in sorted(told):
        whole.tell(*told[number])


async def _write(change: Change, part: Sequence[_Said]) -> dict[int, tuple[str, ItemStatus, str]]:
    """By their number: the id, what became of it, and why."""
    note = await change.embed([one.record for one in part])

    async def attempt(_: Conflict | None) -> list[Outcome]:
        change.clear()  # somebody wrote the same or changed the neighbour: look again
        outcomes = [await _met(change, one) for one in part]
        reasons = {_JOURNALLED[outcome.kind] for outcome in outcomes}
        change.reason = reasons.pop() if len(reasons) == 1 else "remember"
        await change.embed()
        await change.commit()
        return outcomes

    too_fast = "this memory changes faster than it can be written; try again"
    told: dict[int, tuple[str, ItemStatus, str]] = {}
    outcomes = await retried(attempt, too_fast)
    for record in (one.record for one in part if one.statement.key is not None):
        await _one_of_key(change, record)
    for one, outcome in zip(part, outcomes, strict=True):
        reasons = [outcome.reason, "", change.why_volatile, *one.notes, note]
        if await _is_held(change.engine, one.record, outcome):
            reasons[1] = f"not recalled until approved: it {one.record.data[SUSPICION]}"
        status: ItemStatus = "volatile" if change.why_volatile else outcome.status
        told[one.number] = (outcome.id, status, "; ".join(filter(None, reasons)))
    return told


async def _one_of_key(change: Change, record: Record) -> None:
    """Who says a key for the first time at the same time as others leaves several. Each looks
    behind its commit and lets the most trusted stay, the last id of those; so the last to look
    leaves one. What is disputed or held back waits for a person."""
    engine = change.engine

    async def attempt(_: Conflict | None) -> None:
        live = [one for one in await _with_key(change, record) if one.status == "active"]
        *older, last = sorted(live, key=lambda one: (one.trust, one.id)) or [record]
        older = [one for one in older if may_replace(engine, last, one)]
        if older:
            more = Change(
                engine,
                change.root,
                "supersede",
                store=change.store,
                actor=change.actor,
                id=change.id,
            )
            more.put(*replaced(older, last, now=engine.now(), new_id=engine.new_id))
            await more.link_again(
                last.id, "supersedes", [one.id for one in older], scope=last.scope
            )
            await more.commit()

    await retried(attempt, "others write the same key; try again")


async def _with_key(change: Change, record: Record) -> list[Record]:
    """The live records of this very scope that have the same key."""
    tag = _key_tag(record)
    where = Where(
        scopes=(record.scope,), now=change.engine.now(), exact=True, statuses=LIVE, tags=(tag,)
    )
    return await change.store.listing(Listing(where=where, limit=PER_COMMIT))


def _key_tag(record: Record) -> str:
    return next(tag for tag in record.tags if tag.startswith(KEY_TAG))


async def _named(change: Change, record: Record) -> str | None:
    """The record of this very scope that has the same key, and says something else."""
    tag = _key_tag(record)
    found = {one.id: one for one in await _with_key(change, record)}
    beside = (one for one in change.records.values() if one.scope == record.scope)
    found |= {one.id: one for one in beside if one.id in found or fold(tag) in map(fold, one.tags)}
    live = [one for one in found.values() if one.status in LIVE]
    # Of several the one that review is about: what replaced another would stand beside it.
    named = next(filter(is_protected, live), live[0] if live else None)
    return named.id if named is not None and named.hash != record.hash else None


async def _is_held(engine: Engine, record: Record, outcome: Outcome) -> bool:
    """A doubted statement is not held back where somebody trusted has said the same."""
    if record.status != "quarantined" or outcome.id == record.id:
        return record.status == "quarantined"
    found = await engine.find_records([outcome.id])
    return any(known.status == "quarantined" for known, _ in found.values())


async def _met(change: Change, said: _Said) -> Outcome:
    """What becomes of the record among those that are known; the change takes it in."""
    record, replaces = said.record, said.statement.supersedes
    try:
        if said.statement.key is not None and replaces is None:
            replaces = await _named(change, record)
        old = await _replaceable(change, replaces) if replaces is not None else None
    except StandfastError as error:
        raise in_place(error, said.number) if said.number else error from None
    if old is not None and record.status != "quarantined" and _may_supersede(change, record, old):
        return await _superseding(change, record, old)
    if old is not None and record.status != "quarantined":
        return await _disputing(change, record, old)
    vector, beside = change.vector_of(record), list(change.records.values())
    outcome = await meet(
        change.engine,
        change.store,
        record,
        vector,
        change.space,
        pending=beside,
        near=cosines(vector, {one.id: change.vector_of(one) for one in beside}),
    )
    change.put(*outcome.records)
    change.draw(*outcome.relations)
    return outcome


def _may_supersede(change: Change, record: Record, old: Record) -> bool:
    trusted = _reach(change, record) >= old.trust
    return trusted and may_replace(change.engine, record, old)


def _reach(change: Change, record: Record) -> int:
    """How trusted that may be which it replaces. A line that a person edited in a file is that
    person's word about what stood there."""
    own_hand = record.source == "file" and change.engine.trust_max >= PERSON_TRUST
    return max(record.trust, PERSON_TRUST) if own_hand else record.trust


async def _superseding(change: Change, record: Record, old: Record) -> Outcome:
    """What the caller says outright needs no judging. Unlike a change that was noticed, it does
    not begin now unless it says so: without ``valid_from`` the old one was never true."""
    engine, store = change.engine, change.store
    record = with_safety_note(record, Verdict(kind="supersedes", targets=(old,)))
    equal = await _equal(change, record)
    new = record if equal is None or equal.id == old.id else equal
    pending = tuple(change.records.values())
    alike = await copies_of(engine, store, record, [old], pending=pending)
    olds = [one for one in (old, *alike) if one.id != new.id]
    # What is above can be seen, not changed: there the edge alone hides it.
    ours = [
        one
        for one in olds
        if engine.may_change(one.scope)
        and is_within(one.scope, record.scope)
        and one.trust <= _reach(change, record)
    ]
    change.put(*replaced(ours, record, now=engine.now(), new_id=engine.new_id))
    if new is record:
        change.put(record)
    await change.link_again(new.id, "supersedes", [one.id for one in olds], scope=record.scope)
    return Outcome(
        kind="supersedes",
        status="stored" if new is record else "merged",
        id=new.id,
        reason=f"supersedes {old.id}",
    )


async def _disputing(change: Change, record: Record, old: Record) -> Outcome:
    """Both stay, for a person to decide; what says the same already is left as it is, and so is a
    person's word for an agent: whatever it says, it could be made doubtful at will."""
    engine = change.engine
    if equal := await _equal(change, record):
        return Outcome(kind="duplicate", status="merged", id=equal.id, reason=LESS_TRUSTED)
    verdict = Verdict(kind="contradicts", targets=(old,), reason=LESS_TRUSTED)
    if not may_replace(engine, record, old):
        verdict = needs_review(old)
        record = with_safety_note(record, verdict)
    outcome = settle(record, verdict, now=engine.now(), new_id=engine.new_id)
    change.put(*(one for one in outcome.records if one.id != old.id or engine.may_retire(old)))
    change.draw(*outcome.relations)
    return outcome


async def _equal(change: Change, record: Record) -> Record | None:
    """What says the same in this very scope, also if it is of the same commit."""
    for one in change.records.values():
        if (one.scope, one.hash) == (record.scope, record.hash) and one.status in LIVE:
            return one
    known = await live_equal(change.store, record.scope, record.hash, change.engine.now())
    return None if known is None or known.id in change.records else known


async def _replaceable(change: Change, old_id: str) -> Record:
    found = await change.engine.find_records([old_id])
    old, store = found.get(old_id, (None, change.store))
    old = change.records.get(old_id, old)
    if old is None or store is not change.store or root_of(old.scope) != change.root:
        raise NotFound(f"there is no record {old_id!r} to supersede")
    if old.type == "turn" or old.status == "superseded":
        raise Invalid(
            f"record {old_id!r} is a {old.type} with status {old.status}: not replaceable"
        )
    return old
