"""Summaries without a model: the lines that matter most, taken from what was said. Pure.

A summary is a short list of labelled lines. It keeps the original intent, decisions, tool
results, errors and the current approach; what an earlier summary kept is carried on. It is an
extract and says nothing that nobody said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from recollect.text.normal import one_line
from recollect.text.tokens import TokenCount
from recollect.text.words import pattern
from recollect.types import Message

LINE_CHARACTERS_MAX = 240

# How long a line survives when there is no room for all.
WEIGHTS = {"intent": 9, "decision": 6, "error": 5, "outcome": 5, "tool": 3, "user": 3, "said": 1}

_LABELLED = re.compile(rf"- ({'|'.join(WEIGHTS)}): (.+)")
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n+")


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryLine:
    label: str
    text: str
    order: int

    def __str__(self) -> str:
        return f"- {self.label}: {self.text}"


def formatted(messages: Iterable[Message]) -> str:
    """Messages as a model reads them: time, speaker, tools, text."""
    return "\n".join(map(_formatted_line, messages))


def _formatted_line(message: Message) -> str:
    tools = ", ".join(dict.fromkeys(call.name for call in message.calls if call.name))
    speaker = message.role.upper() + (f" [tools: {tools}]" if tools else "")
    return f"[{message.at:%Y-%m-%d %H:%M}] {speaker}: {message.text}"


def extract_summary(
    previous: str, messages: Sequence[Message], tokens_max: int, count: TokenCount
) -> str:
    """The old summary with what these messages add, within the limit, never empty."""
    lines = list(_carried(previous))
    begun = any(line.label == "intent" for line in lines)
    for message in messages:
        for line in _lines_of(message, len(lines), begun):
            lines.append(line)
            begun = begun or line.label == "intent"
    kept = _within(
        lines or [SummaryLine(label="said", text="(nothing was said)", order=0)], tokens_max, count
    )
    return "\n".join(map(str, kept))


def _carried(previous: str) -> Iterable[SummaryLine]:
    """Lines of an earlier summary; one that a model wrote is carried on as a whole."""
    for order, text in enumerate(filter(None, (line.strip() for line in previous.split("\n")))):
        found = _LABELLED.match(text)
        yield SummaryLine(
            label=found[1] if found else "decision",
            text=found[2] if found else short(text.removeprefix("- ")),
            order=order,
        )


def _lines_of(message: Message, order: int, begun: bool) -> Iterable[SummaryLine]:
    text = message.text.strip()
    if message.calls:
        names = ", ".join(dict.fromkeys(call.name for call in message.calls if call.name))
        yield SummaryLine(label="tool", text=f"called {names}", order=order)
    if not text or message.role in ("system", "developer"):
        return
    if message.answers or message.role in ("tool", "function"):
        label = "error" if pattern("summary.error").search(text) else "tool"
        yield SummaryLine(label=label, text=_telling(text, "error"), order=order)
    elif message.role == "user":
        label = "user" if begun else "intent"
        yield SummaryLine(label=label, text=_telling(text, "decision"), order=order)
    else:
        yield _assistant_line(text, order)


def _assistant_line(text: str, order: int) -> SummaryLine:
    for label in ("decision", "outcome", "error"):
        if pattern(f"summary.{label}").search(text):
            return SummaryLine(label=label, text=_telling(text, label), order=order)
    return SummaryLine(label="said", text=short(_SENTENCE.split(text)[0]), order=order)


def _telling(text: str, label: str) -> str:
    """The sentence that matters, or the first."""
    cue = pattern(f"summary.{label}")
    sentences = [part for part in _SENTENCE.split(text[:20_000]) if part.strip()]
    return short(next((part for part in sentences if cue.search(part)), sentences[0]))


def short(text: str, limit: int = LINE_CHARACTERS_MAX) -> str:
    flat = one_line(text)
    return flat if len(flat) <= limit else flat[: limit - 3].rstrip() + "..."


def _within(lines: list[SummaryLine], tokens_max: int, count: TokenCount) -> list[SummaryLine]:
    """The weightiest lines that fit, of equals the newest; in the order they were said."""
    ranked = sorted(range(len(lines)), key=lambda index: (-WEIGHTS[lines[index].label], -index))
    kept: set[int] = set()
    spent = 0
    for index in ranked:
        price = count(f"{lines[index]}\n")
        if spent + price <= tokens_max:
            kept.add(index)
            spent += price
    if not kept:  # the limit is smaller than any line: cut the weightiest down to it
        first = lines[ranked[0]]
        length = len(first.text)
        while length > 8 and count(f"- {first.label}: {first.text[:length]}\n") > tokens_max:
            length //= 2
        return [SummaryLine(label=first.label, text=first.text[:length], order=0)]
    return [lines[index] for index in sorted(kept)]
