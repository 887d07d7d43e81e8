"""When a session is learned from, and how much of it at once.

Two lanes: what is said while somebody is being met is learned at once (``post-chat-memory``);
later turns wait for each other and are learned as a digest (``regular-chat-memory-digest``).
Waiting saves model calls. The reader in the box costs nothing: without a model nobody waits.
"""

from __future__ import annotations

import asyncio
import time
import traceback
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

from standfast.engine import Engine
from standfast.errors import StandfastError
from standfast.packet.buffers import LEARNER
from standfast.ports import Store, beside
from standfast.scopes import root_of
from standfast.text.messages import turn_id
from standfast.text.trust import doubt_about, heard, without_recalled
from standfast.types import Message, Record, RelationKind, Session, SessionKey
from standfast.types.frozen import frozen
from standfast.understanding.reading.statements import LearnedStatement
from standfast.upkeep.heard import retired, turns_of

How = Literal["network", "model"]  # "rules" in records of earlier versions
Lane = Literal["post-chat-memory", "regular-chat-memory-digest"]

LEARNED = "learning"  # where a turn's ``data`` says what became of it
UNREAD = "unread: "  # how the reason begins where a reader failed at a message
OPTED_OUT = "its author opted out of persistence"

READER = LEARNER
REVOKED = "revoked: nothing is learned from it"
ONBOARDING = "onboarding"  # the channel that makes any session one
AT_ONCE: Lane = "post-chat-memory"
DIGEST: Lane = "regular-chat-memory-digest"

MESSAGES_READ_MAX = 400
MESSAGES_PER_COMMIT = 50  # each may bring a turn, a fact and what it replaces
SESSIONS_LOOKED_AT = 50
CHARACTERS_MAX = 6000  # of a message that may teach something
PATIENCE = 4  # times as long as a piece of work took
EARLIER_MAX = 4  # messages that were learned from already and make sense of the next ones


@frozen
class Turns:
    """Messages of one session that are learned from together: one model answer, one commit.
    Memories that standfast rendered, and messages that are doubted, are out of the texts already;
    ``unheard`` says by message id why."""

    store: Store
    session: Session
    messages: Sequence[Message]
    earlier: Sequence[Message]  # what was said before: context only
    up_to: int  # where the reader stands afterwards
    lane: Lane
    told_by: Mapping[str, Record]  # the turns of all these messages, by message id
    sources: Mapping[str, Message] = field(default_factory=dict)  # these messages, not cut
    unheard: Mapping[str, str] = field(default_factory=dict)
    ahead: bool = False  # the reader stays where it is: a model is to read them too

    @property
    def key(self) -> SessionKey:
        return SessionKey(self.session.scope, self.session.id)

    @property
    def closes(self) -> bool:
        """Is this the end of a session that is over?"""
        return self.session.ended_at is not None and self.up_to >= self.session.last_seq


@frozen
class LearnCandidate:
    """A statement before it meets what is known. ``leans_on`` are known records whose words it
    uses beside those of its messages; ``links`` point at other candidates of the same answer."""

    statement: LearnedStatement
    how: How
    leans_on: tuple[str, ...] = ()
    links: tuple[tuple[RelationKind, int], ...] = ()
    note: str = ""  # what was dropped of it
    origin: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    fault: str = ""


@frozen
class Learned:
    """What some turns taught. ``skipped`` says by message why it taught nothing, ``unread`` where a
    reader failed at it, whatever else it taught; ``refused``
    are facts of a model that do not hold, by the message they were said to come from."""

    candidates: tuple[LearnCandidate, ...] = ()
    skipped: Mapping[str, str] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)
    refused: tuple[tuple[str, str], ...] = ()
    episode: str = ""


@asynccontextmanager
async def giving_way(engine: Engine) -> AsyncIterator[None]:
    """For a piece of work that holds the loop: others get a turn behind it. While somebody waits
    for an answer, upkeep that runs by itself takes one part of the time in ``PATIENCE`` + 1."""
    began = time.perf_counter()
    yield
    spent = time.perf_counter() - began
    await asyncio.sleep(PATIENCE * spent if engine.yields and engine.callers.waiting else 0)


async def next_turns(
    engine: Engine,
    store: Store,
    key: SessionKey,
    *,
    everything: bool,
    with_model: bool,
    ahead: int | None = None,
    most: int = MESSAGES_READ_MAX,
) -> Turns | None:
    """The next messages of a session to learn from, ``most`` of them; None if there are none, or
    not yet. ``ahead``: how far the reader in the box has read while its place waits for a model."""
    sessions = await store.sessions(root_of(key.scope), (key,))
    if not sessions:
        return None
    session = sessions[0]
    waits = engine.profile.learn == "end" and session.ended_at is None
    if waits and not await _is_silent(engine, store, key):
        return None
    place = max(session.cursors.get(READER, 0), ahead or 0)
    page = await store.messages(
        key,
        now=engine.now(),
        after=max(0, place - EARLIER_MAX),
        limit=MESSAGES_READ_MAX + EARLIER_MAX,
    )
    # The last messages that were learned from already make sense of the next ones.
    earlier = [message for message in page if message.seq <= place]
    waiting = [message for message in page if message.seq > place][:MESSAGES_READ_MAX]
    lane = await lane_of(engine, store, session) if with_model else AT_ONCE
    may_wait = lane == DIGEST and not everything and session.ended_at is None
    if may_wait and waiting and await _waits(engine, store, waiting):
        return None
    count = _how_many(engine, waiting) if with_model else min(len(waiting), MESSAGES_PER_COMMIT)
    count = min(count, most)
    all_read = len(page) < MESSAGES_READ_MAX + EARLIER_MAX and count == len(waiting)
    taken = waiting[:count]
    if ahead is not None and not taken:
        return None
    told_by = await turns_of(engine, store, [*earlier, *taken])
    gone = retired({one.id: told_by[one.id] for one in taken if one.id in told_by})
    # Whoever failed at a message fails at it as context, too.
    earlier = [one for one in earlier if not _is_unread(told_by.get(one.id))]
    length = sum(len(message.text) for message in (*earlier, *taken))
    messages, unheard = await beside(length, lambda: _trusted(taken, gone))
    before = (await beside(length, lambda: _trusted(earlier)))[0]
    return Turns(
        store=store,
        session=session,
        messages=messages,
        sources={one.id: one for one in (*before, *messages)},
        unheard={**unheard, **dict.fromkeys(gone, REVOKED)},
        earlier=before,
        told_by=told_by,
        # Messages that expired leave gaps, at the end too.
        up_to=session.last_seq if all_read else taken[-1].seq,
        lane=lane,
        ahead=ahead is not None,
    )


