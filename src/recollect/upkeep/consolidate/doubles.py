"""Near duplicates that nobody saw when they were written, because a vector was missing then or
because they came with an import."""

from __future__ import annotations

from collections.abc import Iterable

from recollect.text.compare import difference
from recollect.types import Record
from recollect.upkeep.consolidate.age import is_pinned
from recollect.upkeep.consolidate.steps import Step, shown


def doubles(
    record: Record, near: Iterable[tuple[Record, float | None]], above: float
) -> list[Step]:
    """The steps that leave one of these records; ``near`` are neighbours with their cosine."""
    same = [known for known, similarity in near if _says_the_same(record, known, similarity, above)]
    ranked = sorted([record, *same], key=better_first)
    kept = ranked[0]
    return [
        Step(
            what="merge",
            id=other.id,
            version=other.version,
            other=kept.id,
            other_version=kept.version,
            because="says the same",
            text=shown(other.text),
        )
        for other in ranked[1:]
        # Two neighbours of one record need not say the same themselves.
        if not is_pinned(other) and not difference(other.text, kept.text)
    ]


def better_first(record: Record) -> tuple[object, ...]:
    """Pinned before others, then trust, confidence, uses; of equals the older."""
    return (
        not is_pinned(record),
        -record.trust,
        -record.confidence,
        -record.uses,
        record.learned_at,
        record.id,
    )


def _says_the_same(one: Record, other: Record, similarity: float | None, above: float) -> bool:
    """Cosine alone never decides, and what was true at another time is another memory."""
    if one.id == other.id or similarity is None or similarity <= above:
        return False
    alike = (
        one.scope == other.scope
        and one.kind == other.kind == "semantic"
        and one.author == other.author
        and one.status == other.status == "active"
        and one.valid_to == other.valid_to
        and one.expires_at == other.expires_at
    )
    return alike and not difference(one.text, other.text)
