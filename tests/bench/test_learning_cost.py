"""Counting what learning costs: the same on every machine, and not in our own favour."""

from __future__ import annotations

import asyncio
from pathlib import Path

from bench.billing import Bill, exchanges_of, ours, sessions_of, tokens_of, two_calls
from bench.talk import SESSION_MESSAGES, conversation
from standfast.models.prompts import extract

TURNS = conversation(3 * SESSION_MESSAGES)


def test_the_same_seed_gives_the_same_talk() -> None:
    assert conversation(50) == conversation(50)
    assert conversation(50) != conversation(50, seed=1)
    assert [turn.role for turn in TURNS[:4]] == ["user", "assistant", "user", "assistant"]
    assert len(list(sessions_of(TURNS))) == 3
    assert [len(one) for one in exchanges_of(TURNS[:5])] == [2, 2, 1]


def test_a_design_with_two_calls_is_counted_as_it_says() -> None:
    eager, lazy = (Bill(messages=len(TURNS)) for _ in range(2))
    asyncio.run(two_calls(TURNS, eager, always=True))
    asyncio.run(two_calls(TURNS, lazy, always=False))
    users = len(TURNS) // 2
    assert eager.calls == 2 * users
    assert users < lazy.calls < eager.calls
    overhead = tokens_of(extract(known="", messages=""))
    assert eager.asked > eager.calls * (overhead - 10)
    assert lazy.asked < eager.asked


def test_X12_ours_asks_less_and_learns_from_every_session(tmp_path: Path) -> None:
    bill, eager = (Bill(messages=len(TURNS)) for _ in range(2))
    asyncio.run(ours(TURNS, tmp_path, bill))
    asyncio.run(two_calls(TURNS, eager, always=True))
    # The first session is learned from at once, each later one as one or two digests.
    assert 3 <= bill.by["extract"] <= SESSION_MESSAGES / 2 + 4
    assert bill.asked + bill.answered < (eager.asked + eager.answered) / 2
