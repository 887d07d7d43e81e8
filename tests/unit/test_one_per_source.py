"""Of a turn and a fact learned from it, the answer holds one."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from standfast.profiles import PROFILES
from standfast.rank.candidates import Candidate
from standfast.rank.stages import Asked, one_per_source
from standfast.types import Hit, Record

NOW = datetime(2026, 5, 1, tzinfo=UTC)
TURN = Record(
    id="turn",
    scope="user:ann",
    kind="episodic",
    type="turn",
    text="I live in Hamburg.",
    learned_at=NOW,
    session="chat",
    lineage=("m1",),
)
FACT = replace(TURN, id="fact", kind="semantic", type="fact", text="Ann lives in Hamburg.")


def ranked(*scored: tuple[Record, float], prefer_facts: bool = False) -> dict[str, float]:
    asked = Asked(text="?", now=NOW, profile=PROFILES["default"], prefer_facts=prefer_facts)
    candidates = [Candidate(Hit(record=record), score) for record, score in scored]
    return {c.record.id: c.score for c in one_per_source(candidates, asked)}


@pytest.mark.parametrize(("prefer_facts", "kept"), [(False, "turn"), (True, "fact")])
def test_one_stays_with_the_better_score(prefer_facts: bool, kept: str) -> None:
    for scores in ((0.4, 0.9), (0.9, 0.4)):
        pairs = zip((TURN, FACT), scores, strict=True)
        assert ranked(*pairs, prefer_facts=prefer_facts) == {kept: pytest.approx(0.9)}


def test_L5_a_copy_in_another_scope_is_of_the_same_source() -> None:
    copy = replace(FACT, scope="user:ann:agent:cto", session_scope="user:ann")
    assert ranked((TURN, 0.5), (copy, 0.6)) == {"turn": pytest.approx(0.6)}


@pytest.mark.parametrize(
    "other",
    [
        replace(FACT, lineage=("m2",)),
        replace(FACT, session="another chat"),
        replace(FACT, scope="user:bob"),
        replace(FACT, session="", lineage=()),
        replace(FACT, kind="episodic", type="episode"),
    ],
)
def test_others_are_left_alone(other: Record) -> None:
    assert ranked((TURN, 0.5), (other, 0.6)) == {"turn": 0.5, "fact": 0.6}


def test_a_fact_does_not_stand_for_what_it_does_not_say() -> None:
    turn = replace(TURN, text="I live in Hamburg. The spare key is under the blue pot.")
    key = replace(FACT, id="key", text="The spare key is under the blue pot.")
    assert ranked((turn, 0.9), (FACT, 0.4), prefer_facts=True) == {
        "turn": pytest.approx(0.9),
        "fact": pytest.approx(0.9),
    }
    assert ranked((turn, 0.9), (FACT, 0.4), (key, 0.5), prefer_facts=True) == {
        "fact": pytest.approx(0.4),
        "key": pytest.approx(0.9),
    }
    disputed = replace(FACT, status="disputed")
    assert ranked((turn, 0.5), (disputed, 0.4)).keys() == {"turn", "fact"}
    assert ranked((TURN, 0.5), (disputed, 0.4)).keys() == {"fact"}


def test_two_facts_of_one_turn_leave_the_turn_and_two_turns_of_one_fact_the_better() -> None:
    second = replace(FACT, id="fact 2", text="Ann has moved.")
    assert ranked((TURN, 0.5), (FACT, 0.6), (second, 0.7)) == {"turn": pytest.approx(0.7)}
    later = replace(TURN, id="turn 2", lineage=("m2",))
    both = replace(FACT, lineage=("m1", "m2"))
    assert ranked((TURN, 0.5), (later, 0.6), (both, 0.3)) == {"turn": 0.5, "turn 2": 0.6}
