"""Fair shares: what tenants, those who share a root, may take of a server at one moment.

Requests are let in by turns, one tenant after the other, however many each has sent: who floods
waits behind themselves. Where others are about, a tenant has one request at work at a time, and
more only beside slow ones, so that whoever comes finds room. Bytes in and out are counted after
they went, so that a tenant may owe some, and waits until the minute has paid for them.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import cycle

from standfast.access.quotas import Buckets, TooMany
from standfast.engine import Engine
from standfast.models.calls import ASIDE
from standfast.scopes import root_of

RUNNING_MAX = 8  # requests at work at once; more would only wait for each other
WAITING_MAX = 256  # requests of one tenant
# In company a tenant's next request begins when the one before has ended, or has been at work for
# so long: a slow one does not stop the quick ones behind it.
COMPANY_PATIENCE_SECONDS = 0.25
COMPANY_RUNNING_MAX = 4
REFUSED_AGAIN_SECONDS = 1.0
REFUSAL_SECONDS = 0.5
REFUSAL_STEPS = 16  # between that and twice as long
REFUSED_MAX = 1000  # tenants that are remembered
COMPANY_SECONDS = 60.0  # how long others are counted on
EVERYBODY = ""  # the tenant of whoever reaches every root, and of a server without keys


def tenants_of(engine: Engine) -> tuple[str, ...]:
    """The roots that a handle is bound to: all keys of a root are one tenant."""
    bound = engine.bound
    return tuple(dict.fromkeys(map(root_of, bound))) if bound else (EVERYBODY,)


class Company:
    """Who was here last, to tell whether a tenant has the server to itself."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last: dict[str, float] = {}  # the last two, the one who came last behind

    def note(self, tenant: str) -> None:
        self._last.pop(tenant, None)
        self._last[tenant] = self._clock()
        if len(self._last) > 2:
            del self._last[next(iter(self._last))]

    def has(self, tenant: str) -> bool:
        """Was anybody else here a moment ago?"""
        since = self._clock() - COMPANY_SECONDS
        return any(at > since for other, at in self._last.items() if other != tenant)


class FairTurns:
    """So many at once, and of those that wait one tenant's after the other's. In ``company`` a
    tenant has one at a time, or a few if they are slow."""

    def __init__(
        self,
        running: int = RUNNING_MAX,
        waiting: int = WAITING_MAX,
        company: Company | None = None,
    ) -> None:
        self._most = running
        self._waiting_max = waiting
        self.company = company or Company()
        self._running: Counter[str] = Counter()
        self._begun: dict[str, float] = {}  # when the last one of a tenant began
        self._looking: asyncio.TimerHandle | None = None
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        self._idle: list[asyncio.Future[None]] = []

    async def idle(self, seconds: float) -> None:
        """Wait until nobody is at work, but no longer than so many seconds."""
        if not self._running:
            return
        moment = asyncio.get_running_loop().create_future()
        self._idle.append(moment)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await moment

    def turn(self, tenant: str) -> Turn:
        """To be entered: TooMany if as many of this tenant's wait as may."""
        return Turn(self, tenant)

    def check_room(self, tenant: str) -> None:
        if (many := len(self._waiting.get(tenant, ()))) >= self._waiting_max:
            raise TooMany(f"{many} requests of this tenant wait already; send fewer at once", 1)

    async def begin(self, tenant: str) -> None:
        """Wait until one more of this tenant's may run; ``end`` has to follow."""
        if self._may_begin(tenant):
            self._count(tenant)
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(tenant, deque()).append(turn)
        self._look_later()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # it was let in while it was called off
                self.end(tenant)
            raise

    def end(self, tenant: str) -> None:
        self._running[tenant] -= 1
        if not self._running[tenant]:
            del self._running[tenant]
            self._begun.pop(tenant, None)
        self._advance()
        if not self._running:
            for moment in self._idle:
                if not moment.done():
                    moment.set_result(None)
            self._idle.clear()

    def _may_begin(self, tenant: str) -> bool:
        if self._running.total() >= self._most:
            return False
        if not self._running[tenant] or not self.company.has(tenant):
            return True
        waited = time.monotonic() - self._begun[tenant]
        return waited >= COMPANY_PATIENCE_SECONDS and self._running[tenant] < COMPANY_RUNNING_MAX

    def _count(self, tenant: str) -> None:
        self._running[tenant] += 1
        self._begun[tenant] = time.monotonic()

    def _advance(self) -> None:
        while self._pass_on():
            pass

    def _look_later(self) -> None:
        """Patience ends without anybody ending."""
        if self._looking is None:
            loop = asyncio.get_running_loop()
            self._looking = loop.call_later(COMPANY_PATIENCE_SECONDS, self._look)

    def _look(self) -> None:
        self._looking = None
        self._advance()
        if self._waiting:
            self._look_later()

    def _pass_on(self) -> bool:
        """Let the next one in whose turn it is, if there is one; who had a turn goes to the end of
        the row."""
        for tenant, row in list(self._waiting.items()):
            while row and row[0].done():  # it was called off
                row.popleft()
            if not row:
                del self._waiting[tenant]
            elif self._may_begin(tenant):
                del self._waiting[tenant]
                row.popleft().set_result(None)
                self._count(tenant)
                if row:
                    self._waiting[tenant] = row
                return True
        return False


