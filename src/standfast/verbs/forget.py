"""forget: erase what was asked for and everything derived from it, and leave only tombstones.

Erasure goes downward: a message takes its turn, the facts made from it and the summaries that
cover it along. Sources and copies that still hold the text are named in the receipt, and erased
too with ``sources=True``. What is by more than one author goes only with ``several_authors=True``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import chain

from standfast.access.audit import destroy_key
from standfast.changes import Change, retried, slices
from standfast.engine import Engine, every_item
from standfast.errors import Conflict, Invalid, Unavailable
from standfast.forgotten import copies_elsewhere, mark_forgotten, stones_for
from standfast.lifecycle.match import live_equal
from standfast.packet.buffers import CONSUMED, PENDING
from standfast.packet.stable import STABLE
from standfast.ports import beside
from standfast.scopes import is_within
from standfast.text.messages import searchable_text
from standfast.types import (
    LIVE,
    MARKS,
    Erase,
    ItemStatus,
    Message,
    Receipt,
    ReceiptItem,
    Record,
    Session,
)
from standfast.upkeep.consolidate.marks import PLACES, PRACTICE, drop_marks
from standfast.upkeep.leases import succeeded, tries
from standfast.verbs.end import is_of_session, remake_episode
from standfast.verbs.imported import silence
from standfast.verbs.queue import all_drained
from standfast.verbs.selection import PAGE, Doomed, Selection, checked, follow_derivations, select

LATECOMERS_MAX = 16
AUTHORS_TOLD = 5
# What upkeep notes of sessions and messages by their names.
BOOKS = (CONSUMED, PLACES, PRACTICE, STABLE)


async def forget(engine: Engine, selection: Selection, *, actor: str) -> Receipt:
    wanted = checked(selection, "forget")
    waiting = await all_drained(engine)
    doomed, missing = await select(engine, selection, wanted)
    for group in doomed:
        await follow_derivations(engine, group, selection.sources)
    change = engine.new_id()
    items: list[ReceiptItem] = list(missing)
    notes: list[str] = list(waiting)
    many = sum(len(group.records) + len(group.messages) for group in doomed)
    notes += await beside(many, partial(_check_authors, engine, doomed, selection))
    for group in doomed:
        if not selection.dry_run and not group.empty:
            repeated = await _repeated(engine, group) if wanted.author else {}
            erasing = Change(
                engine, group.root, "forget", store=group.store, actor=actor, id=change
            )
            await _erase(erasing, group)
            await _erase_latecomers(erasing, group)
            notes += await _keep_repeated(engine, group, repeated, actor)
            if wanted.whole and not selection.ids and selection.session is None:
                await _erase_sessions(erasing, group)
        if not selection.dry_run and wanted.whole and not selection.ids:
            await _clear_registry(engine, group, selection)
        if not selection.dry_run and not group.empty and group.store is engine.store:
            await mark_forgotten(engine, group.root)
            notes += await copies_elsewhere(engine, group.root, _oldest(group))
        if not selection.dry_run:
            notes += await _remake_episodes(engine, group, actor)
    gone = selection.dry_run or await _scrubbed(doomed)
    if not gone:
        notes.append("a reader holds an old snapshot open; erased bytes go when it ends")
    if not selection.dry_run:
        notes += _leftovers(engine, doomed)
    for group in doomed:
        telling = partial(_items, engine, group, dry_run=selection.dry_run, gone=gone)
        items += await beside(len(group.records) + len(group.messages), telling)
    survivors = {id_: what for group in doomed for id_, what in group.survivors.items()}
    if survivors:
        notes.append("still holding it: " + ", ".join(f"{w} {i}" for i, w in survivors.items()))
    return Receipt(
        items=tuple(items),
        change="" if selection.dry_run else change,
        survivors=tuple(survivors),
        notes=tuple(notes),
    )


def _check_authors(engine: Engine, doomed: list[Doomed], selection: Selection) -> list[str]:
    """Invalid: it is by several authors, and nobody agreed to that. A dry run notes it. Whoever
    wrote what cannot be seen from here is not revealed."""
    found: set[str] = set()
    for group in doomed:
        written = chain[Message | Record](group.records.values(), group.messages.values())
        found |= {one.author for one in written if one.author and engine.may_see(one.scope)}
    authors = sorted(found)
    if len(authors) < 2 or selection.several_authors:
        return []
    named = ", ".join(authors[:AUTHORS_TOLD])
    more = f" and {len(authors) - AUTHORS_TOLD} more" if len(authors) > AUTHORS_TOLD else ""
    said = f"this is by {len(authors)} authors ({named}{more}); "
    if not selection.dry_run:
        or_narrow = "" if selection.author else ", or narrow it with author"
        raise Invalid(f"{said}list it with dry_run, then erase it with several_authors{or_narrow}")
    return [f"{said}erasing it needs several_authors"]


async def _erase(change: Change, doomed: Doomed) -> None:
    erasures: list[Erase] = [
        *(Erase(kind="record", id=id_, scope=r.scope) for id_, r in doomed.records.items()),
        *(
            Erase(kind="message", scope=key.scope, session=key.id, id=id_)
            for key, id_ in doomed.messages
        ),
        *doomed.summaries.values(),
    ]

    sessions: Iterable[Session] = doomed.sessions.values()

    async def attempt(conflict: Conflict | None) -> None:
        nonlocal sessions
        change.clear()
        if change.store is change.engine.store:
            # The words of what is made again are not forbidden: it may say the same without them.
            remade = {record.id for record in doomed.remade}
            asked = [record for id_, record in doomed.records.items() if id_ not in remade]
            change.items += await stones_for(change.engine, change.root, asked, doomed.messages)
        if conflict is not None and doomed.sessions:
            keys = list(doomed.sessions)
            sessions = await change.store.sessions(change.root, keys, limit=len(keys))
        # The sessions themselves stay: somebody may just be writing into one.
        change.sessions += [replace(one, state={}) for one in sessions if one.state]
        change.erasures += erasures
        await change.commit_in_parts()

    too_fast = "what is to be forgotten keeps changing; forget it again"
    await retried(attempt, too_fast)
    await silence(change, erasures)


async def _erase_sessions(change: Change, doomed: Doomed) -> None:
    """Where a whole scope goes, so do the names and channels of its sessions; not of one that
    somebody has written into meanwhile."""
    now = change.engine.now()
    change.clear()
    change.erasures += [
        Erase(kind="session", scope=key.scope, id=key.id)
        for key in doomed.sessions
        if not await change.store.messages(key, now=now, limit=1)
    ]
    gone = {key.scope for key in doomed.sessions}
    gone |= {record.scope for record in doomed.records.values()}
    for books in BOOKS:
        async for item in every_item(change.store, change.root, books, now):
            if item.scope in gone:
                change.erasures.append(
                    Erase(kind="item", scope=item.scope, namespace=books, id=item.key)
                )
    erasures = list(change.erasures)
    await change.commit_in_parts()
    await silence(change, erasures)
    await _drop_answers(change)


async def _drop_answers(change: Change) -> None:
    """Answers that are kept for who asks again name sessions and messages, of whatever scope."""

    async def attempt(_: Conflict | None) -> None:
        change.clear()
        async for mark in every_item(change.store, change.root, MARKS, change.engine.now()):
            if "answer" in mark.value:
                kept = {name: part for name, part in mark.value.items() if name != "answer"}
                change.items.append(replace(mark, value=kept))
        await change.commit_in_parts()

    await retried(attempt, "answers that name what is to be forgotten keep coming; forget it again")


async def _clear_registry(engine: Engine, doomed: Doomed, selection: Selection) -> None:
    """What failed there, and why, is not tried again; what was brought back is gone."""
    scope = engine.write_scope(selection.scope)
    async for one in tries(engine, doomed.store, doomed.root):
        below = selection.descend and is_within(one.scope, scope)
        session = selection.session in (None, one.key.partition("/")[2])
        if session and (one.scope == scope or below):
            await succeeded(engine, doomed.store, one.scope, one.key)
    if selection.session is None and selection.descend and scope == doomed.root:
        await drop_marks(engine, doomed.root)
        await destroy_key(engine, doomed.root)


async def _repeated(engine: Engine, doomed: Doomed) -> dict[str, Record]:
    """What others said in the same words and is known by the record of one author only: by the
    record's id the turn of the first of them that stays."""
    facts = {id_: one for id_, one in doomed.records.items() if one.author and one.status in LIVE}
    found: dict[str, Record] = {}
    for ids in slices([id_ for id_, one in facts.items() if one.type != "turn"], PAGE):
        edges = await doomed.store.relations(doomed.root, ids)
        said = {edge.source: edge.target for edge in edges if edge.kind == "supports"}
        turns = await doomed.store.records(doomed.root, list(said), now=engine.now())
        for turn in sorted(turns, key=lambda one: (one.learned_at, one.id)):
            fact = facts.get(said[turn.id])
            other = turn.type == "turn" and turn.status in LIVE and turn.id not in doomed.records
            if fact and other and turn.author not in ("", fact.author):
                found.setdefault(fact.id, turn)
    return found


