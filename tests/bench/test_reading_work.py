"""How much the rules do for one message: counted, because time differs between machines."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from bench.parts.learning import EARLIER, _message
from bench.talk import conversation
from standfast.text.claims import extract
from standfast.types import Message

MESSAGES = 240
CALLS_MAX = 1050  # of functions, for each message and the four before it; 850 when this was written


def _messages(seed: int) -> list[Message]:
    return [_message(place, turn) for place, turn in enumerate(conversation(MESSAGES, seed))]


def _read(messages: Sequence[Message]) -> None:
    for place, message in enumerate(messages):
        extract([message], earlier=messages[max(0, place - EARLIER) : place])


def test_a_message_is_not_read_again_and_again() -> None:
    """A new rule that takes a text apart by itself, or that every message goes through, shows here
    before it shows in the benchmark."""
    _read(_messages(seed=1))  # tables and patterns are made once
    messages, calls, before = _messages(seed=2), 0, sys.getprofile()

    def count(_frame: object, event: str, _what: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        _read(messages)
    finally:
        sys.setprofile(before)
    assert calls / len(messages) <= CALLS_MAX
