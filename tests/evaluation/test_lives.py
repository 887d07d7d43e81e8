"""Months of talk: nothing that was told once and still holds is taken away by what changed beside
it."""

from __future__ import annotations

import asyncio

import pytest

from evaluation.learning.lives import Life, lives, outcome

LIVES = lives()
# "We are in the new place" still ends how that place was found.
KNOWN = {"matteo": ["Dundas"]}


@pytest.mark.parametrize("life", LIVES, ids=[life.name for life in LIVES])
def test_X22_a_change_takes_nothing_away_that_it_does_not_concern(life: Life) -> None:
    found = asyncio.run(outcome(life, None))
    assert found.taken == KNOWN.get(life.name, [])
    assert found.right > 0


def test_a_life_that_is_told_otherwise_is_noticed() -> None:
    life = next(life for life in LIVES if life.name == "priya")
    sessions = [*life.sessions, (70, [("user", "We eat pork again, all of us.")])]
    changed = Life(life.name, life.who, sessions, ["does not eat pork"], ["peanuts"])
    found = asyncio.run(outcome(changed, None))
    assert (found.taken, found.still) == (["does not eat pork"], ["peanuts"])