async def _keep_repeated(
    engine: Engine, doomed: Doomed, repeated: dict[str, Record], actor: str
) -> list[str]:
    """Each as the statement of that other author, of their own message alone."""
    if not repeated:
        return []
    change = Change(engine, doomed.root, "forget", store=doomed.store, actor=actor)
    for id_, turn in repeated.items():
        fact, own = doomed.records[id_], engine.new_id()
        if await live_equal(doomed.store, fact.scope, fact.hash, engine.now()):
            continue  # somebody has told it again meanwhile
        kept = replace(
            fact,
            id=own,
            origin=own,
            author=turn.author,
            source=turn.source,
            trust=turn.trust,
            session=turn.session,
            session_scope=turn.session_scope,
            lineage=turn.lineage,
            learned_at=turn.learned_at,
            valid_from=None,
            derived_from=(),
            uses=0,
            used_at=None,
            version=0,
        )
        change.put(kept)
    await change.embed()
    await change.commit()
    return [f"{len(change.records)} of it others said in the same words: theirs is kept"]


async def _erase_latecomers(change: Change, doomed: Doomed) -> None:
    """Whoever read it before it was gone may have written something made of it meanwhile."""
    for _ in range(LATECOMERS_MAX):
        known, summed = set(doomed.records), set(doomed.summaries)
        await follow_derivations(change.engine, doomed, sources=False, again=True)
        late = Doomed(
            store=doomed.store,
            root=doomed.root,
            records={id_: r for id_, r in doomed.records.items() if id_ not in known},
            summaries={id_: e for id_, e in doomed.summaries.items() if id_ not in summed},
        )
        if not late.records and not late.summaries:
            return
        await _erase(change, late)
    raise Unavailable("what is made of it comes faster than it can be erased; forget it again")


