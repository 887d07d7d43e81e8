"""When a session is folded, and how much of it stays verbatim. Pure.

Four published rules and one of our own, as data: a session records the policy it was begun
with, so a process under another profile treats it the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, cast, get_args

from standfast.packet.window import units
from standfast.profiles import Profile
from standfast.types import Message
from standfast.types.frozen import frozen

Rule = Literal["messages", "turns", "window", "tokens"]

WINDOW_KEEP_MIN = 2
WINDOW_KEEP_MAX = 10
TRIMMED_TO = 10  # a window of 0 is never folded, only trimmed


@frozen
class Policy:
    """``above`` counts messages, turns or tokens, by ``rule``; ``keep`` counts the same."""

    rule: Rule
    above: int
    keep: int
    summary_tokens: int

    def __str__(self) -> str:
        return f"{self.rule}/{self.above}/{self.keep}/{self.summary_tokens}"


def policy_of(profile: Profile) -> Policy:
    above, keep = profile.compact_above, profile.keep_recent
    if profile.compaction == "turns" and above < keep:
        # Somebody wants fewer turns than the specification keeps verbatim: half of theirs then.
        keep = max(1, above // 2)
    if profile.compaction == "window":
        keep = min(WINDOW_KEEP_MAX, max(WINDOW_KEEP_MIN, above // 2)) if above else TRIMMED_TO
    return Policy(
        rule=cast(Rule, profile.compaction),
        above=above,
        keep=keep,
        summary_tokens=profile.summary_tokens,
    )


def policy_from(text: str, fallback: Policy) -> Policy:
    """The policy that a session recorded; an unreadable one gives way to the profile's."""
    rule, *numbers = text.split("/")
    if rule not in get_args(Rule) or len(numbers) != 3 or not all(n.isdigit() for n in numbers):
        return fallback
    above, keep, tokens = map(int, numbers)
    return Policy(rule=cast(Rule, rule), above=above, keep=keep, summary_tokens=tokens)


def fold_count(messages: Sequence[Message], policy: Policy, cost: Callable[[Message], int]) -> int:
    """How many of these, from the oldest, are to be folded now. The cut is moved back to where
    no tool call is parted from its answers, so a little more than ``keep`` may stay."""
    if policy.rule == "window" and policy.above == 0:
        return 0
    cut = _wanted_cut(messages, policy, cost)
    if cut <= 0:
        return 0
    starts = [piece.start for piece in units(messages)]
    return max((start for start in starts if start <= cut), default=0)


def _wanted_cut(messages: Sequence[Message], policy: Policy, cost: Callable[[Message], int]) -> int:
    if policy.rule == "turns":
        begins = turn_starts(messages)
        return begins[-policy.keep] if len(begins) > policy.above >= policy.keep > 0 else 0
    if policy.rule == "tokens":
        return _token_cut(messages, policy, cost)
    return len(messages) - policy.keep if len(messages) > policy.above else 0


def _token_cut(messages: Sequence[Message], policy: Policy, cost: Callable[[Message], int]) -> int:
    prices = [cost(message) for message in messages]
    if sum(prices) <= policy.above:
        return 0
    left, cut = policy.keep, len(messages)
    while cut > 0 and prices[cut - 1] <= left:
        cut -= 1
        left -= prices[cut]
    # The newest message stays, however long it is.
    return min(cut, len(messages) - 1)


def turn_starts(messages: Sequence[Message]) -> list[int]:
    """A turn is a user message and everything up to the next one. What comes before the first
    user message belongs to the first turn; a tool result in user's clothes begins none."""
    starts = [
        index
        for index, message in enumerate(messages)
        if message.role == "user" and not message.answers
    ]
    if messages and (not starts or starts[0] > 0):
        starts[:1] = [0]
    return starts
