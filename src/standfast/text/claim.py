"""A claim: what a statement says as subject, slot and value, as records carry and stores find it.

Two statements can only replace or contradict one another when they are about the same subject and
the same slot.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from standfast.types.frozen import frozen

# Where the ``data`` of a record says that it began at a time that is not exact, and when that was
# told. ``change``: words of a change that are not in the text, of earlier versions.
CHANGE, CHANGED_BY, TOLD_AT = "change", "changed_by", "told_at"
# What a statement was in its message: the words of the clause, and whom they are about.
SAID, SUBJECT = "said", "about"
KEPT = "said"  # the tag of what earlier versions kept as it was said
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
