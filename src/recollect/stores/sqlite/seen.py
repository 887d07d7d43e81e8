"""What a connection has read and need not read again, or decode again.

With every read, SQLite tells a connection whether anybody has written since the read before (its
data version). As long as nobody has, records that were read are as they were. Once somebody has,
rows are read again, and one that is the same to the last byte needs no second check.
"""

from __future__ import annotations

import itertools
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from recollect.ports import FeedRecord
from recollect.stores.rows import RECORD, read_record
from recollect.stores.sqlite.connection import select
from recollect.types import Record, Relation

RECORDS_BYTES_MAX = 24 * 1024**2  # of records, for each store
STAMPS_MAX = 100  # questions to which stamps are kept, for each connection
_RECORD_BYTES = 3000  # what a record and its row take beside the text and the vector

RECORD_FROM = 2  # of a row: the number of the record and its vector stand before it, then the scope
_NAMES = ("vector", "scope", *RECORD.split(", "))  # behind the number
_DATA = 1 + _NAMES.index("data")
# Those that may be long.
_LONG = [
    1 + _NAMES.index(name) for name in ("vector", "tags", "lineage", "derived_from", "data", "text")
]

Row = Sequence[Any]
Asked = tuple[tuple[str, ...], tuple[str, ...], str]  # scopes, those below which, the space


class RowOnce:
    """A record made of its row when it is first wanted, and then kept; made anew once a caller has
    written into its ``data``, the one part of it that can be."""

    __slots__ = ("_data", "_made", "_row")

    def __init__(self, row: Row) -> None:
        self._row = row  # as ``SeenRecord`` has it
        self._made: Record | None = None
        self._data: Any = None

    def __call__(self) -> Record:
        made = self._made
        if made is None or made.data != self._data:
            made = self._made = read_record(self._row[RECORD_FROM:])
            self._data = json.loads(self._row[_DATA]) if made.data else {}
        return made


@dataclass(slots=True)
class SeenRecord:
    """A sound row, as it was read, and what was made of it."""

    row: Row
    answer: FeedRecord
    size: int
    looked: tuple[int, int]  # whose look found it so, and which
    used: bool = False  # since it was last to go


Key = tuple[int, int | None]  # a record's, and that of the space of its vector


class SeenRecords:
    """Of all connections of a store. From any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: OrderedDict[Key, SeenRecord] = OrderedDict()  # those that came last go last
        self._bytes = 0

    def unchanged(
        self, keys: Iterable[int], space: int | None, look: tuple[int, int]
    ) -> dict[int, FeedRecord]:
        found: dict[int, FeedRecord] = {}
        with self._lock:
            held_of = self._held.get
            for key in keys:
                held = held_of((key, space))
                if held is not None and (held.looked is look or held.looked == look):
                    found[key] = held.answer
                    held.used = True
        return found

    def same(
        self, rows: Iterable[Row], space: int | None, look: tuple[int, int]
    ) -> dict[int, FeedRecord]:
        found: dict[int, FeedRecord] = {}
        with self._lock:
            held_of = self._held.get
            for row in rows:
                held = held_of((row[0], space))
                if held is not None and held.row == row:
                    held.looked = look
                    found[row[0]] = held.answer
        return found

    def keep(self, records: Iterable[SeenRecord], space: int | None) -> None:
        with self._lock:
            for record in records:
                key = (record.row[0], space)
                old = self._held.pop(key, None)
                self._held[key] = record
                self._bytes += record.size - (old.size if old else 0)
                while self._bytes > RECORDS_BYTES_MAX:
                    self._drop_first(record)

    def _drop_first(self, kept: SeenRecord) -> None:
        first, gone = self._held.popitem(last=False)
        if gone.used and gone is not kept:  # it goes when it is the first again
            gone.used = False
            self._held[first] = gone
        else:
            self._bytes -= gone.size

    def let_go(self) -> None:
        """Of all: something was erased."""
        with self._lock:
            self._held.clear()
            self._bytes = 0

    def sizes(self) -> tuple[int, int]:
        """How many are held, and about how many bytes."""
        with self._lock:
            return len(self._held), self._bytes


class ConnectionView:
    """What one connection, and so one thread, has seen. ``look`` comes first."""

    def __init__(self, records: SeenRecords) -> None:
        self._records = records
        self._version = -1
        self._look = (next(_NUMBERS), 0)
        self._stamps: dict[Asked, tuple[int, Sequence[Row]]] = {}  # with the look that read them
        self._edges = (-1, True)  # the same of whether there are relations

    def look(self, db: apsw.Connection) -> bool:
        """Has anybody written between the last look and what this connection has just read?"""
        version = db.data_version()
        if version == self._version:
            return False
        self._version = version
        self._look = (self._look[0], self._look[1] + 1)
        return True

    def stamps(self, db: apsw.Connection, asked: Asked) -> Sequence[Row] | None:
        """What was read of these last, if nobody has written since; that is looked up."""
        if asked not in self._stamps:
            return None
        select(db, "PRAGMA data_version")  # a read, for ``look`` to tell of
        self.look(db)
        look, rows = self._stamps[asked]
        return rows if look == self._look[1] else None

    def keep_stamps(self, asked: Asked, rows: Sequence[Row]) -> None:
        """As they were just read, and looked."""
        if len(self._stamps) >= STAMPS_MAX:
            self._stamps.clear()
        self._stamps[asked] = (self._look[1], rows)

    def edges(
        self, db: apsw.Connection, read: Callable[[], tuple[list[Relation], bool]]
    ) -> list[Relation]:
        """What ``read`` finds, which also says whether there are any relations at all: every recall
        asks for some, and many files have none."""
        if self._edges == (self._look[1], False):
            select(db, "PRAGMA data_version")  # a read, for ``look`` to tell of
            if not self.look(db):
                return []
        found, there = read()
        self.look(db)
        self._edges = (self._look[1], there)
        return found

    def unchanged(self, keys: Iterable[int], space: int | None) -> dict[int, FeedRecord]:
        """Those of these records that were read here since anybody wrote, with vectors of
        ``space``."""
        return self._records.unchanged(keys, space, self._look)

    def same(self, rows: Iterable[Row], space: int | None) -> dict[int, FeedRecord]:
        """What was made of these very rows, without those that are new or have changed."""
        return self._records.same(rows, space, self._look)

    def keep(self, rows: Sequence[Row], space: int | None) -> dict[int, FeedRecord]:
        """What is made of sound ones, instead of what was held before."""
        made = [
            SeenRecord(
                row,
                FeedRecord(RowOnce(row), row[1]),
                _RECORD_BYTES + sum([len(row[place]) for place in _LONG if row[place]]),
                self._look,
            )
            for row in rows
        ]
        self._records.keep(made, space)
        return {one.row[0]: one.answer for one in made}


_NUMBERS = itertools.count()
