"""Practice: which tool sequences sessions followed, counted, and the procedures that come of it.

A run is what an agent did for one request: the tools it called, in order. Runs with the same
signature (tools and the names of their arguments, repeats collapsed) are the same practice; a
practice that worked several times can be written down as a procedure.

For each scope and signature an item names the runs that worked, by the ids of their messages and
nothing else: what they said is read again when a procedure is written, so a forgotten message
counts no more. The item, the place up to which the log was read, and the procedure are one
commit. The place is an item too: a reader of the session that lags for a day would be due in
every round.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from standfast.changes import Change
from standfast.engine import chunked, every_session
from standfast.errors import Conflict, Invalid
from standfast.lifecycle.procedures import counted_data, name_hash, named, procedure_data
from standfast.scopes import is_visible
from standfast.text.analysis import is_stop_word, stem, words
from standfast.text.messages import turn_id
from standfast.text.trust import suspicion
from standfast.types import LIVE, Item, Message, Record, Session, SessionKey, ToolCall
from standfast.types.frozen import frozen
from standfast.upkeep.consolidate.marks import PLACES, PRACTICE
from standfast.upkeep.consolidate.run import ConsolidationRun, still_there
from standfast.upkeep.consolidate.steps import Step

SESSIONS_PER_RUN = 2000
PAGE = 500
SEEN_MAX = 20
MESSAGES_PER_RUN_MAX = 200
QUIET_AFTER = timedelta(days=1)
CONFIDENCE = 0.7
CALLS_MIN = 2
CALLS_MAX = 50
TRIGGER_WORDS_MAX = 4
VALUE_CHARACTERS_MAX = 80
NAME_CHARACTERS_MAX = 80

_ERROR = re.compile(
    r"\s*(?:\W*\b(?:error|exception|traceback|failed|failure|fatal|denied|refused|timed? ?out|"
    r"not found|no such|command not found|cannot|could not|unable to|fehler|erreur|ошибка)\b"
    r"|错误|失败|エラー|오류)",
    re.IGNORECASE,
)
_EXIT_CODE = re.compile(r"\bexit(?:ed)?(?: with)?(?: code| status)?:? ?([1-9]\d*)\b", re.IGNORECASE)
_COMPLAINT = re.compile(
    r"^\W*(?:no\b(?! (?:problem|worries))|nope|wrong|stop|undo|revert|not (?:that|what|like)|"
    r"that(?:'s| is| was)? (?:wrong|not)|this (?:is|was) (?:wrong|not)|it (?:didn'?t|does ?n[o']t|"
    r"failed|broke)|actually\b|why did you|you (?:broke|forgot|should(?:n'?t| not) have)|"
    r"doesn'?t work|try again|again,|nein\b|falsch|stopp|non\b|faux|mal\b|нет\b)"
    r"|\b(?:i meant|you misunderstood|didn'?t work|does not work|still (?:broken|failing|fails))\b"
    r"|^\W*(?:不对|不是|错了|違う|違います)",
    re.IGNORECASE,
)


@frozen
class Use:
    """One tool call: its name and its arguments."""

    name: str
    arguments: Mapping[str, Any]

    @property
    def shape(self) -> tuple[str, tuple[str, ...]]:
        return self.name, tuple(sorted(self.arguments))


@frozen
class ToolRun:
    """What was done for one request. ``worked``: every call was answered, no answer was an
    error, and nobody complained right after. ``closed``: no later message can change that."""

    request: Message
    messages: tuple[Message, ...]  # the request among them
    uses: tuple[Use, ...]
    worked: bool
    closed: bool

    @property
    def signature(self) -> str:
        shapes = json.dumps([use.shape for use in self.uses], ensure_ascii=False)
        return hashlib.blake2b(shapes.encode(), digest_size=16).hexdigest()


@frozen
class Lore:
    """What several runs of one practice have in common."""

    name: str
    steps: tuple[str, ...]
    triggers: tuple[str, ...]


def runs(messages: Sequence[Message], *, ended: bool) -> list[ToolRun]:
    """The runs in a piece of a log that begins anywhere and ends where the log ends now."""
    starts = [index for index, message in enumerate(messages) if _is_request(message)]
    found: list[ToolRun] = []
    for place, start in enumerate(starts):
        last = place + 1 == len(starts)
        end = len(messages) if last else starts[place + 1]
        follow_up = None if last else messages[end]
        run = _run(messages[start:end], follow_up, closed=not last or ended)
        if run is not None:
            found.append(run)
    return found


def last_request(messages: Sequence[Message]) -> int:
    """The position of the newest request; the end of the list if there is none."""
    for index in range(len(messages) - 1, -1, -1):
        if _is_request(messages[index]):
            return index
    return len(messages)


def _is_request(message: Message) -> bool:
    """Tool results may come in a user's name; they are no request."""
    return message.role == "user" and not message.answers and bool(message.text.strip())


