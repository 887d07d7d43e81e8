"""A model's answer, held against what it was shown. Pure.

The answer fits its schema already; nothing in it is believed for that. A fact counts only as far
as its messages say it, a handle only if it was shown, and trust is not the model's to give.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeGuard, get_args

from standfast.errors import Invalid
from standfast.text.analysis import is_stop_word, words
from standfast.text.claim import SPEAKER, Claim
from standfast.text.compare import hides_value, text_hash
from standfast.text.dates import Span, time_spans
from standfast.text.normal import fold
from standfast.text.redact import Redactor
from standfast.types import Message, Record, RelationKind
from standfast.types.frozen import frozen
from standfast.types.own import NOTHING_OWN, TAG, OwnTypes
from standfast.understanding.reading.statements import LearnedStatement
from standfast.upkeep.learn.grounds import ground_of, turned_round, ungrounded
from standfast.upkeep.learn.lanes import CHARACTERS_MAX, EARLIER_MAX, LearnCandidate, Learned

TEXT_CHARACTERS_MAX = 500
FACTS_PER_MESSAGE_MAX = 5
TAGS_MAX = 6
TAG_CHARACTERS_MAX = 40
LINKS_MAX = 8
REASON_CHARACTERS_MAX = 80
EPISODE_CHARACTERS_MAX = 2000

REPLACING = frozenset(("supersedes", "corrects"))
HINTS = REPLACING | {"duplicate", "enriches"}
TOLD = REPLACING | {"duplicate", "contradicts"}  # carried out as far as the guards allow
# What replaces what is decided where a record is written: ``understanding.judging.decisions``.
LINKING = frozenset(get_args(RelationKind)) - {"supersedes"}

_HANDLE = re.compile(r"\bt\d{1,4}\b")
_LINK = re.compile(r"\b([a-z_]+):?\s+([kf]\d{1,4})\b")
_SKIP = re.compile(r"\b(t\d{1,4})\s*:\s*([^;\n]*)")


@frozen
class Fact:
    """One fact of an answer, its handles looked up; ``note`` says which were unknown."""

    text: str
    cited: tuple[Message, ...]
    known: tuple[tuple[str, Record], ...]  # kind of link, and to what
    others: tuple[tuple[RelationKind, int], ...]  # to which fact of the same answer
    raw: Mapping[str, Any]
    note: str = ""


def read_answer(
    data: Any,
    shown: Shown,
    redactor: Redactor,
    own: OwnTypes = NOTHING_OWN,
) -> Learned:
    """What holds of an answer. Invalid if it would only take away: if it means to replace memories,
    but none of its facts holds."""
    if not _is_answer(data):
        raise Invalid("the answer is not what was asked for")
    facts = [_fact(raw, shown, redactor) for raw in data["facts"]]
    candidates: list[LearnCandidate] = []
    refused: list[tuple[str, str]] = []
    place_of: dict[int, int] = {}  # of a fact's number, among the candidates
    said: Counter[str] = Counter()
    for number, fact in enumerate(facts, 1):
        leans_on, reason = _holds(fact, shown, said)
        if reason:
            refused.append((fact.cited[0].id if fact.cited else "", f"a fact is refused: {reason}"))
            continue
        candidate = _candidate(fact, leans_on, own)
        place_of[number] = _place(candidate, candidates)
        if place_of[number] == len(candidates):
            candidates.append(candidate)
            said[fact.cited[-1].id] += 1
    if not candidates and any(_attacks(kind) for fact in facts for kind, _ in fact.known):
        raise Invalid("the answer would replace memories, but none of its facts holds")
    return Learned(
        candidates=tuple(_linked(candidates, facts, place_of)),
        skipped=_skipped(str(data.get("skip", "")), shown, redactor),
        refused=tuple(refused),
        episode=_episode(str(data.get("episode", "")), redactor),
    )


# Reading


def _is_answer(data: Any) -> TypeGuard[Mapping[str, Any]]:
    """A model that somebody brings along may not look at the schema."""
    if not isinstance(data, Mapping) or not isinstance(data.get("facts"), list):
        return False
    texts = [fact.get(name) for fact in data["facts"] for name in ("text", "from")]
    return all(isinstance(text, str) for text in texts)


def _fact(raw: Mapping[str, Any], shown: Shown, redactor: Redactor) -> Fact:
    handles = dict.fromkeys(_HANDLE.findall(raw["from"]))
    cited = [shown.messages[handle] for handle in handles if handle in shown.messages]
    links = list(dict.fromkeys(_LINK.findall(str(raw.get("links", "")))))[:LINKS_MAX]
    unknown = [handle for handle in handles if handle not in shown.messages]
    unknown += [to for _, to in links if to[0] == "k" and to not in shown.known]
    if raw.get("links") and not links:
        unknown.append("its links")
    return Fact(
        text=redactor.redact(" ".join(raw["text"].split())).text,
        cited=tuple(sorted(cited, key=lambda message: message.seq)),
        known=tuple((kind, shown.known[to]) for kind, to in links if to in shown.known),
        others=tuple((kind, int(to[1:])) for kind, to in links if to[0] == "f" and _is_link(kind)),
        raw=raw,
        note=f"unknown to us: {', '.join(unknown)}" if unknown else "",
    )


def _holds(fact: Fact, shown: Shown, said: Counter[str]) -> tuple[tuple[str, ...], str]:
    """The known records it needs beside its messages, and why it does not hold, or ""."""
    if not fact.cited:
        return (), "it names no message that was shown"
    if not any(message.id in shown.new for message in fact.cited):
        return (), "its messages were learned from before"
    if not fact.text or len(fact.text) > TEXT_CHARACTERS_MAX:
        return (), "its text is empty or too long"
    if said[fact.cited[-1].id] >= FACTS_PER_MESSAGE_MAX:
        return (), f"more than {FACTS_PER_MESSAGE_MAX} facts of one message"
    reason = turned_round(fact.text, fact.cited)
    if reason:
        return (), reason
    reason = ungrounded(fact.text, ground_of(fact.cited))
    if not reason or not fact.known:
        return (), reason
    records = {record.id: record.text for _, record in fact.known}
    return tuple(records), ungrounded(fact.text, ground_of(fact.cited, records.values()))


def _candidate(fact: Fact, leans_on: tuple[str, ...], own: OwnTypes) -> LearnCandidate:
    raw = fact.raw
    ours = own.types.get(raw.get("type", ""))
    heard = "\n".join(message.text for message in fact.cited)
    (since, until), misdated = times_of(str(raw.get("when", "")), fact.cited)
    ids = tuple(message.id for message in fact.cited)
    hinted = [record.id for kind, record in fact.known if kind in HINTS]
    statement = LearnedStatement(
        text=fact.text,
        messages=ids,
        type=ours.like if ours else raw.get("type", "fact"),
        claim=claim_of_fact(fact.text, str(raw.get("claim", "")), fact.cited),
        confidence=_share(raw.get("confidence", 0.7)),
        importance=_share(raw.get("importance", 0.5)),
        durability=raw.get("durability"),
        tags=_tags(str(raw.get("tags", ""))) + ((TAG + ours.name,) if ours else ()),
        fields=own.read(ours.name, str(raw.get("fields", "")), heard) if ours else {},
        entities=names_in(fact.text),
        valid_from=since,
        valid_to=until,
        replaces=hinted[0] if hinted else "",
        told=tuple((kind, record.id) for kind, record in fact.known if kind in TOLD),
        links=tuple((kind, record.id) for kind, record in fact.known if _is_link(kind)),
    )
    notes = [note for note in (fact.note, misdated) if note]
    return LearnCandidate(
        statement=statement, how="model", leans_on=leans_on, note="; ".join(notes)
    )


def _place(candidate: LearnCandidate, others: Sequence[LearnCandidate]) -> int:
    """Where the same is said already, or behind the last."""
    text = candidate.statement.text
    for index, other in enumerate(others):
        if text_hash(other.statement.text) == text_hash(text) and not hides_value(text):
            return index
    return len(others)


def _linked(
    candidates: Sequence[LearnCandidate], facts: Sequence[Fact], place_of: Mapping[int, int]
) -> Iterator[LearnCandidate]:
    """Links between facts of the answer, as far as both ends hold."""
    for place, candidate in enumerate(candidates):
        found = [
            (kind, place_of[to])
            for number, fact in enumerate(facts, 1)
            if place_of.get(number) == place
            for kind, to in fact.others
            if place_of.get(to, place) != place
        ]
        yield replace(candidate, links=tuple(dict.fromkeys(found)))


# Fields


def _is_link(kind: str) -> TypeGuard[RelationKind]:
    return kind in LINKING


def _attacks(kind: str) -> bool:
    return kind in HINTS or kind == "contradicts"


def _share(value: float) -> float:
    return round(min(max(float(value), 0.0), 1.0), 3)


def _tags(text: str) -> tuple[str, ...]:
    found = (" ".join(tag.split()).strip("#\"'[]").casefold() for tag in text.split(","))
    kept = dict.fromkeys(tag for tag in found if tag and len(tag) <= TAG_CHARACTERS_MAX)
    return tuple(sorted(list(kept)[:TAGS_MAX]))


def _skipped(text: str, shown: Shown, redactor: Redactor) -> dict[str, str]:
    """By message id; the reason is a model's and may say anything, so it is short and clean."""
    found = {}
    for handle, reason in _SKIP.findall(text):
        message = shown.messages.get(handle)
        if message is not None and message.id in shown.new:
            clean = redactor.redact(" ".join(reason.split())[:REASON_CHARACTERS_MAX]).text
            found[message.id] = f"the model: {clean or 'nothing to learn'}"
    return found


