"""The stable block: which core memories open every packet, while there are more than fit.

Upkeep chooses and keeps its choice; a packet shows it until upkeep chooses again. Both use the
same order, so that the choice is what a packet would have shown anyway.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from standfast import compat
from standfast.types import Record

STABLE = compat.STABLE  # the items in which upkeep keeps its choice


def by_weight(core: Iterable[Record], before: Collection[str] = ()) -> list[Record]:
    """The most important ones first; at equal weight those that were chosen before, so that
    nothing moves without a reason."""
    return sorted(
        core,
        key=lambda r: (-round(r.importance, 1), r.id not in before, r.learned_at, r.id),
    )


def chosen_block(core: Iterable[Record], before: Collection[str], most: int) -> list[str]:
    """The ids of the block, in the order they were learned: an order that no score, use or clock
    can change."""
    return [record.id for record in as_learned(by_weight(core, before)[:most])]


def as_learned(block: Iterable[Record]) -> list[Record]:
    return sorted(block, key=lambda record: (record.learned_at, record.id))
