"""How memories and steps are shown to a model or a person, for the interfaces that show them."""

from __future__ import annotations

from collections.abc import Iterable

from standfast.lifecycle.safety import tells_end
from standfast.packet.text import (
    SECTION_OF_KIND,
    TRUST_WORDS,
    Packed,
    Section,
    alone,
    memory_section,
    pack,
    quoted,
)
from standfast.text.safety_slots import safety_slots
from standfast.text.tokens import ESTIMATE, estimate
from standfast.text.trust import PREFACE, suspicion
from standfast.types import Hit, ReceiptItem

__all__ = [
    "PREFACE",
    "TRUST_WORDS",
    "Packed",
    "diff_line",
    "estimate",
    "listed_texts",
    "packed_hits",
    "safety_slots",
    "suspicion",
    "tells_end",
]

_NOTHING = Section(tag="nothing", lines=(), hits=())


def packed_hits(hits: Iterable[Hit], budget: int, *, whole: bool = False) -> Packed:
    """Memories as quoted text in sections, as far as the budget of tokens goes; ``whole``: all of
    them."""
    by_kind: dict[str, list[Hit]] = {}
    for hit in hits:
        by_kind.setdefault(SECTION_OF_KIND[hit.record.kind], []).append(hit)
    sections = [memory_section(tag, listed) for tag, listed in by_kind.items()]
    count = (lambda _: 0) if whole else ESTIMATE.count
    return pack(_NOTHING, sections, stable_budget=0, budget=budget, count=count)


def listed_texts(tag: str, texts: Iterable[tuple[str, str, str]]) -> str:
    """Texts with their id and author under one tag, quoted like memories."""
    lines = [
        f"- {quoted(text)} (id {quoted(id_)}{f', by {quoted(author)}' if author else ''})"
        for id_, text, author in texts
    ]
    return alone(Section(tag=tag, lines=tuple(lines), hits=()))


def diff_line(item: ReceiptItem) -> str:
    """An item of a dry run's receipt as a line of a diff."""
    from standfast.upkeep.consolidate.steps import diff_line

    return diff_line(item)
