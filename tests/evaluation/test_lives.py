"""Months of talk: nothing that was told once and still holds is taken away by what changed beside
it."""

from __future__ import annotations

import asyncio

import pytest

from evaluation.learning.lives import Life, lives, outcome
from standfast.testing.judge import ScriptedJudge
from standfast.wiring.judge import boxed_judge

LIVES = lives()
# "Fly.io migration is done" ends how tests are run, a job at a restaurant that Tom is a chef.
KNOWN = {"dev": ["go test"], "priya": ["(Tom.*chef|husband Tom)"]}


@pytest.fixture(autouse=True)
def _network(monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge by words ends next to nothing: here the one in the box judges."""
    monkeypatch.setattr("standfast.wiring._judge", lambda _: (boxed_judge(), ""))


@pytest.mark.parametrize("life", LIVES, ids=[life.name for life in LIVES])
def test_X22_a_change_takes_nothing_away_that_it_does_not_concern(life: Life) -> None:
    found = asyncio.run(outcome(life, None))
    assert found.taken == KNOWN.get(life.name, [])
    assert found.right > 0


def test_a_life_that_is_told_otherwise_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = ScriptedJudge({("don't eat pork", "eat pork again"): ("ends", 0.95)})
    monkeypatch.setattr("standfast.wiring._judge", lambda _: (judge, ""))
    life = next(life for life in LIVES if life.name == "priya")
    sessions = [*life.sessions, (70, [("user", "We eat pork again, all of us.")])]
    changed = Life(life.name, life.who, sessions, ["don't eat pork"], ["peanuts"])
    found = asyncio.run(outcome(changed, None))
    assert (found.taken, found.still) == (["don't eat pork"], ["peanuts"])
