"""From clauses to statements: what is kept of a message, in words that stand on their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Any

from standfast.text.claim import Claim
from standfast.types import Durability, Message, RelationKind, Type
from standfast.types.frozen import frozen
from standfast.understanding.reading.clauses import KEPT, Clause, Label
from standfast.understanding.reading.foreign import is_foreign
from standfast.understanding.reading.rendering import render, words_of
from standfast.understanding.reading.structure import Range
from standfast.understanding.reading.times import Validity, spans_of, validity_of

CHARACTERS_MAX = 500  # of a clause: what is longer is no statement
STATEMENTS_MAX = 40  # of one message

TYPES: Mapping[Label, Type] = {"FACT": "fact", "PREF": "preference", "ORDER": "user_request"}
CATEGORIES = (
    "home work people health food leisure money plan project tool decision style self other".split()
)
SHORT = frozenset(("days", "weeks"))
# Importance by label or category, between 0 and 1; everything else has the one of "".
WEIGHTS: Mapping[str, float] = {
    "ORDER": 0.9, "health": 0.9, "self": 0.8, "home": 0.75, "work": 0.75, "people": 0.7,
    "decision": 0.7, "PREF": 0.6, "": 0.6,
}  # fmt: skip
SHORT_WEIGHT = 0.5


@frozen
class LearnedStatement:
    """One thing learned, in words that stand on their own, and the messages that say it.

    ``quoted``: the clause as it was said, which is kept where the text does not hold; ``said``: the
    bare words. ``asked``: the messages that it cannot be understood without. ``replies``: it
    answers what somebody else had just said. ``clauses``: where those of its message
    stand. ``changed_by``: if it began at a time that is not exact ("last month"), when it had
    surely begun; a known statement that is older than that was true until then. ``replaces``,
    ``told`` and ``links`` are what a language model says about known records, by their ids:
    evidence, which code checks before anything happens.
    """

    text: str
    messages: tuple[str, ...]
    quoted: str = ""
    said: str = ""
    about: str = ""  # me, we, you, or the words that name its subject
    asked: tuple[str, ...] = ()
    replies: bool = False
    clauses: tuple[Range, ...] = ()
    type: Type = "fact"
    claim: Claim | None = None
    confidence: float = 0.7
    importance: float = 0.5
    durability: Durability | None = None
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)  # of a type of the owner's own
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    changed_by: datetime | None = None
    replaces: str = ""
    told: tuple[tuple[str, str], ...] = ()  # "supersedes", "corrects", "duplicate", "contradicts"
    links: tuple[tuple[RelationKind, str], ...] = ()


def statements_of(
    message: Message,
    clauses: Sequence[Clause],
    previous: Message | None = None,
    foreign: Sequence[Range] = (),
) -> list[LearnedStatement]:
    """What is kept of the clauses of a message. ``previous``: the line before it; ``foreign``: the
    ranges that are not the speaker's own."""
    return list(_statements(message, clauses, previous, foreign))[:STATEMENTS_MAX]


def _statements(
    message: Message, clauses: Sequence[Clause], previous: Message | None, foreign: Sequence[Range]
) -> Iterator[LearnedStatement]:
    places = tuple((one.start, one.end) for one in clauses)
    for before, clause in zip((None, *clauses), clauses, strict=False):
        is_kept = clause.label in KEPT and clause.end - clause.start <= CHARACTERS_MAX
        if is_kept and not is_foreign(clause.start, clause.end, foreign):
            statement = _statement(message, clause, previous, places, before)
            if not _says_nothing(statement.text):
                yield statement


def _says_nothing(text: str) -> bool:
    """ "Tom is Tom."."""
    subject, _, rest = text.removesuffix(".").partition(" is ")
    return subject.casefold() == rest.removeprefix("called ").casefold()


def _statement(
    message: Message,
    clause: Clause,
    previous: Message | None,
    places: tuple[Range, ...],
    before: Clause | None,
) -> LearnedStatement:
    spans = spans_of(message.text, clause.start, clause.end, message.at)
    said = words_of(message.text, clause)
    shown = render(clause, message, previous, spans, before)
    valid = validity_of(said, spans, message.at)
    if clause.label == "ORDER":
        valid = Validity(until=valid.until)
    return LearnedStatement(
        text=shown.text or shown.quoted,
        quoted=shown.quoted,
        said=said,
        about=clause.subject,
        messages=(message.id,),
        asked=(previous.id,) if previous is not None and shown.leans_on else (),
        replies=clause.answers,
        clauses=places,
        type=TYPES[clause.label],
        confidence=round(clause.confidence, 3),
        importance=_importance(clause),
        durability=_durability(clause),
        tags=(clause.category,) if clause.category else (),
        entities=(clause.subject,) if clause.subject_in != "fixed" else (),
        valid_from=valid.since,
        valid_to=valid.until,
        changed_by=valid.changed_by,
    )


def _durability(clause: Clause) -> Durability | None:
    """What concerns somebody's health for ever, and an order without an end, are never overlooked;
    None: as usual."""
    if clause.lasts == "always" and (clause.label == "ORDER" or clause.category == "health"):
        return "core"
    return "ephemeral" if clause.lasts in SHORT and clause.label != "ORDER" else None


def _importance(clause: Clause) -> float:
    if clause.lasts in SHORT and clause.label != "ORDER":
        return SHORT_WEIGHT
    by_label = WEIGHTS.get(clause.label, 0.0)
    return max(by_label, WEIGHTS.get(clause.category, WEIGHTS[""] if not by_label else 0.0))
