"""Search indexes kept in the file, in parts: read instead of building them, written by upkeep.

Rows are the only truth. A part fits if its form is ours, its checksums are right and its stamp is
none from the future; anything else is read from the rows, and nobody is told. The first erasure of
a record that it covers drops a part, in the same transaction, by a trigger; so whatever a part
tells of is there still, perhaps changed since.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, NamedTuple
from zlib import crc32

import apsw
import numpy as np
from numpy.typing import NDArray

from standfast.index.cache import IndexCache
from standfast.index.snapshot import FORM, ROWS_MAX, VECTORS_MAX
from standfast.scopes import root_of
from standfast.stores.sqlite.connection import roll_back, select, snapshot

Array = NDArray[Any]
Work = Callable[[apsw.Connection], Any]

ROWS_LEAST = 2000  # of a scope: fewer are read as quickly
GROWN_LEAST = ROWS_LEAST // 10  # so many new rows of one process are a reason to look
BEHIND_MAX = 5000  # rows that may have come since, or a tenth of all if that is less


class SavedPart(NamedTuple):
    """All of it but the body."""

    pk: int
    first: int
    last: int
    rows: int
    stamp: int
    checksum: int


class SavePlan(NamedTuple):
    """What is to be done for one part of an index."""

    scope: int
    stamp: int  # as of which the parts that stay are right
    kept: Sequence[SavedPart]
    spans: Sequence[tuple[int, int]]  # of keys: to be written


# Reading


def fitting(db: apsw.Connection, scope: int, part: str, newest: int) -> list[SavedPart]:
    """In the order of their keys. ``newest``: the scope's stamp."""
    rows = select(
        db,
        "SELECT pk, first, last, rows, stamp, checksum, seal FROM snapshot"
        " WHERE scope = ? AND part = ? AND form = ? ORDER BY first",
        scope,
        part,
        FORM,
    )
    found: list[SavedPart] = []
    for *values, seal in rows:
        one = SavedPart(*values)
        apart = not found or found[-1].last < one.first
        if apart and one.stamp <= newest and seal == seal_of(scope, part, one):
            found.append(one)
    return found


def seal_of(scope: int, part: str, one: SavedPart) -> int:
    told = (scope, part, one.first, one.last, one.rows, one.stamp, FORM, one.checksum)
    return crc32(repr(told).encode())


def body_of(db: apsw.Connection, one: SavedPart) -> bytes | None:
    """None if it is not as it was written. Read as a whole: a row of this size goes through
    SQLite's own memory first, which takes six times as long."""
    try:
        with db.blob_open("main", "snapshot", "body", one.pk, False) as blob:
            body = blob.read()
    except apsw.SQLError:  # it is no blob any more
        return None
    return body if crc32(body) == one.checksum else None


def gaps(db: apsw.Connection, scope: int, parts: Sequence[SavedPart]) -> list[tuple[int, int]]:
    """Between which keys the parts tell nothing of rows that are there: one gap before each part
    and one behind them all, each perhaps empty. What changed behind the oldest stamp is read
    anyway, so that nothing else behind the last part makes an empty gap of it."""
    last, stamp = parts[-1].last, min(one.stamp for one in parts)
    ((within, behind),) = select(
        db,
        "SELECT count(*) FILTER (WHERE pk <= ?2), count(*) FILTER (WHERE pk > ?2 AND changed <= ?3)"
        " FROM record WHERE scope = ?1",
        scope,
        last,
        stamp,
    )
    whole = within == sum(one.rows for one in parts)
    found, begin = [], 0
    for one in parts:
        found.append((1, 0) if whole else (begin, one.first - 1))
        begin = one.last + 1
    return [*found, (begin, 2**62) if behind else (1, 0)]


# Writing


def is_behind(db: apsw.Connection, scope: str, rows_max: int | None) -> bool:
    """Has a scope grown far beyond what is saved of it? ``rows_max``: as for ``save``."""
    rows = select(
        db,
        "SELECT count(*), (SELECT coalesce(sum(rows), 0) FROM snapshot"
        " WHERE snapshot.scope = scope.pk AND part = '' AND form = ?)"
        " FROM scope JOIN record ON record.scope = scope.pk WHERE path = ?",
        FORM,
        scope,
    )
    ((number, saved),) = rows
    return ROWS_LEAST <= number <= (rows_max or number) and _is_far(number - saved, number)


