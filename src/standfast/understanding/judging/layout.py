"""How a pair stands in front of the judge: the old statement, the line before, the new message."""

from __future__ import annotations

from collections.abc import Sequence

START, END = 0, 2  # pieces of the base
OLD_MAX, BEFORE_MAX, NEW_MAX = 64, 40, 128


def pair(old: Sequence[int], before: Sequence[int], new: Sequence[int]) -> list[int]:
    """The pieces that the network reads. Of the line before its end is read."""
    return [
        START, *old[:OLD_MAX], END, END, *before[-BEFORE_MAX:], END, END, *new[:NEW_MAX], END,
    ]  # fmt: skip
