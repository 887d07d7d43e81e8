"""end: a session is over. What was asked, how it went and what came of it is kept by itself.

Not every conversation is worth remembering: one in which the user corrected something, stated a
preference or finished a task always is; a greeting or a single question may be skipped, and the
receipt says so. The log stays either way.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from standfast import compat
from standfast.changes import Change, retried, slices
from standfast.engine import Engine, every_message, every_summary
from standfast.errors import Conflict, NotFound
from standfast.lifecycle.status import held
from standfast.packet.buffers import session_name
from standfast.packet.said import only_asks
from standfast.ports import Store, beside
from standfast.scopes import root_of
from standfast.text.analysis import is_stop_word, words
from standfast.text.inputs import clean_text
from standfast.text.messages import turn_id
from standfast.text.small_talk import is_small_talk
from standfast.text.summary import extract_summary, sentences_of, short, without_greeting
from standfast.text.trust import SUSPICION, derived_trust, heard, strong_suspicion, suspicion
from standfast.text.words import pattern
from standfast.types import (
    TRUST_OF_SOURCE,
    ItemStatus,
    Message,
    Receipt,
    Record,
    Session,
    SessionKey,
    Summary,
)
from standfast.types.frozen import frozen
from standfast.upkeep.heard import retired, turns_of

MESSAGES_READ_MAX = 2000
KEYWORDS = 6
TRIVIAL_USER_WORDS = 25


@frozen
class Over:
    """A session that is being ended."""

    store: Store
    session: Session
    messages: Sequence[Message]
    before: str  # the summary of what was folded
    lineage: tuple[str, ...]  # every message, folded or not
    trust: int  # the least among all of them
    outcome: str


async def end(
    engine: Engine, session: str, *, scope: str | None, outcome: str | None, actor: str
) -> Receipt:
    key = SessionKey(engine.write_scope(scope), session_name(session))
    result = clean_text(outcome, "outcome")[0].strip() if outcome is not None else ""
    redacted = engine.redactor.redact(result).text

    async def attempt(_: Conflict | None) -> Receipt:
        return await _write(engine, await _read(engine, key, redacted), actor)

    return await retried(attempt, "the session changes faster than it can be ended; try again")


def is_of_session(record: Record) -> bool:
    """Is it an episode that ending a session makes, not one that was learned or imported?"""
    return record.type == "episode" and not record.author and "topic" in record.data


async def remake_episode(engine: Engine, erased: Record, *, actor: str) -> bool:
    """Make the episode of an ended session again from what is left of it. The outcome is left out:
    it may have told what was erased. False: nothing is left to tell."""

    async def attempt(_: Conflict | None) -> bool:
        try:
            over = await _read(engine, erased.session_key, "")
        except NotFound:
            return False
        if over.session.ended_at is None:
            return False
        _reason, record = await beside(_length(over.messages), partial(_judged, engine, over))
        root = root_of(over.session.scope)
        if record is None or await over.store.records(root, (record.id,), now=engine.now()):
            return False
        change = Change(engine, root, "end", store=over.store, actor=actor, id=engine.new_id())
        change.put(replace(record, expires_at=erased.expires_at))
        await change.embed()
        await change.commit()
        return True

    return await retried(attempt, "the session changes faster than its episode can be made again")


async def _read(engine: Engine, key: SessionKey, outcome: str) -> Over:
    for store in engine.stores_of(root_of(key.scope)):
        sessions = await store.sessions(root_of(key.scope), (key,))
        if sessions:
            folded, summary = await _folded(store, key)
            messages = await store.messages(
                key,
                now=engine.now(),
                after=summary.to_seq if summary else 0,
                limit=MESSAGES_READ_MAX,
                newest=True,
            )
            gone = retired(await turns_of(engine, store, messages))
            return Over(
                store=store,
                session=sessions[0],
                messages=await beside(_length(messages), partial(heard, messages, gone)),
                before=summary.text if summary else "",
                lineage=(*folded, *(message.id for message in messages)),
                outcome=outcome,
                trust=await _least_trust(engine, store, key, summary, messages),
            )
    raise NotFound(f"there is no session {key.id!r} in {key.scope!r}")


async def _folded(store: Store, key: SessionKey) -> tuple[list[str], Summary | None]:
    """The ids of all messages that were folded, and the newest summary."""
    found = [summary async for summary in every_summary(store, key)]
    ids = [id_ for summary in found for id_ in summary.lineage]
    return ids, found[-1] if found else None


async def _least_trust(
    engine: Engine,
    store: Store,
    key: SessionKey,
    summary: Summary | None,
    unfolded: Sequence[Message],
) -> int:
    """Folded messages count too: what they said lives on in the summary."""
    values = [message.trust for message in unfolded]
    if summary is not None:
        folded = every_message(store, key, engine.now(), until=summary.to_seq)
        values += [message.trust async for message in folded]
    return derived_trust(values or [TRUST_OF_SOURCE["assistant"]])


async def _write(engine: Engine, over: Over, actor: str) -> Receipt:
    session = over.session
    root = root_of(session.scope)
    change = Change(engine, root, "end", store=over.store, actor=actor, id=engine.new_id())
    change.sessions.append(replace(session, ended_at=engine.now()))
    reason, record = await beside(_length(over.messages), partial(_judged, engine, over))
    if record and await over.store.records(root, (record.id,), now=engine.now()):
        record, reason = None, "already kept, and nothing was said since"
    if record is None:
        await change.commit()
        change.tell(session.id, "skipped", reason)
        return change.receipt()
    change.put(record)
    note = await change.embed()
    if record.expires_at is not None:
        await _expire_turns(change, over, record.expires_at)
    await change.commit()
    is_held = record.status == "quarantined"
    told = f"not recalled until approved: it {record.data[SUSPICION]}" if is_held else ""
    fate: ItemStatus = "quarantined" if is_held else "stored"
    change.tell(
        record.id, "volatile" if over.store is engine.volatile else fate, told, record=record.id
    )
    return change.receipt(note)


def _judged(engine: Engine, over: Over) -> tuple[str, Record | None]:
    """Why there is no episode, or the episode."""
    reason = trivial(over)
    return reason, None if reason else _episode(engine, over)


def _length(messages: Iterable[Message]) -> int:
    return sum(len(message.text) for message in messages)


async def _expire_turns(change: Change, over: Over, until: datetime) -> None:
    """The words of an episode go when it goes. Those of a long session are marked before it: if
    that is cut short, ending the session again does the rest."""
    key = SessionKey(over.session.scope, over.session.id)
    ids = {turn_id(*key, id_): id_ for id_ in over.lineage}
    engine, store = change.engine, over.store
    found = await store.records(change.root, tuple(ids), now=engine.now())
    marked = [
        replace(turn, expires_at=until)
        for turn in found
        if turn.expires_at is None or turn.expires_at > until
    ]
    *before, last = [*slices(marked)] or [[]]
    for part in before:
        first = Change(engine, change.root, "end", store=store, actor=change.actor, id=change.id)
        first.put(*part)
        await first.commit()
    change.put(*last)


def trivial(over: Over) -> str:
    """Why this is not worth an episode; "" if it is."""
    said = [message for message in over.messages if message.role == "user" and message.text]
    if not over.messages and not over.before:
        return "nothing was said"
    if over.outcome or over.before or any(message.calls for message in over.messages):
        return ""
    words_said = sum(len(message.text.split()) for message in said)
    brief = len(said) <= 2 and words_said <= TRIVIAL_USER_WORDS
    if brief and all(_is_small(message.text) for message in said):
        return "a trivial exchange: kept in the log only"
    return ""


def _is_small(text: str) -> bool:
    """A greeting, thanks or a question: nothing that was stated, wished for or to be done."""
    wanted = without_greeting(text)
    if not wanted or is_small_talk(wanted):
        return True
    return only_asks(wanted) and not pattern("summary.request").search(wanted)


def _episode(engine: Engine, over: Over) -> Record:
    session = over.session
    summary = extract_summary(
        over.before, over.messages, engine.profile.summary_tokens, engine.counter.count
    )
    text = _told(summary, over)
    now = engine.now()
    ttl = engine.profile.episode_ttl_seconds
    keywords = _keywords(over.messages)
    data: dict[str, Any] = {
        "keywords": keywords,
        "topic": keywords[0] if keywords else "",
        "kind": "task" if over.outcome else "conversation",
        "how": "extract",
    }
    if session.channel:
        data["channel"] = session.channel
    trust = min(over.trust, engine.trust_max)
    doubt = ""
    if trust < TRUST_OF_SOURCE["user"]:
        doubt = strong_suspicion(text) or (suspicion(over.outcome) if over.outcome else "")
    name = "\0".join(
        (compat.EPISODE_ID, session.scope, session.id, str(session.last_seq), over.outcome)
    )
    record = Record(
        id=hashlib.blake2b(name.encode(), digest_size=16).hexdigest(),
        scope=session.scope,
        kind="episodic",
        type="episode",
        text=text,
        learned_at=now,
        data=data,
        importance=importance(over),
        durability=engine.profile.durability_of_type["episode"],
        source="assistant",
        trust=trust,
        session=session.id,
        lineage=over.lineage,
        valid_from=_began(over),
        expires_at=now + timedelta(seconds=ttl) if ttl else None,
    )
    return held(record, doubt)


def _began(over: Over) -> datetime | None:
    """When it was said. A log may be told years later: then the session is new, its talk is not."""
    known = [message.at for message in over.messages]
    if over.session.started_at is not None:
        known.append(over.session.started_at)
    return min(known, default=None)


def _told(summary: str, over: Over) -> str:
    """Request, approach and outcome, as far as they are known."""
    lines = [line.removeprefix("- ") for line in summary.split("\n")]
    wanted = [line.partition(": ")[2] for line in lines if line.startswith("intent: ")]
    rest = [line.partition(": ")[2] or line for line in lines if not line.startswith("intent: ")]
    parts = [f"Requested: {wanted[0]}"] if wanted else []
    parts += [f"Approach: {'; '.join(rest)}"] if rest else []
    if over.outcome:
        parts.append(f"Outcome: {over.outcome}")
    elif reply := _last_reply(over.messages):
        parts.append(f"Outcome: {reply}")
    return "\n".join(parts)


def _last_reply(messages: Sequence[Message]) -> str:
    """What the assistant said last, without what it asked; "" if it only asked or nodded."""
    for message in reversed(messages):
        if message.role == "assistant":
            kept = (_without_questions(part) for part in sentences_of(message.text.strip()))
            told = " ".join(filter(None, kept))
            if len(told.split()) >= REPLY_WORDS_MIN or not told.isascii():
                return short(told)
    return ""


def _without_questions(sentence: str) -> str:
    """Marks without blanks behind them end several in one."""
    if not sentence.rstrip().endswith(("?", "？")):
        return sentence
    return _ASKED.sub("", sentence).strip() if _DENSE.search(sentence) else ""


REPLY_WORDS_MIN = 3
_DENSE = re.compile(r"[。！？]")
_ASKED = re.compile(r"[^.!?\n。！？]*[?？]")


def importance(over: Over) -> float:
    """0 to 1: corrections, preferences and outcomes weigh more than talk."""
    text = " ".join(message.text for message in over.messages if message.role == "user")
    value = 0.3
    value += 0.3 if over.outcome else 0.0
    value += 0.2 if pattern("sessions.correction").search(text) else 0.0
    value += 0.2 if pattern("sessions.preference").search(text) else 0.0
    value += 0.1 if any(message.calls for message in over.messages) else 0.0
    return round(min(value, 1.0), 2)


def _keywords(messages: Sequence[Message]) -> list[str]:
    counts: Counter[str] = Counter()
    for message in messages:
        if message.role in ("user", "assistant"):
            found = (word for word in words(message.text[:5000]) if len(word) > 3)
            counts.update(word for word in found if not is_stop_word(word))
    return [word for word, _ in counts.most_common(KEYWORDS)]
