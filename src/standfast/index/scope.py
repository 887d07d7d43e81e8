"""The search index of one scope, in memory: arrays over its records, refreshed from a feed.

Not locked: whoever uses one holds the lock of its root (see ``cache``). Rows are numbered as they
come and keep their numbers; what is erased keeps its own, marked absent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from standfast.index.codes import NEVER_BEGAN, NEVER_ENDS, SOURCES, TYPES, code
from standfast.index.keys import KeyRows
from standfast.index.postings import Postings, Segment, among, distinct, segment_of
from standfast.index.snapshot import narrowed, packed, shortened, unpacked
from standfast.index.ties import WORD
from standfast.index.turns import TurnChains
from standfast.ports import Feed, IndexRow, SavedFeed

Array = NDArray[Any]

ID_BYTES = 40  # of an id at most, for breaking ties; longer ids are compared by these alone

_EMPTY_BYTES = 6000  # what an index takes by itself
_NAME_BYTES = 150  # a name in the dictionaries

# The columns that are kept, in the order of ``IndexRow`` and called as there.
_DTYPES = {
    "key": "i8",
    "id": f"S{ID_BYTES}",
    "kind": "u1",
    "type": "u1",
    "status": "u1",
    "source": "u1",
    "durability": "u1",
    "importance": "f8",
    "learned_at": "i8",
    "retired_at": "i8",
    "valid_from": "i8",
    "valid_to": "i8",
    "expires_at": "i8",
    "words": "i4",
}
_NAMES = {"author": "i4", "session": "i4"}  # as numbers
_OWN = ("key", "id", "words")  # of each row; the others are mostly the same in all rows
_PLACE = {name: place for place, name in enumerate(IndexRow._fields)}
_TURN = code(TYPES, "turn")

Rows = Sequence[Sequence[Any]]  # each in the order of ``IndexRow``
Columns = Sequence[Sequence[Any]]  # the same the other way round

_NONE_YET = np.zeros(1, dtype=np.int64)


@dataclass(slots=True)
class Vectors:
    """The small vectors of one space; row i belongs to record row i."""

    matrix: Array  # int8
    scales: Array  # float32; what one step of a number is worth
    held: Array  # bool: is there a vector?

    def grow(self, capacity: int) -> None:
        """Room for so many, all of it to be written to."""
        self.matrix = _resized(self.matrix, capacity)
        self.scales = _resized(self.scales, capacity)
        self.held = _resized(self.held, capacity)


class ScopeIndex:
    def __init__(self, scope: str) -> None:
        self.scope = scope
        self._clear()

    def _clear(self) -> None:
        self.stamp = 0
        self.size: int = 0
        self.absent = 0
        self.total_words = 0
        self.first_expiry = NEVER_ENDS
        self.postings = Postings()
        self.present = np.zeros(0, dtype=bool)
        self._columns = {name: np.zeros(0, dtype=_DTYPES[name]) for name in _OWN}
        self._columns["id"] = np.zeros(0, dtype=f"S{WORD}")  # as wide as the longest of them
        self._same: dict[str, Array] = {}  # the one value of a column that is in no row otherwise
        self._long_ids: dict[int, bytes] = {}  # by row, in full
        self._names: dict[str, int] = {}  # authors and sessions -> their numbers
        self._keys = KeyRows()
        self._labels = np.zeros(0, dtype=np.uint64)
        self._label_rows = np.zeros(0, dtype=np.int32)
        self._vectors: dict[str, Vectors] = {}
        self.turns = TurnChains()

    @property
    def nbytes(self) -> int:
        per_row: int = 1 + sum(int(array.itemsize) for array in self._columns.values())
        per_row += sum(int(vectors.matrix.shape[1]) + 5 for vectors in self._vectors.values())
        labels = int(self._labels.nbytes) + int(self._label_rows.nbytes)
        words = self.postings.nbytes + self.turns.nbytes + self._keys.nbytes
        names = _NAME_BYTES * len(self._names)
        return _EMPTY_BYTES + self.size * per_row + words + labels + names

    @property
    def is_worn(self) -> bool:
        """So much of it is absent that building it anew saves more than it costs."""
        return self.absent > 1000 and self.absent * 4 > self.size

    def column(self, name: str) -> Array:
        """Not to be written to."""
        if name in self._columns:
            return self._columns[name][: self.size]
        one = self._same.get(name, _NONE_YET)
        return np.ndarray((self.size,), one.dtype, one, 0, (0,))

    def same(self, name: str) -> Any:
        """The value of a column that is the same in every row; None if they differ, or there is no
        row."""
        return self._same[name][0].item() if name in self._same else None

    def named(self, column: str, names: Sequence[str]) -> Array:
        """Which rows have one of these authors, or sessions."""
        numbers = [self._names[name] for name in names if name in self._names]
        same = self.same(column)
        if same is not None:
            return np.full(self.size, same in numbers)
        return among(self.column(column), np.array(numbers, dtype=np.int32))

    def ids(self, rows: Array) -> list[bytes]:
        """In full."""
        found: list[bytes] = self._columns["id"][rows].tolist()
        if self._long_ids:
            whole = zip(rows.tolist(), found, strict=True)
            return [self._long_ids.get(row, id_) for row, id_ in whole]
        return found

    def happened_at(self, first: int = 0) -> Array:
        """``Record.at`` of every row from this one on."""
        if self.same("valid_from") == NEVER_BEGAN:
            return self.column("learned_at")[first:].copy()
        begins = self.column("valid_from")[first:]
        return np.where(begins == NEVER_BEGAN, self.column("learned_at")[first:], begins)

    def alive(self, now: int) -> Array | None:
        """Which rows are neither erased nor expired; None means all."""
        if not self.absent and self.first_expiry > now:
            return None
        there: Array = self.present[: self.size].copy()
        if self.same("expires_at") != NEVER_ENDS:
            there &= self.column("expires_at") > now
        return there

    def rows_of(self, keys: Array) -> Array:
        """The rows of these records, as far as they are of this scope."""
        rows, found = self._keys.find(self.column("key"), keys)
        return rows[found]

    def labelled(self, labels: Sequence[int]) -> Array:
        """The rows that hold one of these labels."""
        rows: Array = self._label_rows[among(self._labels, np.array(labels, dtype=np.uint64))]
        return rows

    def vectors(self, space: str) -> Vectors | None:
        """The vectors of a space, as far as they were loaded; None if there are none."""
        return self._vectors.get(space)

    def load_vectors(self, feed: Feed, space: str) -> None:
        if space in self._vectors:
            return
        saved = feed.saved(self.scope, space) if isinstance(feed, SavedFeed) else None
        keys = None
        if saved is not None:
            known = np.zeros(self.size, dtype=bool)
            for part in saved.parts:
                if isinstance(part, bytes):
                    known[self._take_vectors(space, part)] = True
            known[self.rows_of(np.array(saved.changed, dtype=np.int64))] = False
            if space in self._vectors:
                self._vectors[space].held[: self.size] &= known
            keys = self.column("key")[~known & self.present[: self.size]].tolist()
        for rows in feed.vectors(self.scope, space, keys):
            self._write_vectors(space, rows)

    # Loading

    def refresh(self, feed: Feed, stamp: int) -> None:
        """Take in whatever changed up to ``stamp``, the scope's newest."""
        if not self.stamp and isinstance(feed, SavedFeed):
            self._begin(feed)
        changes = feed.changes(self.scope, self.stamp)
        if changes.gone is None:
            self._clear()
        else:
            self._remove(np.array(changes.gone, dtype=np.int64))
        changed: list[int] = []
        words: list[tuple[Sequence[bytes], int]] = []
        for rows in changes.rows:
            keys = np.array([row[0] for row in rows], dtype=np.int64)
            changed += keys.tolist()
            known = self._known(keys)
            self._update([row for row, is_known in zip(rows, known, strict=True) if is_known])
            new = [row for row, is_known in zip(rows, known, strict=True) if not is_known]
            if new:
                words.append(self._append(new))
        self._add_words(words)
        self.turns.settle(self.column("key"))
        for space, vectors in self._vectors.items() if changed else ():
            vectors.held[self.rows_of(np.array(changed, dtype=np.int64))] = False
            for part in feed.vectors(self.scope, space, changed):
                self._write_vectors(space, part)
        self.stamp = stamp

    def _begin(self, feed: SavedFeed) -> None:
        """With what was saved, if anything was."""
        saved = feed.saved(self.scope, "")
        if saved is not None:
            self._grow(saved.rows)
            self.postings.take(
                [
                    self._take(part) if isinstance(part, bytes) else segment_of(*self._append(part))
                    for part in saved.parts
                ]
            )
            self.turns.settle(self.column("key"))
            self.stamp = saved.stamp

    def _known(self, keys: Array) -> list[bool]:
        """Which of them have a row; one that is absent was of a record that is no more."""
        rows, found = self._keys.find(self.column("key"), keys)
        if self.size:
            found &= self.present[rows]
        known: list[bool] = found.tolist()
        return known

    def _add_words(self, words: list[tuple[Sequence[bytes], int]]) -> None:
        if len(words) > 1:
            self.postings.extend([segment_of(*one) for one in words])
        elif words:
            self.postings.add(*words[0])

    def _grow(self, more: int) -> None:
        needed, capacity = self.size + more, len(self.present)
        if needed > capacity:
            capacity = needed + needed // 4 + 16  # zeros that nobody wrote yet take no memory
            self.present = _resized(self.present, capacity)
            for name, array in self._columns.items():
                self._columns[name] = _resized(array, capacity)
        for vectors in self._vectors.values():
            if len(vectors.matrix) < needed:
                vectors.grow(capacity)

    def _widen_ids(self, longest: int) -> None:
        held = self._columns["id"]
        if held.itemsize < min(longest, ID_BYTES):
            whole = -(-min(longest, ID_BYTES) // WORD) * WORD
            self._columns["id"] = held.astype(f"S{whole}")

    def _append(self, rows: Rows) -> tuple[Sequence[bytes], int]:
        """Their words, and the first of them."""
        first, end = self.size, self.size + len(rows)
        self._grow(len(rows))
        columns = list(zip(*rows, strict=True))
        ids = columns[_PLACE["id"]]
        longest = max(map(len, ids))
        self._widen_ids(longest)
        self._write(slice(first, end), columns)
        if longest > ID_BYTES:
            whole = enumerate(ids, first)
            self._long_ids.update((row, id_) for row, id_ in whole if len(id_) > ID_BYTES)
        for name, dtype in _NAMES.items():
            self._put_listed(name, slice(first, end), self._numbers(columns[_PLACE[name]]), dtype)
        self._admit(first, end)
        self._add_labels(np.arange(first, end, dtype=np.int32), columns[_PLACE["labels"]])
        self.turns.add(
            first,
            _talks_of(columns),
            self._speakers(slice(first, end)),
            self.happened_at(first),
            self.column("key"),
        )
        return columns[_PLACE["terms"]], first

    def _admit(self, first: int, end: int) -> None:
        """Rows whose columns are written are there from now on."""
        self.present[first:end] = True
        self.size = end
        self._keys.add(self.column("key"), first)
        self.total_words += int(self._columns["words"][first:end].sum())

    def _numbers(self, names: Sequence[str]) -> list[int]:
        known = self._names
        for name in dict.fromkeys(names):
            known.setdefault(name, len(known))
        return [known[name] for name in names]

    def _speakers(self, where: Any) -> Array:
        """Who said something: an author as one kind of source is somebody else as another."""
        author = self.column("author")[where].astype(np.int64)
        speakers: Array = author * len(SOURCES) + self.column("source")[where]
        return speakers

    def _update(self, rows: Rows) -> None:
        """Words, authors and sessions stay. Labels and times may change."""
        if not rows:
            return
        keys = np.array([row[0] for row in rows], dtype=np.int64)
        numbers, _ = self._keys.find(self.column("key"), keys)
        columns = list(zip(*rows, strict=True))
        self._write(numbers, columns)
        kept = ~among(self._label_rows, numbers)
        self._labels, self._label_rows = self._labels[kept], self._label_rows[kept]
        self._add_labels(numbers.astype(np.int32), columns[_PLACE["labels"]])
        self.turns.change(numbers, self._speakers(numbers), self.happened_at()[numbers])

    def _write(self, where: Any, columns: Columns) -> None:
        for (name, dtype), values in zip(_DTYPES.items(), columns, strict=False):
            self._put_listed(name, where, values, dtype)
        self.first_expiry = min(self.first_expiry, *columns[_PLACE["expires_at"]])

    def _put(self, name: str, where: Any, values: Array) -> None:
        """Values of some rows; one value stands for all of them. Those behind the last row are
        admitted later."""
        if name not in self._columns:
            if not self.size and name not in self._same:
                self._same[name] = values[:1].copy()
            if bool((values == self._same[name]).all()):
                return
            spread = np.zeros(len(self.present), dtype=values.dtype)
            spread[: self.size] = self._same.pop(name)
            self._columns[name] = spread
        self._columns[name][where] = values

    def _put_listed(self, name: str, where: Any, values: Sequence[Any], dtype: str) -> None:
        """The same, as they come. Whether a few are what all are is told without an array."""
        if name not in self._same or values.count(self._same[name].item()) < len(values):
            self._put(name, where, np.array(values, dtype=dtype))

    def _add_labels(self, rows: Array, blobs: Sequence[bytes]) -> None:
        labels = np.frombuffer(b"".join(blobs), dtype="<u8")
        if len(labels):
            owners = np.repeat(rows, [len(blob) // 8 for blob in blobs])
            self._labels = np.concatenate([self._labels, labels])
            self._label_rows = np.concatenate([self._label_rows, owners])

    def _remove(self, keys: Array) -> None:
        if not len(keys):
            return
        rows = self.rows_of(keys)
        rows = rows[self.present[rows]]
        self.present[rows] = False
        self.turns.remove(rows.tolist())
        self.absent += len(rows)
        self.total_words -= int(self.column("words")[rows].sum())

    def _write_vectors(self, space: str, rows: Sequence[tuple[int, bytes]]) -> None:
        dimensions = len(rows[0][1]) - 4
        vectors = self._made_vectors(space, dimensions)
        dtype = np.dtype([("scale", "<f4"), ("numbers", "i1", (dimensions,))])
        packed = np.frombuffer(b"".join(blob for _, blob in rows), dtype=dtype)
        keys = np.array([key for key, _ in rows], dtype=np.int64)
        numbers, found = self._keys.find(self.column("key"), keys)
        numbers, packed = numbers[found], packed[found]
        vectors.matrix[numbers] = packed["numbers"]
        vectors.scales[numbers] = packed["scale"]
        vectors.held[numbers] = True

    # Saving

    @property
    def saved_parts(self) -> list[str]:
        """The parts that can be made of it: words and columns, and the vectors of spaces."""
        return ["", *self._vectors]

    def alive_keys(self) -> Array | None:
        """Of all records that it holds, ascending; None if they are not: it is not saved then."""
        keys = self.column("key")[self.present[: self.size]]
        return keys.copy() if bool((keys[1:] > keys[:-1]).all()) else None

    def saved(self, part: str, first: int, last: int) -> tuple[bytes, int]:
        """One part of it, of the records with these keys, as bytes; and how many they are."""
        keys = self.column("key")
        rows = np.flatnonzero((keys >= first) & (keys <= last) & self.present[: self.size])
        if not len(rows):
            return b"", 0
        return (self._packed_vectors(part, rows) if part else self._packed(rows)), len(rows)

    def _packed(self, rows: Array) -> bytes:
        place = np.full(self.size, -1, dtype=np.int32)
        place[rows] = np.arange(len(rows), dtype=np.int32)
        arrays = {name: shortened(self.column(name)[rows]) for name in _DTYPES}
        longest = int(np.char.str_len(arrays["id"]).max(initial=1))
        arrays["id"] = arrays["id"].astype(f"S{longest}")
        numbers = {name: self.column(name)[rows] for name in _NAMES}
        held = distinct(np.concatenate(list(numbers.values())))
        for name, column in numbers.items():
            arrays[name] = shortened(narrowed(np.searchsorted(held, column)))
        labelled = place[self._label_rows] >= 0
        arrays["labels"] = self._labels[labelled]
        arrays["label_rows"] = narrowed(place[self._label_rows[labelled]])
        talks, given = self.turns.given(rows)
        arrays["talks"] = shortened(given)
        words = self.postings.some(place)
        arrays |= {
            "hashes": words.hashes,
            "sizes": narrowed(np.diff(words.offsets)),
            "rows": narrowed(words.rows),
            "counts": narrowed(words.counts),
        }
        names = list(self._names)
        named = {
            "size": len(rows),
            "names": [names[number] for number in held.tolist()],
            "talks": talks,
            "ids": {
                int(place[row]): id_.decode()
                for row, id_ in self._long_ids.items()
                if place[row] >= 0
            },
        }
        return packed(arrays, named)

    def _take(self, body: bytes) -> Segment:
        """What ``_packed`` made, behind the rows that are here."""
        arrays, named = unpacked(body)
        first, end = self.size, self.size + int(named["size"])
        self._grow(end - first)
        # As bytes: behind the last row all are zero, and numpy lengthens texts one by one.
        self._widen_ids(arrays["id"].itemsize)
        ids = self._columns["id"][first:end].view("u1").reshape(end - first, -1)
        ids[:, : arrays["id"].itemsize] = arrays["id"].view("u1").reshape(end - first, -1)
        for name, dtype in _DTYPES.items():
            if name == "id":
                continue
            values = arrays[name]
            whole = values if name in self._columns else values.astype(dtype, copy=False)
            self._put(name, slice(first, end), whole)
        numbers = np.array(self._numbers(named["names"]), dtype=np.int32)
        for name in _NAMES:
            self._put(name, slice(first, end), numbers[arrays[name]])
        self._long_ids |= {first + int(row): id_.encode() for row, id_ in named["ids"].items()}
        self.first_expiry = min(self.first_expiry, int(arrays["expires_at"].min()))
        self._admit(first, end)
        self._labels = np.concatenate([self._labels, arrays["labels"]])
        owners = arrays["label_rows"].astype(np.int32) + np.int32(first)
        self._label_rows = np.concatenate([self._label_rows, owners])
        given = np.broadcast_to(arrays["talks"], end - first)
        speakers = self._speakers(slice(first, end))
        self.turns.take(first, named["talks"], given, speakers, self.happened_at(first))
        offsets = narrowed(np.append(0, np.cumsum(arrays["sizes"], dtype=np.int64)))
        hashes, rows, counts = (arrays[name].copy() for name in ("hashes", "rows", "counts"))
        return Segment(hashes, offsets, rows, counts, first)

    def _packed_vectors(self, space: str, rows: Array) -> bytes:
        vectors = self._vectors[space]
        arrays = {
            "keys": self.column("key")[rows],
            "scales": vectors.scales[rows],
            "held": vectors.held[rows],
            "matrix": vectors.matrix[rows].reshape(-1),
        }
        return packed(arrays, {"dimensions": int(vectors.matrix.shape[1])})

    def _take_vectors(self, space: str, body: bytes) -> Array:
        """The rows that it told of."""
        arrays, named = unpacked(body)
        rows, found = self._keys.find(self.column("key"), arrays["keys"])
        matrix = arrays["matrix"].reshape(len(rows), -1)
        in_a_row = bool(found.all()) and rows[-1] - rows[0] + 1 == len(rows)
        # All there are, as they lie: they stay in the bytes that were read until one is written.
        whole = matrix if in_a_row and len(rows) == self.size else None
        vectors = self._made_vectors(space, int(named["dimensions"]), whole)
        if in_a_row:
            where: Any = slice(rows[0], rows[-1] + 1)
        else:
            where, matrix = rows[found], matrix[found]
            arrays = {**arrays, **{name: arrays[name][found] for name in ("scales", "held")}}
        if vectors.matrix is not matrix:
            vectors.matrix[where] = matrix
        vectors.scales[where] = arrays["scales"]
        vectors.held[where] = arrays["held"]
        return rows[found]

    def _made_vectors(self, space: str, dimensions: int, whole: Array | None = None) -> Vectors:
        """Those of a space, to write to. ``whole``: of all rows, if there are none yet."""
        capacity = len(self.present)
        if space not in self._vectors:
            self._vectors[space] = Vectors(
                np.zeros((capacity, dimensions), dtype=np.int8) if whole is None else whole,
                np.zeros(capacity, dtype=np.float32),
                np.zeros(capacity, dtype=bool),
            )
        elif not self._vectors[space].matrix.flags.writeable:
            self._vectors[space].grow(capacity)
        return self._vectors[space]


def _talks_of(columns: Columns) -> list[str]:
    """For each row a name of the conversation that it is a turn of; "" for everything else."""
    wanted = (columns[_PLACE[name]] for name in ("type", "session", "session_scope"))
    return [
        f"{scope}\x00{session}" if type_ == _TURN and session else ""
        for type_, session, scope in zip(*wanted, strict=True)
    ]


def _resized(array: Array, capacity: int) -> Array:
    larger = np.zeros((capacity, *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger
