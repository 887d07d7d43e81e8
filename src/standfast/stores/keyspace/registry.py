"""The registry, cell by cell: each write compares what it has read."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, cast

from standfast.errors import Unavailable
from standfast.ports import Cell
from standfast.stores.cells import behind, check_cell, check_version
from standfast.stores.commit import is_over, plain_json
from standfast.stores.keyspace.engine import Get, KeyChanges, KeyEngine, KeySpan, Pairs
from standfast.stores.keyspace.keys import (
    HEADER,
    Header,
    json_bytes,
    key,
    parts_of,
    read_as,
    time_place,
)
from standfast.types.serial import to_plain

ROOT = ""  # of the registry's keys
TRIES_MAX = 200
DROPPED_AT_ONCE = 20
PAGE = 500
_HIGHEST = b".v"  # no cell that is gone had a greater version


class KeyRegistry:
    """``standfast.ports.Registry`` over an engine. Cells lie at "n key", and at "w time key" if
    they expire. ``check`` raises if the store is closed."""

    def __init__(self, engine: KeyEngine, check: Callable[[], None]) -> None:
        self._engine = engine
        self._check = check

    async def get(self, keys: Sequence[str], *, now: datetime) -> list[Cell]:
        self._check()
        if not keys:
            return []
        found = await self._engine.read(ROOT, [Get(key("n", one)) for one in keys])
        cells = [_cell(cast(bytes, raw)) for raw in found if raw]
        return [cell for cell in cells if not is_over(cell.expires_at, now)]

    async def put(self, cell: Cell, *, now: datetime) -> Cell:
        self._check()
        check_cell(cell)
        given = replace(cell, value=plain_json(cell.value))
        for attempt in range(TRIES_MAX):
            new, changes = await self._decided(given, now)
            if await self._engine.write(ROOT, changes):
                return new
            await asyncio.sleep(min(0.001 * attempt, 0.05))
        raise Unavailable(f"too many write {cell.key!r} at once; try again", retry_after=1)

    async def _decided(self, given: Cell, now: datetime) -> tuple[Cell, KeyChanges]:
        at = key("n", given.key)
        over = KeySpan(b"w\0", key("w", time_place(now)) + b"\1", DROPPED_AT_ONCE, follow=True)
        answers = cast(list[Any], await self._engine.read(ROOT, [Get(at), Get(_HIGHEST), over]))
        raw, highest, expired = answers
        old = _cell(raw) if raw else None
        there = old if old and not is_over(old.expires_at, now) else None
        check_version(given, there.version if there else 0)
        version = max(int(highest or 0), old.version if old else 0) + 1
        new = replace(given, version=version)
        changes = KeyChanges(expected={at: raw})
        if old is not None:
            changes.gone += _keys(old)[1:]
        gone = is_over(new.expires_at, now)
        if gone:
            changes.gone.append(at)
        else:
            first, *others = _keys(new)
            changes.puts = {first: json_bytes(to_plain(new)), **dict.fromkeys(others, first)}
        if old is None or gone:  # versions of cells that come and go must not come again
            _drop_expired(changes, expired, given.key, now)
            top = max([version, *(_version(raw) for raw in changes.expected.values() if raw)])
            changes.expected = {**changes.expected, _HIGHEST: highest}
            changes.puts[_HIGHEST] = str(top).encode()
        return new, changes

    async def settle(self, root: str, *, seq: int, until: datetime) -> None:
        self._check()
        [raw] = await self._engine.read(root, [Get(HEADER)])
        header = Header.read(cast(bytes | None, raw))
        if header.head:
            await self._engine.settle(root, cast(bytes, raw), until, news=header.head > seq)

    async def unsettled(self, now: datetime, *, news: bool, limit: int = 100) -> list[str]:
        self._check()
        return await self._engine.unsettled(now, news=news, limit=limit) if limit > 0 else []

    async def list(
        self, prefix: str, *, now: datetime, after: str = "", limit: int = 100
    ) -> list[Cell]:
        self._check()
        end = behind(prefix)
        stop = b"n\1" if end is None else key("n", end)
        start = max(key("n", prefix), key("n", after) + (b"\0" if after else b""))
        found: list[Cell] = []
        while len(found) < limit:
            asked = KeySpan(start, stop, min(PAGE, limit))
            pairs = cast(Pairs, (await self._engine.read(ROOT, [asked]))[0])
            cells = [_cell(raw) for _, raw in pairs if raw]
            found += [cell for cell in cells if not is_over(cell.expires_at, now)]
            if len(pairs) < asked.limit:
                break
            start = pairs[-1][0] + b"\0"
        return found[: max(0, limit)]


def _drop_expired(changes: KeyChanges, expired: Pairs, own: str, now: datetime) -> None:
    """Whoever makes a cell drops a few that are over; they must be as they were read."""
    expected = dict(changes.expected)
    for at, raw in expired:
        name = parts_of(at)[2]
        cell = _cell(raw) if raw else None
        if name == own:
            continue
        if cell is not None and is_over(cell.expires_at, now):
            expected[key("n", name)] = raw
            changes.gone += _keys(cell)
        changes.gone.append(at)
    changes.expected = expected


def _keys(cell: Cell) -> list[bytes]:
    """The second one only if it expires."""
    found = [key("n", cell.key)]
    if cell.expires_at is not None:
        found.append(key("w", time_place(cell.expires_at), cell.key))
    return found


def _cell(raw: bytes) -> Cell:
    return read_as(Cell, raw)


def _version(raw: bytes) -> int:
    return int(json.loads(raw)["version"])
