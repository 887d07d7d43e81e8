"""Finding rows by key, in whatever order the keys came."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

STRAYS_MIN = 1024  # keys that may wait outside the sorted ones, however few those are


class KeyRows:
    """As long as keys come in ascending order they need nothing beside themselves. Of equal keys
    the last one counts: the others are of records that were erased and made again."""

    def __init__(self) -> None:
        self._order: Array | None = None  # rows by key; None: they are in order
        self._ascending = np.zeros(0, dtype=np.int64)  # the keys in that order
        self._strays: dict[int, int] = {}  # what came since it was made

    @property
    def nbytes(self) -> int:
        order = 0 if self._order is None else int(self._order.nbytes)
        return order + int(self._ascending.nbytes) + 100 * len(self._strays)

    def add(self, keys: Array, first: int) -> None:
        """Rows from ``first`` on are new; ``keys`` are those of all rows."""
        new = keys[max(first - 1, 0) :]
        if self._order is None and bool((new[1:] > new[:-1]).all()):
            return
        if self._order is None:
            self._order = np.arange(first, dtype=np.int32)
            self._ascending = keys[:first].copy()
        self._strays.update(zip(keys[first:].tolist(), range(first, len(keys)), strict=True))
        if len(self._strays) > max(STRAYS_MIN, len(keys) // 8):
            self._order = np.argsort(keys, kind="stable").astype(np.int32)
            self._ascending = keys[self._order]
            self._strays.clear()

    def find(self, keys: Array, wanted: Array) -> tuple[Array, Array]:
        """The rows of these keys, and which of them were found."""
        if self._order is None:
            return _searched(keys, None, wanted)
        rows, found = _searched(self._ascending, self._order, wanted)
        if self._strays:
            for place, key in enumerate(wanted.tolist()):
                row = self._strays.get(key)
                if row is not None:
                    rows[place], found[place] = row, True
        return rows, found


def _searched(ascending: Array, order: Array | None, wanted: Array) -> tuple[Array, Array]:
    if not len(ascending):
        return np.zeros(len(wanted), dtype=np.int64), np.zeros(len(wanted), dtype=bool)
    place = np.maximum(np.searchsorted(ascending, wanted, side="right") - 1, 0)
    found: Array = ascending[place] == wanted
    rows: Array = place if order is None else order[place].astype(np.int64)
    return rows, found