def _run(part: Sequence[Message], follow_up: Message | None, *, closed: bool) -> ToolRun | None:
    calls = [call for message in part for call in message.calls if call.name]
    uses = _collapsed(map(_use, calls))
    if not CALLS_MIN <= len(uses) <= CALLS_MAX:
        return None
    answered = {id_ for message in part for id_ in message.answers}
    worked = (
        all(call.id in answered for call in calls)
        and not any(is_error(message) for message in part if _is_answer(message))
        and not (follow_up is not None and complains(follow_up.text))
    )
    return ToolRun(request=part[0], messages=tuple(part), uses=uses, worked=worked, closed=closed)


def _is_answer(message: Message) -> bool:
    return bool(message.answers) or message.role in ("tool", "function")


def is_error(message: Message) -> bool:
    """Does a tool's answer say that the call failed?"""
    said = _parsed(message.text)
    plain = said is None and (
        _EXIT_CODE.search(message.text[:2000]) or _ERROR.match(message.text[:200])
    )
    return bool(plain) or any(map(_marks_error, (said, _parsed(message.original))))


def _marks_error(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_marks_error, value))
    if not isinstance(value, Mapping):
        return False
    if value.get("is_error") or value.get("error") or value.get("status") in ("error", "failed"):
        return True
    return value.get("ok") is False or value.get("success") is False or _in_content(value)


def _in_content(value: Mapping[str, Any]) -> bool:
    content = value.get("content")
    return isinstance(content, list) and any(map(_marks_error, content))


def _parsed(text: str) -> Any:
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def complains(text: str) -> bool:
    """Does a user say that what was just done is wrong?"""
    return _COMPLAINT.search(text[:500]) is not None


def _use(call: ToolCall) -> Use:
    parsed = _parsed(call.arguments)
    return Use(name=call.name, arguments=parsed if isinstance(parsed, Mapping) else {})


def _collapsed(uses: Iterable[Use]) -> tuple[Use, ...]:
    """Reading five files one after the other is one step."""
    kept: list[Use] = []
    for use in uses:
        if not kept or kept[-1].shape != use.shape:
            kept.append(use)
    return tuple(kept)


def lore(found: Sequence[ToolRun]) -> Lore:
    """What these runs of one signature have in common, in words."""
    common = _common_words([run.request.text for run in found])
    trigger = " ".join(common)
    tools = list(dict.fromkeys(use.name for use in found[0].uses))
    name = trigger or " then ".join(tools)
    return Lore(
        name=name[:NAME_CHARACTERS_MAX],
        steps=tuple(
            _step_of(together) for together in zip(*(run.uses for run in found), strict=True)
        ),
        triggers=(trigger,) if trigger else (),
    )


def _common_words(texts: Sequence[str]) -> list[str]:
    """Words of the shortest request that all of them have, in its order."""
    stems = [{stem(word) for word in words(text)} for text in texts]
    shortest = min(texts, key=len)
    common = [
        word
        for word in dict.fromkeys(words(shortest))
        if not is_stop_word(word) and all(stem(word) in known for known in stems)
    ]
    return common[:TRIGGER_WORDS_MAX]


def _step_of(together: Sequence[Use]) -> str:
    """One step: a tool, with those argument values that were the same each time, short and
    harmless."""
    first = together[0]
    arguments = [
        f"{name}={_constant([use.arguments.get(name) for use in together])}"
        for name in sorted(first.arguments)
    ]
    return f"{first.name}({', '.join(arguments)})"


def _constant(values: Sequence[Any]) -> str:
    written = {json.dumps(value, ensure_ascii=False, sort_keys=True) for value in values}
    only = written.pop()
    if written or len(only) > VALUE_CHARACTERS_MAX or suspicion(only):
        return "..."
    return only


# Counting


@dataclass(slots=True, kw_only=True)
class Tally:
    """The runs of one practice in one scope: session, request, all messages."""

    scope: str
    signature: str
    version: int = 0
    seen: list[tuple[str, str, tuple[str, ...]]] = field(default_factory=list)
    procedure: str = ""

    def knows(self, run: ToolRun) -> bool:
        return any(one[:2] == _name(run) for one in self.seen)

    def take(self, run: ToolRun) -> None:
        ids = tuple(message.id for message in run.messages)
        self.seen = [*self.seen, (*_name(run), ids)][-SEEN_MAX:]

    def drop(self, run: ToolRun) -> None:
        self.seen = [one for one in self.seen if one[:2] != _name(run)]

    def item(self) -> Item:
        seen = [[session, request, list(ids)] for session, request, ids in self.seen]
        value = {"seen": seen, "procedure": self.procedure}
        return Item(
            scope=self.scope,
            namespace=PRACTICE,
            key=self.signature,
            value=value,
            version=self.version,
        )


