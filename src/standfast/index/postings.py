"""Which rows hold which word: sorted arrays, mostly three bytes per word and row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from standfast.index.derived import TERM
from standfast.types.frozen import frozen

Array = NDArray[Any]

SEGMENTS_MAX = 16
WAITING_MAX = 64  # rows
TAIL_MIN = 20_000  # entries that may wait outside the main segment, however small that is


@frozen(kw_only=False)
class Segment:
    """``rows[offsets[i]:offsets[i + 1]]`` hold ``hashes[i]``, in ascending order, counted from
    ``first``: so that those of what was saved stay numbers of two bytes."""

    hashes: Array
    offsets: Array
    rows: Array
    counts: Array  # of one or two bytes
    first: int = 0

    @property
    def nbytes(self) -> int:
        arrays = (self.hashes, self.offsets, self.rows, self.counts)
        return sum(array.nbytes for array in arrays)

    def numbered(self, start: int = 0, end: int | None = None) -> Array:
        """Some of the rows, by their numbers in the index."""
        rows: Array = self.rows[start:end]
        return rows if rows.dtype == np.int32 else rows.astype(np.int32) + np.int32(self.first)


def segment_of(blobs: Sequence[bytes], first_row: int) -> Segment:
    """The words of new rows, one ``terms`` blob each."""
    entries = np.frombuffer(b"".join(blobs), dtype=TERM)
    sizes = [len(blob) // TERM.itemsize for blob in blobs]
    rows = np.repeat(np.arange(first_row, first_row + len(blobs), dtype=np.int32), sizes)
    order = np.argsort(entries["hash"], kind="stable")
    hashes = entries["hash"][order]
    starts = np.flatnonzero(_first_of_each(hashes))
    offsets = np.append(starts, len(order)).astype(np.int64)
    return Segment(hashes[starts], offsets, rows[order], entries["count"][order])


def distinct(values: Array) -> Array:
    """In ascending order. ``numpy.unique`` and ``numpy.isin`` load masked arrays, which takes
    longer than all that they are asked for."""
    ordered: Array = np.sort(values)
    return ordered[_first_of_each(ordered)]


def _first_of_each(ordered: Array) -> Array:
    first = np.ones(len(ordered), dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return first


def among(values: Array, wanted: Array) -> Array:
    """Which of the values are among those that are wanted."""
    if not len(wanted):
        return np.zeros(len(values), dtype=bool)
    ordered = np.sort(wanted)
    places = np.searchsorted(ordered, values)
    found: Array = ordered[np.minimum(places, len(ordered) - 1)] == values
    return found


def merged(segments: Sequence[Segment]) -> Segment:
    """One segment that says the same. Rows of a later segment must lie behind earlier ones."""
    if len(segments) == 1:
        return segments[0]
    hashes = distinct(np.concatenate([segment.hashes for segment in segments]))
    sizes = np.zeros(len(hashes), dtype=np.int64)
    for segment in segments:
        sizes[np.searchsorted(hashes, segment.hashes)] += np.diff(segment.offsets)
    offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])
    rows = np.empty(offsets[-1], dtype=np.int32)
    most = max(int(segment.counts.max(initial=0)) for segment in segments)
    counts = np.empty(offsets[-1], dtype=np.min_scalar_type(most))  # mostly one byte
    free = offsets[:-1].copy()  # where each word's next entry goes
    for segment in segments:
        place = np.searchsorted(hashes, segment.hashes)
        lengths = np.diff(segment.offsets)
        shift = np.repeat(free[place] - segment.offsets[:-1], lengths)
        target = shift + np.arange(len(segment.rows))
        rows[target], counts[target] = segment.numbered(), segment.counts
        free[place] += lengths
    return Segment(hashes, offsets, rows, counts)


def _some(segment: Segment, place: Array) -> Segment:
    rows = place[segment.numbered()]
    kept = rows >= 0
    ends = np.append(0, np.cumsum(kept))[segment.offsets]
    hashes = segment.hashes[np.diff(ends) > 0]
    offsets = np.append(0, ends[1:][np.diff(ends) > 0])
    return Segment(hashes, offsets, rows[kept].astype(np.int32), segment.counts[kept])


class Postings:
    """A large segment and small ones behind it, for what came later. What came just now waits as it
    came: who writes one record after the other looks for none of its words in between."""

    def __init__(self) -> None:
        self._segments: list[Segment] = []
        self._waiting: list[bytes] = []  # ``terms`` of the newest rows
        self._first_waiting = 0  # the first of these
        self._large = 1  # so many of them, the first ones, are not merged for every little one

    @property
    def nbytes(self) -> int:
        waiting = sum(map(len, self._waiting))
        return waiting + sum(segment.nbytes for segment in self._segments)

    def add(self, blobs: Sequence[bytes], first_row: int) -> None:
        """The words of new rows, one ``terms`` blob each, behind all that are there."""
        if not self._waiting:
            self._first_waiting = first_row
        self._waiting += blobs
        if len(self._waiting) > WAITING_MAX:
            self._settle()

    def _settle(self) -> None:
        """From here on nothing waits."""
        if self._waiting:
            blobs, self._waiting = self._waiting, []
            self.append(segment_of(blobs, self._first_waiting))

    def append(self, segment: Segment) -> None:
        self._settle()
        self._segments.append(segment)
        large, tail = self._segments[: self._large], self._segments[self._large :]
        entries = sum(len(one.rows) for one in large)
        if sum(len(one.rows) for one in tail) > max(TAIL_MIN, entries // 10):
            self.compact()
        elif len(tail) >= SEGMENTS_MAX:
            self._segments = [*large, merged(tail)]

    def compact(self) -> None:
        self._settle()
        if len(self._segments) > 1:
            self._segments = [merged(self._segments)]
        self._large = 1

    def take(self, segments: Sequence[Segment]) -> None:
        """The first ones, as they are if they are few: merging takes longer than all the rest of
        taking in what was saved."""
        self._settle()
        self._segments += segments
        self._large = max(1, len(segments))
        if len(segments) > SEGMENTS_MAX:
            self.compact()

    def some(self, place: Array) -> Segment:
        """The words of some rows, numbered anew: ``place`` has the new number of every row, and
        -1 for the others. The order of rows must stay."""
        self._settle()
        wanted = np.flatnonzero(place >= 0)
        first, last = wanted[0], wanted[-1]
        found = [
            _some(segment, place)
            for segment in self._segments
            if len(segment.rows)
            and segment.first + int(segment.rows.max()) >= first
            and segment.first + int(segment.rows.min()) <= last
        ]
        return merged(found) if found else segment_of([b""], 0)

    def extend(self, segments: Sequence[Segment]) -> None:
        """Add many at once."""
        self._settle()
        self._segments += segments
        self.compact()

    def find_all(self, hashes: Sequence[int]) -> list[list[tuple[Array, Array]]]:
        """The same for each of several words."""
        if hashes:
            self._settle()
        found: list[list[tuple[Array, Array]]] = [[] for _ in hashes]
        wanted = np.array(hashes, dtype=np.uint64)
        for segment in self._segments if hashes else ():
            if not len(segment.hashes):
                continue  # texts without any word
            places = segment.hashes.searchsorted(wanted)
            held = segment.hashes.take(places, mode="clip") == wanted
            for number in np.flatnonzero(held).tolist():
                start, end = segment.offsets[places[number] : places[number] + 2].tolist()
                found[number].append((segment.numbered(start, end), segment.counts[start:end]))
        return found

    def find(self, hash_: int) -> Iterator[tuple[Array, Array]]:
        """Rows that hold the word, and how often; in parts."""
        self._settle()
        for segment in self._segments:
            place = int(np.searchsorted(segment.hashes, np.uint64(hash_)))
            if place < len(segment.hashes) and segment.hashes[place] == hash_:
                start, end = segment.offsets[place : place + 2].tolist()
                yield segment.numbered(start, end), segment.counts[start:end]
