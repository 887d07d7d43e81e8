"""English sentences as lessons."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache, lru_cache

from standfast.text.claims.clauses import (
    Clause,
    Speaker,
    clause_in,
    coordinated,
    expanded,
    predicate_in,
    together_in,
    without_opening,
)
from standfast.text.claims.events import Worth, worth_of
from standfast.text.claims.findings import Finding, bare
from standfast.text.claims.lessons import Claim, Lesson
from standfast.text.claims.permanence import is_figurative, is_once
from standfast.text.claims.rewrite import (
    dated,
    framed,
    is_garbled,
    sentence,
    trimmed,
    without_pointers,
    without_pointing,
)
from standfast.text.claims.sentences import Sentence
from standfast.text.claims.slots import favourite_in, finding_in
from standfast.text.dates import Span, told_times
from standfast.text.normal import caseless
from standfast.text.words import alternatives, any_of, cues, pattern, word_set
from standfast.types import Type
from standfast.types.frozen import frozen

LESSONS_A_SENTENCE_MAX = 4
LIST_ITEMS_MAX = 5


@frozen(kw_only=False)
class Utterance:
    """Who said something, when, and in which message."""

    speaker: Speaker
    at: datetime
    message: str

    def lesson(
        self,
        text: str,
        worth: Worth,
        *,
        type: Type = "fact",
        claim: Claim | None = None,
        clause: Clause | None = None,
        named_in: str = "",
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        changed_by: datetime | None = None,
        change: str = "",
    ) -> Lesson:
        """What they said as a lesson; its names are taken from ``named_in``, else from the text."""
        return Lesson(
            text=text,
            messages=(self.message,),
            type=type,
            claim=claim,
            confidence=worth.confidence,
            importance=worth.importance,
            tags=(worth.topic,),
            entities=entities_in(named_in or text, clause, self.speaker),
            valid_from=valid_from,
            valid_to=valid_to,
            changed_by=changed_by,
            change=change,
        )


def english_lessons(said_sentence: Sentence, said: Utterance) -> list[Lesson]:
    """What one sentence tells; nothing where it asks, supposes, quotes or jokes."""
    text = _as_preference(with_subject(said_sentence.text))
    if said_sentence.question or not pattern("statements.cue").search(text) or is_unreal(text):
        return []
    if is_once(text):
        return []
    text = expanded(text)
    lessons: list[Lesson] = []
    for words in _clause_texts(text):
        lessons.extend(
            _meeting(words, said) or _favourite(words, said) or _clause_lessons(words, said)
        )
        if len(lessons) >= LESSONS_A_SENTENCE_MAX:
            break
    if cues("statements.moment").search(text):
        lessons = [one for one in lessons if not _PASSES & set(one.tags)]
    return lessons[:LESSONS_A_SENTENCE_MAX]


def with_subject(text: str) -> str:
    """ "Based in Utrecht, allergic to nuts": a statement whose "I am" was left out, with it."""
    for section, who in _UNSAID.items():
        if pattern(section).match(text):
            return f"{who} {text[:1].lower()}{text[1:]}"
    return _HOME.sub("My home is", text)


_HOME = re.compile(r"\A[Hh]ome(?: for (?:me|us))?(?: is|'s)\b")


_UNSAID = {
    "statements.unsaid_am": "I am",
    "statements.unsaid_a": "I am a",
    "statements.unsaid_was": "I was",
    "statements.unsaid_have": "I have",
    "statements.unsaid_my": "My",
    "statements.unsaid": "I",
}


def _as_preference(text: str) -> str:
    """ "I'd rather have tea": what somebody prefers, unless it is for this once."""
    if cues("statements.just_now").search(text):
        return text
    if idiom := pattern("statements.over").search(text):
        return f"I prefer {idiom['one']} to {idiom['other']}"
    if idiom := pattern("statements.tireless").search(text):
        return f"I love {idiom['what']}"
    preferred, times = pattern("statements.rather").subn("I prefer ", text, count=1)
    return preferred.replace(" than ", " to ", 1) if times else text


# What is over in an hour is no plan and no state.
_PASSES = frozenset(
    ("plan", "is", "activity", "works-from", "works-on", "learning", "owns", "condition")
)


def _meeting(words: str, said: Utterance) -> list[Lesson]:
    """ "My flight to Cairo is on 2 June": a date that may be moved later."""
    found = _meeting_in().match(words)
    spans = told_times(words, said.at) if found else ()
    if found is None or len(spans) != 1:
        return []
    owner, what = said.speaker.written, " ".join(found["what"].split())
    hour = pattern("statements.hour").match(words, spans[0].begins + len(spans[0].phrase))
    when = spans[0].written() + (hour[0].rstrip(" .") if hour else "")
    text = f"{owner}'s {what} is {when}."
    day = spans[0].start.date().isoformat()
    key = f"{said.speaker.key}'s {caseless(what)}"
    claim = Claim(subject=key, slot="is", value=day, exclusive=True)
    return [said.lesson(text, Worth("plan", 0.65, 0.8), claim=claim)]


@cache
def _meeting_in() -> re.Pattern[str]:
    meetings = word_set("statements.meetings") - word_set("statements.not_meetings")
    return re.compile(alternatives("statements.meeting").replace("{meetings}", any_of(meetings)))


def _favourite(words: str, said: Utterance) -> list[Lesson]:
    if " my " not in words or " favo" not in words:
        return []
    words = without_opening(trimmed(words))
    found = favourite_in(words, said.speaker.key)
    if found is None:
        return []
    thing = found.claim.slot.partition(":")[2]
    what = words.partition(" is " if " is " in words else " are ")[0]
    text = f"{said.speaker.written}'s favourite {thing} is {what}."
    worth = Worth(found.topic, found.importance, 0.8)
    return [said.lesson(text, worth, type=found.type, claim=found.claim)]


@lru_cache(maxsize=1000)  # asked of a sentence by each of the rules that read it
def is_unreal(text: str) -> bool:
    """Whether a sentence is a supposition, a quotation, a joke or a task for a writer."""
    return bool(
        cues("statements.unreal").search(text)
        or pattern("statements.task").match(text)
        or cues("statements.mocking").search(text)
        or pattern("statements.reported").search(text)
        or is_figurative(text)
    )


def _clause_texts(text: str) -> Iterator[str]:
    """The parts of a sentence that begin with a subject of their own."""
    start = 0
    joined, leading = pattern("statements.joined"), pattern("statements.leading")
    for found in pattern("statements.new_clause").finditer(text):
        before = text[start : found.start()]
        if not joined.search(found[0].rstrip()) or leading.match(before):
            continue
        if found[0].startswith(",") and pattern("statements.setting").match(before):
            continue
        if found[0].endswith("and ") and together_in(text, start):
            continue
        yield text[start : found.start()]
        start = found.end()
    yield text[start:]


def _clause_lessons(words: str, said: Utterance) -> list[Lesson]:
    words = without_opening(words.strip(" ,;:-–—"))
    if certain := pattern("statements.certain").match(words):
        words = words[certain.end() :]
    hedge = pattern("statements.hedged").match(words)
    if hedge:
        words = words[hedge.end() :]
    lessons = _read_clause(words, said)
    return [_doubted(lesson) for lesson in lessons if lesson.claim] if hedge else lessons


def _read_clause(words: str, said: Utterance) -> list[Lesson]:
    clause, leading = clause_in(words, said.speaker), None
    if clause is None and not pattern("statements.time_first").match(words):
        return []
    spans = told_times(words, said.at)
    if clause is None:
        words, leading = _without_leading_time(words, spans)
        if leading is None:
            words = _with_setting_last(words)
            spans = told_times(words, said.at)
        clause = clause_in(words, said.speaker)
    if clause is None:
        return []
    found = [
        lesson for part in _parts(clause) for lesson in _lessons_of(part, spans, leading, said)
    ]
    return [_readable(lesson, words, spans, said) for lesson in found]


def _readable(lesson: Lesson, words: str, spans: Sequence[Span], said: Utterance) -> Lesson:
    """In the speaker's own words, where the rewritten ones are no sentence."""
    if not is_garbled(lesson.text):
        return lesson
    return replace(lesson, text=framed(words, said.speaker, spans))