def _episode(text: str, redactor: Redactor) -> str:
    lines = [" ".join(line.split()) for line in text[:EPISODE_CHARACTERS_MAX].splitlines()]
    return redactor.redact("\n".join(line for line in lines if line)).text


# The claim of a fact that a model wrote

ENTITIES_MAX = 8

_ARTICLE = re.compile(r"^(?:the|a|an)\s+")
_DENIAL = re.compile(r"^(?:not|no)\s+")
_NAME = re.compile(r"[^\W\d_](?:[\w'’.-]*\w)?(?:\s+[^\W\d_a-z](?:[\w'’-]*\w)?)*")


def speaker_of(messages: Sequence[Message]) -> str:
    """Whose words these are: a person's before an assistant's."""
    said = [message for message in messages if message.role == "user"] or list(messages)
    return next((message.author for message in said if message.author), "")


def claim_of_fact(text: str, told: str, messages: Sequence[Message]) -> Claim | None:
    """As the model tells it ("ann / home / hamburg"), if its words are those of the text."""
    return _told(told, text, speaker_of(messages))


def _told(told: str, text: str, speaker: str) -> Claim | None:
    parts = [_ARTICLE.sub("", " ".join(fold(part).split())) for part in told.split("/", 2)]
    if len(parts) != 3 or not all(parts):
        return None
    subject, slot, value = parts
    negated = bool(_DENIAL.match(value))
    value = _DENIAL.sub("", value)
    if subject in (SPEAKER, "i", fold(speaker)):
        subject = speaker.casefold() or SPEAKER
    elif not _is_in(subject, text):
        return None
    if not value or not _is_in(value, text):
        return None
    return Claim(subject=subject, slot=slot, value=value, negated=negated)


