"""The log of a session: messages into it, durable before the answer, each a searchable turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC
from itertools import groupby

from standfast.changes import OPTED_OUT, Change, retried
from standfast.engine import Engine
from standfast.errors import Conflict, Unavailable
from standfast.forgotten import Tombstones
from standfast.lifecycle.status import held
from standfast.packet.buffers import CONSUMED, LEARNER, NOTES, PENDING, buffer_policy
from standfast.packet.policy import policy_of
from standfast.profiles import Profile
from standfast.scopes import root_of
from standfast.text.messages import Taken, searchable_text, turn_id
from standfast.text.trust import SUSPICION, doubt_about, without_recalled
from standfast.types import (
    CursorMove,
    Message,
    Receipt,
    ReceiptItem,
    Record,
    Session,
    SessionKey,
)
from standfast.types.frozen import frozen
from standfast.upkeep.readers import why_not

MESSAGES_PER_COMMIT = 100
BYTES_PER_COMMIT = 4 << 20
TURN_CHARACTERS_MAX = 100_000

TWICE = "stands twice in this call"
KNOWN = "already stored"
OTHER_TEXT = "this id already names a message with another text"


@frozen
class Incoming:
    """The messages of one call and the session they go to."""

    key: SessionKey
    channel: str
    taken: list[Taken]
    first: Mapping[str, Taken]  # by id: the second of two with one id is skipped

    @classmethod
    def of(cls, key: SessionKey, channel: str, taken: list[Taken]) -> Incoming:
        first = {one.message.id: one for one in reversed(taken)}
        return cls(key=key, channel=channel, taken=taken, first=first)


async def logged(engine: Engine, said: Incoming, *, actor: str = "") -> Receipt:
    """All of it, in commits of a bounded size; of whom nothing is to be kept, in this process."""
    key, taken = said.key, said.taken
    out = await engine.opted_out(key.scope, {one.message.author for one in taken})
    kept = Change(engine, root_of(key.scope), "observe", actor=actor, id=engine.new_id())
    aside = kept.aside(OPTED_OUT) if out else kept
    chunks = [
        (aside if own else kept, chunk)
        for own, run in groupby(
            (one for one in taken if said.first[one.message.id] is one),
            key=lambda one: one.message.author in out,
        )
        for chunk in _chunks(list(run))
    ]
    answering = max((at for at, (change, _) in enumerate(chunks) if change is kept), default=-1)
    for at, (change, chunk) in enumerate(chunks):
        later = [one for _, behind in chunks[at + 1 :] for one in behind]
        await _store_chunk(change, said, chunk, later if at == answering else None)
    kept.notes.append(_why_unread(engine))
    return _receipt(kept, said, embedded=aside.embedded if aside is not kept else 0)


def _why_unread(engine: Engine) -> str:
    """That nothing will be learned from it, and why; "" if something may be."""
    return "" if engine.profile.learn == "off" else why_not(engine, engine.store)


def _receipt(change: Change, said: Incoming, *items: ReceiptItem, embedded: int = 0) -> Receipt:
    """What became of all, with these ``items`` of what is about to be committed."""
    by_id = {item.id: item for item in (*change.told, *items)}
    answers = tuple(_answered(one, said.first[one.message.id], by_id) for one in said.taken)
    receipt = change.receipt()
    cost = replace(receipt.usage, texts_embedded=receipt.usage.texts_embedded + embedded)
    return replace(receipt, items=answers, usage=cost)


def _answered(one: Taken, first: Taken, items: dict[str, ReceiptItem]) -> ReceiptItem:
    item = items[one.message.id]
    if one is first:
        return item
    same = one.message.text == first.message.text
    reason = TWICE if same else OTHER_TEXT
    return ReceiptItem(id=item.id, status="skipped", reason=reason, record=item.record)


def _chunks(taken: list[Taken]) -> Iterator[list[Taken]]:
    chunk: list[Taken] = []
    size = 0
    for one in taken:
        length = len(one.message.text) + len(one.message.original)
        if chunk and (len(chunk) == MESSAGES_PER_COMMIT or size + length > BYTES_PER_COMMIT):
            yield chunk
            chunk, size = [], 0
        chunk.append(one)
        size += length
    if chunk:
        yield chunk


async def _store_chunk(
    change: Change, said: Incoming, chunk: list[Taken], later: list[Taken] | None
) -> None:
    """``later``: what follows in this process only, if this is the last chunk that is kept: its
    commit takes the answer along."""
    skipped = await _forgotten(change, chunk)
    turns = {one.message.id: _turn(change.engine, one.message, said.channel) for one in chunk}
    heard = [turns[one.message.id] for one in chunk if one.message.id not in skipped]
    change.notes.append(await change.embed(turn for turn in heard if turn))

    def items() -> list[ReceiptItem]:
        return [_item(one, turns[one.message.id], skipped, change.why_volatile) for one in chunk]

    async def attempt(conflict: Conflict | None) -> None:
        if conflict is not None:
            skipped.update(await _known(conflict, change, said.key, chunk, turns))
        change.clear()
        change.messages += [one.message for one in chunk if one.message.id not in skipped]
        if change.messages:
            change.put(*(turn for one in change.messages if (turn := turns[one.id])))
            await _open_session(change, said)
            behind = await _place(change, said.key)
            await change.commit(answer=None if later is None else told)
            if change.why_volatile:
                places = change.engine.places
                places |= {(said.key, one.id): behind for one in change.messages}

    def told() -> Receipt:
        follow = [
            _item(one, _turn(change.engine, one.message, said.channel), {}, OPTED_OUT)
            for one in later or ()
        ]
        return _receipt(change, said, *items(), *follow)

    too_fast = "the session changes faster than it can be written; try again"
    await retried(attempt, too_fast, on_unavailable=change.or_volatile)
    change.told += items()


async def _place(change: Change, key: SessionKey) -> int:
    """Behind which message of the kept log a message of this process only is said."""
    engine = change.engine
    if not change.why_volatile:
        return 0
    try:
        found = await engine.store.sessions(change.root, (key,))
    except Unavailable:
        return max((at for (session, _), at in engine.places.items() if session == key), default=0)
    return found[0].last_seq if found else 0


async def _open_session(change: Change, said: Incoming) -> None:
    """Make the session if there is none, and see to its channel and its readers."""
    key, profile = said.key, change.engine.profile
    found = await change.store.sessions(change.root, (key,))
    if found:
        if said.channel and found[0].channel != said.channel:
            change.sessions.append(replace(found[0], channel=said.channel))
        change.cursors += _new_readers(found[0], profile)
        return
    session = Session(
        scope=key.scope,
        id=key.id,
        channel=said.channel,
        policy=str(buffer_policy(key.id, profile) or policy_of(profile)),
        cursors=dict.fromkeys(_readers(profile, key.id), 0),
        started_at=change.engine.now(),
    )
    change.sessions.append(session)


def _readers(profile: Profile, session: str) -> list[str]:
    """Who reads a session's log. Notes are short and their session's own: nobody learns from
    them."""
    readers = ["fold"]
    if session == PENDING:
        readers.append(CONSUMED)
    if profile.learn != "off" and not session.startswith(NOTES):
        readers.append(LEARNER)
    return readers


def _new_readers(session: Session, profile: Profile) -> Iterator[CursorMove]:
    """A session from before there was learning is learned from as of now: its past would be an
    unexpected bill."""
    if LEARNER in _readers(profile, session.id) and LEARNER not in session.cursors:
        key = SessionKey(session.scope, session.id)
        yield CursorMove(session=key, reader=LEARNER, old=0, new=session.last_seq)


async def _forgotten(change: Change, chunk: list[Taken]) -> dict[str, str]:
    stones = await Tombstones.of(change.engine.store, change.root, change.engine.now())
    buried = await stones.messages([one.message for one in chunk]) if stones else ()
    return dict.fromkeys((id_ for _, id_ in buried), "forgotten before")


async def _known(
    conflict: Conflict,
    change: Change,
    key: SessionKey,
    chunk: list[Taken],
    turns: Mapping[str, Record | None],
) -> dict[str, str]:
    """Messages that are in the log already, and what to say about each; a session that was made
    meanwhile is merely read again."""
    if conflict.kind in ("session", "cursor"):
        return {}
    taken_ids = set(conflict.ids)
    known = [
        one.message
        for one in chunk
        if one.message.id in taken_ids
        or ((turn := turns[one.message.id]) is not None and turn.id in taken_ids)
    ]
    if conflict.kind not in ("message", "record") or not known:
        raise conflict
    stored = await change.store.messages(
        key, now=change.engine.now(), ids=[m.id for m in known], limit=len(known)
    )
    texts = {message.id: message.text for message in stored}
    same = {message.id: texts.get(message.id, message.text) == message.text for message in known}
    return {id_: KNOWN if alike else OTHER_TEXT for id_, alike in same.items()}


def _item(
    one: Taken, turn: Record | None, skipped: Mapping[str, str], why_volatile: str
) -> ReceiptItem:
    id_, record = one.message.id, turn.id if turn else ""
    if id_ in skipped:
        return ReceiptItem(id=id_, status="skipped", reason=skipped[id_], record=record)
    is_held = turn is not None and turn.status == "quarantined"
    reasons = [*one.notes, *_about_search(one.message, turn), why_volatile]
    return ReceiptItem(
        id=id_,
        status="volatile" if why_volatile else "quarantined" if is_held else "stored",
        reason="; ".join(filter(None, reasons)),
        record=record,
    )


def _about_search(message: Message, turn: Record | None) -> Iterator[str]:
    """What of a message cannot be searched for, and why."""
    said = searchable_text(message)
    fresh = without_recalled(said)
    if turn is None:
        if not said.strip():
            yield "empty: kept in the log, nothing to search"
        elif not fresh.strip():
            yield "recalled memory: kept in the log, not searchable again"
        return
    if turn.status == "quarantined":
        yield f"kept in the log; not recalled until approved: it {turn.data[SUSPICION]}"
    if fresh is not said:
        yield "the recalled memories in it are not searchable again"
    if len(turn.text) < len(fresh):
        yield f"only the first {TURN_CHARACTERS_MAX:,} characters are searchable"


def _turn(engine: Engine, message: Message, channel: str) -> Record | None:
    """The searchable side of a message, without what was recalled into it; None if there is
    nothing to search. Notes belong to their session alone."""
    text = without_recalled(searchable_text(message))[:TURN_CHARACTERS_MAX]
    if not text.strip() or message.session.startswith(NOTES):
        return None
    record = Record(
        id=turn_id(message.scope, message.session, message.id),
        scope=message.scope,
        kind="episodic",
        type="turn",
        text=text,
        learned_at=engine.now(),
        data={"role": message.role, "channel": channel} if channel else {"role": message.role},
        durability=engine.profile.durability_of_type["turn"],
        source=message.source,
        trust=message.trust,
        author=message.author,
        session=message.session,
        lineage=(message.id,),
        valid_from=message.at.astimezone(UTC),
        expires_at=message.expires_at,
    )
    return held(record, doubt_about(message))
