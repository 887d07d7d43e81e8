"""Which turn follows which: one chain of rows for each session of a scope, in order of time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

NONE = -1


class TurnChains:
    """Chains that grow row by row. Of turns of one moment the later row stands behind."""

    def __init__(self) -> None:
        self._before = np.zeros(0, dtype=np.int32)
        self._after = np.zeros(0, dtype=np.int32)
        self._times = np.zeros(0, dtype=np.int64)
        self._speakers = np.zeros(0, dtype=np.int64)
        self._sessions = np.zeros(0, dtype=np.int32)
        self._numbers: dict[str, int] = {}  # of sessions
        self._voices: dict[str, int] = {}
        self._ends: list[int] = []  # by number of the session: its last row

    @property
    def nbytes(self) -> int:
        per_row = sum(array.itemsize for array in self._arrays())
        return len(self._before) * per_row + 200 * len(self._numbers)

    def _arrays(self) -> tuple[Array, ...]:
        return self._before, self._after, self._times, self._speakers, self._sessions

    def add(
        self, sessions: Sequence[str], speakers: Sequence[str], times: Array, first: int
    ) -> None:
        """Rows from ``first`` on; a row whose session is "" is no turn and stays alone."""
        self._grow(first + len(sessions))
        self._times[first : first + len(sessions)] = times
        for row, session in enumerate(sessions, first):
            if session:
                self._speakers[row] = self._voices.setdefault(
                    speakers[row - first], len(self._voices)
                )
                self._chain(row, session)

    def _grow(self, size: int) -> None:
        if size <= len(self._before):
            return
        more = size + size // 4 + 16 - len(self._before)
        self._before = _longer(self._before, more, NONE)
        self._after = _longer(self._after, more, NONE)
        self._times = _longer(self._times, more, 0)
        self._speakers = _longer(self._speakers, more, 0)
        self._sessions = _longer(self._sessions, more, NONE)

    def _chain(self, row: int, session: str) -> None:
        number = self._numbers.setdefault(session, len(self._ends))
        if number == len(self._ends):
            self._ends.append(NONE)
        self._sessions[row] = number
        before, after = self._ends[number], NONE
        while before != NONE and self._times[before] > self._times[row]:
            before, after = int(self._before[before]), before
        self._link(before, row, number)
        self._link(row, after, number)

    def _link(self, before: int, after: int, number: int) -> None:
        if after == NONE:
            self._ends[number] = before
        else:
            self._before[after] = before
        if before != NONE:
            self._after[before] = after

    def remove(self, rows: Sequence[int]) -> None:
        for row in rows:
            if self._sessions[row] != NONE:
                before, after = int(self._before[row]), int(self._after[row])
                self._link(before, after, int(self._sessions[row]))
                self._before[row] = self._after[row] = self._sessions[row] = NONE

    def in_session(self, rows: Array) -> Array:
        """Which of these rows are turns."""
        held: Array = self._sessions[rows] != NONE
        return held

    def before(self, rows: Array, alive: Array | None) -> Array:
        """The row before each, or NONE; of NONE again NONE."""
        return _step(self._before, rows, alive)

    def after(self, rows: Array, alive: Array | None) -> Array:
        return _step(self._after, rows, alive)

    def pause(self, rows: Array, others: Array) -> Array:
        """Microseconds between each two."""
        pause: Array = np.abs(self._times[rows] - self._times[others])
        return pause

    def same_voice(self, rows: Array, others: Array) -> Array:
        same: Array = self._speakers[rows] == self._speakers[others]
        return same


def _longer(array: Array, more: int, value: int) -> Array:
    return np.concatenate([array, np.full(more, value, dtype=array.dtype)])


def _step(chain: Array, rows: Array, alive: Array | None) -> Array:
    """Along the chain, past what is not alive any more."""
    stepped: Array = np.where(rows == NONE, NONE, chain[rows])
    while alive is not None:
        gone = (stepped != NONE) & ~alive[stepped]
        if not gone.any():
            break
        stepped = np.where(gone, chain[stepped], stepped)
    return stepped