async def _is_silent(engine: Engine, store: Store, key: SessionKey) -> bool:
    """Was nothing said for so long that nobody will end it any more? What was heard in the future
    was heard by a clock that was wrong: nobody waits for that day."""
    last = await store.messages(key, now=engine.now(), limit=1, newest=True)
    if not last:
        return False
    silence = abs(engine.now() - await _arrival(engine, store, last[0]))
    return silence >= timedelta(hours=engine.profile.ended_after_hours)


async def lane_of(engine: Engine, store: Store, session: Session) -> Lane:
    """Onboarding is the session that was begun first in its scope, or one whose channel says
    so. With many sessions the time of getting to know each other is over."""
    if session.channel == ONBOARDING:
        return AT_ONCE
    page = await store.sessions(
        root_of(session.scope),
        after=SessionKey(session.scope, ""),
        limit=SESSIONS_LOOKED_AT,
    )
    others = [one for one in page if one.scope == session.scope and not one.id.startswith("~")]
    if len(others) == SESSIONS_LOOKED_AT:
        return DIGEST
    began = session.started_at or engine.now()
    earlier = [
        one
        for one in others
        if one.id != session.id and (one.started_at or began, one.id) < (began, session.id)
    ]
    return DIGEST if earlier else AT_ONCE


async def _waits(engine: Engine, store: Store, waiting: Sequence[Message]) -> bool:
    profile = engine.profile
    turns = sum(message.role == "user" for message in waiting)
    tokens = sum(_cost(engine, message) for message in waiting)
    if turns >= profile.digest_turns or tokens >= profile.digest_tokens:
        return False
    silence = abs(engine.now() - await _arrival(engine, store, waiting[-1]))
    return silence < timedelta(minutes=profile.digest_quiet_minutes)


async def _arrival(engine: Engine, store: Store, message: Message) -> datetime:
    """When we heard it. By its own time, a message told late, or by a clock that is wrong, would
    always be one after a long silence, and each would be asked about by itself."""
    id_ = turn_id(message.scope, message.session, message.id)
    found = await store.records(root_of(message.scope), (id_,), now=engine.now())
    return found[0].learned_at if found else message.at


def _how_many(engine: Engine, waiting: Sequence[Message]) -> int:
    """As many as one question should hold, up to the beginning of a turn where that is possible."""
    tokens = turns = 0
    for index, message in enumerate(waiting):
        tokens += _cost(engine, message)
        turns += message.role == "user"
        full = tokens > engine.profile.digest_tokens or turns > engine.profile.digest_turns
        if index and (full or index == MESSAGES_PER_COMMIT):
            return _turn_start(waiting, index)
    return len(waiting)


def _turn_start(waiting: Sequence[Message], end: int) -> int:
    """Behind the last whole turn before ``end``; a turn that is longer than that is cut."""
    starts = [index for index in range(1, end + 1) if waiting[index].role == "user"]
    return starts[-1] if starts else end


def _cost(engine: Engine, message: Message) -> int:
    return engine.counter.count(message.text[:CHARACTERS_MAX])


def _trusted(
    messages: Sequence[Message], gone: frozenset[str] = frozenset()
) -> tuple[list[Message], dict[str, str]]:
    """The messages as far as they are heard, and why the others are not. One at which this fails
    costs no other."""
    try:
        return list(heard(messages, gone)), _unheard(messages)
    except Exception as error:
        if len(messages) == 1:
            return [replace(messages[0], text="")], {messages[0].id: UNREAD + cause_of(error)}
    parts = [_trusted([one], gone) for one in messages]
    return [one for found, _ in parts for one in found], {
        id_: why for _, reasons in parts for id_, why in reasons.items()
    }


def cause_of(error: Exception) -> str:
    """What is kept of an error: where it was raised, and none of the text that raised it."""
    if isinstance(error, StandfastError):
        return str(error)
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if _PACKAGE in Path(frame.filename).parents
    ]
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return type(error).__name__ + place


_PACKAGE = Path(__file__).parents[2]


def _is_unread(turn: Record | None) -> bool:
    return turn is not None and str(turn.data.get(LEARNED, "")).startswith(UNREAD)


def _unheard(messages: Iterable[Message]) -> dict[str, str]:
    """Why there is nothing to learn from the messages that say something all the same."""
    reasons = {}
    for message in messages:
        if doubt := doubt_about(message):
            reasons[message.id] = f"held back: it {doubt}"
        elif message.text.strip() and not without_recalled(message.text).strip():
            reasons[message.id] = "recalled memories are not learned again"
    return reasons