def _with_setting_last(words: str) -> str:
    """ "During Thanksgiving, we usually ..." the other way round."""
    setting, comma, rest = words.partition(", ")
    if not comma or not pattern("statements.setting").match(setting):
        return words
    return f"{trimmed(without_opening(rest))} {setting[:1].lower()}{setting[1:]}"


def _doubted(lesson: Lesson) -> Lesson:
    return replace(lesson, text=f"Possibly: {lesson.text}", confidence=lesson.confidence / 2)


def _without_leading_time(words: str, spans: Sequence[Span]) -> tuple[str, Span | None]:
    if spans and spans[0].begins == 0:
        rest = words[len(spans[0].phrase) :].lstrip(" ,")
        return without_opening(rest), spans[0]
    return words, None


def _parts(clause: Clause) -> list[Clause]:
    """One clause for each of its verbs."""
    parts = []
    for _ in range(3):
        joined = coordinated(clause.predicate)
        if joined is None:
            break
        first, second = joined
        parts.append(Clause(clause.subject, replace(clause.predicate, tail=first)))
        following = predicate_in(second, clause.subject)
        if following is None:
            return parts
        clause = Clause(clause.subject, following)
    return [*parts, clause]


def _lessons_of(
    clause: Clause, spans: Sequence[Span], leading: Span | None, said: Utterance
) -> list[Lesson]:
    now = pattern("statements.now").search(clause.predicate.tail) or pattern(
        "statements.now"
    ).search(clause.predicate.words)
    change = now[0].lower() if now else ""
    tail = without_pointers(trimmed(clause.predicate.tail))
    if tail is None:
        return []
    clause = Clause(clause.subject, replace(clause.predicate, tail=tail))
    found = finding_in(clause)
    if found is None and clause.predicate.verb in word_set("slots.tastes"):
        return []
    tail = without_pointing(tail)
    if not tail and found is None and clause.subject.kind != "thing":
        return []
    here = [span for span in spans if span is leading or span.phrase in tail]
    if found is not None:
        return list(_claimed(clause, found, tail, here, leading, said, change))
    worth = worth_of(clause, tail, here)
    if worth is None or clause.predicate.hedged:
        return []
    text = _written(clause, tail, here, leading, said)
    return [_event_lesson(clause, text, worth, here, said, change)]


