"""A claim with what makes a lesson of it: its type, weight and topic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from recollect.text.claims.lessons import Claim
from recollect.text.claims.slot_values import bare
from recollect.text.claims.words import SINGLE
from recollect.types import Type


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim and what kind of lesson it makes. ``items``: the value as it was written, so that
    a list can be told apart ("tea and coffee")."""

    claim: Claim
    type: Type = "fact"
    importance: float = 0.6
    topic: str = ""
    items: str = ""


EXCLUSIVE = frozenset(
    "home origin birthplace birthday age name last-name first-name job employer diet status phone"
    " email address timezone partner called handed works-from height weight username blood-type"
    " hometown native-language port is answers-in nationality shoe-size".split()
)
IMPORTANCE: Mapping[str, float] = {
    "allergy": 0.9, "condition": 0.85, "name": 0.85, "home": 0.8, "birthday": 0.8, "job": 0.8,
    "employer": 0.8, "partner": 0.8, "diet": 0.8, "status": 0.75, "likes": 0.6, "prefers": 0.65,
    "goal": 0.6, "plan": 0.6, "pet": 0.7,
}  # fmt: skip
PREFERENCE_SLOTS = frozenset("likes prefers eats drinks diet".split())


def finding(
    subject: str, slot: str, value: str, *, negated: bool = False, items: str = ""
) -> Finding | None:
    """A finding with the usual type and weight of its slot; None without a value."""
    value = bare(value)
    if not value or not subject:
        return None
    slot = slot.replace("favorite", "favourite")
    base = slot.split(":", 1)[0]
    exclusive = (
        slot in EXCLUSIVE or (":" in slot and base in ("favourite", "uses")) or slot in SINGLE
    )
    kind: Type = "fact"
    if slot in PREFERENCE_SLOTS or base == "favourite":
        kind = "preference"
    elif slot == "interest":
        kind = "interest"
    return Finding(
        claim=Claim(subject=subject, slot=slot, value=value, negated=negated, exclusive=exclusive),
        type=kind,
        importance=IMPORTANCE.get(base, 0.6),
        topic=base,
        items=items,
    )
