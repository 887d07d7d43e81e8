"""Which core memories open every packet, while there are more of them than fit."""

from __future__ import annotations

from collections.abc import Iterable

from recollect.types import Record


def chosen_block(core: Iterable[Record], before: Iterable[str], most: int) -> list[str]:
    """Their ids in the order they were learned. The most important ones; at equal weight those
    that were chosen before, so that nothing moves without a reason."""
    known = set(before)
    ranked = sorted(
        core,
        key=lambda r: (-round(r.importance, 1), r.id not in known, r.learned_at, r.id),
    )
    kept = sorted(ranked[:most], key=lambda r: (r.learned_at, r.id))
    return [record.id for record in kept]
