"""Two memories beside each other: do they clash, say the same, or stand in a dispute that can be
decided by now? Pure.

Facts that cannot both be true may both be believed because they never met: two processes wrote
them at the same moment, or one was brought back or came with an import. Near duplicates may have
been overlooked because a vector was missing. Of a dispute, one side wins if it is later and
believed no less, if it is believed more and not earlier, or if the user has said it again since
and not the other. Whatever is not plain stays for a person to review.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from recollect.lifecycle.merge import AGAINST, between, claim_of
from recollect.lifecycle.merge.claims import conflict, same_slot
from recollect.text.analysis import terms
from recollect.text.claims.lessons import Claim
from recollect.text.compare import difference
from recollect.types import LIVE, Record, Relation
from recollect.upkeep.consolidate.age import is_pinned
from recollect.upkeep.consolidate.steps import Step, shown

SUPPORTS_MIN = 2


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
        and between(record, other) in AGAINST
    ]


# Doubles


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


# Disputes


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
    if between(today, loser) == "supersedes":
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