def _oldest(doomed: Doomed) -> datetime | None:
    """Since when some of it may be in the store. A message may tell of an earlier time."""
    times = [record.learned_at for record in doomed.records.values()]
    times += [message.at for message in doomed.messages.values()]
    return min(times, default=None)


async def _remake_episodes(engine: Engine, doomed: Doomed, actor: str) -> list[str]:
    """Profiles and summaries are made again by upkeep; nothing else would make an episode."""
    notes: list[str] = []
    told = {one.session_key: one for one in doomed.remade if is_of_session(one)}
    for key, episode in told.items():
        try:
            made = await remake_episode(engine, episode, actor=actor)
        except Unavailable as error:  # what was to go is gone all the same
            notes.append(f"the episode of {key.id} could not be made again: {error}")
            continue
        if made and engine.may_see(key.scope):
            notes.append(f"the episode of {key.id} was made again from what is left")
    return notes


async def _scrubbed(doomed: list[Doomed]) -> bool:
    gone = True
    for store in {id(group.store): group.store for group in doomed if not group.empty}.values():
        gone = await store.scrub() and gone
    return gone


def _leftovers(engine: Engine, doomed: list[Doomed]) -> list[str]:
    """What the engines may still hold of it, in their own words."""
    told = [group.store.capabilities.leftovers for group in doomed if not group.empty]
    if engine.queue is not None and any(
        key.id == PENDING for group in doomed for key, _ in group.messages
    ):
        told.append(engine.queue.leftovers)
    return [said for said in dict.fromkeys(told) if said]


def _is_remade(record: Record) -> bool:
    return (record.type == "summary" and not record.author) or is_of_session(record)


def _items(engine: Engine, doomed: Doomed, *, dry_run: bool, gone: bool) -> list[ReceiptItem]:
    """One line per thing; a message and its turn are one. What others made of it goes too, but
    is not named to whoever cannot see it. Texts are listed before they go, and never after."""
    reason = "dry run: would be erased" if dry_run else "" if gone else "bytes go later"
    status: ItemStatus = "pending" if reason else "erased"
    turns = {
        (r.session_key, r.lineage[0]): r.id
        for r in doomed.records.values()
        if r.type == "turn" and r.lineage
    }
    items = [
        ReceiptItem(
            id=id_,
            status=status,
            reason=reason,
            record=turns.get((key, id_), ""),
            text=searchable_text(message) if dry_run else "",
            author=message.author if dry_run else "",
        )
        for (key, id_), message in doomed.messages.items()
        if engine.may_see(key.scope)
    ]
    shown = {item.record for item in items}
    remade = {one.id for one in doomed.remade if _is_remade(one)}
    items += [
        ReceiptItem(
            id=id_,
            status=status,
            reason=f"{reason} and made again without it" if dry_run and id_ in remade else reason,
            record=id_,
            text=record.text if dry_run else "",
            author=record.author if dry_run else "",
        )
        for id_, record in doomed.records.items()
        if id_ not in shown and engine.may_see(record.scope)
    ]
    return items
