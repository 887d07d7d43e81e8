"""A call that costs money, made with care: tries, time, a breaker, and budgets that hold across
processes.

What is called is a stranger's machine that is slow, busy, wrong or expensive. Whoever calls gets
an answer, or one clear error in bounded time. Money and tokens are booked before a call by
estimate and set right after it, in the same store as everything else: two processes cannot spend
one budget twice, and a process that dies in the middle has paid.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from standfast.errors import Invalid, Unavailable
from standfast.models.budgets import Booking, Budgets, Price, Spending
from standfast.ports import AnswerError, Clock, NewId, Store
from standfast.types import Usage
from standfast.types.frozen import frozen

log = logging.getLogger(__name__)

TRIES = 3
SECONDS = 60.0
PAUSE_SECONDS = 1.0
PAUSE_SECONDS_MAX = 30.0
FAILURES_MAX = 5
OPEN_SECONDS = 60.0
CALLS_AT_ONCE = 4
LOOK_SECONDS = 0.02

# Whoever has a turn among others lets them go on for as long as a service is waited for.
ASIDE: ContextVar[Callable[[], AbstractAsyncContextManager[None]]] = ContextVar(
    "aside", default=nullcontext
)

T = TypeVar("T")
Sleep = Callable[[float], Awaitable[None]]
Chance = Callable[[], float]  # from 0 to 1
PriceOf = Callable[[str], Price | None]
# One try: what came of it, and what it cost.
Call = Callable[[], Awaitable[tuple[T, Usage]]]


@frozen
class Patience:
    """How long to try. Pauses double from ``pause``, with chance in them, up to ``pause_max``;
    a longer wait that a server asks for is not waited out: the error says when."""

    tries: int = TRIES
    seconds: float = SECONDS
    pause: float = PAUSE_SECONDS
    pause_max: float = PAUSE_SECONDS_MAX


class Breaker:
    """Stops calling a service that keeps failing. After ``FAILURES_MAX`` failures in a row it is
    open for ``OPEN_SECONDS``; then one call at a time may find out whether it works again."""

    def __init__(self, name: str, clock: Clock) -> None:
        self._name = name
        self._clock = clock
        self._failures = 0
        self._until: datetime | None = None
        self._reason = ""
        self._trying = False

    @property
    def is_open(self) -> bool:
        return self._until is not None

    def enter(self) -> bool:
        """Unavailable while it is open. True: this call is the one that finds out."""
        if self._until is None:
            return False
        left = (self._until - self._clock()).total_seconds()
        if left > 0 or self._trying:
            when = self._until.astimezone(UTC).strftime("%H:%M:%S UTC")
            raise Unavailable(
                f"{self._name} failed {self._failures} times in a row and is left alone until "
                f"{when}; the last time: {self._reason}",
                retry_after=max(left, 0.0),
            )
        self._trying = True
        return True

    def leave(self, found_out: bool) -> None:
        """The call is over, whatever came of it."""
        self._trying = self._trying and not found_out

    def worked(self) -> None:
        self._failures, self._until = 0, None

    def failed(self, reason: str) -> None:
        self._failures += 1
        self._reason = reason
        if self._failures >= FAILURES_MAX:
            self._until = self._clock() + timedelta(seconds=OPEN_SECONDS)


class Gate:
    """At most so many calls at once in this process, whatever event loops they run in."""

    def __init__(self, calls: int) -> None:
        self._places = threading.BoundedSemaphore(calls)

    @asynccontextmanager
    async def entered(self) -> AsyncIterator[None]:
        # Looking now and then works across loops and threads, and a call takes long.
        while not self._places.acquire(blocking=False):
            await asyncio.sleep(LOOK_SECONDS)
        try:
            yield
        finally:
            self._places.release()


class FailedCall(Unavailable):
    """A call that was made and failed: unlike a refusal of ours, it may be tried again."""

    def __init__(self, error: Unavailable, usage: Usage) -> None:
        super().__init__(
            str(error),
            outcome_unknown=error.outcome_unknown,
            retry_after=error.retry_after,
            lasting=error.lasting,
        )
        self.usage = usage


class Calls:
    """Whoever makes such calls is one of these."""

    def __init__(
        self,
        *,
        store: Store,
        clock: Clock,
        new_id: NewId,
        chance: Chance,
        gate: Gate,
        budgets: Budgets | None = None,
        patience: Patience | None = None,
        price_of: PriceOf = lambda _: None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        """``price_of`` tells the price of a model by its name; None: nobody knows."""
        self.budgets = budgets or Budgets()
        self._ledger = Spending(store, clock, new_id, self.budgets)
        self._clock = clock
        self._chance = chance
        self._patience = patience or Patience()
        self._price_of = price_of
        self._prices: dict[str, Price | None] = {}
        self._sleep = sleep
        self._gate = gate
        self._breakers: dict[str, Breaker] = {}

    async def _price(self, name: str) -> Price | None:
        if name not in self._prices:
            self._prices[name] = await asyncio.to_thread(self._price_of, name)
        return self._prices[name]

    async def _tried(
        self,
        booking: Booking,
        call: Call[T],
        *,
        patience: Patience | None = None,
        gate: Gate | None = None,
    ) -> tuple[T, Usage]:
        """What came of the last try, and what all of them cost."""
        patience, gate = patience or self._patience, gate or self._gate
        breaker = self._breakers.setdefault(booking.model, Breaker(booking.model, self._clock))
        spent = Usage()
        for attempt in range(1, patience.tries + 1):
            try:
                found, cost = await self._once(booking, call, breaker, gate)
                return found, sum_of(spent, cost)
            except AnswerError as error:
                spent = sum_of(spent, error.usage)
                if attempt == patience.tries:
                    raise AnswerError(str(error), usage=spent) from None
            except FailedCall as error:
                spent = error.usage = sum_of(spent, error.usage)
                last = attempt == patience.tries
                if last or breaker.is_open or not _worth_waiting(error, patience):
                    raise
                await self._sleep(self._pause(attempt, error.retry_after, patience))
        raise AssertionError("unreachable: the last try answers or raises")

    def _pause(self, attempt: int, asked_for: float | None, patience: Patience) -> float:
        """Doubling, half of it by chance, so that many callers do not come back all at once."""
        longest = min(patience.pause * (1 << (attempt - 1)), patience.pause_max)
        return max(longest * (0.5 + self._chance() / 2), asked_for or 0.0)

    async def _once(
        self, booking: Booking, call: Call[T], breaker: Breaker, gate: Gate
    ) -> tuple[T, Usage]:
        """One call: through the gate, past the breaker, booked before and set right after."""
        async with gate.entered():
            finds_out = breaker.enter()
            try:
                booked = await self._ledger.book(booking)
                spent = booking.nothing
                try:
                    found, spent = await call()
                    breaker.worked()
                    return found, spent
                except AnswerError as error:
                    spent = booking.actual(error.usage, "")
                    breaker.worked()  # the service is alive; the answer alone was bad
                    raise AnswerError(str(error), usage=spent) from None
                except Invalid:
                    breaker.worked()  # it refuses this question, not all
                    raise
                except Unavailable as error:
                    spent = booking.question if error.outcome_unknown else booking.nothing
                    breaker.failed(str(error))
                    raise FailedCall(error, spent) from None
                except BaseException:
                    spent = booking.question  # cancelled: it may have been answered and paid
                    raise
                finally:
                    await self._settle(booked, spent)
            finally:
                breaker.leave(finds_out)

    async def _settle(self, booked: Booking, spent: Usage) -> None:
        """The answer is there: a store that cannot take the last digit must not lose it."""
        try:
            await asyncio.shield(self._ledger.settle(booked, spent))
        except Unavailable as error:
            log.warning("usage stays as estimated: %s", error, extra={"action": "ask"})


def _worth_waiting(error: Unavailable, patience: Patience) -> bool:
    return not error.lasting and (error.retry_after or 0.0) <= patience.pause_max


async def within(seconds: float, name: str, answer: Awaitable[T]) -> T:
    """The answer of somebody else's service, which may fail in any way, as one of two errors:
    Invalid, or Unavailable."""
    try:
        async with ASIDE.get()(), asyncio.timeout(seconds):
            return await answer
    except TimeoutError:
        said = f"{name} did not answer within {seconds:g} seconds"
        raise Unavailable(said, outcome_unknown=True) from None
    except (Invalid, Unavailable):
        raise
    except Exception as error:
        said = f"{name} failed: {type(error).__name__}"
        raise Unavailable(said, outcome_unknown=True) from None


def sum_of(one: Usage, other: Usage) -> Usage:
    return Usage(
        texts_embedded=one.texts_embedded + other.texts_embedded,
        calls=one.calls + other.calls,
        tokens_in=one.tokens_in + other.tokens_in,
        tokens_out=one.tokens_out + other.tokens_out,
        cost=one.cost + other.cost,
    )