def _is_in(part: str, text: str) -> bool:
    known = fold(text)
    return all(word in known for word in words(part))


def names_in(text: str) -> tuple[str, ...]:
    """Names in a sentence, in their order: words with a capital, without a leading article."""
    return tuple(list(dict.fromkeys(_names(text)))[:ENTITIES_MAX])


def _names(text: str) -> Iterator[str]:
    for found in _NAME.findall(text):
        parts = [part for part in found.split() if part[:1].isupper()]
        while parts and (is_stop_word(fold(parts[0])) or fold(parts[0]) == "user"):
            parts.pop(0)
        name = " ".join(parts).removesuffix("'s").removesuffix("’s")
        if len(name) > 1:
            yield name


# When a fact holds: what a model says about it, checked against the messages

YEAR_MIN = 1900
YEARS_AHEAD_MAX = 50
SLACK = timedelta(days=1)  # a day of another zone

_DATE = re.compile(r"(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?(?:T[\d:.Z+-]*)?\Z")

Times = tuple[datetime | None, datetime | None]


def times_of(when: str, messages: Sequence[Message]) -> tuple[Times, str]:
    """From when until when, in UTC, and a note if the model's dates were not taken. Where the
    messages name times that are understood, a date must be one of those."""
    last = messages[-1].at
    first, slash, second = when.strip().partition("/")
    spans = [span for message in messages for span in time_spans(message.text, message.at)]
    begin, end = _period(first, last), _period(second, last) if slash else None
    since, until = begin and begin[0], end and end[1]
    wrong = any(one and not _named(one, spans) for one in (begin, end)) if spans else False
    if (first and not begin) or (second.strip() and not end) or wrong:
        return _as_named(spans), f"the date {when[:40]!r} is not what the messages say"
    if since and until and until <= since:
        until = None
    return (_utc(since), _utc(until)), ""


