"""Candidates meet what is known, and everything that follows from it is one commit.

The reader's place, the facts, what they replace, the edges between them and the reasons kept in
the turns are written together. Every turn that taught something is written too, with its version:
a message that somebody forgets in the meantime makes the commit fail, so nothing outlives it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from recollect.engine import ATTEMPTS_MAX, Engine
from recollect.errors import Conflict, Unavailable
from recollect.forgotten.tombstones import buried, key_of, text_mark
from recollect.lifecycle.match import meet
from recollect.lifecycle.merge import Named, copies
from recollect.scopes import is_visible
from recollect.text.compare import text_hash
from recollect.text.messages import turn_id
from recollect.types import CursorMove, Message, ReceiptItem, Record
from recollect.upkeep.learn.drafts import LearnDraft
from recollect.upkeep.learn.episodes import improve
from recollect.upkeep.learn.lanes import READER
from recollect.upkeep.learn.links import link
from recollect.upkeep.learn.records import LEARNED, in_scope, record_of, scopes_of
from recollect.upkeep.learn.values import OPTED_OUT, LearnCandidate, Learned, Turns

TAUGHT = "learned from"
NOTHING = "nothing to learn"


async def write(
    engine: Engine, turns: Turns, learned: Learned, *, episode: Record | None, change: str
) -> LearnDraft:
    """Write what was learned; Conflict if another worker was there first."""
    seen_hash = False
    for _ in range(ATTEMPTS_MAX):
        draft = LearnDraft(engine=engine, turns=turns, seen_hash=seen_hash)
        await _fill(draft, learned)
        if episode is not None and learned.episode:
            improve(draft, episode, learned.episode)
        _mark_turns(draft, learned)
        try:
            await _commit(draft, change)
            return draft
        except Conflict as conflict:
            if conflict.kind == "cursor" or (episode and episode.id in conflict.ids):
                raise
            # Somebody wrote the same, changed a neighbour or forgot a message: look again.
            seen_hash = seen_hash or conflict.kind == "hash"
    raise Unavailable("what is known changes faster than it can be learned; try again")


async def _fill(draft: LearnDraft, learned: Learned) -> None:
    said = {one.id: one for one in (*draft.turns.earlier, *draft.turns.messages)}
    draft.told_by = await _turns_of(draft, list(said.values()))
    records: dict[int, Record] = {}
    for number, candidate in enumerate(learned.candidates):
        record = await _record(draft, candidate, said)
        if record is not None:
            records[number] = record
    await _embed(draft, list(records.values()))
    for number, record in records.items():
        await _settle(draft, number, learned.candidates[number], record)
    await link(draft, learned.candidates)


async def _turns_of(draft: LearnDraft, messages: Sequence[Message]) -> dict[str, Record]:
    ids = {turn_id(one.scope, one.session, one.id): one.id for one in messages}
    found = await draft.turns.store.records(draft.root, tuple(ids), now=draft.engine.now())
    return {ids[turn.id]: turn for turn in found}


async def _record(
    draft: LearnDraft, candidate: LearnCandidate, said: Mapping[str, Message]
) -> Record | None:
    """None if something it was made from is not there any more."""
    ids = candidate.lesson.messages
    if not ids or any(id_ not in said or id_ not in draft.told_by for id_ in ids):
        return None
    known = await _known(draft, candidate.leans_on, draft.turns.session.scope)
    if len(known) < len(candidate.leans_on):
        return None
    for one in known:  # for its version alone: who forgets it now makes the commit fail
        draft.records.setdefault(one.id, one)
    return record_of(
        candidate,
        [said[id_] for id_ in ids],
        known,
        key=draft.turns.key,
        profile=draft.engine.profile,
        now=draft.engine.now(),
        new_id=draft.engine.new_id,
    )


async def _known(draft: LearnDraft, ids: Sequence[str], scope: str) -> list[Record]:
    """Known records as they are now, of this root and visible from the scope."""
    found = await draft.turns.store.records(draft.root, ids, now=draft.engine.now()) if ids else []
    return [
        draft.records.get(record.id, record)
        for record in found
        if is_visible(record.scope, (scope,), descend=False, exact=False)
    ]


async def _embed(draft: LearnDraft, records: Sequence[Record]) -> None:
    fresh = [record for record in records if record.text not in draft.vectors]
    vectors, space, _ = await draft.engine.embed_for_writing(fresh)
    draft.space = space or draft.space
    draft.vectors |= {one.text: vectors[one.id] for one in fresh if one.id in vectors}


async def _settle(
    draft: LearnDraft, number: int, candidate: LearnCandidate, record: Record
) -> None:
    engine, turns, lesson = draft.engine, draft.turns, candidate.lesson
    for copy in copies(record, await _scopes(draft), engine.new_id):
        one = in_scope(copy, copy.scope, turns.key)
        if await _is_forgotten(draft, one, lesson.messages):
            item = ReceiptItem(id=lesson.messages[0], status="skipped", reason="forgotten before")
            draft.items.append(item)
            continue
        hinted = await _known(draft, [lesson.replaces] if lesson.replaces else [], one.scope)
        outcome = await meet(
            engine,
            turns.store,
            one,
            draft.vectors.get(one.text),
            draft.space,
            corrects=lesson.corrects,
            named=Named(
                corrected=frozenset(map(text_hash, lesson.amends)),
                doubted=frozenset(map(text_hash, lesson.doubts)),
            ),
            pending=[*(hint for hint in hinted if hint.type != "turn"), *draft.records.values()],
            seen_hash=draft.seen_hash,
        )
        draft.add(outcome)
        draft.say(outcome.id, outcome, candidate.note)
        draft.ids[number, one.scope] = outcome.id
        draft.taught.update(lesson.messages)
        if outcome.kind == "duplicate" and outcome.id != one.id:
            draft.repeated.append((lesson.messages[-1], outcome.id))


async def _scopes(draft: LearnDraft) -> list[str]:
    """Not into a scope whose owner opted out of being remembered."""
    engine, turns = draft.engine, draft.turns
    scopes = scopes_of(turns.key, turns.messages, for_agents=engine.profile.learn_for_agents)
    if turns.store is engine.volatile:
        return scopes
    return [one for one in scopes if one == turns.session.scope or await engine.persists(one)]


async def _is_forgotten(draft: LearnDraft, record: Record, messages: Sequence[str]) -> bool:
    """Was this text forgotten, and not said again since?"""
    key = await key_of(draft.engine, draft.root)
    if not key:
        return False
    mark = text_mark(key, record.scope, text_hash(record.text))
    stone = (await buried(draft.engine, draft.root, [mark])).get(mark)
    if stone is None:
        return False
    said = [one.at for one in draft.turns.messages if one.id in messages]
    return all(at <= datetime.fromisoformat(stone.value) for at in said)


def _mark_turns(draft: LearnDraft, learned: Learned) -> None:
    """Each turn keeps what became of it."""
    draft.items += [
        ReceiptItem(id=id_ or draft.turns.session.id, status="skipped", reason=reason)
        for id_, reason in learned.refused
    ]
    for message in draft.turns.messages:
        reason = learned.skipped.get(message.id, NOTHING)
        turn = draft.told_by.get(message.id)
        if message.id not in draft.taught:
            record = turn.id if turn else ""
            item = ReceiptItem(id=message.id, status="skipped", reason=reason, record=record)
            draft.items.append(item)
        if turn is not None and reason != OPTED_OUT:
            told = TAUGHT if message.id in draft.taught else reason
            draft.records[turn.id] = replace(turn, data={**turn.data, LEARNED: told})
    for id_ in draft.taught - {message.id for message in draft.turns.messages}:
        turn = draft.told_by[id_]
        draft.records[turn.id] = turn  # of an earlier round: here for its version alone


async def _commit(draft: LearnDraft, change: str) -> None:
    engine, turns = draft.engine, draft.turns
    new = [one for one in draft.records.values() if one.version == 0]
    await _embed(draft, new)
    vectors = {one.id: draft.vectors[one.text] for one in new if one.text in draft.vectors}
    place = turns.session.cursors.get(READER, 0)
    batch = engine.batch(
        draft.root,
        f"learn: {turns.lane}",
        actor="maintenance",
        change=change,
        cursors=(CursorMove(session=turns.key, reader=READER, old=place, new=turns.up_to),),
        records=tuple(draft.records.values()),
        relations=tuple(draft.relations.values()),
        vectors=vectors,
        space=draft.space if vectors else "",
    )
    await engine.commit(turns.store, batch)