def _written(
    clause: Clause, tail: str, spans: Sequence[Span], leading: Span | None, said: Utterance
) -> str:
    added = leading.written() if leading is not None else ""
    return sentence(clause, dated(tail, spans), said.speaker, added)


NEWS = timedelta(days=62)
_TIMELESS = ("plan", "goal", "habit", "birthday", "is")


def _event_lesson(
    clause: Clause, text: str, worth: Worth, spans: Sequence[Span], said: Utterance, change: str
) -> Lesson:
    begins, ends = _validity(spans, worth.topic)
    if begins and begins > said.at and clause.predicate.tense in ("past", "perfect"):
        begins = None  # "moved to 4 July": that was said, not that day
    return Lesson(
        text=text,
        messages=(said.message,),
        type="fact",
        confidence=worth.confidence,
        importance=worth.importance,
        tags=(worth.topic,),
        entities=entities_in(text, clause, said.speaker),
        valid_from=begins,
        valid_to=ends,
        changed_by=_told_late(begins, spans, said) if begins and begins <= said.at else None,
        change=change,
    )


def _validity(spans: Sequence[Span], topic: str) -> tuple[datetime | None, datetime | None]:
    """When it began and ceased to be true. A plan is true from when it is made, not from when
    it will happen."""
    begins = ends = None
    exact = next((span for span in spans if not span.about), None)
    for span in spans:
        if span.relation in ("until", "before", "by"):
            ends = span.end if span.relation == "until" else None
        elif (begins is None or span is exact) and topic not in _TIMELESS:
            begins = span.start
    return begins, ends