def _name(run: ToolRun) -> tuple[str, str]:
    return run.request.session, run.request.id


@frozen
class Practised:
    """What one piece of a session's log changes."""

    change: Change
    tallies: dict[str, Tally] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)


async def practise(run: ConsolidationRun) -> None:
    """Look at what was said since; a session that somebody else is at is left for later."""
    looked_at = 0
    async for session, place in _lagging(run):
        if looked_at >= SESSIONS_PER_RUN:
            run.notes.append("more sessions are left to look at for procedures: the next run will")
            return
        looked_at += 1
        await _look_at(run, session, place)


async def _lagging(run: ConsolidationRun) -> AsyncIterator[tuple[Session, Item]]:
    """Sessions with messages that nobody has looked at, and where the last look ended."""
    async for page in chunked(every_session(run.engine.store, run.root)):
        wanted = [session for session in page if _is_ours(session, run)]
        places = await _places(run, wanted)
        for session in wanted:
            place = places[SessionKey(session.scope, session.id)]
            if place.value < session.last_seq:
                yield session, place


def _is_ours(session: Session, run: ConsolidationRun) -> bool:
    inside = is_visible(session.scope, run.scopes, descend=True, exact=True)
    return inside and not session.id.startswith("~")


async def _places(run: ConsolidationRun, sessions: Sequence[Session]) -> dict[SessionKey, Item]:
    found = {
        SessionKey(one.scope, one.id): Item(scope=one.scope, namespace=PLACES, key=one.id, value=0)
        for one in sessions
    }
    if found:
        scopes = sorted({key.scope for key in found})
        ids = sorted({key.id for key in found})
        listed = await run.engine.store.items(
            run.root, PLACES, now=run.started, scopes=scopes, keys=ids, limit=len(scopes) * len(ids)
        )
        known = {SessionKey(item.scope, item.key): item for item in listed}
        found |= {key: item for key, item in known.items() if key in found}
    return found


async def _look_at(run: ConsolidationRun, session: Session, place: Item) -> None:
    key = SessionKey(session.scope, session.id)
    while place.value < session.last_seq:
        messages = await run.engine.store.messages(
            key, now=run.started, after=place.value, limit=PAGE
        )
        whole = len(messages) < PAGE
        over = whole and _is_over(session, messages, run)
        reached = _reached(session, messages, whole=whole, over=over)
        changes = await _changes(run, session.scope, messages, closed=over)
        moves = reached > place.value
        if not moves and not changes.tallies:
            return
        if moves:
            changes.change.items.append(replace(place, value=reached))
        if not await _commit(run, changes) or not moves:
            return
        place = replace(place, value=reached, version=place.version + 1)


def _is_over(session: Session, messages: Sequence[Message], run: ConsolidationRun) -> bool:
    """Nothing more is to be expected that would speak about the last request."""
    quiet = not messages or run.started - messages[-1].at >= QUIET_AFTER
    return quiet or session.ended_at is not None


def _reached(session: Session, messages: Sequence[Message], *, whole: bool, over: bool) -> int:
    """How far everything is decided: up to the last request, which may still be complained
    about. A request longer than a page is passed by."""
    if over:
        return session.last_seq
    last = last_request(messages)
    if last == 0 and not whole:
        return messages[-1].seq
    return messages[last].seq - 1 if last < len(messages) else messages[-1].seq


async def _changes(
    run: ConsolidationRun, scope: str, messages: Sequence[Message], *, closed: bool
) -> Practised:
    changes = Practised(change=run.begin())
    for found in runs(messages, ended=closed):
        if len(found.messages) > MESSAGES_PER_RUN_MAX:
            continue
        known = changes.tallies.get(found.signature) or await _tally(run, scope, found.signature)
        if found.worked == known.knows(found):
            continue  # counted already, or never to be counted
        await _count(run, known, found, changes)
    return changes


async def _count(run: ConsolidationRun, tally: Tally, found: ToolRun, changes: Practised) -> None:
    """A run that worked, or one that was counted and then complained about."""
    changes.tallies[tally.signature] = tally
    (tally.take if found.worked else tally.drop)(found)
    record = changes.change.records.get(tally.procedure) or await _procedure(run, tally)
    if record is not None:
        if record.status in LIVE:
            data = counted_data(record.data, found.worked, run.engine)
            changes.change.put(replace(record, data=data))
        return
    tally.procedure = ""
    if found.worked and len(tally.seen) >= run.engine.profile.practice_min:
        await _learn(run, tally, changes)


