"""Summaries without a model: the lines that matter most, taken from what was said. Pure.

A summary is a short list of labelled lines. It keeps the original intent, decisions, tool
results, errors and the current approach; what an earlier summary kept is carried on. It is an
extract and says nothing that nobody said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

from standfast.text.graphemes import beginning
from standfast.text.normal import one_line
from standfast.text.tokens import TokenCount
from standfast.text.words import alternatives, pattern
from standfast.types import Message
from standfast.types.frozen import frozen

LINE_CHARACTERS_MAX = 240
GREETINGS_MAX = 4

# How long a line survives when there is no room for all.
WEIGHTS = {
    "intent": 9, "decision": 6, "error": 5, "outcome": 5, "note": 4, "tool": 3, "user": 3,
    "said": 1,
}  # fmt: skip

_LABELLED = re.compile(rf"- ({'|'.join(WEIGHTS)}): (.+)")
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n+")


@frozen
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
        wanted = without_greeting(text)
        if wanted and not begun:
            yield SummaryLine(label="intent", text=_request(wanted), order=order)
        elif wanted:
            yield SummaryLine(label="user", text=_telling(wanted, "decision"), order=order)
    elif message.role == "note":
        yield SummaryLine(label="note", text=short(f"{message.author}: {text}"), order=order)
    else:
        yield _assistant_line(text, order)


def _assistant_line(text: str, order: int) -> SummaryLine:
    for label in ("decision", "outcome", "error"):
        if pattern(f"summary.{label}").search(text):
            return SummaryLine(label=label, text=_telling(text, label), order=order)
    return SummaryLine(label="said", text=short(sentences_of(text)[0]), order=order)


def without_greeting(text: str) -> str:
    """What a message says after "Hi there! Hope you are well."; empty if that is all."""
    for _ in range(GREETINGS_MAX):
        found = _greeting().match(text)
        if found is None:
            break
        text = text[found.end() :]
    return text.strip()


@cache
def _greeting() -> re.Pattern[str]:
    words = alternatives("summary.greeting")
    return re.compile(
        rf"\W*(?:{words})(?=\W|\Z|(?<=[\u3400-\u9fff]))[\s,.!:;，。！–—-]*", re.IGNORECASE
    )


def _request(text: str) -> str:
    """What somebody wants: from the sentence that asks for it on, as far as a line goes."""
    sentences = sentences_of(text)
    asks = (at for at, part in enumerate(sentences) if pattern("summary.request").search(part))
    return short(" ".join(sentences[next(asks, 0) :]))


def _telling(text: str, label: str) -> str:
    """The sentence that matters, or the first."""
    cue = pattern(f"summary.{label}")
    sentences = sentences_of(text)
    return short(next((part for part in sentences if cue.search(part)), sentences[0]))


def sentences_of(text: str) -> list[str]:
    """As they were said, with their marks: "Dr." ends none."""
    found: list[str] = []
    for part in _SENTENCE.split(text[:20_000]):
        if found and is_abbreviated(found[-1]):
            found[-1] = f"{found[-1]} {part}"
        elif part.strip():
            found.append(part)
    return found


def short(text: str, limit: int = LINE_CHARACTERS_MAX) -> str:
    flat = one_line(text)
    return flat if len(flat) <= limit else beginning(flat, limit - 3).rstrip() + "..."


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
        return [SummaryLine(label=first.label, text=beginning(first.text, length), order=0)]
    return [lines[index] for index in sorted(kept)]


def is_abbreviated(text: str) -> bool:
    """Whether the full stop at its end is that of an abbreviation."""
    return text.endswith(".") and bool(_abbreviated().search(text[-8:]))


@cache
def _abbreviated() -> re.Pattern[str]:
    words = alternatives("sentences.abbreviations")
    return re.compile(rf"(?:^|[\s(])(?:{words}|\d{{1,2}}|[a-z])\.\Z", re.IGNORECASE)
