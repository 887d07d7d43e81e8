"""Every learned text obeys the origin check, whoever composed it. Pure.

What fails is kept as it was said, and makes no claim: what the reader in the box found as the bare
clause, what a language model wrote as the sentence that it was to be made of.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from standfast.text.origin import Origin, as_quoted, as_said, paraphrase, trace
from standfast.types import Message
from standfast.upkeep.learn.lanes import LearnCandidate, Turns

BEFORE_MAX = 8  # earlier messages that may say whom a pronoun means
CONFIDENCE_MAX = 0.5  # of what nobody could put into a statement
SAID = "said"  # the tag of what is kept as it was said


def with_origin(candidate: LearnCandidate, turns: Turns, there: Collection[str]) -> LearnCandidate:
    """The candidate with the origin of its words, or what was said instead. ``there`` are the
    messages that still are. Its text is empty if not even that can be kept."""
    if candidate.how == "model":
        candidate = _as_quoted(candidate, turns)
    origin = _origin(candidate, turns, there)
    if not origin.fault:
        return _with(candidate, origin, turns, there)
    if candidate.how == "network":
        kept = _as_clause(candidate)
    else:
        kept = replace(_as_said(candidate, turns), fault=origin.fault)
    origin = _origin(replace(kept, how="network"), turns, there)
    if origin.fault:
        return replace(kept, fault=origin.fault, statement=replace(kept.statement, text=""))
    return _with(kept, origin, turns, there)


def _as_quoted(candidate: LearnCandidate, turns: Turns) -> LearnCandidate:
    """With what it quotes exactly as it was said."""
    statement = candidate.statement
    said = [turns.sources[id_] for id_ in statement.messages]
    return replace(candidate, statement=replace(statement, text=as_quoted(statement.text, said)))


def _as_clause(candidate: LearnCandidate) -> LearnCandidate:
    statement = candidate.statement
    return replace(candidate, statement=replace(statement, text=statement.quoted))


def _origin(candidate: LearnCandidate, turns: Turns, there: Collection[str]) -> Origin:
    statement = candidate.statement
    cited = [turns.sources[id_] for id_ in statement.messages]
    if candidate.how == "model":
        return paraphrase(statement.text, cited)
    asked = [turns.sources[id_] for id_ in statement.asked]
    before = _before(candidate, turns, there)
    return trace(statement.text, cited, asked, before, clauses=statement.clauses)


def _before(candidate: LearnCandidate, turns: Turns, there: Collection[str]) -> list[Message]:
    """What was said before, the last first."""
    used = {*candidate.statement.messages, *candidate.statement.asked}
    first = min(turns.sources[id_].seq for id_ in used)
    earlier = [one for one in turns.sources.values() if one.seq < first and one.id in there]
    return sorted(earlier, key=lambda one: -one.seq)[:BEFORE_MAX]


def _with(
    candidate: LearnCandidate, origin: Origin, turns: Turns, there: Collection[str]
) -> LearnCandidate:
    """Messages are numbered by their place in the lineage: of those before it only the used."""
    cited = len(candidate.statement.asked) + len(candidate.statement.messages)
    used = sorted({run.message for run in origin.runs if run.message >= cited})
    place = {number: cited + at for at, number in enumerate(used)}
    runs = [run._replace(message=place.get(run.message, run.message)) for run in origin.runs]
    before = _before(candidate, turns, there) if used else []
    return replace(
        candidate,
        origin=tuple(map(str, runs)),
        context=tuple(before[number - cited].id for number in used),
    )


def _as_said(candidate: LearnCandidate, turns: Turns) -> LearnCandidate:
    """A model's misquotation: the sentence of its message that it is nearest to."""
    statement = candidate.statement
    message = turns.sources[statement.messages[-1]]
    text = as_said(message, statement.text)
    return replace(
        candidate,
        links=(),
        leans_on=(),
        statement=replace(
            statement,
            text=text,
            messages=(message.id,),
            claim=None,
            confidence=min(statement.confidence, CONFIDENCE_MAX),
            tags=(SAID,),
            fields={},
            entities=tuple(one for one in statement.entities if one in text),
            replaces="",
            told=(),
            links=(),
        ),
    )
