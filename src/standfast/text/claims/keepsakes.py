"""Sentences that no rule reads, kept in the speaker's own words.

A lasting statement is not lost because no pattern fits it: it is kept as it was said, with less
confidence. It is written in the third person only where that surely gives a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from standfast.text.analysis import stem, words
from standfast.text.claims.changes import is_turn
from standfast.text.claims.clauses import Clause, clause_in
from standfast.text.claims.findings import bare, cut
from standfast.text.claims.foreign import language_of
from standfast.text.claims.lessons import KEPT, Claim, Lesson
from standfast.text.claims.permanence import (
    is_lasting,
    is_once,
    is_ruled_out,
    is_tiding,
    is_unreal_part,
    is_vital,
    spelled,
)
from standfast.text.claims.referents import resolved
from standfast.text.claims.rewrite import (
    dated,
    framed,
    is_garbled,
    sentence,
    trimmed,
    without_pointers,
)
from standfast.text.claims.sentences import Sentence
from standfast.text.claims.statements import (
    Utterance,
    english_lessons,
    entities_in,
    is_unreal,
    told_by,
    with_subject,
)
from standfast.text.dates import Span, told_times
from standfast.text.words import pattern, word_set

CONFIDENCE = 0.55
IMPORTANCE = 0.5
COVERED = 0.5  # of the words of a part, if lessons have them already

_NAMED_VALUE = re.compile(
    r"(?P<how>(?:called |named |in |at |on |with |by |from |an? |the )*)(?P<value>"
    r"[A-ZÀ-Ý0-9][\w.'&/-]*(?: [A-ZÀ-Ý0-9][\w.'&/-]*){0,3})\Z"
)


def kept(said_sentence: Sentence, said: Utterance, found: Sequence[Lesson]) -> list[Lesson]:
    """What a sentence says beside what was found in it."""
    if said_sentence.question or len(said_sentence.text) < 4 or is_unreal(said_sentence.text):
        return []
    text = with_subject(said_sentence.text.strip(" *_"))
    parts = parts_of(text)
    if any(map(is_unreal_part, parts)):
        return []
    lasting = [part for part in parts if is_lasting(part) or is_vital(part)]
    ruled_out = any(map(is_ruled_out, parts))
    meant = {} if ruled_out else _meant(parts)
    if not found:
        if meant and not lasting:
            return [lesson for part in meant.values() for lesson in _read(part, said)]
        if lasting and not ruled_out and any(is_once(spelled(part)) for part in parts):
            return [lesson for part in lasting for lesson in _read(part, said)]
        if (lasting or is_lasting(text) or is_vital(text)) and not ruled_out:
            return [_lesson(text, said)]
        return [_lesson(part, said) for part in lasting or _head(text, parts)]
    known = {stem(word) for lesson in found for word in words(lesson.text)}
    new = [one for one in (*lasting, *meant) if not is_covered(one, known, said.at)]
    more = [part for part in new if part not in meant]
    if any(pattern("lasting.continues").match(part) for part in more):  # "she" is told before it
        return [_lesson(text, said, whole=False)]
    named = [one for part, one in meant.items() if part in new]
    read = [lesson for one in named for lesson in _read(one, said)]
    return [*(_lesson(part, said) for part in more), *read]


def _meant(parts: Sequence[str]) -> dict[str, str]:
    """What a sentence goes on to tell of who it names, and that with the name: "My son starts
    school, he's six"."""
    behind = enumerate(parts[1:], 1)  # before the first nobody is named
    named = {part: resolved(part, ", ".join(parts[:at])) for at, part in behind}
    return {part: one for part, one in named.items() if one and (is_lasting(one) or is_vital(one))}


def _read(part: str, said: Utterance) -> list[Lesson]:
    return english_lessons(Sentence(part, False, False), said) or [_lesson(part, said)]


def parts_of(text: str) -> list[str]:
    """What a sentence tells one after the other, each with a subject of its own."""
    return [part.strip(" ,;:-–—") for part in pattern("lasting.part").split(text)]


def parts_beside(
    said_sentence: Sentence, found: Sequence[Lesson], said: Utterance
) -> list[Sentence]:
    """What a sentence tells beside what was found in it, in parts that no rule reads: "I am 78 and
    my hands shake"."""
    parts = parts_of(with_subject(said_sentence.text.strip(" *_")))
    if said_sentence.question or len(parts) < 2 or any(map(is_unreal_part, parts)):
        return []
    known = {stem(word) for lesson in found for word in words(lesson.text)}
    told = [resolved(part, ", ".join(parts[:at])) or part for at, part in enumerate(parts)]
    return [
        Sentence(part, False, False)
        for part in told
        if not is_covered(part, known, said.at) and not is_ruled_out(part)
    ]