def _as_named(spans: Sequence[Span]) -> Times:
    return (_utc(spans[0].start), None) if len(spans) == 1 else (None, None)


def _period(text: str, at: datetime) -> tuple[datetime, datetime] | None:
    """The day, month or year that is named, in the zone of the message."""
    found = _DATE.match(text.strip())
    if not found:
        return None
    year, month, day = (int(part) if part else 0 for part in found.groups())
    if not YEAR_MIN <= year <= at.year + YEARS_AHEAD_MAX:
        return None
    try:
        start = datetime(year, month or 1, day or 1, tzinfo=at.tzinfo)
    except ValueError:
        return None
    if day:
        return start, start + timedelta(days=1)
    if month:
        return start, datetime(year + month // 12, month % 12 + 1, 1, tzinfo=at.tzinfo)
    return start, start.replace(year=year + 1)


def _named(period: tuple[datetime, datetime], spans: Iterable[Span]) -> bool:
    begin, end = period
    return any(span.start - SLACK < end and begin < span.end + SLACK for span in spans)


def _utc(moment: datetime | None) -> datetime | None:
    return moment.astimezone(UTC) if moment else None


# What a model is shown: messages and known memories under short handles, never an id

CONTEXT_CHARACTERS_MAX = 300  # of one that is there to make sense of the others
KNOWN_CHARACTERS_MAX = 300


@frozen
class Shown:
    """Handles and what they stand for. ``new`` are the ids of messages not learned from yet."""

    messages: Mapping[str, Message]
    known: Mapping[str, Record]
    new: frozenset[str]


def show(messages: Sequence[Message], earlier: Sequence[Message], known: Sequence[Record]) -> Shown:
    """Give handles to everything worth a model's look; what says nothing has none."""
    before = [message for message in earlier if _is_talk(message)][-EARLIER_MAX:]
    listed = [*before, *(message for message in messages if _is_talk(message))]
    return Shown(
        messages={f"t{number}": message for number, message in enumerate(listed, 1)},
        known={f"k{number}": record for number, record in enumerate(known, 1)},
        new=frozenset(message.id for message in messages),
    )


def _is_talk(message: Message) -> bool:
    return bool(message.text.strip()) and message.role not in ("system", "developer")


def messages_as_text(shown: Shown, teaching: Collection[str]) -> str:
    return "\n".join(
        _line(handle, message, _length(message, shown, teaching))
        for handle, message in shown.messages.items()
    )


def _length(message: Message, shown: Shown, teaching: Collection[str]) -> int:
    teaches = message.id in shown.new and message.id in teaching
    return CHARACTERS_MAX if teaches else CONTEXT_CHARACTERS_MAX


def _line(handle: str, message: Message, length: int) -> str:
    speaker = message.role.upper() if message.source != "web" else "WEB"
    name = f" {_one_line(message.author)}" if message.author else ""
    when = f"{message.at:%a %Y-%m-%d %H:%M %z}"
    return f"[{handle}] {when} {speaker}{name}: {_indented(message.text, length)}"


def _indented(text: str, length: int) -> str:
    """No line of a message can look like the beginning of another one."""
    cut = text if len(text) <= length else text[:length] + " [...]"
    return "\n    ".join(cut.splitlines())


def _one_line(text: str) -> str:
    return " ".join(text.split())


def known_as_text(shown: Shown) -> str:
    return "\n".join(
        f"[{handle}] {record.at:%Y-%m-%d} {record.type}: "
        f"{_one_line(record.text)[:KNOWN_CHARACTERS_MAX]}"
        for handle, record in shown.known.items()
    )
