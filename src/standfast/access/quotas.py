"""How much those who share a root may do: so many requests a minute, so many rows a day, so much
that is kept. All keys of a root share its limits, and rows count, not requests: a tenant gains
nothing by making keys, nor by writing much at once.

The rate is kept in this process, where one process serves; where several do, each takes a share
of the minute from the store whenever it has used up the one before. What was written is kept in
the store, a few seconds late, so that a restart gives nobody a new day.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from datetime import time as clock_time
from typing import get_args

from standfast import compat
from standfast.engine import Engine, every_message, every_record, every_session
from standfast.errors import Conflict, StandfastError, Unavailable
from standfast.ports import Cell, cell_key
from standfast.types import Batch, Listing, Message, Record, SessionKey, Status, Where

QUOTA, STORED = compat.QUOTA_CELLS, compat.STORED_CELLS
BUCKETS_MAX = 10_000
FLUSH_SECONDS = 2.0
FAILURES_PER_MINUTE = 30
RECOUNT_SECONDS = 600.0  # how old the number of a root's records may be
RECOUNT_SECONDS_FULL = 10.0  # the same at the limit: somebody may have forgotten some
WALKED_AT_ONCE = 50
RATE = compat.RATE_CELLS
PARTS = 60  # of a minute's worth: so much a process takes at a time
PART_KEPT = timedelta(seconds=5)
RACES_MAX = 8
RACE_SECONDS = 1.0


class TooMany(StandfastError):
    """More than a tenant may; ``wait`` is how many seconds until it may again."""

    def __init__(self, message: str, wait: float) -> None:
        super().__init__(message)
        self.wait = wait


class Buckets:
    """One bucket for each name: it holds a minute's worth, and fills up again as time goes by."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = float(per_minute)
        self._clock = clock
        self._left: dict[str, tuple[float, float]] = {}  # name -> how much, when

    def take(self, name: str) -> float:
        """0 if there was one left, else how many seconds until there is."""
        if not self._most:
            return 0.0
        now = self._clock()
        left = self._filled(name, now)
        if left < 1:
            return (1 - left) * 60 / self._most
        if len(self._left) >= BUCKETS_MAX and name not in self._left:
            self._drop_full(now)
        self._left[name] = (left - 1, now)
        return 0.0

    def owed(self, name: str) -> float:
        """How many seconds until what was paid beyond the bucket is made up for; 0 if nothing."""
        left = self._filled(name, self._clock()) if self._most else 0.0
        return -left * 60 / self._most if left < 0 else 0.0

    def pay(self, name: str, amount: float) -> None:
        """Take so many, also if there are not that many left."""
        if self._most and amount:
            now = self._clock()
            if len(self._left) >= BUCKETS_MAX and name not in self._left:
                self._drop_full(now)
            self._left[name] = (self._filled(name, now) - amount, now)

    def _filled(self, name: str, now: float) -> float:
        left, then = self._left.get(name, (self._most, now))
        return min(self._most, left + (now - then) * self._most / 60)

    def _drop_full(self, now: float) -> None:
        """What is full again says nothing; if none is, the whole book goes."""
        kept = {n: v for n, v in self._left.items() if self._filled(n, now) < self._most}
        self._left = kept if len(kept) < BUCKETS_MAX else {}


