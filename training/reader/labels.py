"""``python -m training.reader.labels [FILE...]``: check labelled messages and count them.

One JSON object a line, as ``BRIEF.md`` says. Files whose spans have three parts were labelled
before category, duration and answer were asked for; they teach clauses and subjects alone.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training import labelled

LABELS = ("FACT", "PREF", "ORDER", "TASK", "PASSING", "UNREAL", "FOREIGN", "QUESTION")
KEPT = frozenset(LABELS[:3])
CATEGORIES = frozenset(
    """home work people health food leisure money plan project tool decision style self
    other""".split()
)
DURATIONS = frozenset(("always", "years", "months", "weeks", "days"))
PARTS, PARTS_FULL = 3, 6


@dataclass(frozen=True, slots=True)
class Span:
    """A labelled clause; ``category`` and ``lasts`` are empty where nobody was asked."""

    start: int
    end: int
    label: str
    subject: str
    category: str = ""
    lasts: str = ""
    answers: bool = False


@dataclass(frozen=True, slots=True)
class Labelled:
    text: str
    before: str  # the line that it follows
    language: str
    spans: tuple[Span, ...]


def parse(line: str) -> Labelled:
    """ValueError: what is wrong with the line."""
    row = json.loads(line)
    text, before = row["text"], row.get("prev") or ""
    spans: list[Span] = []
    at = 0
    for raw in row["spans"]:
        span = _span(raw, text, before, at)
        spans.append(span)
        at = span.end
    return Labelled(text, before, row.get("lang", "en"), tuple(spans))


def _span(raw: Sequence[Any], text: str, before: str, at: int) -> Span:
    if len(raw) not in (PARTS, PARTS_FULL):
        raise ValueError(f"a span has {PARTS} or {PARTS_FULL} parts: {raw}")
    words, label, subject = raw[:PARTS]
    start = text.find(words, at)
    if not words or start < 0:
        raise ValueError(f"not in the text, or out of order: {words!r}")
    if label not in LABELS:
        raise ValueError(f"no label {label!r}")
    if label in KEPT and not subject:
        raise ValueError(f"no subject: {words!r}")
    if len(raw) == PARTS or label not in KEPT:
        return Span(start, start + len(words), label, subject)
    category, lasts, answers = raw[PARTS:]
    if category not in CATEGORIES or lasts not in DURATIONS or not isinstance(answers, bool):
        raise ValueError(f"category, duration or answer: {raw[PARTS:]}")
    if subject not in ("me", "we", "you") and subject not in text and subject not in before:
        raise ValueError(f"the subject stands nowhere: {subject!r}")
    return Span(start, start + len(words), label, subject, category, lasts, answers)


def describe(paths: Sequence[Path]) -> str:
    found = list(labelled.read(paths, parse))
    labels = Counter(span.label for one in found for span in one.spans)
    languages = Counter(one.language for one in found)
    return f"{len(found)} messages; {dict(labels.most_common())}; {dict(languages.most_common())}"


if __name__ == "__main__":
    sys.exit(labelled.report(sys.argv[1:], Path(__file__).parent, describe))
