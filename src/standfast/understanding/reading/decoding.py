"""From the outputs of the reader's head to clauses: plain arithmetic on arrays.

The head is one linear projection of every piece: scores of the tags, scores and vectors for the
subject, and scores of what is known about a clause, averaged over its pieces.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from standfast.types.frozen import frozen
from standfast.understanding.reading.clauses import KEPT, LABELS, Clause, Label, SubjectSource
from standfast.understanding.reading.layout import Window
from standfast.understanding.reading.structure import Range

TAGS = 1 + 2 * len(LABELS)  # outside, then begin and inside of each label
# What may not follow what: an "inside" follows its own label.
ILLEGAL = np.zeros((TAGS, TAGS), np.bool_)
ILLEGAL[:, 2::2] = True
ILLEGAL[range(2, TAGS, 2), range(2, TAGS, 2)] = ILLEGAL[range(1, TAGS, 2), range(2, TAGS, 2)] = (
    False
)
SUBJECT_MAX = 16  # pieces
CERTAIN = 1e-6  # probabilities stay so far from 0 and 1
ADDRESSED: Label = "ORDER"  # whoever is told how to behave is the assistant
STOPS = ".,。，"  # a piece may end with one that belongs to no clause: "5.", "\"."

Floats = NDArray[np.float32]


@frozen
class MarkCalibration:
    """Log-odds of the network to a probability, and the least that is believed."""

    scale: float = 1.0
    bias: float = 0.0
    threshold: float = 0.0

    def probability(self, share: float) -> float:
        share = min(max(share, CERTAIN), 1 - CERTAIN)
        odds = self.scale * np.log(share / (1 - share)) + self.bias
        return float(1 / (1 + np.exp(-odds)))


@frozen
class Head:
    """What the numbers of a piece mean: ranges by name, and the names of the classes."""

    parts: Mapping[str, Range]  # tags, fixed, start_query, start_key, end_query, end_key, ...
    fixed: Sequence[str]  # subjects that are no words of the text
    categories: Sequence[str]
    durations: Sequence[str]
    calibration: Mapping[str, MarkCalibration]
    transitions: Floats = field(default_factory=lambda: np.zeros((TAGS, TAGS), np.float32))

    @property
    def size(self) -> int:
        return max(stop for _, stop in self.parts.values())

    def part(self, outputs: Floats, name: str) -> Floats:
        start, stop = self.parts[name]
        return outputs[..., start:stop]

    def believes(self, clause: Clause) -> bool:
        return clause.confidence >= self.calibration[clause.label].threshold


def head_of(data: Mapping[str, Any]) -> Head:
    """From the description beside the weights."""
    return Head(
        parts={name: (start, stop) for name, (start, stop) in data["parts"].items()},
        fixed=tuple(data["fixed"]),
        categories=tuple(data["categories"]),
        durations=tuple(data["durations"]),
        calibration={
            label: MarkCalibration(**data["calibration"].get(label, {})) for label in LABELS
        },
        transitions=np.array(data.get("transitions") or np.zeros((TAGS, TAGS)), np.float32),
    )  # fmt: skip


def decode(outputs: Floats, window: Window, head: Head) -> list[Clause]:
    """The clauses of a window in order. ``outputs``: its pieces x the rows of the head."""
    start, stop = window.message
    if start == stop:
        return []
    tags = head.part(outputs, "tags")[start:stop]
    shares = _shares(tags)
    found = []
    for first, last, label in _runs(legal_row(tags, head.transitions)):
        share = float(shares[first : last + 1, label].mean())
        clause = _clause(outputs, window, head, (start + first, start + last, label), share)
        if clause is not None and window.owned[0] <= start + first < window.owned[1]:
            found.append(clause)
    return found


def joined(parts: Iterable[Iterable[Clause]]) -> list[Clause]:
    """The clauses of all windows of a message; of two that overlap, the earlier."""
    found: list[Clause] = []
    for clause in (one for part in parts for one in part):
        if not found or clause.start >= found[-1].end:
            found.append(clause)
    return found


def legal_row(scores: Floats, transitions: Floats) -> list[int]:
    """The best row of tags in which every "inside" follows a tag of its own label (Viterbi).
    ``transitions``: what each tag adds to the score of each that follows it."""
    best, back = scores[0].astype(np.float64), []
    best[2::2] = -np.inf
    allowed = np.where(ILLEGAL, -np.inf, transitions)
    for row in scores[1:]:
        table = best[:, None] + allowed
        source = table.argmax(axis=0)
        back.append(source)
        best = row + table[source, np.arange(len(best))]
    tags = [int(best.argmax())]
    for source in reversed(back):
        tags.append(int(source[tags[-1]]))
    return tags[::-1]


def characters(text: str, offsets: Sequence[Range]) -> Range:
    """The characters of pieces, without white space around them or a stop glued to the last."""
    start, end = offsets[0][0], max(end for _, end in offsets)
    glued = offsets[-1][1] - offsets[-1][0] > 1
    while end > start and (text[end - 1].isspace() or (glued and text[end - 1] in STOPS)):
        end -= 1
    while start < end and text[start].isspace():
        start += 1
    return start, end


def _shares(tags: Floats) -> Floats:
    """The probability of each label at each piece."""
    raised = np.exp(tags - tags.max(axis=1, keepdims=True))
    raised /= raised.sum(axis=1, keepdims=True)
    return cast(Floats, raised[:, 1::2] + raised[:, 2::2])


def _runs(tags: Sequence[int]) -> list[tuple[int, int, int]]:
    """First and last piece of each clause, and its label."""
    found: list[tuple[int, int, int]] = []
    for at, tag in enumerate(tags):
        if tag % 2:
            found.append((at, at, tag // 2))
        elif tag:
            first, _, label = found[-1]
            found[-1] = (first, at, label)
    return found


def _clause(
    outputs: Floats, window: Window, head: Head, run: tuple[int, int, int], share: float
) -> Clause | None:
    first, last, number = run
    label = LABELS[number]
    start, end = characters(window.text, window.offsets[first : last + 1])
    if start == end:
        return None
    confidence = head.calibration[label].probability(share)
    if label not in KEPT:
        return Clause(start=start, end=end, label=label, confidence=confidence)
    mean = outputs[first : last + 1].mean(axis=0)
    subject, source, share = _subject(outputs, mean, window, head, label)
    return Clause(
        start=start,
        end=end,
        label=label,
        subject=subject,
        subject_in=source,
        subject_share=share,
        category=head.categories[int(head.part(mean, "category").argmax())],
        lasts=head.durations[int(head.part(mean, "lasts").argmax())],
        answers=bool(window.previous) and float(head.part(mean, "answers")[0]) > 0,
        confidence=confidence,
    )


def _subject(
    outputs: Floats, mean: Floats, window: Window, head: Head, label: Label
) -> tuple[str, SubjectSource, float]:
    if label == ADDRESSED:
        return "you", "fixed", 1.0
    places = window.candidates
    keys = head.part(outputs[places], "start_key")
    starts = keys @ head.part(mean, "start_query")
    fixed = head.part(mean, "fixed")
    both = np.concatenate([fixed, starts])
    share = float(1 / np.exp(both - both.max()).sum())
    if fixed.max() >= starts.max(initial=-np.inf):
        return head.fixed[int(fixed.argmax())], "fixed", share
    first = places[int(starts.argmax())]
    text, source, stop = _side(window, first)
    near = outputs[first : min(first + SUBJECT_MAX, stop)]
    last = first + int((head.part(near, "end_key") @ head.part(mean, "end_query")).argmax())
    start, end = characters(text, window.offsets[first : last + 1])
    return text[start:end], source, share


def _side(window: Window, position: int) -> tuple[str, SubjectSource, int]:
    """The text in which a position stands, and where its pieces end."""
    if position < window.earlier[1]:
        return window.previous, "previous", window.earlier[1]
    return window.text, "message", window.message[1]
