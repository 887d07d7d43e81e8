"""What was learned from turns, before it meets what is known already.

Both extractors, the rules and the model, answer with lessons; merging compares them with
records. The claim inside a lesson is what the guards look at: two statements can only replace
or contradict one another when they are about the same subject and the same slot.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from datetime import datetime
from typing import Any

from standfast.text.words import cues
from standfast.types import TRUST_OF_SOURCE, Durability, Kind, RelationKind, Type
from standfast.types.frozen import frozen

CHANGE, CHANGED_BY = "change", "changed_by"  # where a record's ``data`` has them
TOLD_AT = "told_at"  # when a change was told of, which counts beside when it was
KEPT = "said"  # the tag of a lesson that no rule reads
SPEAKER = "user"  # the subject of a claim that somebody without a name makes about themselves


@frozen
class Claim:
    """A statement as subject, slot and value: "ann", "home", "hamburg".

    ``exclusive``: only one value holds at a time (a home, an employer, a telephone number). Of
    other slots many values live side by side (likes, pets), and only the same value with the
    other polarity speaks against it. All three texts are folded: lower case, no articles.
    """

    subject: str
    slot: str
    value: str
    negated: bool = False
    exclusive: bool = False


@frozen
class Lesson:
    """One thing learned, in words that stand on their own, and the messages that say it.

    ``asked``: the message whose question makes sense of them; it says nothing by itself, but goes
    with what was made of it. ``replies``: it was said to something that somebody else had just
    said. ``about``: the message that says what it corrects.
    ``changed_by``: if it began at a time that is not exact ("last month"), when it had surely
    begun; a known statement that is older than that was true until then. ``change``: words that
    say a change and are not in the text ("now"). ``corrects``: the speaker said outright that
    something known is wrong; ``amends``: the texts of the lessons it corrects; ``doubts``:
    those it may be about, where that is not sure. ``replaces``, ``told`` and ``links`` are what a
    model says about known records, by their ids: evidence, which code checks before anything
    happens.
    """

    text: str
    messages: tuple[str, ...]
    asked: tuple[str, ...] = ()
    replies: bool = False
    about: str = ""
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
    change: str = ""
    corrects: bool = False
    amends: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    replaces: str = ""
    told: tuple[tuple[str, str], ...] = ()  # "supersedes", "corrects", "duplicate", "contradicts"
    links: tuple[tuple[RelationKind, str], ...] = ()


@frozen
class Gated:
    """Is a message worth learning from? ``skip`` says why not, in words that hold none of the
    message's text; it is empty if the message passes. ``sure`` False: a helper model may decide
    otherwise. ``importance`` is between 0 and 1."""

    skip: str = ""
    sure: bool = True
    importance: float = 0.5


@frozen
class Extraction:
    """The lessons in some messages, and why the other messages gave none (by message id).
    ``tidings`` are worth keeping only where they change something that is known, ``unread`` only
    where something else than their form says that they last; ``moments`` pass, and are only asked
    whether something known is otherwise since. ``asides`` are whole messages in which nothing of
    all that was found: who reads them together with what is known may see a change in them.
    ``barred`` are parts of what was said that some rule takes for nothing lasting: kept only where
    somebody who reads them is sure of the contrary."""

    lessons: tuple[Lesson, ...] = ()
    tidings: tuple[Lesson, ...] = ()
    unread: tuple[tuple[str, Lesson], ...] = ()  # the sentence as it was said, and its lesson
    moments: tuple[Lesson, ...] = ()
    asides: tuple[Lesson, ...] = ()
    barred: tuple[tuple[str, str, Lesson], ...] = ()  # the part, its sentence, and its lesson
    skipped: Mapping[str, str] = field(default_factory=dict)


def durability_for(text: str, kind: Kind, trust: int, usual: Durability) -> Durability:
    """Core for what must not be overlooked about a person (allergies, diets, medicines, needs,
    "never ...") if a person said it; else the usual one."""
    said = kind == "semantic" and trust >= TRUST_OF_SOURCE["user"]
    return "core" if said and cues("safety.facts").search(text) else usual


def claim_as_data(claim: Claim) -> dict[str, Any]:
    """How a record's ``data`` carries its claim."""
    data: dict[str, Any] = {"subject": claim.subject, "slot": claim.slot, "value": claim.value}
    if claim.negated:
        data["negated"] = True
    if claim.exclusive:
        data["exclusive"] = True
    return data


def claim_from_data(data: Mapping[str, Any]) -> Claim | None:
    """The claim that a record carries; None if it carries none, or somebody else's fields."""
    if "slot" not in data:  # as most of what a claim is looked for in
        return None
    parts = [data.get(name) for name in ("subject", "slot", "value")]
    if not all(isinstance(part, str) and part for part in parts):
        return None
    subject, slot, value = map(str, parts)
    return Claim(
        subject=subject,
        slot=slot,
        value=value,
        negated=data.get("negated") is True,
        exclusive=data.get("exclusive") is True,
    )


def slot_tag(claim: Claim) -> str:
    """The tag under which a store finds the records whose claim may speak against this one: of
    an exclusive slot all of them, of another one those with the same value."""
    of_slot, of_value = _slot_tags(claim)
    return of_slot if claim.exclusive else of_value


def findable_tags(tags: Iterable[str], data: Mapping[str, Any]) -> tuple[str, ...]:
    """What the tag filter of a query looks at: a record's tags, and those that name the slot of
    its claim, which it has without carrying them."""
    claim = claim_from_data(data)
    return (*tags, *_slot_tags(claim)) if claim else tuple(tags)


def _slot_tags(claim: Claim) -> tuple[str, str]:
    slot = f"slot:{claim.subject}/{claim.slot}"
    return slot, f"{slot}/{claim.value}"
