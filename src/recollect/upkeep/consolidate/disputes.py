"""Contradictions that can be decided by now. Whatever is not plain stays for a person to review.

One side wins if it is later and believed no less, if it is believed more and not earlier, or if
the user has said it again since and not the other. Both must be about the same slot of the same
subject, in the same scope. A side that is left without an opponent is disputed no longer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from recollect.lifecycle.merge import Known, claim_of, judge
from recollect.lifecycle.merge.claims import conflict, same_slot
from recollect.text.analysis import terms
from recollect.text.claims.lessons import Claim
from recollect.types import LIVE, Record, Relation
from recollect.upkeep.consolidate.age import is_pinned
from recollect.upkeep.consolidate.steps import Step, shown

SUPPORTS_MIN = 2
_NEVER = 2.0  # above any cosine: here nothing is a duplicate


@dataclass(frozen=True, slots=True, kw_only=True)
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


def agree(claim: Claim, other: Claim) -> bool:
    """Do two claims about the same slot say the same?"""
    same = sorted(terms(claim.value)) == sorted(terms(other.value))
    return same and claim.negated == other.negated


def _why_wins(winner: Record, loser: Record, dispute: Dispute) -> str:
    """ "" if the first does not plainly beat the second."""
    claim, against = claim_of(winner), claim_of(loser)
    if winner.scope != loser.scope or claim is None or against is None:
        return ""
    if not same_slot(winner, claim, loser, against) or not conflict(claim, against):
        return ""
    if "quarantined" in (winner.status, loser.status) or winner.trust < loser.trust:
        return ""
    # What was still to come when it was learned may have come since.
    today = replace(winner, learned_at=dispute.now, valid_from=winner.at)
    if judge(today, [Known(record=loser)], duplicate_above=_NEVER).kind == "supersedes":
        return "the other is later"
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
