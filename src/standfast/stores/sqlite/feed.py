"""The file as the search index is fed from it, in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import apsw

from standfast.index.codes import NEVER_ENDS
from standfast.index.derived import all_quantised
from standfast.ports import FeedChanges, FeedRecord, FeedStamps, SavedIndex
from standfast.stores.rows import RECORD_WITH_SCOPE, is_sound, to_json
from standfast.stores.sqlite import snapshots
from standfast.stores.sqlite.connection import select
from standfast.stores.sqlite.seen import RECORD_FROM, ConnectionView, SeenRecords

CHUNK = 8192
VECTORS_AT_ONCE = 1024  # so that they are rounded while they lie in the processor's cache
LITTLE = 32  # rows
EVERYTHING = 0  # as the key of an erased record: load the scope anew

# In the order of ``IndexRow``.
_COLUMNS = (
    "pk, CAST(id AS BLOB), kind, type, status, source, durability, importance, learned_at,"
    f" coalesce(retired_at, {NEVER_ENDS}), coalesce(valid_from, -{2**63 - 1} - 1),"
    f" coalesce(valid_to, {NEVER_ENDS}), coalesce(expires_at, {NEVER_ENDS}), words,"
    " author, session, session_scope, labels, terms"
)
_KEYS = "(SELECT value FROM json_each(?))"
_VECTORS = (
    f"SELECT record, f32 FROM vector WHERE record IN {_KEYS}"
    " AND space = (SELECT pk FROM space WHERE name = ?)"
)
_WHOLE = (
    f"SELECT record.pk, vector.f32, {RECORD_WITH_SCOPE} FROM record"
    " JOIN scope ON scope.pk = record.scope"
    " LEFT JOIN vector ON vector.record = record.pk AND vector.space = ?"
    f" WHERE record.pk IN {_KEYS}"
)


class FileMovedError(Exception):
    """Somebody wrote between two reads that should have been of one moment."""


class SqliteFeed:
    """``standfast.ports.Feed``. The caller has begun a transaction but read nothing yet; or has not
    begun one, needs no index loaded, and minds ``FileMovedError``."""

    def __init__(self, db: apsw.Connection, seen: ConnectionView | None = None) -> None:
        self._db = db
        self._seen = seen or ConnectionView(SeenRecords())
        self._scopes: dict[str, int] = {}
        self._stamps: dict[str, int] = {}
        self._space: int | None = None
        self.damaged: list[str] = []  # records that were left out: they are not as written

    def stamps(self, scopes: Sequence[str], below: Sequence[str], space: str) -> FeedStamps:
        asked = tuple(scopes), tuple(below), space
        rows = self._seen.stamps(self._db, asked)
        if rows is None:
            rows = self._read_stamps(*asked)
            self._seen.look(self._db)
            self._seen.keep_stamps(asked, rows)
        dimensions = None
        if rows and rows[-1][0] is None:
            *rows, (_, self._space, dimensions) = rows
        self._scopes = {path: pk for path, pk, _ in rows}
        self._stamps = {path: stamp for path, _, stamp in rows}
        return FeedStamps(self._stamps, dimensions)

    def _read_stamps(
        self, scopes: Sequence[str], below: Sequence[str], space: str
    ) -> Sequence[Sequence[Any]]:
        """Those of the scopes, and behind them the number and the length of the space."""
        sql = f"SELECT path, pk, stamp FROM scope WHERE stamp > 0 AND path IN {_KEYS}"
        bindings: list[Any] = [to_json(list(scopes))]
        for scope in below:  # ";" follows ":"
            sql += " UNION SELECT path, pk, stamp FROM scope"
            sql += " WHERE stamp > 0 AND path > ? AND path < ?"
            bindings += [scope + ":", scope + ";"]
        if space:
            sql += " UNION ALL SELECT NULL, pk, dimensions FROM space WHERE name = ?"
            bindings.append(space)
        return select(self._db, sql, *bindings)

    def changes(self, scope: str, after: int) -> FeedChanges:
        pk = self._scopes[scope]
        if after:
            gone = select(
                self._db, "SELECT record FROM erased WHERE scope = ? AND stamp > ?", pk, after
            )
            keys = [key for (key,) in gone]
            if EVERYTHING not in keys:
                return FeedChanges(self._changed(pk, after), keys)
        return FeedChanges(self._all(pk), None)

    def is_little(self, scope: str, after: int) -> bool:
        """Is what changed behind this stamp taken in more quickly than by another thread?"""
        sql = (
            "SELECT count(*) + (SELECT count(*) FROM erased WHERE scope = ?1 AND stamp > ?2) FROM"
            " (SELECT 1 FROM record WHERE scope = ?1 AND changed > ?2 LIMIT ?3)"
        )
        ((number,),) = select(self._db, sql, self._scopes[scope], after, LITTLE + 1)
        return bool(number <= LITTLE)

    def _changed(self, scope: int, after: int) -> Iterator[Sequence[Sequence[Any]]]:
        yield from _parts(
            self._db.execute(
                f"SELECT {_COLUMNS} FROM record WHERE scope = ? AND changed > ? ORDER BY pk",
                (scope, after),
            )
        )

    def _all(
        self, scope: int, first: int = 0, last: int = 2**62
    ) -> Iterator[Sequence[Sequence[Any]]]:
        """Those with keys from ``first`` to ``last``, in the order in which they lie there."""
        sql = "SELECT pk FROM record WHERE scope = ? AND +pk BETWEEN ? AND ?"
        keys = sorted(key for (key,) in select(self._db, sql, scope, first, last))
        for start in range(0, len(keys), CHUNK):
            yield select(
                self._db,
                f"SELECT {_COLUMNS} FROM record WHERE pk IN {_KEYS} ORDER BY pk",
                str(keys[start : start + CHUNK]),
            )

    def saved(self, scope: str, part: str) -> SavedIndex | None:
        pk = self._scopes[scope]
        parts = snapshots.fitting(self._db, pk, part, self._stamps[scope])
        if not parts:
            return None
        stamp, rows = min(one.stamp for one in parts), sum(one.rows for one in parts)
        if part:
            bodies = (snapshots.body_of(self._db, one) for one in parts)
            sound = (body for body in bodies if body is not None)
            return SavedIndex(stamp, rows, sound, snapshots.changed_keys(self._db, pk, stamp))
        return SavedIndex(stamp, rows, self._saved_rows(pk, parts), ())

    def _saved_rows(
        self, scope: int, parts: Sequence[snapshots.SavedPart]
    ) -> Iterator[bytes | Sequence[Sequence[Any]]]:
        *gaps, behind = snapshots.gaps(self._db, scope, parts)
        for one, (first, last) in zip(parts, gaps, strict=True):
            yield from self._all(scope, first, last) if first <= last else ()
            body = snapshots.body_of(self._db, one)
            if body is None:
                yield from self._all(scope, one.first, one.last)
            else:
                yield body
        yield from self._all(scope, *behind) if behind[0] <= behind[1] else ()

    def vectors(
        self, scope: str, space: str, keys: Sequence[int] | None
    ) -> Iterable[Sequence[tuple[int, bytes]]]:
        if keys is None:
            rows = select(self._db, "SELECT pk FROM record WHERE scope = ?", self._scopes[scope])
            keys = sorted(key for (key,) in rows)
        for start in range(0, len(keys), VECTORS_AT_ONCE):
            some = str(list(keys[start : start + VECTORS_AT_ONCE]))
            found = select(self._db, _VECTORS, some, space)
            if found:
                numbers, vectors = zip(*found, strict=True)
                yield list(zip(numbers, all_quantised(vectors), strict=True))

    def records(self, keys: Sequence[int], space: str) -> Mapping[int, FeedRecord]:
        number = self._space if space else None
        found = self._seen.unchanged(keys, number)
        missing = [key for key in keys if key not in found]
        if missing:
            rows = select(self._db, _WHOLE, number, str(missing))
            if not self._db.in_transaction and self._seen.look(self._db):
                raise FileMovedError
            found |= self._seen.same(rows, number)
            fresh = [row for row in rows if row[0] not in found and self._is_sound(row)]
            found |= self._seen.keep(fresh, number)
        return found

    def _is_sound(self, row: Sequence[Any]) -> bool:
        columns = row[RECORD_FROM:]
        sound = is_sound(columns)
        if not sound:
            self.damaged.append(str(columns[1]))
        return sound


def _parts(cursor: apsw.Cursor) -> Iterator[list[tuple[Any, ...]]]:
    found: list[tuple[Any, ...]] = []
    for row in cursor:
        found.append(row)
        if len(found) == CHUNK:
            yield found
            found = []
    if found:
        yield found
