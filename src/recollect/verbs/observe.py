"""observe: messages into the session log, durable before the answer, each a searchable turn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, timedelta
from typing import Any

from recollect.engine import ATTEMPTS_MAX, Engine
from recollect.errors import Conflict, Unavailable
from recollect.forgotten.tombstones import buried_messages
from recollect.packet.buffers import CONSUMED, NOTES, PENDING, buffer_policy, session_name
from recollect.packet.policy import policy_of
from recollect.ports import Store
from recollect.profiles import Profile
from recollect.scopes import root_of
from recollect.text.compare import text_hash
from recollect.text.inputs import When, clean_name, expiry, one_of
from recollect.text.messages import Intake, MessageInput, Taken, searchable_text, take_in, turn_id
from recollect.text.trust import SUSPICION, doubt_about, without_recalled
from recollect.types import (
    CursorMove,
    Message,
    Receipt,
    ReceiptItem,
    Record,
    Session,
    SessionKey,
    Source,
    Usage,
)
from recollect.upkeep.learn import READER as LEARNER

MESSAGES_PER_COMMIT = 100
BYTES_PER_COMMIT = 4 << 20
TURN_CHARACTERS_MAX = 100_000

TWICE = "stands twice in this call"
OTHER_TEXT = "this id already names a message with another text"


@dataclass(slots=True, kw_only=True)
class ObserveWriting:
    """One observe call under way. ``store`` changes to the volatile one when the disk fails."""

    engine: Engine
    store: Store
    key: SessionKey
    channel: str
    actor: str
    change: str
    taken: list[Taken]
    items: list[ReceiptItem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    why_volatile: str = ""
    embedded: int = 0


async def observe(
    engine: Engine,
    session: str,
    messages: MessageInput | Iterable[MessageInput],
    *,
    scope: str | None,
    channel: str,
    author: str,
    source: str | None,
    pending: bool,
    expires_at: When | None,
    actor: str,
) -> Receipt:
    named = session_name(session)
    key = SessionKey(engine.write_scope(scope), PENDING if pending else named)
    return await observe_in(
        engine,
        key,
        messages,
        channel=channel,
        author=author,
        source=source,
        pending=pending,
        expires_at=expires_at,
        actor=actor,
    )


async def observe_in(
    engine: Engine,
    key: SessionKey,
    messages: MessageInput | Iterable[MessageInput],
    *,
    channel: str = "",
    author: str = "",
    source: str | None = None,
    pending: bool = False,
    expires_at: When | None = None,
    actor: str = "",
) -> Receipt:
    """The same for any session, also for those of our own."""
    taken = take_in(messages, _intake(engine, key, author, source, pending, expires_at))
    authors = {one.message.author for one in taken}
    writing = ObserveWriting(
        engine=engine,
        store=engine.store,
        key=key,
        channel=clean_name(channel, "channel") if channel else "",
        actor=actor,
        change=engine.new_id(),
        taken=taken,
    )
    if not await engine.persists(key.scope, authors):
        _turn_volatile(writing, "kept in this process only: opted out of persistence")
    first = {one.message.id: one for one in reversed(taken)}
    chunks = list(_chunks([one for one in taken if first[one.message.id] is one]))
    for chunk in chunks:
        await _store_chunk(writing, chunk, last=chunk is chunks[-1])
    return _receipt(writing)


def _receipt(writing: ObserveWriting, *items: ReceiptItem) -> Receipt:
    """What became of all, with these ``items`` of a last chunk that is about to be committed."""
    first = {one.message.id: one for one in reversed(writing.taken)}
    by_id = {item.id: item for item in (*writing.items, *items)}
    return Receipt(
        items=tuple(_answered(one, first[one.message.id], by_id) for one in writing.taken),
        change=writing.change,
        notes=tuple(dict.fromkeys(writing.notes)),
        usage=Usage(texts_embedded=writing.embedded),
    )


def _answered(one: Taken, first: Taken, items: dict[str, ReceiptItem]) -> ReceiptItem:
    """What became of a message; the second of two with one id is skipped."""
    item = items[one.message.id]
    if one is first:
        return item
    same = one.message.text == first.message.text
    return replace(item, status="skipped", reason=TWICE if same else OTHER_TEXT)


def _intake(
    engine: Engine,
    key: SessionKey,
    author: str,
    source: str | None,
    pending: bool,
    expires_at: When | None,
) -> Intake:
    until, _ = expiry(expires_at, engine.now())
    if pending and until is None:
        until = engine.now() + timedelta(days=engine.profile.pending_days)
    return Intake(
        scope=key.scope,
        session=key.id,
        now=engine.now(),
        redactor=engine.redactor,
        new_id=engine.new_id,
        author=clean_name(author, "author") if author else "",
        source=one_of(source, Source, "source") if source else None,
        pending=pending,
        expires_at=until,
    )


def _turn_volatile(writing: ObserveWriting, why: str) -> None:
    writing.store = writing.engine.volatile
    writing.engine.volatile_roots.add(root_of(writing.key.scope))
    writing.why_volatile = why


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


async def _store_chunk(writing: ObserveWriting, chunk: list[Taken], *, last: bool) -> None:
    skipped = await _forgotten(writing, chunk)
    turns = {one.message.id: turn_of(one.message, writing) for one in chunk}
    records = [turns[one.message.id] for one in chunk if one.message.id not in skipped]
    vectors, space, note = await writing.engine.embed_for_writing([r for r in records if r])
    writing.embedded += len(vectors)
    writing.notes += [note] if note else []

    def items() -> list[ReceiptItem]:
        return [_item(one, turns[one.message.id], skipped, writing) for one in chunk]

    for _ in range(ATTEMPTS_MAX):
        messages = [one.message for one in chunk if one.message.id not in skipped]
        if not messages:
            break
        kept = {m.id: record for m in messages if (record := turns[m.id])}
        ids = {record.id for record in kept.values()}
        try:
            await _commit(
                writing,
                (lambda: _receipt(writing, *items())) if last else None,
                messages=tuple(messages),
                records=tuple(kept.values()),
                vectors={id_: vector for id_, vector in vectors.items() if id_ in ids},
                space=space,
            )
            break
        except Conflict as conflict:
            await _learn_from(conflict, writing, chunk, turns, skipped)
        except Unavailable as error:
            if writing.store is writing.engine.volatile:
                raise
            _turn_volatile(writing, f"kept in this process only: {error}")
    else:
        raise Unavailable("the session changes faster than it can be written; try again")
    writing.items += items()


async def _commit(
    writing: ObserveWriting, answer: Callable[[], Receipt] | None, **parts: Any
) -> None:
    engine, key = writing.engine, writing.key
    root = root_of(key.scope)
    found = await writing.store.sessions(root, (key,))
    if not found:
        session = Session(
            scope=key.scope,
            id=key.id,
            channel=writing.channel,
            policy=str(buffer_policy(key.id, engine.profile) or policy_of(engine.profile)),
            cursors=dict.fromkeys(_readers(engine.profile, key.id), 0),
            started_at=engine.now(),
        )
        parts["sessions"] = (session,)
    else:
        if writing.channel and found[0].channel != writing.channel:
            parts["sessions"] = (replace(found[0], channel=writing.channel),)
        parts["cursors"] = tuple(_new_readers(found[0], engine.profile))
    batch = engine.batch(root, "observe", actor=writing.actor, change=writing.change, **parts)
    await engine.commit(writing.store, batch, answer=answer)


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


def _text_hash(message: Message) -> str:
    return text_hash(searchable_text(message))


async def _forgotten(writing: ObserveWriting, chunk: list[Taken]) -> dict[str, str]:
    messages = [one.message for one in chunk]
    buried = await buried_messages(writing.engine, messages, _text_hash)
    return dict.fromkeys(buried, "forgotten before")


async def _learn_from(
    conflict: Conflict,
    writing: ObserveWriting,
    chunk: list[Taken],
    turns: dict[str, Record | None],
    skipped: dict[str, str],
) -> None:
    """Messages that are in the log already are skipped; a session made meanwhile is reread."""
    if conflict.kind in ("session", "cursor"):
        return
    taken_ids = set(conflict.ids)
    known = [
        one.message
        for one in chunk
        if one.message.id in taken_ids
        or ((turn := turns[one.message.id]) is not None and turn.id in taken_ids)
    ]
    if conflict.kind not in ("message", "record") or not known:
        raise conflict
    stored = await writing.store.messages(
        writing.key, now=writing.engine.now(), ids=[m.id for m in known], limit=len(known)
    )
    texts = {message.id: message.text for message in stored}
    for message in known:
        same = texts.get(message.id, message.text) == message.text
        skipped[message.id] = "already stored" if same else OTHER_TEXT


def _item(
    one: Taken, turn: Record | None, skipped: dict[str, str], writing: ObserveWriting
) -> ReceiptItem:
    message = one.message
    record = turn.id if turn else ""
    if message.id in skipped:
        return ReceiptItem(
            id=message.id, status="skipped", reason=skipped[message.id], record=record
        )
    reasons = [*one.notes, *_about_search(message, turn)]
    if writing.why_volatile:
        reasons.append(writing.why_volatile)
    held = turn is not None and turn.status == "quarantined"
    return ReceiptItem(
        id=message.id,
        status="volatile" if writing.why_volatile else "quarantined" if held else "stored",
        reason="; ".join(reasons),
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


def turn_of(message: Message, writing: ObserveWriting) -> Record | None:
    """The searchable side of a message, without what was recalled into it; None if there is
    nothing to search. Notes belong to their session alone."""
    text = without_recalled(searchable_text(message))[:TURN_CHARACTERS_MAX]
    if not text.strip() or message.session.startswith(NOTES):
        return None
    return _turn(message, text, writing.channel, writing.engine.profile, writing.engine)


def _turn(message: Message, text: str, channel: str, profile: Profile, engine: Engine) -> Record:
    data: dict[str, Any] = {"role": message.role}
    if channel:
        data["channel"] = channel
    doubt = doubt_about(message)
    if doubt:
        data[SUSPICION] = doubt
    return Record(
        id=turn_id(message.scope, message.session, message.id),
        scope=message.scope,
        kind="episodic",
        type="turn",
        text=text,
        learned_at=engine.now(),
        data=data,
        durability=profile.durability_of_type["turn"],
        status="quarantined" if doubt else "active",
        source=message.source,
        trust=message.trust,
        author=message.author,
        session=message.session,
        lineage=(message.id,),
        valid_from=message.at.astimezone(UTC),
        expires_at=message.expires_at,
    )
