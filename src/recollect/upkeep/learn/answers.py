"""A model's answer, held against what it was shown. Pure.

The answer fits its schema already; nothing in it is believed for that. A fact counts only as far
as its messages say it, a handle only if it was shown, and trust is not the model's to give.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard, get_args

from recollect.errors import Invalid
from recollect.text.claims import Extraction
from recollect.text.claims.lessons import Lesson
from recollect.text.compare import difference, text_hash
from recollect.text.redact import Redactor
from recollect.types import Message, Record, RelationKind
from recollect.upkeep.learn.claims import claim_of_fact, misread, names_in
from recollect.upkeep.learn.grounds import ground_of, turned_round, ungrounded
from recollect.upkeep.learn.shown import Shown
from recollect.upkeep.learn.times import times_of
from recollect.upkeep.learn.values import LearnCandidate, Learned

TEXT_CHARACTERS_MAX = 500
FACTS_PER_MESSAGE_MAX = 5
TAGS_MAX = 6
TAG_CHARACTERS_MAX = 40
LINKS_MAX = 8
REASON_CHARACTERS_MAX = 80
EPISODE_CHARACTERS_MAX = 2000

REPLACING = frozenset(("supersedes", "corrects"))
HINTS = REPLACING | {"duplicate", "enriches"}
# Which record replaces which is found out by code alone: see ``recollect.lifecycle.merge``.
LINKING = frozenset(get_args(RelationKind)) - {"supersedes"}

_HANDLE = re.compile(r"\bt\d{1,4}\b")
_LINK = re.compile(r"\b([a-z_]+):?\s+([kf]\d{1,4})\b")
_SKIP = re.compile(r"\b(t\d{1,4})\s*:\s*([^;\n]*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One fact of an answer, its handles looked up; ``note`` says which were unknown."""

    text: str
    cited: tuple[Message, ...]
    known: tuple[tuple[str, Record], ...]  # kind of link, and to what
    others: tuple[tuple[RelationKind, int], ...]  # to which fact of the same answer
    raw: Mapping[str, Any]
    note: str = ""


def read_answer(data: Any, shown: Shown, rules: Extraction, redactor: Redactor) -> Learned:
    """What holds of an answer; ``rules`` is what the rules see in the same messages. Invalid if
    it would only take away: if it means to replace memories, but none of its facts holds."""
    if not _is_answer(data):
        raise Invalid("the answer is not what was asked for")
    facts = [_fact(raw, shown, redactor) for raw in data["facts"]]
    candidates: list[LearnCandidate] = []
    refused: list[tuple[str, str]] = []
    place_of: dict[int, int] = {}  # of a fact's number, among the candidates
    said: Counter[str] = Counter()
    for number, fact in enumerate(facts, 1):
        leans_on, reason = _holds(fact, shown, rules, said)
        if reason:
            refused.append((fact.cited[0].id if fact.cited else "", f"a fact is refused: {reason}"))
            continue
        candidate = _candidate(fact, leans_on, rules)
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


def _holds(
    fact: Fact, shown: Shown, rules: Extraction, said: Counter[str]
) -> tuple[tuple[str, ...], str]:
    """The known records it needs beside its messages, and why it does not hold, or ""."""
    if not fact.cited:
        return (), "it names no message that was shown"
    if not any(message.id in shown.new for message in fact.cited):
        return (), "its messages were learned from before"
    if not fact.text or len(fact.text) > TEXT_CHARACTERS_MAX:
        return (), "its text is empty or too long"
    if said[fact.cited[-1].id] >= FACTS_PER_MESSAGE_MAX:
        return (), f"more than {FACTS_PER_MESSAGE_MAX} facts of one message"
    reason = misread(fact.text, fact.cited, rules) or turned_round(fact.text, fact.cited)
    if reason:
        return (), reason
    reason = ungrounded(fact.text, ground_of(fact.cited))
    if not reason or not fact.known:
        return (), reason
    records = {record.id: record.text for _, record in fact.known}
    return tuple(records), ungrounded(fact.text, ground_of(fact.cited, records.values()))


def _candidate(fact: Fact, leans_on: tuple[str, ...], rules: Extraction) -> LearnCandidate:
    raw = fact.raw
    (since, until), misdated = times_of(str(raw.get("when", "")), fact.cited)
    ids = tuple(message.id for message in fact.cited)
    hinted = [record.id for kind, record in fact.known if kind in HINTS]
    corrects = any(one.corrects for one in rules.lessons if set(one.messages) & set(ids))
    lesson = Lesson(
        text=fact.text,
        messages=ids,
        type=raw.get("type", "fact"),
        claim=claim_of_fact(fact.text, str(raw.get("claim", "")), fact.cited),
        confidence=_share(raw.get("confidence", 0.7)),
        importance=_share(raw.get("importance", 0.5)),
        durability=raw.get("durability"),
        tags=_tags(str(raw.get("tags", ""))),
        entities=names_in(fact.text),
        valid_from=since,
        valid_to=until,
        corrects=corrects and any(kind in REPLACING for kind, _ in fact.known),
        replaces=hinted[0] if hinted else "",
        links=tuple((kind, record.id) for kind, record in fact.known if _is_link(kind)),
    )
    notes = [note for note in (fact.note, misdated) if note]
    return LearnCandidate(lesson=lesson, how="model", leans_on=leans_on, note="; ".join(notes))


def _place(candidate: LearnCandidate, others: Sequence[LearnCandidate]) -> int:
    """Where the same is said already, or behind the last."""
    text = candidate.lesson.text
    for index, other in enumerate(others):
        same_hash = text_hash(other.lesson.text) == text_hash(text)
        if same_hash or (
            other.lesson.claim == candidate.lesson.claim and not difference(other.lesson.text, text)
        ):
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
