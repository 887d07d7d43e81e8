"""Sequences in pieces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def batched(values: Iterable[T], size: int) -> Iterator[tuple[T, ...]]:
    """As ``itertools.batched`` of Python 3.12."""
    rest = iter(values)
    while group := tuple(islice(rest, size)):
        yield group
