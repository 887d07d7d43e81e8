"""What is done about a judgment: one table. Pure.

A judge says what a new statement does to a known one and how sure that is. What follows depends on
who said both, when, and how far they are trusted; every line of ``decide`` is one row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from standfast.types.frozen import frozen
from standfast.understanding.judging.judge import Judged, Judgment, Thresholds

# keep: both stay as they are; merge: the known one says it already; enrich, supersede: the new one
# takes its place; end: it is over, without a successor; file: the new one is of an earlier time;
# question_...: who is marked as disputed.
Action = Literal[
    "keep", "merge", "enrich", "supersede", "end", "file",
    "question_new", "question_known", "question_both",
]  # fmt: skip
Subject = Literal["same", "unclear", "other"]
Order = Literal["later", "earlier", "none"]  # of the new statement

# Of two who are believed alike, the older word is in doubt.
_OLDER: Mapping[Order, Action] = {
    "later": "question_known", "earlier": "question_new", "none": "question_both",
}  # fmt: skip
CHANGES: frozenset[Judged] = frozenset(("replaces", "ends"))


@frozen
class Pairing:
    """A new and a known statement, as far as the table looks at them. ``judgment``: None where
    nobody judges. ``equal``: the same text; ``near``: above the profile's bound of duplicates.
    ``trust``: how much more the new one is trusted. ``other_names``: each has a name or a number
    that the other lacks; ``entails``: the new one says all of the known one. ``guarded``: a safety
    statement that this speaker or these words may not end."""

    judgment: Judgment | None = None
    equal: bool = False
    near: bool = False
    subject: Subject = "same"
    same_speaker: bool = True
    trust: int = 0
    order: Order = "later"
    other_names: bool = False
    entails: bool = False
    guarded: bool = False


def decide(pairing: Pairing, thresholds: Thresholds | None) -> Action:
    one = pairing
    if one.equal:
        return "merge"
    if one.judgment is None or thresholds is None or one.subject == "other":
        return "keep"
    relation = one.judgment.relation
    if not _is_sure(one, one.judgment, thresholds) or relation == "unrelated":
        return "keep"
    if relation == "same":
        return "keep" if one.other_names else "merge"
    if relation == "refines":
        enriches = one.entails and one.trust >= 0 and one.order == "later" and not one.guarded
        return "enrich" if enriches else "keep"
    if one.trust < 0 or one.guarded:
        return "question_new"
    if relation in CHANGES and one.same_speaker and one.order != "none":
        if one.order == "earlier":
            return "file"
        return "supersede" if relation == "replaces" else "end"
    if one.trust > 0:
        return "question_known"
    return _OLDER[one.order]


def decide_all(pairings: Sequence[Pairing], thresholds: Thresholds | None) -> list[Action]:
    """The same for all that one statement is held against. It changes or questions what was told
    or is certain, and of all that is only likely one thing: the likeliest."""
    actions = [decide(one, thresholds) for one in pairings]
    touched = [at for at, action in enumerate(actions) if action not in ("keep", "merge", "enrich")]
    likeliest = max(touched, key=lambda at: _rank(pairings[at]), default=-1)
    for at in touched:
        if at != likeliest and _probability(pairings[at]) < 1:
            actions[at] = "keep"
    return actions


def _rank(one: Pairing) -> tuple[bool, float]:
    """What is surely about the same subject comes first."""
    return one.subject == "same", _probability(one)


def _probability(one: Pairing) -> float:
    return one.judgment.probability if one.judgment else 0.0


def _is_sure(one: Pairing, judgment: Judgment, thresholds: Thresholds) -> bool:
    relation = judgment.relation
    if relation == "unrelated" or (relation == "same" and one.near):
        return True
    if relation in CHANGES:
        unclear = one.subject == "unclear"
        least = thresholds.change_unclear if unclear else thresholds.change
    else:
        least = {
            "same": thresholds.same,
            "refines": thresholds.refines,
            "contradicts": thresholds.contradicts,
        }[relation]
    return judgment.probability > least
