"""Facts that cannot both be true and are both believed, because they never met: two processes
wrote them at the same moment, or one was brought back or came with an import. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from recollect.lifecycle.merge import Known, VerdictKind, judge
from recollect.types import Record
from recollect.upkeep.consolidate.steps import Step, shown

_AGAINST: tuple[VerdictKind, ...] = ("supersedes", "contradicts", "outdated")
_NEVER = 2.0  # above any cosine: here nothing is a duplicate


def clashes(record: Record, known: Iterable[Record]) -> list[Step]:
    """One step for each active record of the same scope that speaks against this one."""
    return [
        Step(
            what="dispute",
            id=record.id,
            version=record.version,
            other=other.id,
            other_version=other.version,
            because="both are believed, and they cannot both be true",
            text=shown(record.text),
        )
        for other in known
        if record.id != other.id
        and record.scope == other.scope
        and record.status == other.status == "active"
        and judge(record, [Known(record=other)], duplicate_above=_NEVER).kind in _AGAINST
    ]
