"""Labelled messages as the network learns from them: pieces, tags, and what each clause says."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from standfast.understanding.reading.clauses import KEPT, LABELS
from standfast.understanding.reading.decoding import ADDRESSED
from standfast.understanding.reading.layout import Pieces, Window, windows
from training import labelled
from training.reader.labels import CATEGORIES, DURATIONS, Labelled, Span, parse

FIXED = ("me", "we", "you")
CATEGORY_ORDER = tuple(sorted(CATEGORIES))
DURATION_ORDER = tuple(sorted(DURATIONS))
UNKNOWN = -100  # a target that nobody labelled; the loss leaves it out


@dataclass(frozen=True, slots=True)
class Target:
    """What is known of a clause. ``choice``: a fixed subject, or the position of the first piece
    of the subject, counted behind the fixed ones; ``last`` is the position of its last."""

    first: int
    last: int
    choice: int = UNKNOWN
    end: int = UNKNOWN
    category: int = UNKNOWN
    lasts: int = UNKNOWN
    answers: int = UNKNOWN


@dataclass(frozen=True, slots=True)
class Example:
    message: Labelled
    window: Window
    tags: tuple[int, ...]
    targets: tuple[Target, ...]


def read(paths: Sequence[Path]) -> list[tuple[str, Labelled]]:
    """Every message with the name of its file, which is its writer."""
    return [(path.stem, one) for path in paths for one in labelled.read([path], parse)]


def pieces(tokenizer: Any, text: str) -> Pieces:
    found = tokenizer.encode(text, add_special_tokens=False)
    return Pieces(text=text, ids=found.ids, offsets=found.offsets)


def examples(tokenizer: Any, messages: Iterable[Labelled]) -> list[Example]:
    """One for each window of a message."""
    return [
        example(message, window)
        for message in messages
        for window in windows(pieces(tokenizer, message.text), pieces(tokenizer, message.before))
    ]


def with_unrelated_lines(
    messages: Sequence[Labelled], share: float, seed: int = 0
) -> list[Labelled]:
    """In a talk almost every message follows a line, most labelled ones follow none: a share of
    those gets a line that another message of its language followed."""
    dice = random.Random(seed)
    lines: dict[str, list[str]] = defaultdict(list)
    for one in messages:
        lines[one.language] += [one.before] if one.before else []
    return [
        replace(one, before=dice.choice(lines[one.language]))
        if lines[one.language] and not one.before and dice.random() < share
        else one
        for one in messages
    ]


def example(message: Labelled, window: Window) -> Example:
    tags = [UNKNOWN] * len(window.ids)
    tags[slice(*window.message)] = [0] * (window.message[1] - window.message[0])
    targets = []
    for span in message.spans:
        positions = covered(window, window.message, span.start, span.end)
        if not positions:
            continue
        begin = 1 + 2 * LABELS.index(span.label)
        for position in positions:
            tags[position] = begin + (position > positions[0])
        if span.label in KEPT:
            targets.append(_target(message, window, span, (positions[0], positions[-1])))
    return Example(message, window, tuple(tags), tuple(targets))


def covered(window: Window, side: tuple[int, int], start: int, end: int) -> list[int]:
    """Positions of one text whose pieces share characters with a stretch of it."""
    return [
        at for at in range(*side) if window.offsets[at][0] < end and start < window.offsets[at][1]
    ]


def _target(message: Labelled, window: Window, span: Span, ends: tuple[int, int]) -> Target:
    choice, end = _subject(message, window, span)
    if not span.category:  # of a file that was written before these were asked for
        return Target(*ends, choice, end)
    return Target(
        *ends,
        choice,
        end,
        CATEGORY_ORDER.index(span.category),
        DURATION_ORDER.index(span.lasts),
        int(span.answers),
    )


def _subject(message: Labelled, window: Window, span: Span) -> tuple[int, int]:
    if span.label == ADDRESSED:
        return UNKNOWN, UNKNOWN
    if span.subject in FIXED:
        # Early files say "me" also of what only the line before names.
        doubtful = message.before and not span.category
        return (UNKNOWN if doubtful else FIXED.index(span.subject)), UNKNOWN
    found = place_of(message, span)
    if found is None:
        return UNKNOWN, UNKNOWN
    start, in_message = found
    side = window.message if in_message else window.earlier
    positions = covered(window, side, start, start + len(span.subject))
    if not positions:
        return UNKNOWN, UNKNOWN
    return len(FIXED) + positions[0], positions[-1]


def place_of(message: Labelled, span: Span) -> tuple[int, bool] | None:
    """Where the words of a subject stand, and whether in the message: in the clause, else the
    last time ahead of it, else behind it, else in the line before."""
    inside = message.text.find(span.subject, span.start, span.end)
    ahead = message.text.rfind(span.subject, 0, span.end)
    behind = message.text.find(span.subject)
    for start in (inside, ahead, behind):
        if start >= 0:
            return start, True
    start = message.before.rfind(span.subject)
    return (start, False) if start >= 0 else None
