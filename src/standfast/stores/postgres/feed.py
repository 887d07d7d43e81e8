"""The database as the search index is fed from it, in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from standfast.index.codes import NEVER_ENDS
from standfast.ports import FeedChanges, FeedRecord, FeedStamps, LaterRecord, note_left_out
from standfast.stores.postgres.connection import Db, select, vector_of
from standfast.stores.postgres.erase import EVERYTHING
from standfast.stores.postgres.held import ask_with_vectors, sound_record
from standfast.types import Record

CHUNK = 8192

# In the order of ``IndexRow``.
_COLUMNS = (
    "key, convert_to(id, 'UTF8'), kind, type, status, source, durability, importance, learned_at,"
    f" coalesce(retired_at, {NEVER_ENDS}), coalesce(valid_from, -{NEVER_ENDS} - 1),"
    f" coalesce(valid_to, {NEVER_ENDS}), coalesce(expires_at, {NEVER_ENDS}), words,"
    " author, session, session_scope, labels, terms"
)


class PostgresFeed:
    """``standfast.ports.Feed``. The caller has begun a transaction that sees one moment, but read
    nothing yet."""

    def __init__(self, db: Db, root: str, begin: str) -> None:
        """``begin`` is sent together with the first question."""
        self._db = db
        self._root = root
        self._begin = begin
        self.damaged: list[str] = []  # records that were left out: they are not as written

    def stamps(self, scopes: Sequence[str], below: Sequence[str], space: str) -> FeedStamps:
        sql = "SELECT path, stamp FROM scope WHERE root = %s AND (path = ANY(%s)"
        given: list[Any] = [self._root, list(scopes)]
        for scope in below:  # ";" follows ":"
            sql += " OR (path > %s AND path < %s)"
            given += [scope + ":", scope + ";"]
        with self._db.pipeline():
            self._db.execute(self._begin)
            places = self._db.execute(f"{sql})", given)
            spaces = self._db.execute("SELECT dimensions FROM space WHERE name = %s", (space,))
            found: dict[str, int] = dict(places.fetchall())
            dimensions = spaces.fetchall()
        return FeedStamps(found, dimensions[0][0] if dimensions else None)

    def changes(self, scope: str, after: int) -> FeedChanges:
        if after:
            gone = select(
                self._db,
                "SELECT record FROM erased WHERE root = %s AND scope = %s AND stamp > %s",
                *(self._root, scope, after),
            )
            keys = [key for (key,) in gone]
            if EVERYTHING not in keys:
                return FeedChanges(self._rows(scope, after), keys)
        return FeedChanges(self._rows(scope, -1), None)

    def _rows(self, scope: str, after: int) -> Iterator[Sequence[Sequence[Any]]]:
        sql = f"SELECT {_COLUMNS} FROM record WHERE root = %s AND scope = %s AND changed > %s"
        yield from self._parts(f"{sql} ORDER BY key", (self._root, scope, after))

    def vectors(
        self, scope: str, space: str, keys: Sequence[int] | None
    ) -> Iterable[Sequence[tuple[int, bytes]]]:
        sql = "SELECT record, small FROM embedding WHERE root = %s AND scope = %s AND space = %s"
        given: list[Any] = [self._root, scope, space]
        if keys is None:
            yield from self._parts(f"{sql} ORDER BY record", given)
            return
        for start in range(0, len(keys), CHUNK):
            some = list(keys[start : start + CHUNK])
            yield from self._parts(f"{sql} AND record = ANY(%s)", [*given, some])

    def records(self, keys: Sequence[int], space: str) -> Mapping[int, FeedRecord]:
        with self._db.pipeline():
            read = ask_with_vectors(self._db, self._root, keys, space)
            self._db.execute("COMMIT")  # the last question of a search
            rows = read()
        found = {}
        for key, vector, *row in rows:
            record = sound_record(row)
            if record is None:
                self.damaged.append(str(row[2]))
                note_left_out(self.damaged[-1:])
                continue
            told = None if vector is None else vector_of(vector)
            found[key] = LaterRecord(partial(_itself, record), told)
        return found

    def _parts(self, sql: str, given: Sequence[Any]) -> Iterator[list[tuple[Any, ...]]]:
        """In one go, while it is little; read piece by piece, if it is more."""
        with self._db.cursor(binary=True) as cursor:
            cursor.execute(f"DECLARE part NO SCROLL CURSOR FOR {sql}", given)
            try:
                while True:
                    cursor.execute(f"FETCH {CHUNK} FROM part", binary=True)
                    rows = cursor.fetchall()
                    if rows:
                        yield rows
                    if len(rows) < CHUNK:
                        return
            finally:
                cursor.execute("CLOSE part")


def _itself(record: Record) -> Record:
    return record
