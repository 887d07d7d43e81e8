"""How much a key may do: so many requests a minute, and so many writes a day.

The rate is kept in this process. The writes of a day are kept in the store, written a few
seconds late, so that a restart gives nobody a new day.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from datetime import time as clock_time

from recollect.engine import Engine
from recollect.errors import Conflict, RecollectError, Unavailable
from recollect.ports import Cell, cell_key

QUOTA = "quota"
BUCKETS_MAX = 10_000
FLUSH_SECONDS = 2.0
FAILURES_PER_MINUTE = 30


class TooMany(RecollectError):
    """More than a key may; ``wait`` is how many seconds until it may again."""

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

    def _filled(self, name: str, now: float) -> float:
        left, then = self._left.get(name, (self._most, now))
        return min(self._most, left + (now - then) * self._most / 60)

    def _drop_full(self, now: float) -> None:
        """What is full again says nothing; if none is, the whole book goes."""
        kept = {n: v for n, v in self._left.items() if self._filled(n, now) < self._most}
        self._left = kept if len(kept) < BUCKETS_MAX else {}


@dataclass(slots=True)
class _Count:
    known: int  # what the store said
    new: int = 0  # what it does not know yet


@dataclass(slots=True)
class Quotas:
    """Writes by key and day. 0 a day: no limit, and nothing is counted."""

    engine: Engine
    per_day: int
    _counts: dict[tuple[str, str], _Count] = field(default_factory=dict)

    async def take(self, key: str) -> None:
        """Count one write, or TooMany."""
        if not self.per_day:
            return
        now = self.engine.now()
        count = await self._count(now.date().isoformat(), key)
        if count.known + count.new >= self.per_day:
            midnight = datetime.combine(now.date() + timedelta(days=1), clock_time(), UTC)
            raise TooMany(
                f"this key has made its {self.per_day:,} writes of today; "
                "it starts anew at 00:00 UTC",
                (midnight - now).total_seconds(),
            )
        count.new += 1

    async def _count(self, day: str, key: str) -> _Count:
        found = self._counts.get((day, key))
        if found is None:
            cell = await self._cell(day, key)
            found = self._counts.setdefault((day, key), _Count(known=int(cell.value)))
        return found

    async def _cell(self, day: str, key: str) -> Cell:
        name = cell_key(QUOTA, day, key)
        now = self.engine.now()
        cells = await self.engine.store.registry.get((name,), now=now)
        return cells[0] if cells else Cell(key=name, value=0, expires_at=now + timedelta(days=2))

    async def flush(self) -> None:
        """Add what is new to the store's count; what cannot be written now is kept for later."""
        today = self.engine.now().date().isoformat()
        for (day, key), count in list(self._counts.items()):
            if count.new:
                await self._flush_one(day, key, count)
            elif day != today:
                del self._counts[day, key]

    async def _flush_one(self, day: str, key: str, count: _Count) -> None:
        cell = await self._cell(day, key)
        added, total = count.new, int(cell.value) + count.new
        try:
            await self.engine.store.registry.put(replace(cell, value=total), now=self.engine.now())
        except (Conflict, Unavailable):
            return  # another process counted too, or the disk is full: next time
        count.known = total
        count.new -= added
