"""The input of the reader: the line before and the message as pieces, in windows.

``<s> line before </s> </s> message </s>``. A message that is longer than a window is read in
several, which overlap; a clause belongs to the window that owns the piece it begins with.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from standfast.types.frozen import frozen
from standfast.understanding.reading.structure import Range, marks_of

BEGIN, PAD, END = 0, 1, 2
PREVIOUS_MAX, MESSAGE_MAX, OVERLAP = 48, 200, 64  # pieces


@frozen
class Pieces:
    """A text as its tokenizer cuts it, without special pieces."""

    text: str
    ids: Sequence[int]
    offsets: Sequence[Range]  # characters of each piece


@frozen
class Window:
    """One input of the network. Positions count its pieces; ranges of positions are half-open."""

    text: str
    previous: str
    ids: tuple[int, ...]
    marks: tuple[int, ...]  # see ``structure``
    offsets: tuple[Range, ...]  # in the text or in the line before; (0, 0) for special pieces
    earlier: Range  # positions of the line before
    message: Range  # positions of the message
    owned: Range  # positions where its clauses begin

    @property
    def candidates(self) -> list[int]:
        """Positions that a subject may begin with."""
        return [*range(*self.earlier), *range(*self.message)]


def windows(message: Pieces, previous: Pieces) -> Iterator[Window]:
    marks = marks_of(message.text, message.offsets)
    size, step = len(message.ids), MESSAGE_MAX - OVERLAP
    for first in range(0, max(1, size - OVERLAP), step):
        yield _window(message, previous, marks, range(first, min(first + MESSAGE_MAX, size)))


def _window(message: Pieces, previous: Pieces, marks: Sequence[int], cut: range) -> Window:
    earlier, part = slice(-PREVIOUS_MAX, None), slice(cut.start, cut.stop)
    kept = len(previous.ids[earlier])
    start = 1 + kept + 2
    stop = start + len(cut)
    left, right = cut.start > 0, cut.stop < len(message.ids)
    return Window(
        text=message.text,
        previous=previous.text,
        ids=(BEGIN, *previous.ids[earlier], END, END, *message.ids[part], END),
        marks=(*[0] * start, *marks[part], 0),
        offsets=(
            (0, 0),
            *previous.offsets[earlier],
            (0, 0),
            (0, 0),
            *message.offsets[part],
            (0, 0),
        ),
        earlier=(1, 1 + kept),
        message=(start, stop),
        owned=(start + left * OVERLAP // 2, stop - right * OVERLAP // 2),
    )
