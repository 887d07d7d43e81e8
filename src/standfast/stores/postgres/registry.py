"""The registry: a table beside those of the memories, written cell by cell, one statement each.

Versions come from a sequence: none comes again. Whoever writes also drops a few cells that have
expired: an idle store writes nothing, a busy one does not grow.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from standfast.index.codes import micros, micros_or_none, moment_or_none
from standfast.ports import Cell
from standfast.stores.cells import behind, check_cell, check_key, check_version
from standfast.stores.postgres.connection import Db, select
from standfast.stores.postgres.pool import ThreadPool
from standfast.stores.rows import to_json

DROPPED_AT_ONCE = 100
NO_VERSION = -1
_COLUMNS = "key, value, expires_at, version"
_THERE = "(expires_at IS NULL OR expires_at > %(now)s)"

_MAKE = (
    "INSERT INTO registry (key, version, expires_at, value)"
    " VALUES (%(key)s, nextval('registry_version'), %(until)s, %(value)s)"
    " ON CONFLICT (key) DO UPDATE SET version = excluded.version, expires_at = excluded.expires_at,"
    " value = excluded.value WHERE registry.expires_at <= %(now)s RETURNING version"
)
_CHANGE = (
    "UPDATE registry SET version = nextval('registry_version'), expires_at = %(until)s,"
    f" value = %(value)s WHERE key = %(key)s AND version = %(version)s AND {_THERE}"
    " RETURNING version"
)
# Also what was given, if it has expired already.
_DROP = (
    "DELETE FROM registry WHERE key IN (SELECT key FROM registry WHERE expires_at <= %(now)s"
    " LIMIT %(most)s FOR UPDATE SKIP LOCKED) OR (key = %(key)s AND expires_at <= %(now)s)"
)


Row = tuple[Any, ...]


class _Asked(NamedTuple):
    keys: Sequence[str]
    answer: asyncio.Future[Mapping[str, Row]]


class PostgresRegistry:
    """``standfast.ports.Registry`` over the store's own connections."""

    def __init__(self, pool: ThreadPool) -> None:
        self._pool = pool
        self._asked: dict[asyncio.AbstractEventLoop, list[_Asked]] = {}  # while a read is under way

    async def get(self, keys: Sequence[str], *, now: datetime) -> list[Cell]:
        """Every request asks for its key. Those who ask while a read is under way are answered by
        the next one, together: none is told what was read before it asked."""
        for key in keys:  # what the database would refuse must not be asked for with others' keys
            check_key(key)
        loop = asyncio.get_running_loop()
        if (waiting := self._asked.get(loop)) is not None:
            asked = _Asked(keys, loop.create_future())
            waiting.append(asked)
            rows = await asked.answer
        else:
            self._asked[loop] = []
            try:
                rows = await self._rows(keys)
            finally:
                self._go_on(loop)
        at = micros(now)
        there = [row for key in keys if (row := rows.get(key)) and (row[2] is None or row[2] > at)]
        return [_cell(row) for row in there]

    def _go_on(self, loop: asyncio.AbstractEventLoop) -> None:
        """With those who have asked meanwhile, if there are any."""
        waiting = self._asked[loop]
        if not waiting:
            del self._asked[loop]
            return
        self._asked[loop] = []
        task = loop.create_task(self._rows([key for asked in waiting for key in asked.keys]))
        task.add_done_callback(partial(self._tell, loop, waiting))

    def _tell(
        self,
        loop: asyncio.AbstractEventLoop,
        waiting: Sequence[_Asked],
        task: asyncio.Task[Mapping[str, Row]],
    ) -> None:
        self._go_on(loop)
        failure = None if task.cancelled() else task.exception()
        for asked in waiting:
            if asked.answer.done():  # somebody has stopped waiting
                continue
            if task.cancelled():
                asked.answer.cancel()
            elif failure is not None:
                asked.answer.set_exception(failure)
            else:
                asked.answer.set_result(task.result())

    async def _rows(self, keys: Sequence[str]) -> Mapping[str, Row]:
        sql = f"SELECT {_COLUMNS} FROM registry WHERE key = ANY(%s)"
        wanted = [*dict.fromkeys(keys)]
        rows = await self._pool.run(lambda db: db.execute(sql, (wanted,)).fetchall())
        return {row[0]: row for row in rows}

    async def put(self, cell: Cell, *, now: datetime) -> Cell:
        check_cell(cell)
        value = to_json(cell.value)
        # Never again by itself: the first try may have landed, and would be taken for another's.
        version = await self._pool.run(lambda db: _put(db, cell, value, now), again=False)
        return replace(cell, value=json.loads(value), version=version)

    async def settle(self, root: str, *, seq: int, until: datetime) -> None:
        sql = "UPDATE root SET until = %s, news = head > %s WHERE name = %s AND head > 0"
        await self._pool.run(lambda db: db.execute(sql, (micros(until), seq, root)))

    async def unsettled(self, now: datetime, *, news: bool, limit: int = 100) -> list[str]:
        at, most = micros(now), max(0, limit)
        return await self._pool.run(lambda db: _unsettled(db, at, news, most))

    async def list(
        self, prefix: str, *, now: datetime, after: str = "", limit: int = 100
    ) -> list[Cell]:
        at, most = micros(now), max(0, limit)
        return await self._pool.run(lambda db: _list(db, prefix, at, after, most))


def _cell(row: Sequence[Any]) -> Cell:
    key, value, expires_at, version = row
    until = moment_or_none(expires_at)
    return Cell(key=key, value=json.loads(value), expires_at=until, version=version)


def _put(db: Db, given: Cell, value: str, now: datetime) -> int:
    said = {
        "key": given.key,
        "value": value,
        "until": micros_or_none(given.expires_at),
        "version": given.version,
        "now": micros(now),
        "most": DROPPED_AT_ONCE,
    }
    rows = db.execute(_CHANGE if given.version else _MAKE, said).fetchall()
    if not rows:
        check_version(given, NO_VERSION)
    if given.expires_at is not None:
        db.execute(_DROP, said)
    version: int = rows[0][0]
    return version


def _list(db: Db, prefix: str, now: int, after: str, limit: int) -> list[Cell]:
    # No key is empty, so that "" is before all of them.
    conditions = ["(expires_at IS NULL OR expires_at > %s)", "key > %s", "key >= %s"]
    given: list[Any] = [now, after, prefix]
    end = behind(prefix)
    if end is not None:
        conditions.append("key < %s")
        given.append(end)
    sql = f"SELECT {_COLUMNS} FROM registry WHERE {' AND '.join(conditions)} ORDER BY key LIMIT %s"
    return [_cell(row) for row in select(db, sql, *given, limit)]


def _unsettled(db: Db, now: int, news: bool, limit: int) -> list[str]:
    waited = "SELECT name FROM root WHERE head > 0 AND until <= %s ORDER BY until, name LIMIT %s"
    found = [name for (name,) in select(db, waited, now, limit)]
    if news and len(found) < limit:
        stirred = (
            "SELECT name FROM root WHERE news AND head > 0 AND until > %s ORDER BY name LIMIT %s"
        )
        found += [name for (name,) in select(db, stirred, now, limit - len(found))]
    return found