def before_remark(text: str) -> str:
    """What a sentence tells before it says what comes of it or how that feels: "We live in York so
    parking is awful", "I do the books for a farm and excel is driving me mad". Empty if nothing
    that lasts stands before such words."""
    for found in pattern("lasting.remark").finditer(text):
        head = text[: found.start()].strip(" ,;:-–—")
        parts = parts_of(head)
        lasts = any(is_lasting(part) or is_vital(part) for part in parts)
        if lasts and not is_unreal(head) and not any(map(is_ruled_out, parts)):
            return head
    return ""


def _head(text: str, parts: Sequence[str]) -> list[str]:
    """ "My twins start school in September, can't believe it": what comes before a comment."""
    head = text.partition(",")[0]
    return [head] if head != text and is_lasting(head) and not any(map(is_ruled_out, parts)) else []


def is_covered(part: str, known: set[str], at: datetime) -> bool:
    for span in told_times(part, at):
        part = part.replace(span.phrase, " ", 1)
    said = {stem(word) for word in words(part)} - word_set("search.stop_words")
    told = {word for word in said if word in known}
    return len(told) >= COVERED * max(len(said), 1)


def kept_as_said(text: str, said: Utterance) -> Lesson:
    """The lesson of words that are known to state something."""
    return _lesson(text, said)


def continued(before: str, said_sentence: Sentence, said: Utterance) -> list[Lesson]:
    """ "My gran is on Instagram. She's 83.": a sentence that only its neighbour explains."""
    text = said_sentence.text
    if said_sentence.question or not pattern("lasting.continues").match(text) or is_ruled_out(text):
        return []
    if not pattern("lasting.telling").search(spelled(text)) or len(text.split()) > 14:
        return []
    return [_lesson(f"{before.rstrip(' .!')}. {text}", said, whole=False)]


def tiding(text: str, said: Utterance) -> Lesson | None:
    """Words that say nothing lasting by themselves, but tell a change of something: "New boiler
    went in on Monday". Whoever knows what it is about keeps them."""
    parts = parts_of(text)
    if not is_tiding(text) or is_unreal(text) or any(map(is_unreal_part, parts)):
        return None
    return None if any(map(is_ruled_out, parts)) else _lesson(text, said)


def _lesson(text: str, said: Utterance, *, whole: bool = True) -> Lesson:
    spans = told_times(text, said.at)
    clause = _clause(text, said) if whole else None
    written = _third_person(clause, spans, said) if clause else ""
    change = is_turn(text)
    begins = [span for span in spans if span.relation in ("", "since") and not span.about]
    dated_change = change or any(span.relation == "since" for span in spans)
    first = begins[0] if begins and dated_change and begins[0].start <= said.at else None
    return Lesson(
        text=written or framed(text.strip(" ,;:*"), said.speaker, spans),
        messages=(said.message,),
        claim=_claim(clause) if clause and written else None,
        confidence=CONFIDENCE,
        importance=IMPORTANCE,
        tags=(KEPT,),
        entities=entities_in(text, None, said.speaker),
        valid_from=first.start if first else None,
        changed_by=told_by(first, said) if first else None,
    )


def _clause(text: str, said: Utterance) -> Clause | None:
    if language_of(text) or "," in text or ";" in text:
        return None
    clause = clause_in(spelled(text).rstrip(" .!"), said.speaker)
    if clause is None or clause.predicate.hedged:
        return None
    return clause


def _third_person(clause: Clause, spans: Sequence[Span], said: Utterance) -> str:
    """Empty where it would not be a sentence that stands on its own."""
    tail = clause.predicate.tail
    if trimmed(tail) != tail.strip(" .,;:") or without_pointers(tail) != tail:
        return ""
    written = sentence(clause, dated(tail, spans), said.speaker)
    return "" if is_garbled(written) else written


def _claim(clause: Clause) -> Claim | None:
    """ "My watch is a Garmin": one value for what somebody has one of."""
    subject, predicate = clause.subject, clause.predicate
    if not subject.attribute or predicate.verb != "be" or predicate.tense != "present":
        return None
    found = _NAMED_VALUE.match(cut(predicate.tail))
    if found is None or subject.plural or predicate.negated:
        return None
    how = bare(found["how"].replace("called", "").replace("named", ""))
    slot = " ".join(part for part in ("is", subject.attribute.casefold(), how) if part)
    value = bare(found["value"])
    if not value:
        return None
    return Claim(subject=subject.key, slot=slot, value=value, exclusive=True)
