"""What is to be done about one memory, or about two beside each other. Pure.

Time and use: a memory gains or loses weight, and at last it is archived. Weight moves in steps
that depend on the record and on the time of the last run alone, so a run that is done twice does
nothing the second time.

Two beside each other: facts that cannot both be true may both be believed because they never met:
two processes wrote them at the same moment, or one was brought back or came with an import. Near
duplicates may have been overlooked because a vector was missing. Of a dispute, one side wins if
it is believed more and not earlier, if the user has said it again since and not the other, or if
several live records support it alone. Whatever is not plain stays for a person to review.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from standfast.profiles import Stale
from standfast.types import LIVE, Durability, Record, Relation
from standfast.types.frozen import frozen
from standfast.upkeep.consolidate.steps import Step, shown

IMPORTANCE_MIN = 0.05
IMPORTANCE_MAX = 0.95
MOVE_MIN = 0.02  # a smaller change is not worth a write
RAISED = 0.04  # of one that was used once; more uses raise it more, but never twice as much
LOWERED = 0.03  # after each ...
IDLE_DAYS = 30  # ... days without use
SETTLES_AFTER = timedelta(days=1)  # what was learned today has not had time to be useful

_DAY = 86_400.0


@frozen
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


# Clashes


SUPPORTS_MIN = 2


def clashes(record: Record, opponents: Iterable[Record]) -> list[Step]:
    """One step for each active record of the same scope that a judge says speaks against it."""
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
        for other in opponents
        if record.id != other.id
        and record.scope == other.scope
        and record.status == other.status == "active"
    ]


# Doubles


def doubles(record: Record, same: Iterable[Record]) -> list[Step]:
    """The steps that leave one of these records; ``same``: those of which a judge says so."""
    same = [known for known in same if _may_be_one(record, known)]
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
        if not is_pinned(other) and record.id in (other.id, kept.id)
    ]


def better_first(record: Record) -> tuple[object, ...]:
    """Trusted before others, then pinned, confidence, uses; of equals the older."""
    return (
        -record.trust,
        not is_pinned(record),
        -record.confidence,
        -record.uses,
        record.learned_at,
        record.id,
    )


def _may_be_one(one: Record, other: Record) -> bool:
    """What was true at another time is another memory."""
    return (
        one.id != other.id
        and one.scope == other.scope
        and one.kind == other.kind == "semantic"
        and one.author == other.author
        and one.status == other.status == "active"
        and one.valid_to == other.valid_to
        and one.expires_at == other.expires_at
    )


# Disputes


@frozen
class Evidence:
    """What speaks for a record since it is disputed: how often the user said it again, and how
    many live records support it."""

    said: int = 0
    supports: int = 0


@dataclass(slots=True, kw_only=True)
class Dispute:
    """Disputed records, those they are linked with (of any status), and the edges between."""

    now: datetime
    records: Mapping[str, Record]
    edges: Sequence[Relation]
    evidence: Mapping[str, Evidence] = field(default_factory=dict)
    kept: frozenset[str] = frozenset()  # somebody brought these back: no run decides against them

    def opponents(self, id_: str) -> list[str]:
        found = {edge.target for edge in self.edges if edge.source == id_}
        found |= {edge.source for edge in self.edges if edge.target == id_}
        return sorted(found)


def settled(dispute: Dispute) -> list[Step]:
    """What can be decided, and who is left without an opponent because of it or before it."""
    steps: list[Step] = []
    live = {id_ for id_, record in dispute.records.items() if record.status in LIVE}
    for edge in sorted(dispute.edges, key=lambda edge: (edge.source, edge.target)):
        if {edge.source, edge.target} <= live:
            one, other = dispute.records[edge.source], dispute.records[edge.target]
            for loser, winner, because in _decided(one, other, dispute):
                steps.append(_superseded(loser, winner, because))
                live.discard(loser.id)
    return steps + _freed(dispute, live, {step.id for step in steps})


def _decided(one: Record, other: Record, dispute: Dispute) -> Iterable[tuple[Record, Record, str]]:
    """The loser, with its copies in other scopes, the winner, and why."""
    for winner, loser in ((one, other), (other, one)):
        because = _why_wins(winner, loser, dispute)
        spared = is_pinned(loser) or loser.id in dispute.kept
        if because and loser.status == "disputed" and not spared:
            yield loser, winner, because
            for copy in _copies(loser, dispute):
                yield copy, winner, because
            return


def _copies(loser: Record, dispute: Dispute) -> list[Record]:
    return [
        record
        for record in dispute.records.values()
        if loser.origin
        and record.origin == loser.origin
        and record.id != loser.id
        and record.status == "disputed"
        and not dispute.opponents(record.id)
    ]


def _why_wins(winner: Record, loser: Record, dispute: Dispute) -> str:
    """ "" if the first does not plainly beat the second."""
    if winner.scope != loser.scope or winner.trust < loser.trust:
        return ""
    if "quarantined" in (winner.status, loser.status):
        return ""
    if winner.trust > loser.trust and winner.at >= loser.at:
        return "the other is trusted more"
    mine, theirs = (dispute.evidence.get(one.id, Evidence()) for one in (winner, loser))
    if mine.said and not theirs.said:
        return "the user said the other again"
    if mine.supports >= SUPPORTS_MIN and not theirs.supports and not theirs.said:
        return f"the other has {mine.supports} supports"
    return ""


def _superseded(loser: Record, winner: Record, because: str) -> Step:
    return Step(
        what="supersede",
        id=loser.id,
        version=loser.version,
        other=winner.id,
        other_version=winner.version,
        because=because,
        text=shown(loser.text),
    )


def _freed(dispute: Dispute, live: set[str], gone: set[str]) -> list[Step]:
    """Disputed records without a live opponent. A copy waits for the record it is a copy of."""
    waiting = {
        id_
        for id_ in sorted(live)
        if dispute.records[id_].status == "disputed"
        and any(opponent in live for opponent in dispute.opponents(id_))
    }
    return [
        Step(
            what="settle",
            id=id_,
            version=record.version,
            because="nothing speaks against it any more",
            text=shown(record.text),
        )
        for id_, record in sorted(dispute.records.items())
        if record.status == "disputed"
        and id_ not in waiting
        and id_ not in gone
        and record.origin not in waiting
    ]
