"""Asking a model with care: tries, time, a breaker, and budgets that hold across processes.

A model is a stranger's machine that is slow, busy, wrong or expensive. Whoever asks gets a fitting
answer, or one clear error in bounded time. Money and tokens are booked before a call by estimate
and set right after it, in the same store as everything else: two processes cannot spend one
budget twice, and a process that dies in the middle has paid.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Protocol

from recollect.budgets import Booking, Budgets, Ledger, Price
from recollect.errors import Invalid, Unavailable
from recollect.ports import AnswerError, Clock, Model, NewId, Prompt, Reply, Store
from recollect.scopes import root_of
from recollect.tokens import estimate
from recollect.types import Usage

log = logging.getLogger(__name__)

TRIES = 3
SECONDS = 60.0
PAUSE_SECONDS = 1.0
PAUSE_SECONDS_MAX = 30.0
FAILURES_MAX = 5
OPEN_SECONDS = 60.0
CALLS_AT_ONCE = 4
LOOK_SECONDS = 0.02

Sleep = Callable[[float], Awaitable[None]]
Chance = Callable[[], float]  # from 0 to 1


class Persists(Protocol):
    """May anything of this scope, or by these authors, be kept? ``Engine.persists`` is one."""

    async def __call__(self, scope: str, authors: Iterable[str] = ()) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long to try. Pauses double from ``pause``, with chance in them, up to ``pause_max``;
    a longer wait that a server asks for is not waited out: the error says when."""

    tries: int = TRIES
    seconds: float = SECONDS
    pause: float = PAUSE_SECONDS
    pause_max: float = PAUSE_SECONDS_MAX


