"""Every learned text obeys the origin check, whoever composed it. Pure.

What fails is kept as it was said, whole: it makes no claim. What it was to correct is in doubt, but
for a message that is nothing but a correction.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from standfast.text.claims.answers import is_fragment
from standfast.text.claims.corrections import without_marks
from standfast.text.claims.lessons import KEPT
from standfast.text.origin import Origin, as_quoted, as_said, paraphrase, trace
from standfast.types import Message
from standfast.upkeep.learn.lanes import LearnCandidate, Turns

BEFORE_MAX = 8  # earlier messages that may say whom a pronoun means
UNMARKED_WORDS_MAX = 3  # of a correction that no word marks: "not 14, 15"
CONFIDENCE_MAX = 0.5  # of what nobody could put into a statement


def with_origin(candidate: LearnCandidate, turns: Turns, there: Collection[str]) -> LearnCandidate:
    """The candidate with the origin of its words, or its message as it was said instead. ``there``
    are the messages that still are. Its text is empty if not even that can be kept."""
    candidate = _as_quoted(candidate, turns)
    origin = _origin(candidate, turns, there)
    if not origin.fault:
        return _with(candidate, origin, turns, there)
    kept = _as_said(candidate, turns, there)
    again = replace(kept, fault=origin.fault)
    origin = _origin(replace(again, how="rules"), turns, there)
    if origin.fault:
        return replace(again, lesson=replace(again.lesson, text=""))
    return _with(again, origin, turns, there)


def _as_quoted(candidate: LearnCandidate, turns: Turns) -> LearnCandidate:
    """With what it quotes exactly as it was said, in the texts that it corrects too."""
    lesson = candidate.lesson
    said = [turns.sources[id_] for id_ in lesson.messages]
    known = [turns.sources[lesson.about]] if lesson.about in turns.sources else []
    quoted = replace(
        lesson,
        text=as_quoted(lesson.text, said),
        amends=tuple(as_quoted(one, known) for one in lesson.amends),
        doubts=tuple(as_quoted(one, known) for one in lesson.doubts),
    )
    return replace(candidate, lesson=quoted)


def _origin(candidate: LearnCandidate, turns: Turns, there: Collection[str]) -> Origin:
    lesson = candidate.lesson
    cited = [turns.sources[id_] for id_ in lesson.messages]
    if candidate.how == "model":
        return paraphrase(lesson.text, cited)
    asked = [turns.sources[id_] for id_ in lesson.asked]
    return trace(lesson.text, cited, asked, _before(candidate, turns, there))


def _before(candidate: LearnCandidate, turns: Turns, there: Collection[str]) -> list[Message]:
    """What was said before, the last first."""
    used = {*candidate.lesson.messages, *candidate.lesson.asked}
    first = min(turns.sources[id_].seq for id_ in used)
    earlier = [one for one in turns.sources.values() if one.seq < first and one.id in there]
    return sorted(earlier, key=lambda one: -one.seq)[:BEFORE_MAX]


def _with(
    candidate: LearnCandidate, origin: Origin, turns: Turns, there: Collection[str]
) -> LearnCandidate:
    """Messages are numbered by their place in the lineage: of those before it only the used."""
    cited = len(candidate.lesson.asked) + len(candidate.lesson.messages)
    used = sorted({run.message for run in origin.runs if run.message >= cited})
    place = {number: cited + at for at, number in enumerate(used)}
    runs = [run._replace(message=place.get(run.message, run.message)) for run in origin.runs]
    before = _before(candidate, turns, there) if used else []
    return replace(
        candidate,
        origin=tuple(map(str, runs)),
        context=tuple(before[number - cited].id for number in used),
    )


def _as_said(candidate: LearnCandidate, turns: Turns, there: Collection[str]) -> LearnCandidate:
    lesson = candidate.lesson
    message = turns.sources[lesson.messages[-1]]
    asked = turns.sources[lesson.asked[-1]] if lesson.asked else None
    is_there = lesson.about in turns.sources and lesson.about in there
    about = turns.sources[lesson.about] if is_there and not asked else None
    text = as_said(message, lesson.text, asked=asked, about=about)
    sure = lesson.corrects and is_there and _only_corrects(message)
    return replace(
        candidate,
        links=(),
        leans_on=(),
        lesson=replace(
            lesson,
            text=text,
            messages=(message.id,),
            asked=(*lesson.asked, about.id) if about else lesson.asked,
            claim=None,
            confidence=min(lesson.confidence, CONFIDENCE_MAX),
            tags=(KEPT,),
            fields={},
            entities=tuple(one for one in lesson.entities if one in text),
            valid_from=None if lesson.about else lesson.valid_from,
            valid_to=None if lesson.about else lesson.valid_to,
            changed_by=None if lesson.about else lesson.changed_by,
            change="",
            corrects=sure,
            amends=lesson.amends if sure else (),
            doubts=() if sure else lesson.amends or lesson.doubts,
            replaces="",
            told=(),
            links=(),
        ),
    )


def _only_corrects(message: Message) -> bool:
    """ "Sorry, I meant Leeds": it is marked as a correction, or very short and states nothing by
    itself. Together with the statement that it is about it says the right thing."""
    marked, rest = without_marks(message.text)
    return marked or (is_fragment(rest) and len(rest.split()) <= UNMARKED_WORDS_MAX)
