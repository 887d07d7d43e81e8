"""What must not be overlooked about a person: allergies, diets, medicines, needs. Pure."""

from __future__ import annotations

from recollect.text.words import pattern
from recollect.types import TRUST_OF_SOURCE, Durability, Kind


def durability_for(text: str, kind: Kind, trust: int, usual: Durability) -> Durability:
    """Core for what a person said that must be there whatever is asked; else the usual one."""
    said = kind == "semantic" and trust >= TRUST_OF_SOURCE["user"]
    return "core" if said and pattern("safety.facts").search(text) else usual
