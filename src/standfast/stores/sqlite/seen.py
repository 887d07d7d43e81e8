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
from operator import itemgetter
from typing import Any

import apsw

from standfast.index.codes import DURABILITIES, KINDS, SOURCES, TYPES
from standfast.ports import FeedRecord, Glance
from standfast.stores.rows import RECORD, read_record
from standfast.stores.sqlite.connection import select
from standfast.types import Record, Relation, Vector

RECORDS_BYTES_MAX = 24 * 1024**2  # of records, for each store
STAMPS_MAX = 100  # questions to which stamps are kept, for each connection
_RECORD_BYTES = 3000  # what a record and its row take beside the text and the vector

RECORD_FROM = 2  # of a row: the number of the record and its vector stand before it, then the scope
_NAMES = ("key", "vector", "scope", *RECORD.split(", "))
_DATA = _NAMES.index("data")
_long = itemgetter(*map(_NAMES.index, ("tags", "lineage", "derived_from", "data", "text")))
_glanced = itemgetter(
    *map(
        _NAMES.index,
        (
            "id", "scope", "kind", "type", "source", "durability", "importance", "valid_from",
            "learned_at", "author", "origin", "session", "hash", "tags", "text",
        ),
    )
)  # fmt: skip

Row = Sequence[Any]
Asked = tuple[tuple[str, ...], tuple[str, ...], str]  # scopes, those below which, the space


class SeenRecord:
    """``FeedRecord`` of a sound row. The record is made when it is first wanted, and
    then kept; made anew once a caller has written into its ``data``, the one part that can be."""

    __slots__ = ("_data", "_made", "glance", "looked", "row", "size", "used", "vector")

    def __init__(self, row: Row, looked: tuple[int, int]) -> None:
        self.row = row
        self.vector: Vector | None = row[1]
        self.looked = looked  # whose look found it so, and which
        self.used = False  # since it was last to go
        self.size = _RECORD_BYTES + len(row[1] or b"") + sum(map(len, _long(row)))
        self._made: Record | None = None
        self._data: Any = None
        (
            id_, scope, kind, type_, source, durability, importance, begins, learned, author,
            origin, session, hash_, tags, text,
        ) = _glanced(row)  # fmt: skip
        at = learned if begins is None else begins
        told = (
            id_, scope, KINDS[kind], TYPES[type_], SOURCES[source], DURABILITIES[durability],
            importance, at, author, origin, session, hash_, tags != "[]", text,
        )  # fmt: skip
        self.glance: Glance = tuple.__new__(Glance, told)  # in half the time: there are many

    def record(self) -> Record:
        made = self._made
        if made is None or made.data != self._data:
            made = self._made = read_record(self.row[RECORD_FROM:])
            self._data = json.loads(self.row[_DATA]) if made.data else {}
        return made


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
                    found[key] = held
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
                    found[row[0]] = held
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
        look = self._look
        made = [SeenRecord(row, look) for row in rows]
        self._records.keep(made, space)
        return {one.row[0]: one for one in made}


_NUMBERS = itertools.count()
