from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standfast.packet.policy import Policy, fold_count, policy_from, policy_of, turn_starts
from standfast.packet.window import units
from standfast.profiles import profile_named
from standfast.text.summary import extract_summary
from standfast.text.tokens import estimate
from standfast.types import Message
from tests.unit.test_working import conversations, message


def plain(count: int) -> list[Message]:
    return [message(n, "user" if n % 2 == 0 else "assistant") for n in range(count)]


def folded(count: int, profile: str) -> int:
    return fold_count(plain(count), policy_of(profile_named(profile)), lambda _: 1)


def test_O9_otto_folds_above_twelve_and_keeps_eight() -> None:
    assert folded(12, "otto") == 0
    assert folded(13, "otto") == 5


def test_M2_openmotoko_folds_above_forty_and_keeps_twenty() -> None:
    assert folded(40, "openmotoko") == 0
    assert folded(41, "openmotoko") == 21


def test_A1_agtos_counts_turns() -> None:
    assert folded(40, "agtos") == 0
    assert folded(42, "agtos") == 22
    assert policy_of(profile_named("agtos")).summary_tokens == 500


@pytest.mark.parametrize(
    ("window", "count", "gone"), [(50, 50, 0), (50, 51, 41), (20, 21, 11), (3, 4, 2), (0, 99, 0)]
)
def test_B4_autobot_keeps_at_most_ten_of_a_window(window: int, count: int, gone: int) -> None:
    keep = min(10, max(2, window // 2)) if window else 10
    policy = Policy(rule="window", above=window, keep=keep, summary_tokens=500)
    assert fold_count(plain(count), policy, lambda _: 1) == gone


def test_the_token_rule_keeps_the_newest_that_fit_and_at_least_one() -> None:
    policy = Policy(rule="tokens", above=100, keep=50, summary_tokens=50)
    assert fold_count(plain(10), policy, lambda _: 10) == 0
    assert fold_count(plain(11), policy, lambda _: 10) == 6
    assert fold_count(plain(2), policy, lambda _: 1000) == 1


@given(conversations(), st.sampled_from(["messages", "turns", "window", "tokens"]), st.data())
def test_O10_no_policy_ever_parts_a_call_from_its_answers(
    log: list[Message], rule: str, data: st.DataObject
) -> None:
    above = data.draw(st.integers(1, 12))
    keep = data.draw(st.integers(1, above))
    policy = Policy(rule=rule, above=above, keep=keep, summary_tokens=50)  # type: ignore[arg-type]
    cut = fold_count(log, policy, lambda _: 1)
    assert 0 <= cut < max(len(log), 1)
    assert cut == 0 or cut in {piece.start for piece in units(log)}


def test_a_policy_is_recorded_and_read_again() -> None:
    policy = policy_of(profile_named("otto"))
    assert policy_from(str(policy), policy_of(profile_named("agtos"))) == policy
    assert policy_from("rubbish", policy) == policy


def test_A1_a_turn_begins_with_the_user_and_a_tool_result_begins_none() -> None:
    log = [
        message(0, "assistant"),
        message(1, "user"),
        message(2, "assistant", calls=("a",)),
        message(3, "user", answers=("a",)),
        message(4, "user"),
    ]
    assert turn_starts(log) == [0, 4]


@given(conversations(), st.integers(1, 400))
def test_O11_an_extract_is_never_empty_and_within_its_limit(log: list[Message], limit: int) -> None:
    text = extract_summary("", log, limit, estimate)
    assert text.strip()
    assert estimate(text) <= max(limit, 20)


def test_O11_O12_an_extract_keeps_what_matters_and_builds_on_the_last() -> None:
    from dataclasses import replace

    def said(n: int, role: str, text: str, **more: tuple[str, ...]) -> Message:
        return replace(message(n, role, **more), text=text)

    first = extract_summary(
        "",
        [
            said(1, "user", "Please migrate the orders table to UUID keys."),
            said(2, "assistant", "Hello! We will use a shadow table for the migration."),
            said(3, "assistant", "", calls=("a",)),
            said(4, "tool", "ERROR: permission denied for table orders", answers=("a",)),
        ],
        300,
        estimate,
    )
    assert "intent: Please migrate the orders table" in first
    assert "shadow table" in first
    assert "error: ERROR: permission denied" in first
    second = extract_summary(
        first, [said(5, "assistant", "Granted the rights, and the tests passed.")], 300, estimate
    )
    assert second.startswith(first)
    assert "tests passed" in second