@dataclass(slots=True)
class SharedRates:
    """The same bucket for several processes. Its level is a cell of the registry; a process takes
    a part of it at a time, and what it has not used after a moment is nobody's."""

    engine: Engine
    per_minute: int
    _parts: dict[str, tuple[int, datetime]] = field(default_factory=dict)  # how many, until when

    async def take(self, name: str) -> float:
        """As ``Buckets.take``; Unavailable if the store does not answer."""
        if not self.per_minute:
            return 0.0
        now = self.engine.now()
        left, until = self._parts.get(name, (0, now))
        if left and now < until:
            self._parts[name] = (left - 1, until)
            return 0.0
        for _ in range(RACES_MAX):
            with suppress(Conflict):
                return await self._refilled(name, now)
        return RACE_SECONDS

    async def _refilled(self, name: str, now: datetime) -> float:
        registry, key = self.engine.store.registry, cell_key(RATE, name)
        most = float(self.per_minute)
        full = Cell(key=key, value={"left": most, "at": now.timestamp()})
        cell = next(iter(await registry.get((key,), now=now)), full)
        # Either way: who counted in the future counted by a clock that was wrong.
        passed = abs(now.timestamp() - cell.value["at"])
        level: float = min(most, cell.value["left"] + passed * most / 60)
        if level < 1:
            return (1 - level) * 60 / most
        part = int(min(level, max(1.0, most / PARTS)))
        value = {"left": level - part, "at": now.timestamp()}
        until = now + timedelta(minutes=2)
        await registry.put(replace(cell, value=value, expires_at=until), now=now)
        if len(self._parts) >= BUCKETS_MAX:
            self._parts.clear()
        self._parts[name] = (part - 1, now + PART_KEPT)
        return 0.0


@dataclass(slots=True)
class _Count:
    known: int  # what the store said
    new: int = 0  # what it does not know yet
    expires_at: datetime | None = None

    @property
    def total(self) -> int:
        return self.known + self.new


@dataclass(slots=True)
class _Rows:
    count: int
    at: float  # when they were counted


@dataclass(slots=True, kw_only=True)
class Quotas:
    """``standfast.engine.Meter``: what was written and what is kept, by root. 0: no limit, and
    nothing is counted."""

    engine: Engine
    per_day: int = 0
    records: int = 0
    bytes: int = 0
    _counts: dict[str, _Count] = field(default_factory=dict)  # by the key of their cell
    _rows: dict[str, _Rows] = field(default_factory=dict)  # by root
    _walked: dict[str, float] = field(default_factory=dict)  # by root: when its bytes were counted

    async def take(self, roots: Iterable[str]) -> None:
        """Count one write, whatever comes of it; TooMany if one of these roots has made all that
        it may today."""
        if not self.per_day:
            return
        counts = [await self._today(root) for root in roots]
        if any(count.total >= self.per_day for count in counts):
            raise self._used_up()
        for count in counts:
            count.new += 1

    async def admit(self, batch: Batch) -> None:
        """Before a commit: TooMany if it would be more than its root may."""
        more = rows_of(batch) - 1  # the first was counted with the request
        if self.per_day and (await self._today(batch.root)).total + more > self.per_day:
            raise self._used_up()
        if batch.erase and not batch.records and not batch.messages:
            return  # who has too much must be able to have less
        if self.records and (more := len(batch.messages) + len(_new(batch))):
            await self._check_records(batch.root, more)
        if self.bytes and (size := bytes_of(batch)):
            await self._check_bytes(batch.root, size)

    async def count(self, batch: Batch) -> None:
        """Behind a commit."""
        if self.per_day:
            (await self._today(batch.root)).new += rows_of(batch) - 1
        if self.records and batch.root in self._rows:
            self._rows[batch.root].count += len(_new(batch))
        if self.bytes:
            (await self._counted(cell_key(STORED, batch.root), None)).new += bytes_of(batch)

    def _used_up(self) -> TooMany:
        now = self.engine.now()
        midnight = datetime.combine(now.date() + timedelta(days=1), clock_time(), UTC)
        return TooMany(
            f"this tenant has made its {self.per_day:,} writes of today; it starts anew at "
            "00:00 UTC",
            (midnight - now).total_seconds(),
        )

    async def _today(self, root: str) -> _Count:
        now = self.engine.now()
        name = cell_key(QUOTA, now.date().isoformat(), root)
        return await self._counted(name, now + timedelta(days=2))

    async def _check_records(self, root: str, more: int) -> None:
        known, now = self._rows.get(root), time.monotonic()
        full = known is not None and known.count + more > self.records
        patience = RECOUNT_SECONDS_FULL if full else RECOUNT_SECONDS
        if known is None or now - known.at > patience:
            counts = await self.engine.store.counts((root,), now=self.engine.now(), descend=True)
            known = self._rows[root] = _Rows(sum(counts.values()), now)
        if known.count + more > self.records:
            raise TooMany(
                f"{root} keeps {known.count:,} records and may keep {self.records:,}; forget some",
                3600,
            )

    async def _check_bytes(self, root: str, more: int) -> None:
        known, now = await self._counted(cell_key(STORED, root), None), time.monotonic()
        if known.total + more <= self.bytes:
            return
        if now - self._walked.get(root, -math.inf) > RECOUNT_SECONDS:
            self._walked[root] = now
            known.new = await stored_bytes(self.engine, root) - known.known
        if known.total + more > self.bytes:
            raise TooMany(
                f"{root} keeps {known.total >> 20:,} MB and may keep {self.bytes >> 20:,} MB; "
                "forget some",
                3600,
            )

    async def _counted(self, name: str, until: datetime | None) -> _Count:
        found = self._counts.get(name)
        if found is None:
            cell = await self._cell(name, until)
            fresh = _Count(known=int(cell.value), expires_at=cell.expires_at)
            found = self._counts.setdefault(name, fresh)
        return found

    async def _cell(self, name: str, until: datetime | None) -> Cell:
        cells = await self.engine.store.registry.get((name,), now=self.engine.now())
        return cells[0] if cells else Cell(key=name, value=0, expires_at=until)

    async def flush(self) -> None:
        """Add what is new to the store's count; what cannot be written now is kept for later."""
        now = self.engine.now()
        for name, count in list(self._counts.items()):
            if count.new:
                await self._flush_one(name, count)
            elif count.expires_at is not None and count.expires_at - now < timedelta(days=1):
                del self._counts[name]  # of yesterday

    async def _flush_one(self, name: str, count: _Count) -> None:
        cell = await self._cell(name, count.expires_at)
        added, total = count.new, max(0, int(cell.value) + count.new)
        try:
            await self.engine.store.registry.put(replace(cell, value=total), now=self.engine.now())
        except (Conflict, Unavailable):
            return  # another process counted too, or the disk is full: next time
        count.known = total
        count.new -= added


