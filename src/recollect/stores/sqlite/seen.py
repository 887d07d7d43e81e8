"""What one connection has read and need not read again.

SQLite tells a connection whether anybody else has written into the file since it last looked
(``PRAGMA data_version``). As long as nobody has, the stamps of scopes that were read are right, and
so are records that were decoded. Once somebody has, a short look tells which records are still as
they were: a use counts, too.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import apsw

from recollect.ports import FeedRecord
from recollect.stores.rows import read_record
from recollect.types import Record

RECORDS_BYTES_MAX = 24 * 1024**2  # of decoded records, for each connection
STAMPS_MAX = 1000  # questions whose answers are kept
_RECORD_BYTES = 2000  # what a decoded record takes beside its text and its vector

Marks = tuple[Any, ...]  # of a record's row: what differs once anything in it does
Space = int | None


class RowOnce:
    """A record made of its row when it is first wanted, and then kept."""

    __slots__ = ("_made", "_row")

    def __init__(self, row: list[Any]) -> None:
        self._row: list[Any] | None = row
        self._made: Record | None = None

    def __call__(self) -> Record:
        if self._made is None:
            assert self._row is not None
            self._made, self._row = read_record(self._row), None
        return self._made


@dataclass(slots=True)
class SeenRecord:
    marks: Marks
    answer: FeedRecord
    size: int
    looked: int  # the number of the look in which it was last found unchanged


@dataclass(slots=True)
class Seen:
    """Of one connection, and so of one thread. Inside a transaction call ``look`` first."""

    _version: int = -1
    _look: int = 0
    _bytes: int = 0
    _stamps: dict[Any, Any] = field(default_factory=dict)
    _records: OrderedDict[tuple[int, Space], SeenRecord] = field(default_factory=OrderedDict)

    def look(self, db: apsw.Connection) -> None:
        """Did anybody write? This also begins the moment that a transaction sees."""
        version = db.execute("PRAGMA data_version").get
        if version != self._version or len(self._stamps) > STAMPS_MAX:
            self._version = version
            self._look += 1
            self._stamps.clear()

    def stamps(self, question: object) -> Any:
        """The answer to the same question, if nobody wrote since; or None."""
        return self._stamps.get(question)

    def keep_stamps(self, question: object, answer: Any) -> None:
        self._stamps[question] = answer

    def unsure(self, keys: Iterable[int], space: Space) -> list[int]:
        """Those of these records that are held, but may have changed."""
        found = ((key, self._records.get((key, space))) for key in keys)
        return [key for key, held in found if held is not None and held.looked != self._look]

    def compare(self, now: Mapping[int, Marks], asked: Iterable[int], space: Space) -> None:
        """What these records are like now: those that differ, or are no more, are let go."""
        for key in asked:
            if self._records[key, space].marks == now.get(key):
                self._records[key, space].looked = self._look
            else:
                self._bytes -= self._records.pop((key, space)).size

    def records(self, keys: Iterable[int], space: Space) -> dict[int, FeedRecord]:
        """Those of these that are held; none of them is ``unsure`` any more."""
        found: dict[int, FeedRecord] = {}
        for key in keys:
            held = self._records.get((key, space))
            if held is not None:
                found[key] = held.answer
                self._records.move_to_end((key, space))
        return found

    def keep(self, key: int, space: Space, marks: Marks, answer: FeedRecord, text: int) -> None:
        """``text``: how long it is."""
        size = _RECORD_BYTES + text + len(answer.vector or b"")
        self._records[key, space] = SeenRecord(marks, answer, size, self._look)
        self._bytes += size
        while self._bytes > RECORDS_BYTES_MAX and self._records:
            _, old = self._records.popitem(last=False)
            self._bytes -= old.size
