"""The working window: which recent messages a model sees. Tool calls keep their answers."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from standfast.text.graphemes import beginning, ending
from standfast.types import PERSON_TRUST, TRUST_OF_SOURCE, Message, Role
from standfast.types.invisible import shown


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
    start = len(messages)
    spent = 0
    for piece in reversed(units(messages)):
        price = sum([cost(messages[index]) for index in piece])
        if spent + price > budget:
            break
        start = piece.start
        spent += price
    return list(messages[start:]), spent


def is_claimed(message: Message) -> bool:
    """Does it speak as the user or as the system, without having been heard from them?"""
    return message.role in ("user", "system", "developer") and message.trust < PERSON_TRUST


def as_heard(message: Message) -> Message:
    """Who speaks as the user or as the system, but was not heard to be them, is quoted, and so is
    a tool that answers nothing: in a conversation everything else is said by the one whose name
    stands before it. What was imported is quoted whoever is said to have said it."""
    if message.role in ("tool", "function") or (is_claimed(message) and message.answers):
        if message.answers:
            return replace(message, role="tool", calls=())
        return _quoted(message, "said by a tool", "user")
    if is_claimed(message):
        return _quoted(message, f"logged by an agent as said by the {message.role}", "user")
    if message.trust < TRUST_OF_SOURCE["assistant"]:
        return replace(
            _quoted(message, f"imported as said by the {message.role}", "assistant"),
            calls=message.calls,
        )
    return message


# What has to go back to its provider byte by byte, or is no text.
_OPAQUE = frozenset(
    """args arguments call_id data encrypted_content fileData file_data functionCall function_call
    id image_url inlineData inline_data input name role signature source thinking thoughtSignature
    thought_signature tool_call_id tool_calls tool_use_id type url""".split()
)


def as_seen(message: Message) -> Message:
    """A message without invisible characters, and with control characters as escapes. What a
    provider has to get back as it came, such as calls and signed thoughts, is left alone."""
    text = shown(message.text)
    if not message.original:
        return message if text == message.text else replace(message, text=text)
    try:
        loaded = json.loads(message.original)
        original = json.dumps(seen, ensure_ascii=False) if (seen := _seen(loaded)) != loaded else ""
    except (ValueError, RecursionError):
        return replace(message, text=text)
    return replace(message, text=text, original=original or message.original)


def _seen(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: one if key in _OPAQUE else _seen(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_seen(one) for one in value]
    return shown(value) if isinstance(value, str) else value


def is_own(message: Message) -> bool:
    """Is it said by the one it names, or by a tool, which nobody takes for more than that?"""
    return message.role in ("tool", "function") or as_heard(message) is message


def heard_alone(message: Message) -> Message:
    """The same where nobody looks for the call that it answers."""
    return as_heard(replace(message, answers=()) if message.answers else message)


def _quoted(message: Message, how: str, role: Role) -> Message:
    from standfast.packet.text import quoted  # who only writes a log has nothing to quote

    text = f"[{how}] {quoted(message.text)}" if message.text.strip() else f"[{how}] (no text)"
    return replace(message, role=role, text=text, original="", calls=())


def newest_said(messages: Sequence[Message]) -> Message | None:
    """The user's newest message: what the model is to answer."""
    for message in reversed(messages):
        if message.role == "user" and not message.answers and message.text.strip():
            return message
    return None


def window(
    messages: Sequence[Message], budget: int, cost: Callable[[Message], int]
) -> tuple[list[Message], int, list[str]]:
    """What is shown of a conversation, its price, and what has to be said about it. The user's
    newest message is always there, cut where it is too long by itself."""
    kept, spent = fitting_tail(messages, budget, cost)
    asked = newest_said(messages)
    notes: list[str] = []
    if asked is not None and asked not in kept:
        shown = cut_to(asked, budget, cost)
        if shown is None:
            notes.append("the budget has no room for the newest message of the user")
        else:
            after = messages[list(messages).index(asked) + 1 :]
            rest, price = fitting_tail(after, budget - cost(shown), cost)
            kept, spent = [shown, *rest], price + cost(shown)
            if shown is not asked:
                notes.append("the newest message of the user is cut: it does not fit the budget")
            if len(rest) < len(after):
                notes.append(f"{len(after) - len(rest)} messages after it did not fit the budget")
    older = len(messages) - len(kept) if asked is None or asked in kept else 0
    if older:
        notes.append(f"{older} older messages did not fit the budget")
    return kept, spent, notes


def cut_to(message: Message, budget: int, cost: Callable[[Message], int]) -> Message | None:
    """The message, its middle left out as far as needed; None if not even a word of it fits."""
    if cost(message) <= budget:
        return message
    low, high = 0, len(message.text)
    while low < high:
        middle = (low + high + 1) // 2
        if cost(_shortened(message, middle)) <= budget:
            low = middle
        else:
            high = middle - 1
    return _shortened(message, low) if low else None


def _shortened(message: Message, length: int) -> Message:
    """Two thirds from its beginning and one third from its end: requests stand at either."""
    text = message.text
    head = beginning(text, -(-2 * length // 3))
    tail = ending(text, length - len(head)) if length > len(head) else ""
    missing = len(text) - len(head) - len(tail)
    return replace(message, text=f"{head} [... {missing:,} characters cut ...] {tail}", original="")
