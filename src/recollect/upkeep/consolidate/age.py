"""What time and use do to a memory: it gains or loses weight, and at last it is archived.

Weight moves in steps that depend on the record and on the time of the last run alone, so a run
that is done twice does nothing the second time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from recollect.profiles import Stale
from recollect.types import Durability, Record
from recollect.upkeep.consolidate.steps import Step, shown

IMPORTANCE_MIN = 0.05
IMPORTANCE_MAX = 0.95
MOVE_MIN = 0.02  # a smaller change is not worth a write
RAISED = 0.04  # of one that was used once; more uses raise it more, but never twice as much
LOWERED = 0.03  # after each ...
IDLE_DAYS = 30  # ... days without use
SETTLES_AFTER = timedelta(days=1)  # what was learned today has not had time to be useful

_DAY = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Age:
    """When we look, when we looked the last time, and from when on something is stale."""

    now: datetime
    last: datetime
    stale: Mapping[Durability, Stale]


def look_at(record: Record, age: Age) -> Step | None:
    """What to do about one memory that nothing else is wrong with; None: nothing."""
    why = _stale(record, age)
    if why:
        return Step(
            what="archive",
            id=record.id,
            version=record.version,
            because=why,
            text=shown(record.text),
        )
    importance = moved_importance(record, age)
    if importance == record.importance:
        return None
    return Step(
        what="importance",
        id=record.id,
        version=record.version,
        value=importance,
        because=f"{record.importance:.2f} -> {importance:.2f}",
    )


def is_pinned(record: Record) -> bool:
    """What somebody wants kept as it is."""
    return (
        record.durability == "core" or record.data.get("pinned") is True or "pinned" in record.tags
    )


def idle_days(record: Record, now: datetime) -> float:
    """Since its last use, or since it was learned if it was never used."""
    return max((now - _last_touched(record)).total_seconds(), 0.0) / _DAY


def _last_touched(record: Record) -> datetime:
    return max(record.used_at or record.learned_at, record.learned_at)


def _stale(record: Record, age: Age) -> str:
    """Why it should be archived; "" if it should not."""
    rule = age.stale.get(record.durability)
    if rule is None or not _may_be_archived(record) or not _is_weighed(record):
        return ""
    idle = idle_days(record, age.now)
    if idle < rule.unused_days or record.importance >= rule.importance_below:
        return ""
    return f"unused for {idle:.0f} days, importance {record.importance:.2f}"


def _may_be_archived(record: Record) -> bool:
    """Procedures leave by being replaced or by a person's decision."""
    return record.kind in ("semantic", "episodic")


def _is_weighed(record: Record) -> bool:
    """Turns belong to their message, pinned ones to their owner, disputed and quarantined ones
    to whoever reviews them."""
    return record.type != "turn" and record.status == "active" and not is_pinned(record)


def moved_importance(record: Record, age: Age) -> float:
    """Its importance after this run; the same number if it stays."""
    settled = age.now - record.learned_at >= SETTLES_AFTER
    if not settled or not _is_weighed(record):
        return record.importance
    change = _raised(record, age) or -_lowered(record, age)
    moved = min(max(record.importance + change, IMPORTANCE_MIN), IMPORTANCE_MAX)
    # What a person set outside the bounds is not drawn back in, only moved no further out.
    towards = (moved - record.importance) * change > 0
    moved = round(moved, 4)
    return moved if towards and abs(moved - record.importance) >= MOVE_MIN else record.importance


def _raised(record: Record, age: Age) -> float:
    """Used since the last run; the closer to the top, the less."""
    if record.used_at is None or record.used_at <= age.last or not record.uses:
        return 0.0
    weight = 1 + min(math.log2(record.uses), 9.0) / 10
    return RAISED * weight * min(1.0, (1 - record.importance) * 2)


def _lowered(record: Record, age: Age) -> float:
    """As often as a month without use was completed since the last run."""
    since = _last_touched(record)
    return LOWERED * max(_months(since, age.now) - _months(since, age.last), 0)


def _months(since: datetime, until: datetime) -> int:
    return max(int((until - since).total_seconds() / _DAY // IDLE_DAYS), 0)
