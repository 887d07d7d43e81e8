"""Which turn follows which: one chain of rows for each session of a scope, in order of time; turns
of one moment as they came, which is the order of their keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from standfast.index.postings import distinct

Array = NDArray[Any]

NONE = -1
FEW = 32  # rows that are linked one by one; more of them by sorting


class TurnChains:
    """Chains that grow. Rows may come in any order: what does not stand behind the end of its
    chain waits until ``settle``, which sorts the chains that it concerns, all at once. Until the
    first turn comes there is nothing to know of any row."""

    def __init__(self) -> None:
        self._before = np.zeros(0, dtype=np.int32)
        self._after = np.zeros(0, dtype=np.int32)
        self._times = np.zeros(0, dtype=np.int64)
        self._speakers = np.zeros(0, dtype=np.int32)
        self._sessions = np.zeros(0, dtype=np.int32)
        self._numbers: dict[str, int] = {}  # of sessions
        self._ends: list[int] = []  # by number of the session: its last row
        self._unsettled: set[int] = set()  # sessions

    @property
    def nbytes(self) -> int:
        per_row = sum(array.itemsize for array in self._arrays())
        return len(self._before) * per_row + 200 * len(self._numbers)

    def _arrays(self) -> tuple[Array, ...]:
        return self._before, self._after, self._times, self._speakers, self._sessions

    def add(
        self, first: int, sessions: Sequence[str], speakers: Array, times: Array, keys: Array
    ) -> None:
        """Rows from ``first`` on; a row whose session is "" is no turn and stays alone. ``keys``
        are those of the whole index."""
        if not self._numbers and not any(sessions):
            return
        size = first + len(sessions)
        self._grow(size)
        self._times[first:size] = times
        self._speakers[first:size] = speakers
        numbers = self._numbers
        for session in dict.fromkeys(sessions):
            if session:
                self._number(session)
        given = [numbers.get(session, NONE) for session in sessions]
        self._sessions[first:size] = given
        turns = [(row, number) for row, number in enumerate(given, first) if number != NONE]
        if len(turns) > FEW:
            self._unsettled.update(number for _, number in turns)
            return
        for row, number in turns:
            if number not in self._unsettled:
                self._chain(row, number, keys)

    def take(
        self, first: int, sessions: Sequence[str], given: Array, speakers: Array, times: Array
    ) -> None:
        """The same for rows whose sessions are numbered already, by their place in this list;
        NONE: no turn. They are chained by ``settle``."""
        if not self._numbers and not sessions:
            return
        size = first + len(given)
        self._grow(size)
        self._times[first:size] = times
        self._speakers[first:size] = speakers
        known = [*map(self._number, sessions), NONE]  # the last one is that of NONE
        self._sessions[first:size] = np.array(known, dtype=np.int32)[given]
        self._unsettled.update(known[:-1])

    def _number(self, session: str) -> int:
        if session not in self._numbers:
            self._numbers[session] = len(self._ends)
            self._ends.append(NONE)
        return self._numbers[session]

    def given(self, rows: Array) -> tuple[list[str], Array]:
        """The sessions of these rows, and for each row the place of its own in the list."""
        if not self._numbers:
            return [], np.full(len(rows), NONE, dtype=np.int32)
        numbers = self._sessions[rows]
        held = distinct(numbers[numbers != NONE])
        names = list(self._numbers)
        places = np.full(len(names) + 1, NONE, dtype=np.int32)
        places[held] = np.arange(len(held), dtype=np.int32)
        return [names[number] for number in held.tolist()], places[numbers]

    def _grow(self, size: int) -> None:
        if size <= len(self._before):
            return
        more = size + size // 4 + 16 - len(self._before)
        self._before = _longer(self._before, more, NONE)
        self._after = _longer(self._after, more, NONE)
        self._times = _longer(self._times, more, 0)
        self._speakers = _longer(self._speakers, more, 0)
        self._sessions = _longer(self._sessions, more, NONE)

    def _chain(self, row: int, number: int, keys: Array) -> None:
        end = self._ends[number]
        if end != NONE and (self._times[end], keys[end]) > (self._times[row], keys[row]):
            self._unsettled.add(number)
        else:
            self._link(end, row, number)
            self._link(row, NONE, number)

    def _link(self, before: int, after: int, number: int) -> None:
        if after == NONE:
            self._ends[number] = before
        else:
            self._before[after] = before
        if before != NONE:
            self._after[before] = after

    def change(self, rows: Array, speakers: Array, times: Array) -> None:
        """Who said it, or when, is known better now."""
        if not self._numbers:
            return
        rows, speakers, times = (
            one[self._sessions[rows] != NONE] for one in (rows, speakers, times)
        )
        moved = rows[self._times[rows] != times]
        self._unsettled.update(self._sessions[moved].tolist())
        self._times[rows], self._speakers[rows] = times, speakers

    def settle(self, keys: Array) -> None:
        """Sort the chains in which something came out of order."""
        if not self._unsettled:
            return
        concerned = np.zeros(len(self._ends) + 1, dtype=bool)  # the last one: no session at all
        concerned[list(self._unsettled)] = True
        rows = np.flatnonzero(concerned[self._sessions[: len(keys)]])
        rows = rows[np.lexsort((keys[rows], self._times[rows], self._sessions[rows]))]
        goes_on = self._sessions[rows[1:]] == self._sessions[rows[:-1]]
        self._after[rows] = NONE
        self._before[rows] = NONE
        self._after[rows[:-1][goes_on]] = rows[1:][goes_on]
        self._before[rows[1:][goes_on]] = rows[:-1][goes_on]
        last = rows[np.append(~goes_on, True)]
        for number, row in zip(self._sessions[last].tolist(), last.tolist(), strict=True):
            self._ends[number] = row
        self._unsettled.clear()

    def remove(self, rows: Sequence[int]) -> None:
        """All is settled."""
        for row in rows if self._numbers else ():
            if self._sessions[row] != NONE:
                before, after = int(self._before[row]), int(self._after[row])
                self._link(before, after, int(self._sessions[row]))
                self._before[row] = self._after[row] = self._sessions[row] = NONE

    def any_of(self, rows: Array) -> bool:
        """Is one of these rows a turn?"""
        return bool(self._numbers) and bool(self.in_session(rows).any())

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
