"""The registry in the file: a table beside those of the memories, written cell by cell.

Its integer key grows with every write and is never given twice (AUTOINCREMENT), so it is the
version. Whoever writes also drops a few cells that have expired: an idle store writes nothing, a
busy one does not grow.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

import apsw

from standfast.errors import Conflict
from standfast.index.codes import micros, micros_or_none, moment
from standfast.ports import Cell
from standfast.stores.cells import behind, check_cell, check_version
from standfast.stores.rows import to_json
from standfast.stores.sqlite.connection import connect, roll_back, select
from standfast.stores.sqlite.failures import speaking_of
from standfast.stores.sqlite.writer import Writer

T = TypeVar("T")

FEW = 8  # so many are looked up without a thread of their own
DROPPED_AT_ONCE = 100

Read = Callable[[apsw.Connection], Any]
_COLUMNS = "key, value, expires_at, version"
_THERE = "(expires_at IS NULL OR expires_at > ?)"


class SqliteRegistry:
    """``standfast.ports.Registry`` over the store's own connections. ``here`` reads a single
    statement on the calling thread, ``away`` on a reader's."""

    def __init__(
        self,
        writer: Writer,
        here: Callable[[Read], Awaitable[Any]],
        away: Callable[[Read], Awaitable[Any]],
    ) -> None:
        self._writer = writer
        self._here = here
        self._away = away

    async def get(self, keys: Sequence[str], *, now: datetime) -> list[Cell]:
        def read(db: apsw.Connection) -> list[Cell]:
            return _get(db, keys, now)

        found: list[Cell] = await (self._here if len(keys) <= FEW else self._away)(read)
        return found

    async def put(self, cell: Cell, *, now: datetime) -> Cell:
        check_cell(cell)
        value = to_json(cell.value)
        return await self._write(lambda db: _put(db, cell, value, now))

    async def settle(self, root: str, *, seq: int, until: datetime) -> None:
        await self._write(lambda db: _settle(db, root, seq, until))

    async def unsettled(self, now: datetime, *, news: bool, limit: int = 100) -> list[str]:
        found: list[str] = await self._away(lambda db: _unsettled(db, now, news, limit))
        return found

    async def list(
        self, prefix: str, *, now: datetime, after: str = "", limit: int = 100
    ) -> list[Cell]:
        found: list[Cell] = await self._away(lambda db: _list(db, prefix, now, after, limit))
        return found

    async def _write(self, write: Callable[[apsw.Connection], T]) -> T:
        done: T | Conflict = await asyncio.shield(
            asyncio.wrap_future(self._writer.run(lambda db: _committed(db, write)))
        )
        if isinstance(done, Conflict):
            raise done
        return done


def put_cell(path: str, cell: Cell, now: datetime) -> None:
    """Write one cell into a file that this caller has not opened as a store, whatever the cell said
    before. A file from before there was a registry stays as it is."""

    def write(db: apsw.Connection) -> Cell:
        known = _get(db, [cell.key], now)
        return _put(db, replace(cell, version=known[0].version if known else 0), value, now)

    check_cell(cell)
    value = to_json(cell.value)
    with speaking_of(path), closing(connect(path)) as db:
        if db.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'registry'").get:
            _committed(db, write)


def _committed(db: apsw.Connection, write: Callable[[apsw.Connection], T]) -> T | Conflict:
    """A conflict is an answer: the writer takes an exception for a failure of the disk."""
    db.execute("BEGIN IMMEDIATE")
    try:
        done = write(db)
        db.execute("COMMIT")
    except Conflict as conflict:
        return conflict
    finally:
        roll_back(db)
    return done


def _cell(row: Sequence[Any]) -> Cell:
    key, value, expires_at, version = row
    until = None if expires_at is None else moment(expires_at)
    return Cell(key=key, value=json.loads(value), expires_at=until, version=version)


def _get(db: apsw.Connection, keys: Sequence[str], now: datetime) -> list[Cell]:
    if len(keys) == 1:
        sql = f"SELECT {_COLUMNS} FROM registry WHERE key = ? AND {_THERE}"
        return [_cell(row) for row in select(db, sql, keys[0], micros(now))]
    sql = f"SELECT {_COLUMNS} FROM registry WHERE key IN (SELECT value FROM json_each(?))"
    rows = select(db, f"{sql} AND {_THERE}", to_json(list(keys)), micros(now))
    found = {cell.key: cell for cell in map(_cell, rows)}
    return [found[key] for key in keys if key in found]


def _list(db: apsw.Connection, prefix: str, now: datetime, after: str, limit: int) -> list[Cell]:
    # No key is empty, so that "" is before all of them.
    conditions, bindings = [_THERE, "key > ?", "key >= ?"], [micros(now), after, prefix]
    end = behind(prefix)
    if end is not None:
        conditions.append("key < ?")
        bindings.append(end)
    sql = f"SELECT {_COLUMNS} FROM registry WHERE {' AND '.join(conditions)} ORDER BY key LIMIT ?"
    return [_cell(row) for row in select(db, sql, *bindings, max(0, limit))]


def _put(db: apsw.Connection, given: Cell, value: str, now: datetime) -> Cell:
    at = micros(now)
    stored = db.execute(
        f"SELECT version FROM registry WHERE key = ? AND {_THERE}", (given.key, at)
    ).get
    check_version(given, stored or 0)
    until = micros_or_none(given.expires_at)
    db.execute(
        "INSERT OR REPLACE INTO registry (key, expires_at, value) VALUES (?, ?, ?)",
        (given.key, until, value),
    )
    version = db.last_insert_rowid()
    # Also what is given, if it has expired already.
    db.execute(
        "DELETE FROM registry WHERE version IN"
        " (SELECT version FROM registry WHERE expires_at <= ? LIMIT ?) OR"
        " (version = ? AND expires_at <= ?)",
        (at, DROPPED_AT_ONCE, version, at),
    )
    return replace(given, value=json.loads(value), version=version)


def _settle(db: apsw.Connection, root: str, seq: int, until: datetime) -> None:
    db.execute(
        "UPDATE upkeep SET until = ?, news = (SELECT head > ? FROM root WHERE pk = upkeep.root)"
        " WHERE root = (SELECT pk FROM root WHERE name = ?)",
        (micros(until), seq, root),
    )


def _unsettled(db: apsw.Connection, now: datetime, news: bool, limit: int) -> list[str]:
    waited = (
        "SELECT * FROM (SELECT 0 AS rank, until AS since, root FROM upkeep WHERE until <= ?1"
        " ORDER BY until, root LIMIT ?2)"
    )
    stirred = (
        " UNION ALL SELECT * FROM (SELECT 1, 0, root FROM upkeep WHERE news = 1 AND until > ?1"
        " ORDER BY root LIMIT ?2)"
    )
    rows = db.execute(
        f"SELECT name FROM ({waited}{stirred if news else ''}) AS found"
        " CROSS JOIN root ON root.pk = found.root ORDER BY found.rank, found.since, name LIMIT ?2",
        (micros(now), max(0, limit)),
    )
    return [name for (name,) in rows]
