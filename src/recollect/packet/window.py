"""The working window: which recent messages a model sees. Tool calls keep their answers."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence

from recollect.types import Message


def units(messages: Sequence[Message]) -> list[range]:
    """The log in pieces that must stay together: a message alone, or a call, its answers and
    whatever stands between them, in whatever order they came."""
    ends = list(range(len(messages)))
    for caller, answerer, _ in call_pairs(messages):
        start, end = sorted((caller, answerer))
        ends[start] = max(ends[start], end)
    pieces: list[range] = []
    begin = reach = 0
    for index in range(len(messages)):
        if index > reach:
            pieces.append(range(begin, index))
            begin = index
        reach = max(reach, ends[index], index)
    if messages:
        pieces.append(range(begin, len(messages)))
    return pieces


def call_pairs(messages: Sequence[Message]) -> list[tuple[int, int, str]]:
    """Who called, who answered, and the id of the call, by position. An id may be used again
    later: an answer belongs to the nearest call before it, and only if there is none, to the
    nearest after it."""
    callers: dict[str, list[int]] = {}
    for index, message in enumerate(messages):
        for call in message.calls:
            callers.setdefault(call.id, []).append(index)
    pairs: list[tuple[int, int, str]] = []
    for index, message in enumerate(messages):
        for id_ in message.answers:
            known = callers.get(id_, ())
            place = bisect_right(known, index)
            if known:
                pairs.append((known[place - 1] if place else known[0], index, id_))
    return pairs


def fitting_tail(
    messages: Sequence[Message], budget: int, cost: Callable[[Message], int]
) -> tuple[list[Message], int]:
    """The newest whole pieces that fit, and what they cost. A piece that does not fit ends the
    window: a conversation with a hole in it would mislead."""
    kept: list[Message] = []
    spent = 0
    for piece in reversed(units(messages)):
        part = [messages[index] for index in piece]
        price = sum(cost(message) for message in part)
        if spent + price > budget:
            break
        kept = part + kept
        spent += price
    return kept, spent
