"""One round of learning over the sessions whose reader ``extract`` lags behind."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from standfast.engine import Engine
from standfast.errors import Conflict, Invalid, Unavailable
from standfast.models.calls import sum_of
from standfast.models.embedder import Embedded
from standfast.models.prompts import extract as extract_prompt
from standfast.ports import AnswerError, Store
from standfast.scopes import root_of
from standfast.text.safety_slots import safety_slots
from standfast.types import (
    Message,
    ReceiptItem,
    Record,
    Search,
    SessionKey,
    Usage,
    Where,
    Work,
)
from standfast.understanding.reading.statements import LearnedStatement
from standfast.upkeep.learn.answers import known_as_text, messages_as_text, read_answer, show
from standfast.upkeep.learn.lanes import (
    MESSAGES_READ_MAX,
    OPTED_OUT,
    READER,
    UNREAD,
    LearnCandidate,
    Learned,
    Turns,
    cause_of,
    giving_way,
    next_turns,
)
from standfast.upkeep.learn.statements import may_teach, statements_in, too_long, why_skipped
from standfast.upkeep.learn.unread import add_unread
from standfast.upkeep.learn.writer import extract_of, write
from standfast.upkeep.leases import failed, note_place, noted_place
from standfast.upkeep.questions import Answered, asked_once
from standfast.upkeep.readers import has_model, why_not

log = logging.getLogger(__name__)

SESSIONS_PER_ROUND = 500
ROUND_SECONDS = 5


@dataclass(slots=True, kw_only=True)
class LearnRound:
    """What a round of learning did. ``changes`` names the change of each root, for undo."""

    items: list[ReceiptItem] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    changes: dict[str, str] = field(default_factory=dict)


class LearnPace(Protocol):
    """How many messages may be learned from next, for a round that somebody waits for."""

    def next_piece(self) -> int: ...

    def spend(self, messages: int) -> None: ...

    def first_long(self, messages: Sequence[Message]) -> int | None:
        """The place of the first message that takes too long to read while somebody waits."""
        ...


async def learn_sessions(
    engine: Engine,
    store: Store,
    work: Iterable[Work],
    done: LearnRound,
    *,
    everything: bool,
    pace: LearnPace | None = None,
) -> None:
    """Learn from what was said in these sessions since the last time; with ``everything`` also
    from what would still wait for more, with a ``pace`` only as much as it allows."""
    if engine.profile.learn == "off" or why_not(engine, store):
        return
    for one in work:
        key = SessionKey(one.scope, one.id)
        await _learn_session(engine, store, key, done, everything=everything, pace=pace)


def some_of(work: list[Work], engine: Engine) -> list[Work]:
    """A window that moves with time, so that sessions which wait or are stuck hide nobody."""
    if len(work) <= SESSIONS_PER_ROUND:
        return work
    rounds = int(engine.now().timestamp()) // ROUND_SECONDS
    start = rounds * SESSIONS_PER_ROUND % len(work)
    return [*work[start:], *work[:start]][:SESSIONS_PER_ROUND]


async def _learn_session(
    engine: Engine,
    store: Store,
    key: SessionKey,
    done: LearnRound,
    *,
    everything: bool,
    pace: LearnPace | None = None,
) -> None:
    with_model = has_model(engine, store)

    async def take(most: int) -> Turns | None:
        most = most if pace is None else min(most, pace.next_piece())
        if not most:
            return None
        turns = await next_turns(
            engine, store, key, everything=everything, with_model=with_model, most=most
        )
        if pace is None or turns is None or (short := pace.first_long(turns.messages)) is None:
            return turns
        return await take(short) if short else None  # maintenance reads the long one

    async def count(turns: Turns) -> None:
        if pace is not None:
            pace.spend(len(turns.messages))

    async def learn(turns: Turns) -> bool:
        shown = with_model and OPTED_OUT not in turns.unheard.values()
        episode = await extract_of(engine, turns) if shown else None
        if not (with_model and (worth_asking(turns) or episode)):
            await _write(engine, turns, await by_reader(engine, turns), done, episode)
            return turns.up_to < turns.session.last_seq
        answered: Answered[Learned] = Answered()
        if not engine.unasked:
            answered = await _asked(engine, turns, episode, done)
        if answered.made is None:
            if answered.trouble or engine.unasked:
                await _read_ahead(engine, store, key, done)
            return False
        await _write(engine, turns, answered.made, done, episode)
        return turns.up_to < turns.session.last_seq

    await _in_pieces(engine, take, learn, done, count)


async def _read_ahead(engine: Engine, store: Store, key: SessionKey, done: LearnRound) -> None:
    """While the model is away the reader in the box learns what it can. The place of learning stays
    where it is, so the model reads the same when it is back."""
    if engine.reader is None:
        return
    place = await noted_place(engine, store, key.scope, work_of(key.id))

    async def take(most: int) -> Turns | None:
        return await next_turns(
            engine, store, key, everything=True, with_model=False, ahead=place, most=most
        )

    async def learn(turns: Turns) -> bool:
        await _write(engine, turns, await by_reader(engine, turns), done, None)
        return True

    async def go_on(turns: Turns) -> None:
        nonlocal place
        place = turns.up_to
        await note_place(engine, store, key.scope, work_of(key.id), place)

    await _in_pieces(engine, take, learn, done, go_on)


async def _in_pieces(
    engine: Engine,
    take: Callable[[int], Awaitable[Turns | None]],
    learn: Callable[[Turns], Awaitable[bool]],
    done: LearnRound,
    go_on: Callable[[Turns], Awaitable[None]] | None = None,
) -> None:
    """Learn until nothing is left, or ``learn`` says so. Whatever a reader raises, the piece is
    halved until the one message is found; that one is passed over, and the session goes on."""
    most = MESSAGES_READ_MAX
    while turns := await take(most):
        turns = await _without_opted_out(engine, turns)
        try:
            left = await learn(turns)
        except Conflict:
            return  # another worker was faster, or the next round looks again
        except Unavailable:
            raise  # a store or a model that is away: no fault of a message
        except Exception as error:
            if len(turns.messages) > 1:
                most = len(turns.messages) // 2
                continue
            if not await _pass_over(engine, turns, done, error):
                return
            left = turns.ahead or turns.up_to < turns.session.last_seq
        most = MESSAGES_READ_MAX
        if go_on is not None:
            await go_on(turns)
        if not left:
            return


async def _pass_over(engine: Engine, turns: Turns, done: LearnRound, error: Exception) -> bool:
    """For one message at which a reader failed: it is read alone, or marked unread; both are
    counted. False if not even that can be written."""
    reason = UNREAD + cause_of(error)
    log.warning("a message stays %s", reason, extra={"action": "learn"})
    try:
        alone = replace(turns, earlier=())
        learned = await by_reader(engine, alone)
        only = {message.id: f"{reason}; it was read alone" for message in turns.messages}
        await _write(engine, alone, replace(learned, unread=only), done, None)
    except (Conflict, Unavailable):
        raise
    except Exception:
        unread = {message.id: reason for message in turns.messages}
        try:
            await _write(engine, turns, Learned(unread=unread), done, None)
        except Invalid as invalid:  # it can never be written; others must not wait for it
            key = turns.key
            await failed(engine, turns.store, key.scope, work_of(key.id), str(invalid))
            done.items.append(ReceiptItem(id=key.id, status="failed", reason=str(invalid)))
            return False
    return True


async def _write(
    engine: Engine, turns: Turns, learned: Learned, done: LearnRound, episode: Record | None
) -> None:
    root = root_of(turns.session.scope)
    change = done.changes.get(root) or engine.new_id()
    written = await write(engine, turns, learned, episode=episode, change=change)
    told = written.told
    done.items += [one for one in told if one.status != "skipped"] if turns.ahead else told
    done.usage = sum_of(done.usage, Usage(texts_embedded=written.embedded))
    done.changes[root] = change
    reasons = {**learned.skipped, **learned.unread}.values()
    if number := sum(why.startswith(UNREAD) for why in reasons):
        await add_unread(engine, turns.store, root, number)


async def _asked(
    engine: Engine, turns: Turns, episode: Record | None, done: LearnRound
) -> Answered[Learned]:
    """What a model makes of the turns, if there is anything yet."""

    async def is_done() -> bool:
        now = await turns.store.sessions(root_of(turns.session.scope), (turns.key,))
        before = turns.session.cursors.get(READER, 0)
        return not now or now[0].cursors.get(READER, 0) != before

    answered = await asked_once(
        engine,
        turns.store,
        turns.session.scope,
        work_of(turns.key.id),
        is_done=is_done,
        ask=lambda: by_model(engine, turns, draft=episode.text if episode else ""),
        yet="only the reader in the box learned from it yet",
        news=turns.session.last_seq,
    )
    done.usage = sum_of(done.usage, answered.usage)
    if answered.trouble:
        item = ReceiptItem(id=turns.key.id, status="failed", reason=answered.trouble)
        done.items.append(item)
    return answered


def work_of(session: str) -> str:
    """The name of the work in a session, for leases and tries."""
    return f"{READER}/{session}"


async def _without_opted_out(engine: Engine, turns: Turns) -> Turns:
    """The log may hold what was said before its author opted out; nothing more comes of it."""
    if turns.store is engine.volatile:
        return turns
    scope = turns.session.scope
    out = await engine.opted_out(scope, {message.author for message in turns.messages})
    if not out:
        return turns
    said = [replace(one, text="") if one.author in out else one for one in turns.messages]
    unheard = {one.id: OPTED_OUT for one in turns.messages if one.author in out}
    earlier = [one for one in turns.earlier if one.author not in out]
    return replace(turns, messages=said, earlier=earlier, unheard={**turns.unheard, **unheard})


# From turns to candidates: by the reader in the box, or by one question to a model

KNOWN_MAX = 12
KNOWN_PER_MESSAGE = 4
SEARCH_CHARACTERS_MAX = 2000
UNTOLD = "the model found nothing in it"


async def by_reader(engine: Engine, turns: Turns) -> Learned:
    """What the reader in the box finds; no language model is asked."""
    async with giving_way(engine):
        found = await statements_in(engine, turns)
    skipped = {one.id: why for one in turns.messages if (why := why_skipped(one))}
    return Learned(
        candidates=tuple(LearnCandidate(statement=one, how="network") for one in found),
        skipped={**skipped, **turns.unheard},
        unread=too_long(turns.messages),
    )


def worth_asking(turns: Turns) -> bool:
    """Is there a message that may teach something?"""
    return any(may_teach(message) for message in turns.messages)


async def by_model(engine: Engine, turns: Turns, *, draft: str) -> tuple[Learned, Usage]:
    """One question for all of them, the episode of a session that is over included. Standing orders
    and what concerns somebody's safety are learned even if the model passes them over. Unavailable
    or Invalid if there is no answer that can be used."""
    assert engine.models is not None
    known, searched = await nearest(engine, turns)
    shown = show(turns.messages, turns.earlier, known)
    teaching = frozenset(message.id for message in turns.messages if may_teach(message))
    prompt = extract_prompt(
        known=known_as_text(shown),
        messages=messages_as_text(shown, teaching),
        draft=draft,
        own=engine.own,
    )
    authors = {message.author for message in shown.messages.values()}
    reply = await engine.models.ask(prompt, scope=turns.session.scope, authors=authors)
    found = await _read_beside(engine, turns)
    try:
        learned = read_answer(reply.data, shown, engine.redactor, engine.own)
    except Invalid as error:
        raise AnswerError(str(error), usage=reply.usage) from None
    candidates = _completed(learned.candidates, found)
    skipped = {one.id: why_skipped(one) or UNTOLD for one in turns.messages}
    skipped |= {**learned.skipped, **turns.unheard}
    return replace(learned, candidates=candidates, skipped=skipped), sum_of(searched, reply.usage)


async def _read_beside(engine: Engine, turns: Turns) -> list[LearnedStatement]:
    """What the reader in the box finds in what a model has read; it may be away."""
    try:
        return await statements_in(engine, turns)
    except Unavailable:
        return []


def _completed(
    candidates: tuple[LearnCandidate, ...], found: Sequence[LearnedStatement]
) -> tuple[LearnCandidate, ...]:
    """With the standing orders and safety slots that the model passed over."""
    told = {key for one in candidates for key in _keys(one.statement)}
    missed = (one for one in found if _keys(one) - told)
    return (*candidates, *(LearnCandidate(statement=one, how="network") for one in missed))


def _keys(statement: LearnedStatement) -> set[tuple[str, str]]:
    """What of a statement no model may pass over, by the messages that say it."""
    kinds = set(safety_slots(statement.text))
    if statement.type == "user_request":
        kinds.add(statement.type)
    return {(id_, kind) for id_ in statement.messages for kind in kinds}


async def nearest(engine: Engine, turns: Turns) -> tuple[list[Record], Usage]:
    """Known records that the messages may be about, the nearest first, and what finding them
    by meaning cost."""
    texts = [one.text[:SEARCH_CHARACTERS_MAX] for one in _speaking(turns.messages)]
    embedded = Embedded(vectors=[None] * len(texts))
    if not await engine.vector_trouble():
        embedded = await engine.embed_texts(texts, root=root_of(turns.session.scope), query=True)
    found: dict[str, tuple[float, Record]] = {}
    for text, vector in zip(texts, embedded.vectors, strict=True):
        query = Search(
            where=Where(
                scopes=(turns.session.scope,),
                now=engine.now(),
                kinds=("semantic", "procedural"),
            ),
            text=text,
            vector=vector,
            space=engine.embedder.space if engine.embedder and vector else "",
            limit=KNOWN_PER_MESSAGE,
        )
        for hit in await turns.store.search(query):
            score = max(hit.similarity or 0.0, hit.coverage)
            before = found.get(hit.record.id, (0.0, hit.record))[0]
            found[hit.record.id] = (max(score, before), hit.record)
    ranked = sorted(found.values(), key=lambda pair: (-pair[0], pair[1].id))
    return [record for _, record in ranked[:KNOWN_MAX]], embedded.usage


def _speaking(messages: Sequence[Message]) -> list[Message]:
    people = [one for one in messages if one.role == "user" and one.text.strip()]
    return people or [one for one in messages if one.text.strip()][:1]