def _claimed(
    clause: Clause,
    found: Finding,
    tail: str,
    spans: Sequence[Span],
    leading: Span | None,
    said: Utterance,
    change: str,
) -> Iterator[Lesson]:
    begins, ends = _validity(spans, found.topic)
    if clause.predicate.tense == "past" and found.topic in ("birthday", "birthplace"):
        begins = None
    by = _changed_by(begins, clause, spans, said)
    for item, claim in _items(found):
        words = tail if not item else tail.replace(found.items, item, 1)
        text = _written(clause, words, () if found.topic == "birthday" else spans, leading, said)
        yield said.lesson(
            text,
            Worth(found.topic, found.importance, 0.4 if clause.predicate.hedged else 0.85),
            type=found.type,
            claim=claim,
            clause=clause,
            valid_from=begins,
            valid_to=ends,
            changed_by=by,
            change=change,
        )


def _changed_by(
    begins: datetime | None, clause: Clause, spans: Sequence[Span], said: Utterance
) -> datetime | None:
    """What holds while it is told had begun by then; what happened in a time, at its end."""
    if begins is None or begins > said.at:
        return None
    if clause.predicate.tense in ("present", "perfect"):
        return said.at
    return min(max(span.end for span in spans if span.start == begins), said.at)


def _told_late(begins: datetime, spans: Sequence[Span], said: Utterance) -> datetime:
    return told_by(
        max((one for one in spans if one.start == begins), key=lambda one: one.end), said
    )


def told_by(span: Span, said: Utterance) -> datetime:
    """By when what is told had surely happened. News of a short while ago are told as news; what
    happened in a year long past had happened at the end of it, and changes nothing said since."""
    is_old = span.explicit_year and span.relation != "since" and span.end < said.at - NEWS
    return span.end if is_old else said.at


def _items(found: Finding) -> list[tuple[str, Claim]]:
    """A list of short things is one lesson for each of them."""
    listed = pattern("statements.list").split(found.items) if found.items else []
    items = [item for item in listed if item.strip()]
    if not 2 <= len(items) <= LIST_ITEMS_MAX or any(len(item.split()) > 3 for item in items):
        return [("", found.claim)]
    if found.items.startswith(("playing ", "going ", "doing ", "to ")) or " of " in found.items:
        return [("", found.claim)]
    mixed = len({item.split()[0].endswith("ing") for item in items}) > 1
    if mixed or pattern("statements.verbal").search(found.items):
        return [("", found.claim)]
    if len(items[-1].split()) > 1 and any(" " not in i and not i.endswith("s") for i in items[:-1]):
        return [("", found.claim)]
    return [
        (item.strip(), replace(found.claim, value=value)) for item in items if (value := bare(item))
    ]


_ENTITY = re.compile(r"(?<=[a-z0-9,'\"] )[^\W\d_a-z][\w\-]*(?: [^\W\d_a-z][\w\-]*){0,3}")


def entities_in(text: str, clause: Clause | None, speaker: Speaker) -> tuple[str, ...]:
    """The names in a lesson, the speaker's first."""
    names = [speaker.name] if speaker.name else []
    if clause is not None and clause.subject.name:
        names.append(clause.subject.name)
    if clause is not None and clause.subject.kind == "named":
        names.append(clause.subject.written)
    no_entities = word_set("statements.no_entities")
    names += [name for name in _ENTITY.findall(text) if name not in no_entities]
    return tuple(dict.fromkeys(names))[:8]