def _is_far(missing: int, rows: int) -> bool:
    return missing >= min(BEHIND_MAX, rows // 10)


def newest_space(db: apsw.Connection, scope: str) -> str:
    """That of the scope's newest vector; "" if it has none."""
    found: str | None = db.execute(
        "SELECT (SELECT name FROM space WHERE pk = record.space) FROM record"
        " WHERE scope = (SELECT pk FROM scope WHERE path = ?) AND +space IS NOT NULL"
        " ORDER BY changed DESC LIMIT 1",
        (scope,),
    ).get
    return found or ""


def save(
    db: apsw.Connection,
    cache: IndexCache,
    write: Callable[[Work], Future[Any]],
    scope: str,
    *,
    rows_max: int | None = None,
) -> None:
    """Bring what the file has of a scope's index up to what this process has, if it is far behind.
    The index is packed part by part, and nobody waits longer for it than one takes."""
    with cache.lock_of(root_of(scope)):
        index = cache.held(scope)
        keys = None if index is None else index.alive_keys()
        parts = [] if index is None else index.saved_parts
    if keys is None or not ROWS_LEAST <= len(keys) <= (rows_max or len(keys)):
        return
    for part in parts:
        with snapshot(db):
            plan = _plan(db, scope, part, keys)
        if plan is None:
            continue
        for first, last in plan.spans:
            with cache.lock_of(root_of(scope)):
                index = cache.held(scope)
                if index is None or part not in index.saved_parts:
                    return
                body, rows = index.saved(part, first, last)
                made = SavedPart(0, first, last, rows, index.stamp, crc32(body))
            if rows:
                write(_putting(plan.scope, part, made, body)).result()
        write(_stamping(plan, part)).result()


def _plan(db: apsw.Connection, scope: str, part: str, keys: Array) -> SavePlan | None:
    """None if there is not enough to do yet. ``keys``: of all records, ascending."""
    rows_max = VECTORS_MAX if part else ROWS_MAX
    rows = select(db, "SELECT pk, stamp FROM scope WHERE path = ?", scope)
    if not rows:
        return None
    ((pk, newest),) = rows
    held = fitting(db, pk, part, newest)
    changed = np.sort(changed_keys(db, pk, min((one.stamp for one in held), default=newest)))
    kept = [one for one in held if not _within(changed, one) and _within(keys, one) == one.rows]
    missing = len(keys) - sum(one.rows for one in kept)
    if not _is_far(missing, len(keys)):
        return None
    if kept and kept[-1].rows < rows_max and keys[-1] > kept[-1].last:
        kept.pop()  # what came since joins it
    spans: list[tuple[int, int]] = []
    begin = 0
    for one in [*kept, None]:
        end = len(keys) if one is None else int(np.searchsorted(keys, one.first))
        for start in range(begin, end, rows_max):
            spans.append((int(keys[start]), int(keys[min(start + rows_max, end) - 1])))
        begin = end if one is None else int(np.searchsorted(keys, one.last, side="right"))
    return SavePlan(pk, newest, kept, spans)


def changed_keys(db: apsw.Connection, scope: int, after: int) -> Array:
    """Of the records that changed behind this stamp."""
    rows = select(db, "SELECT pk FROM record WHERE scope = ? AND changed > ?", scope, after)
    return np.array([key for (key,) in rows], dtype=np.int64)


def _within(keys: Array, one: SavedPart) -> int:
    """How many of these ascending keys it covers."""
    first, end = np.searchsorted(keys, one.first), np.searchsorted(keys, one.last, side="right")
    return int(end - first)


def _putting(scope: int, part: str, made: SavedPart, body: bytes) -> Work:
    def put(db: apsw.Connection) -> None:
        with _transaction(db):
            # What was erased since the index took it in must not come back by it.
            sql = "SELECT 1 FROM erased WHERE scope = ? AND stamp > ? LIMIT 1"
            if select(db, sql, scope, made.stamp):
                return
            db.execute(
                "DELETE FROM snapshot WHERE scope = ? AND part = ? AND first <= ? AND last >= ?",
                (scope, part, made.last, made.first),
            )
            values = (*made[1:5], FORM, made.checksum, seal_of(scope, part, made), body)
            db.execute(
                "INSERT INTO snapshot (scope, part, first, last, rows, stamp, form, checksum,"
                " seal, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (scope, part, *values),
            )
        db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)

    return put


def _stamping(plan: SavePlan, part: str) -> Work:
    """The parts that stay are right as of a later stamp too."""

    def put(db: apsw.Connection) -> None:
        with _transaction(db):
            for one in plan.kept:
                later = one._replace(stamp=plan.stamp)
                seals = seal_of(plan.scope, part, later), seal_of(plan.scope, part, one)
                db.execute(
                    "UPDATE snapshot SET stamp = ?, seal = ? WHERE pk = ? AND seal = ?",
                    (plan.stamp, seals[0], one.pk, seals[1]),
                )

    return put


@contextmanager
def _transaction(db: apsw.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    finally:
        roll_back(db)
