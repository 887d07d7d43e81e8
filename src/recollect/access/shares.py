"""Fair shares: what tenants, those who share a root, may take of a server at one moment.

Requests are let in by turns, one tenant after the other, however many each has sent: who floods
waits behind themselves. Bytes in and out are counted after they went, so that a tenant may owe
some, and waits until the minute has paid for them.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from recollect.access.quotas import Buckets, TooMany
from recollect.engine import Engine
from recollect.scopes import root_of

RUNNING_MAX = 8  # requests at work at once; more would only wait for each other
WAITING_MAX = 256  # requests of one tenant
EVERYBODY = ""  # the tenant of whoever reaches every root, and of a server without keys


def tenants_of(engine: Engine) -> tuple[str, ...]:
    """The roots that a handle is bound to: all keys of a root are one tenant."""
    return tuple(dict.fromkeys(map(root_of, engine.bound))) or (EVERYBODY,)


class FairTurns:
    """So many at once, and of those that wait one tenant's after the other's."""

    def __init__(self, running: int = RUNNING_MAX, waiting: int = WAITING_MAX) -> None:
        self._most = running
        self._waiting_max = waiting
        self._running = 0
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    @asynccontextmanager
    async def turn(self, tenant: str) -> AsyncIterator[None]:
        """TooMany if as many of this tenant's wait as may."""
        if self._running < self._most:
            self._running += 1
        else:
            await self._wait(tenant)
        try:
            yield
        finally:
            self._pass_on()

    async def _wait(self, tenant: str) -> None:
        row = self._waiting.setdefault(tenant, deque())
        if len(row) >= self._waiting_max:
            raise TooMany(f"{len(row)} requests of this tenant wait already; send fewer at once", 1)
        turn = asyncio.get_running_loop().create_future()
        row.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it was let in while it was called off
                self._pass_on()
            raise

    def _pass_on(self) -> None:
        """The next tenant's turn; who had one goes to the end of the row."""
        while self._waiting:
            tenant, row = next(iter(self._waiting.items()))
            del self._waiting[tenant]
            turn = row.popleft() if row else None
            if row:
                self._waiting[tenant] = row
            if turn is not None and not turn.done():
                turn.set_result(None)
                return
        self._running -= 1


class TenantPlaces:
    """So many of one kind at once for each tenant, such as uploads."""

    def __init__(self, most: int, what: str) -> None:
        self._most = most
        self._what = what
        self._taken: Counter[str] = Counter()

    @asynccontextmanager
    async def taken(self, tenants: Iterable[str]) -> AsyncIterator[None]:
        named = tuple(tenants)
        if any(self._taken[tenant] >= self._most for tenant in named):
            raise TooMany(f"{self._most} {self._what}; wait for one to end", 10)
        self._taken.update(named)
        try:
            yield
        finally:
            self._taken.subtract(named)
            self._taken += Counter()  # those who have none are not kept


class Flow:
    """Bytes a minute for each tenant; 0: no limit."""

    def __init__(self, megabytes: int, what: str) -> None:
        self._buckets = Buckets(megabytes << 20)
        self._what = what

    def check(self, tenants: Iterable[str]) -> None:
        """TooMany while a tenant owes some."""
        wait = max((self._buckets.owed(tenant) for tenant in tenants), default=0.0)
        if wait:
            raise TooMany(f"this tenant {self._what} more than its share of a minute", wait)

    def add(self, tenants: Iterable[str], size: int) -> None:
        for tenant in tenants:
            self._buckets.pay(tenant, size)