async def _tally(run: ConsolidationRun, scope: str, signature: str) -> Tally:
    found = await run.engine.store.items(
        run.root, PRACTICE, now=run.started, scopes=(scope,), keys=(signature,)
    )
    tally = Tally(scope=scope, signature=signature)
    if found and isinstance(found[0].value, Mapping):
        tally.version = found[0].version
        tally.seen = list(map(_seen, found[0].value.get("seen", ())))
        tally.procedure = str(found[0].value.get("procedure", ""))
    return tally


def _seen(plain: Any) -> tuple[str, str, tuple[str, ...]]:
    session, request, ids = plain
    return str(session), str(request), tuple(map(str, ids))


async def _procedure(run: ConsolidationRun, tally: Tally) -> Record | None:
    """What was learned from this practice, whatever became of it; None if it was forgotten."""
    if not tally.procedure:
        return None
    found = await run.engine.store.records(run.root, (tally.procedure,), now=run.started)
    return found[0] if found else None


# Learning


async def _learn(run: ConsolidationRun, tally: Tally, changes: Practised) -> None:
    """Write the procedure, if what it is made of is still there."""
    evidence = await _evidence(run, tally)
    authors = {message.author for found in evidence for message in found.messages}
    if not await run.engine.persists(tally.scope, authors):
        return
    if len(evidence) < run.engine.profile.practice_min:
        return
    common = lore(evidence)
    name = await _free_name(run, tally.scope, common, evidence[0])
    oldest = min(found.request.at for found in evidence)
    if not name or await run.was_forgotten(tally.scope, _told(common, name), oldest):
        return
    record = await _record(run, tally, replace(common, name=name), evidence)
    if await _evidence(run, tally) != evidence:
        return  # somebody forgot some of it while we were reading
    tally.procedure = record.id
    changes.change.put(record)
    changes.change.draw(*still_there(record))
    because = f"worked {len(evidence)} times: {' / '.join(common.steps)}"
    changes.steps.append(Step(what="procedure", id=record.id, text=name, because=because))


async def _evidence(run: ConsolidationRun, tally: Tally) -> list[ToolRun]:
    """The newest runs that can still be read and still show this practice."""
    found: list[ToolRun] = []
    for session, _, ids in reversed(tally.seen):
        messages = await run.engine.store.messages(
            SessionKey(tally.scope, session), now=run.started, ids=ids, limit=len(ids)
        )
        again = [one for one in runs(messages, ended=True) if one.signature == tally.signature]
        found += [one for one in again if one.worked and len(messages) == len(ids)]
        if len(found) >= run.engine.profile.practice_min:
            break
    return found[::-1]


async def _free_name(run: ConsolidationRun, scope: str, common: Lore, example: ToolRun) -> str:
    """The procedures that people named are theirs."""
    tools = ", ".join(dict.fromkeys(use.name for use in example.uses))
    for name in (common.name, f"{common.name} ({tools})"[:120]):
        if await named(run.engine, run.engine.store, scope, name) is None:
            return name
    return ""


def _told(common: Lore, name: str) -> str:
    return f"How to {name}" if common.triggers else name


async def _record(
    run: ConsolidationRun, tally: Tally, common: Lore, evidence: Sequence[ToolRun]
) -> Record:
    messages = [message for found in evidence for message in found.messages]
    turns = [turn_id(m.scope, m.session, m.id) for m in messages]
    known = await run.engine.store.records(run.root, turns, now=run.started)
    sessions = {message.session for message in messages}
    data = procedure_data(common.name, common.steps, common.triggers, version=1)
    name = "\0".join((PRACTICE, tally.scope, tally.signature, *(m.id for m in messages)))
    id_ = hashlib.blake2b(name.encode(), digest_size=16).hexdigest()
    return Record(
        id=id_,
        scope=tally.scope,
        kind="procedural",
        type="procedure",
        text=_told(common, common.name),
        learned_at=run.started,
        data={**data, "successes": len(evidence), "learned": True},
        confidence=CONFIDENCE,
        durability=run.engine.profile.durability_of_type["procedure"],
        source="assistant",
        trust=min(message.trust for message in messages),
        origin=id_,
        session=sessions.pop() if len(sessions) == 1 else "",
        lineage=tuple(m.id for m in messages) if len({m.session for m in messages}) == 1 else (),
        derived_from=tuple(record.id for record in known),
        hash=name_hash(common.name),
    )


async def _commit(run: ConsolidationRun, changes: Practised) -> bool:
    """False: somebody else was faster; what is left is seen by the next run."""
    change = changes.change
    if not run.dry:
        change.items += [tally.item() for tally in changes.tallies.values()]
        await change.embed()
        try:
            await change.commit()
        except (Conflict, Invalid):
            return False
        run.wrote = run.wrote or bool(change.records)
    run.tell_all(changes.steps)
    return True
