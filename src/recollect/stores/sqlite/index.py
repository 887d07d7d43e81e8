"""The search index of one scope, in memory: arrays over its records, refreshed from the rows.

Not locked: whoever uses one holds the lock of its root (see ``cache``). Row numbers are given
in the order of ``record.pk`` and never change; what is erased keeps its number, marked absent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from recollect.stores.sqlite.postings import Postings, Segment, segment_of
from recollect.stores.sqlite.rows import TYPES, code
from recollect.stores.sqlite.turns import TurnChains

Array = NDArray[Any]

NEVER_BEGAN = -(2**63)
NEVER_ENDS = 2**63 - 1
ID_BYTES = 40  # of an id, for breaking ties; longer ids are compared by these alone
CHUNK = 8192
EVERYTHING = 0  # as the key of an erased record: load the scope anew

_EMPTY_BYTES = 6000  # what an index takes by itself

_DTYPES = {
    "pk": "i8",
    "id": f"S{ID_BYTES}",
    "kind": "u1",
    "type": "u1",
    "status": "u1",
    "source": "u1",
    "importance": "f8",
    "learned_at": "i8",
    "retired_at": "i8",
    "valid_from": "i8",
    "valid_to": "i8",
    "expires_at": "i8",
    "words": "i4",
    "durability": "u1",
}
_TURN = code(TYPES, "turn")
_COLUMNS = (
    "pk, CAST(id AS BLOB), kind, type, status, source, importance, learned_at,"
    f" coalesce(retired_at, {NEVER_ENDS}), coalesce(valid_from, -{2**63 - 1} - 1),"
    f" coalesce(valid_to, {NEVER_ENDS}), coalesce(expires_at, {NEVER_ENDS}), words,"
    " durability, source || ':' || author,"
    f" CASE WHEN type = {_TURN} AND session <> ''"
    " THEN session_scope || char(0) || session"
    " ELSE '' END, labels, terms"
)


@dataclass(slots=True)
class Vectors:
    """The small vectors of one space; row i belongs to record row i."""

    matrix: Array  # int8
    scales: Array  # float32; what one step of a number is worth
    held: Array  # bool: is there a vector?


class ScopeIndex:
    def __init__(self, scope: int) -> None:
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
        self._columns = {name: np.zeros(0, dtype=dtype) for name, dtype in _DTYPES.items()}
        self._labels = np.zeros(0, dtype=np.uint64)
        self._label_rows = np.zeros(0, dtype=np.int32)
        self._vectors: dict[int, Vectors] = {}
        self.turns = TurnChains()

    @property
    def nbytes(self) -> int:
        per_row: int = 1 + sum(int(array.itemsize) for array in self._columns.values())
        per_row += sum(int(vectors.matrix.shape[1]) + 5 for vectors in self._vectors.values())
        labels = int(self._labels.nbytes) + int(self._label_rows.nbytes)
        words = self.postings.nbytes + self.turns.nbytes
        return _EMPTY_BYTES + self.size * per_row + words + labels

    @property
    def is_worn(self) -> bool:
        """So much of it is absent that building it anew saves more than it costs."""
        return self.absent > 1000 and self.absent * 4 > self.size

    def column(self, name: str) -> Array:
        return self._columns[name][: self.size]

    def happened_at(self, first: int = 0) -> Array:
        """``Record.at`` of every row from this one on."""
        begins = self.column("valid_from")[first:]
        return np.where(begins == NEVER_BEGAN, self.column("learned_at")[first:], begins)

    def alive(self, now: int) -> Array | None:
        """Which rows are neither erased nor expired; None means all."""
        if not self.absent and self.first_expiry > now:
            return None
        mask: Array = self.present[: self.size] & (self.column("expires_at") > now)
        return mask

    def rows_of(self, keys: Array) -> Array:
        """The rows of these records, as far as they are of this scope."""
        pk = self.column("pk")
        place = np.searchsorted(pk, keys)
        place[place == self.size] = 0
        rows: Array = place[pk[place] == keys] if self.size else place[:0]
        return rows

    def labelled(self, labels: Sequence[int]) -> Array:
        """The rows that hold one of these labels."""
        rows: Array = self._label_rows[np.isin(self._labels, np.array(labels, dtype=np.uint64))]
        return rows

    def vectors(self, db: apsw.Connection, space: int) -> Vectors | None:
        """The vectors of a space, loaded on first need; None if there are none."""
        if space not in self._vectors:
            self._load_vectors(db, space)
        return self._vectors.get(space)

    # Loading

    def refresh(self, db: apsw.Connection, stamp: int) -> None:
        """Take in whatever changed up to ``stamp``, the scope's newest."""
        gone = self._gone(db)
        if gone is None:
            self._clear()
        changed = _keys(
            db,
            "SELECT pk FROM record WHERE scope = ? AND changed > ?",
            (self.scope, self.stamp),
        )
        last = int(self.column("pk")[-1]) if self.size else 0
        self._grow(int((changed > last).sum()))
        segments: list[Segment] = []
        for rows in _chunks(db, changed):
            new = [row for row in rows if row[0] > last]
            self._update([row for row in rows if row[0] <= last])
            if new:
                segments.append(self._append(new))
        self._add_words(segments)
        if gone is not None:
            self._remove(gone)
        for space in self._vectors:
            self._refresh_vectors(db, space, changed)
        self.stamp = stamp

    def _gone(self, db: apsw.Connection) -> Array | None:
        """What was erased since; None: nobody knows, load everything anew."""
        if not self.stamp:
            return None
        gone = _keys(
            db,
            "SELECT record FROM erased WHERE scope = ? AND stamp > ?",
            (self.scope, self.stamp),
        )
        return None if len(gone) and gone[0] == EVERYTHING else gone

    def _add_words(self, segments: list[Segment]) -> None:
        if len(segments) > 1:
            self.postings.extend(segments)
        elif segments:
            self.postings.append(segments[0])

    def _grow(self, more: int) -> None:
        needed, capacity = self.size + more, len(self.present)
        if needed <= capacity:
            return
        capacity = needed + needed // 4 + 16  # zeros that nobody wrote yet take no memory
        self.present = _resized(self.present, capacity)
        for name, array in self._columns.items():
            self._columns[name] = _resized(array, capacity)
        for vectors in self._vectors.values():
            vectors.matrix = _resized(vectors.matrix, capacity)
            vectors.scales = _resized(vectors.scales, capacity)
            vectors.held = _resized(vectors.held, capacity)

    def _append(self, rows: Sequence[Sequence[Any]]) -> Segment:
        first, end = self.size, self.size + len(rows)
        self._write(slice(first, end), rows)
        self.present[first:end] = True
        self.size = end
        self.total_words += int(self._columns["words"][first:end].sum())
        self._add_labels(np.arange(first, end, dtype=np.int32), [row[-2] for row in rows])
        sessions, speakers = [row[-3] for row in rows], [row[-4] for row in rows]
        self.turns.add(sessions, speakers, self.happened_at(first), first)
        return segment_of([row[-1] for row in rows], first)

    def _update(self, rows: Sequence[Sequence[Any]]) -> None:
        """Words stay: a text never changes. Labels may."""
        if not rows:
            return
        numbers = self.rows_of(np.array([row[0] for row in rows], dtype=np.int64))
        self._write(numbers, rows)
        kept = ~np.isin(self._label_rows, numbers)
        self._labels, self._label_rows = self._labels[kept], self._label_rows[kept]
        self._add_labels(numbers.astype(np.int32), [row[-2] for row in rows])

    def _write(self, where: Any, rows: Sequence[Sequence[Any]]) -> None:
        for (name, dtype), values in zip(_DTYPES.items(), zip(*rows, strict=True), strict=False):
            self._columns[name][where] = np.array(values, dtype=dtype)
        self.first_expiry = min(self.first_expiry, min(row[11] for row in rows))

    def _add_labels(self, rows: Array, blobs: Sequence[bytes]) -> None:
        labels = np.frombuffer(b"".join(blobs), dtype="<u8")
        if len(labels):
            owners = np.repeat(rows, [len(blob) // 8 for blob in blobs])
            self._labels = np.concatenate([self._labels, labels])
            self._label_rows = np.concatenate([self._label_rows, owners])

    def _remove(self, keys: Array) -> None:
        rows = self.rows_of(keys)
        rows = rows[self.present[rows]]
        self.present[rows] = False
        self.turns.remove(rows.tolist())
        self.absent += len(rows)
        self.total_words -= int(self.column("words")[rows].sum())

    # Vectors

    def _load_vectors(self, db: apsw.Connection, space: int) -> None:
        select = "SELECT record, i8 FROM quantised WHERE scope = ? AND space = ? ORDER BY record"
        cursor = db.execute(select, (self.scope, space))
        while rows := _some(cursor, CHUNK):
            self._write_vectors(space, rows)

    def _refresh_vectors(self, db: apsw.Connection, space: int, changed: Array) -> None:
        for keys in _parts(changed):
            rows = db.execute(
                "SELECT record, i8 FROM quantised WHERE scope = ? AND space = ?"
                " AND record IN (SELECT value FROM json_each(?))",
                (self.scope, space, str(keys.tolist())),
            ).fetchall()
            if rows:
                self._write_vectors(space, rows)

    def _write_vectors(self, space: int, rows: Sequence[tuple[Any, ...]]) -> None:
        dimensions = len(rows[0][1]) - 4
        if space not in self._vectors:
            capacity = len(self.present)
            self._vectors[space] = Vectors(
                np.zeros((capacity, dimensions), dtype=np.int8),
                np.zeros(capacity, dtype=np.float32),
                np.zeros(capacity, dtype=bool),
            )
        vectors = self._vectors[space]
        dtype = np.dtype([("scale", "<f4"), ("numbers", "i1", (dimensions,))])
        packed = np.frombuffer(b"".join(blob for _, blob in rows), dtype=dtype)
        keys = np.array([pk for pk, _ in rows], dtype=np.int64)
        numbers = self.rows_of(keys)
        vectors.matrix[numbers] = packed["numbers"]
        vectors.scales[numbers] = packed["scale"]
        vectors.held[numbers] = True


def _resized(array: Array, capacity: int) -> Array:
    larger = np.zeros((capacity, *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger


def _keys(db: apsw.Connection, sql: str, bindings: Sequence[Any]) -> Array:
    rows = db.execute(sql, bindings).fetchall()
    return np.sort(np.array([pk for (pk,) in rows], dtype=np.int64))


def _parts(keys: Array) -> Iterator[Array]:
    for start in range(0, len(keys), CHUNK):
        yield keys[start : start + CHUNK]


def _chunks(db: apsw.Connection, keys: Array) -> Iterator[list[tuple[Any, ...]]]:
    """Index entries of records, in the order of their keys, some at a time."""
    for part in _parts(keys):
        yield db.execute(
            f"SELECT {_COLUMNS} FROM record"
            " WHERE pk IN (SELECT value FROM json_each(?)) ORDER BY pk",
            (str(part.tolist()),),
        ).fetchall()


def _some(cursor: apsw.Cursor, count: int) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    for row in cursor:
        found.append(row)
        if len(found) == count:
            break
    return found