class Breaker:
    """Stops asking a model that keeps failing. After ``FAILURES_MAX`` failures in a row it is
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
        # Looking now and then works across loops and threads, and a model call takes seconds.
        while not self._places.acquire(blocking=False):
            await asyncio.sleep(LOOK_SECONDS)
        try:
            yield
        finally:
            self._places.release()


GATE = Gate(CALLS_AT_ONCE)


class Careful:
    """The models of a memory by operation, asked with care; "" is the model for all others."""

    def __init__(
        self,
        models: Mapping[str, Model],
        *,
        store: Store,
        clock: Clock,
        new_id: NewId,
        chance: Chance,
        budgets: Budgets | None = None,
        patience: Patience | None = None,
        price_of: Callable[[str], Price | None] = lambda _: None,
        persists: Persists | None = None,
        sleep: Sleep = asyncio.sleep,
        gate: Gate = GATE,
    ) -> None:
        """``price_of`` tells the price of a model by its name; None: nobody knows."""
        self.budgets = budgets or Budgets()
        self._models = dict(models)
        self._ledger = Ledger(store, clock, new_id, self.budgets)
        self._clock = clock
        self._chance = chance
        self._patience = patience or Patience()
        self._price_of = price_of
        self._prices: dict[str, Price | None] = {}
        self._persists = persists
        self._sleep = sleep
        self._gate = gate
        self._breakers = {model.name: Breaker(model.name, clock) for model in models.values()}

    def model_for(self, operation: str) -> Model | None:
        return self._models.get(operation) or self._models.get("")

    async def ask(self, prompt: Prompt, *, scope: str, authors: Iterable[str] = ()) -> Reply:
        """The model's fitting answer; its usage counts every try.

        Unavailable: no model, opted out, over budget, left alone after failures, or every try
        failed (``retry_after`` says when to come again, if that is known). AnswerError: the last
        try was answered, but not with what was asked for. Invalid: the model refuses this
        question, which is too long for it, for example.
        """
        model = self.model_for(prompt.operation)
        if model is None:
            raise Unavailable(f"no model to {prompt.operation} with; set RECOLLECT_MODEL")
        if self._persists is not None and not await self._persists(scope, authors):
            raise Unavailable(f"{scope} opted out: nothing of theirs is shown to a model")
        price = await self._price(model.name)
        booking = Booking(
            root=root_of(scope),
            operation=prompt.operation,
            model=model.name,
            tokens_in=estimate(prompt.system) + estimate(prompt.user) + _of_schema(prompt),
            tokens_out=prompt.tokens_max,
            price=price or Price(),
        )
        self._ledger.check_call(booking)
        reply = await self._tried(model, prompt, booking)
        notes = () if price else (f"the price of {model.name} is not known: counted as 0",)
        return replace(reply, notes=reply.notes + notes)

    async def _price(self, name: str) -> Price | None:
        if name not in self._prices:
            self._prices[name] = await asyncio.to_thread(self._price_of, name)
        return self._prices[name]

    async def _tried(self, model: Model, prompt: Prompt, booking: Booking) -> Reply:
        spent = Usage()
        for attempt in range(1, self._patience.tries + 1):
            try:
                reply = await self._once(model, prompt, booking)
                return replace(reply, usage=_sum(spent, reply.usage))
            except AnswerError as error:
                spent = _sum(spent, error.usage)
                if attempt == self._patience.tries:
                    raise AnswerError(str(error), usage=spent) from None
            except _FailedCall as error:
                spent = _sum(spent, error.usage)
                given_up = self._breakers[model.name].is_open
                last = attempt == self._patience.tries
                if last or given_up or not self._worth_waiting(error):
                    raise
                await self._sleep(self._pause(attempt, error.retry_after))
        raise AssertionError("unreachable: the last try answers or raises")

    def _worth_waiting(self, error: Unavailable) -> bool:
        return not error.lasting and (error.retry_after or 0.0) <= self._patience.pause_max

    def _pause(self, attempt: int, asked_for: float | None) -> float:
        """Doubling, half of it by chance, so that many askers do not come back all at once."""
        longest = min(self._patience.pause * (1 << (attempt - 1)), self._patience.pause_max)
        return max(longest * (0.5 + self._chance() / 2), asked_for or 0.0)

    async def _once(self, model: Model, prompt: Prompt, booking: Booking) -> Reply:
        """One call: through the gate, past the breaker, booked before and set right after."""
        breaker = self._breakers[model.name]
        async with self._gate.entered():
            finds_out = breaker.enter()
            try:
                booked = await self._ledger.book(booking)
                spent = booking.nothing
                try:
                    reply = await self._answer(model, prompt)
                    spent = booking.actual(reply.usage, reply.text)
                    breaker.worked()
                    return replace(reply, usage=spent, notes=_note(reply.usage, reply.notes))
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
                    raise _FailedCall(error, spent) from None
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

    async def _answer(self, model: Model, prompt: Prompt) -> Reply:
        try:
            async with asyncio.timeout(self._patience.seconds):
                return await model.ask(prompt)
        except TimeoutError:
            seconds = self._patience.seconds
            said = f"{model.name} did not answer within {seconds:g} seconds"
            raise Unavailable(said, outcome_unknown=True) from None
        except (Invalid, Unavailable):
            raise
        except Exception as error:
            # Somebody else's model may fail in any way; whoever asks expects one of two errors.
            said = f"{model.name} failed: {type(error).__name__}"
            raise Unavailable(said, outcome_unknown=True) from None


class _FailedCall(Unavailable):
    """A call that was made and failed: unlike a refusal of ours, it may be tried again."""

    def __init__(self, error: Unavailable, usage: Usage) -> None:
        super().__init__(
            str(error),
            outcome_unknown=error.outcome_unknown,
            retry_after=error.retry_after,
            lasting=error.lasting,
        )
        self.usage = usage


def _of_schema(prompt: Prompt) -> int:
    return estimate(str(dict(prompt.schema))) if prompt.schema else 0


def _sum(one: Usage, other: Usage) -> Usage:
    return Usage(
        calls=one.calls + other.calls,
        tokens_in=one.tokens_in + other.tokens_in,
        tokens_out=one.tokens_out + other.tokens_out,
        cost=one.cost + other.cost,
    )


def _note(told: Usage, notes: tuple[str, ...]) -> tuple[str, ...]:
    if told.tokens_in or told.tokens_out:
        return notes
    return (*notes, "the model did not say what it used: tokens are estimated")