class Turn:
    """One that is at work. It may be given back before the work ends, and is while a service is
    waited for."""

    def __init__(self, turns: FairTurns, tenant: str) -> None:
        self._turns = turns
        self._tenant = tenant
        self._is_held = self._is_over = False
        self._aside = 0

    async def __aenter__(self) -> Turn:
        self._turns.company.note(self._tenant)
        self._turns.check_room(self._tenant)
        await self.take()
        self._token = ASIDE.set(self.aside)
        return self

    async def __aexit__(self, *_: object) -> None:
        ASIDE.reset(self._token)
        self.give_back()

    async def take(self) -> None:
        await self._turns.begin(self._tenant)
        self._is_held = True

    def give_back(self) -> None:
        """For good."""
        self._is_over = True
        self._let_go()

    def _let_go(self) -> None:
        if self._is_held:
            self._is_held = False
            self._turns.end(self._tenant)

    @asynccontextmanager
    async def aside(self) -> AsyncIterator[None]:
        """Others may go on inside of this; several may be inside at once."""
        self._aside += 1
        self._let_go()
        try:
            yield
        except asyncio.CancelledError:  # it ends, and needs no turn for that
            self._is_over = True
            raise
        finally:
            self._aside -= 1
            if not (self._aside or self._is_over or self._is_held):
                await self.take()


def _count_down(counts: Counter[str], tenant: str, by: int) -> None:
    """Those who have none are not kept."""
    left = counts[tenant] - by
    if left > 0:
        counts[tenant] = left
    else:
        del counts[tenant]


class TenantPlaces:
    """So many of one kind at once for each tenant, such as uploads."""

    def __init__(self, most: int, what: str, wait: float = 10) -> None:
        self._most = most
        self._what = what
        self._wait = wait
        self._taken: Counter[str] = Counter()

    def check(self, tenants: Iterable[str]) -> None:
        for tenant in tenants:
            if self._taken[tenant] >= self._most:
                raise TooMany(f"{self._most} {self._what}; wait for one to end", self._wait)

    @asynccontextmanager
    async def taken(self, tenants: Iterable[str]) -> AsyncIterator[None]:
        named = tuple(tenants)
        self.take(named)
        try:
            yield
        finally:
            self.leave(named)

    def take(self, tenants: Sequence[str]) -> None:
        """``leave`` has to follow."""
        self.check(tenants)
        for tenant in tenants:
            self._taken[tenant] += 1

    def leave(self, tenants: Sequence[str]) -> None:
        for tenant in tenants:
            _count_down(self._taken, tenant, 1)


class Unread:
    """Bytes of answers that wait in memory because nobody reads them."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._bytes: Counter[str] = Counter()

    def check(self, tenants: Iterable[str]) -> None:
        """TooMany while a tenant leaves that many."""
        for tenant in tenants:
            if self._bytes[tenant] >= self._most:
                told = f"{self._most >> 20} MB of answers to this tenant are not read yet"
                raise TooMany(f"{told}; read them, or close their connections", 1)

    def hold(self, tenants: Iterable[str], size: int) -> None:
        """``let_go`` has to follow."""
        for tenant in tenants:
            self._bytes[tenant] += size

    def let_go(self, tenants: Iterable[str], size: int) -> None:
        for tenant in tenants:
            _count_down(self._bytes, tenant, size)


class Refusals:
    """Who is refused and comes again at once waits a moment for the next refusal: thousands of them
    a second cost the others as much as work does. Those who came together are told one by one."""

    def __init__(self) -> None:
        self._last: dict[str, float] = {}
        self._steps = cycle(range(REFUSAL_STEPS))

    async def hold(self, tenant: str) -> None:
        now = time.monotonic()
        again = now - self._last.pop(tenant, -REFUSED_AGAIN_SECONDS) < REFUSED_AGAIN_SECONDS
        self._last[tenant] = now
        if len(self._last) > REFUSED_MAX:
            del self._last[next(iter(self._last))]
        if again:
            await asyncio.sleep(REFUSAL_SECONDS * (1 + next(self._steps) / REFUSAL_STEPS))


class Flow:
    """Bytes a minute for each tenant; 0: no limit."""

    def __init__(self, megabytes: int, what: str) -> None:
        self._buckets = Buckets(megabytes << 20)
        self._what = what

    def check(self, tenants: Iterable[str]) -> None:
        """TooMany while a tenant owes some."""
        wait = max([self._buckets.owed(tenant) for tenant in tenants], default=0.0)
        if wait:
            raise TooMany(f"this tenant {self._what} more than its share of a minute", wait)

    def add(self, tenants: Iterable[str], size: int) -> None:
        for tenant in tenants:
            self._buckets.pay(tenant, size)