def _new(batch: Batch) -> list[Record]:
    return [record for record in batch.records if not record.version]


def rows_of(batch: Batch) -> int:
    """How many writes a commit counts as: each message, and each record that is no message's
    turn; at least one."""
    told = [record for record in _new(batch) if record.type != "turn"]
    return max(1, len(batch.messages) + len(told))


def bytes_of(batch: Batch) -> int:
    """What a commit adds, near enough: texts and data. A message is kept a second time as a
    turn."""
    return sum(map(_size_of_record, _new(batch))) + sum(map(_size_of_message, batch.messages))


def _size_of_record(record: Record) -> int:
    data = len(json.dumps(dict(record.data), default=str)) if record.data else 0
    return len(record.text.encode("utf-8", "replace")) + data


def _size_of_message(message: Message) -> int:
    return sum(len(text.encode("utf-8", "replace")) for text in (message.text, message.original))


async def stored_bytes(engine: Engine, root: str) -> int:
    """What a root keeps, counted row by row."""
    store, now, total = engine.store, engine.now(), 0
    where = Where(scopes=(root,), now=now, descend=True, exact=True, statuses=get_args(Status))
    listing = Listing(where=where, order="id")
    async for record in every_record(store, listing, size=WALKED_AT_ONCE):
        total += _size_of_record(record)
    async for session in every_session(store, root):
        key = SessionKey(session.scope, session.id)
        async for message in every_message(store, key, now):
            total += _size_of_message(message)
    return total
