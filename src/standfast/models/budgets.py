"""What models may cost: budgets per call and per day, kept in the registry beside the memories.

Each root scope has one cell a day: the total that every call is held against, and under ``by``
its parts by operation and model, for people to read. It changes by compare-and-set.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from standfast import compat
from standfast.errors import Conflict, Unavailable
from standfast.ports import Cell, Clock, NewId, Registry, Store, cell_key
from standfast.text.tokens import estimate
from standfast.types import Usage
from standfast.types.frozen import frozen

ATTEMPTS_MAX = 64
KEPT_DAYS = 90
MILLION = 1_000_000
PAGE = 100
BUDGET = compat.BUDGET_CELLS
NOTHING: Mapping[str, Any] = {"calls": 0, "tokens_in": 0, "tokens_out": 0, "cost": 0.0}


@frozen
class Price:
    """Dollars per million tokens."""

    tokens_in: float = 0.0
    tokens_out: float = 0.0

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / MILLION


@frozen
class Budgets:
    """Hard limits; 0 = none. A call counts question and answer; a day begins at 00:00 UTC and
    belongs to one root scope."""

    tokens_per_call: int = 32_000
    tokens_per_day: int = 1_000_000
    money_per_day: float = 5.0


@frozen
class Booking:
    """One call as it is expected; ``day`` is set when it was booked."""

    root: str
    operation: str
    model: str
    tokens_in: int
    tokens_out: int
    price: Price
    day: date | None = None

    @property
    def expected(self) -> Usage:
        return self._usage(self.tokens_in, self.tokens_out)

    @property
    def question(self) -> Usage:
        """Nobody knows what came of it: the question counts."""
        return self._usage(self.tokens_in, 0)

    @property
    def nothing(self) -> Usage:
        return Usage(calls=1)

    def actual(self, told: Usage, text: str) -> Usage:
        """What the provider says it was, with our price; estimated where it says nothing."""
        if not told.tokens_in and not told.tokens_out:
            return self._usage(self.tokens_in, estimate(text))
        usage = self._usage(told.tokens_in, told.tokens_out)
        return replace(usage, cost=told.cost) if told.cost else usage

    def _usage(self, tokens_in: int, tokens_out: int) -> Usage:
        cost = self.price.cost(tokens_in, tokens_out)
        return Usage(calls=1, tokens_in=tokens_in, tokens_out=tokens_out, cost=cost)


class Spending:
    """The books of what was used."""

    def __init__(self, store: Store, clock: Clock, new_id: NewId, budgets: Budgets) -> None:
        self._registry = store.registry
        self._clock = clock
        self._new_id = new_id
        self._budgets = budgets

    def check_call(self, booking: Booking) -> None:
        """Unavailable if one call alone is too large."""
        most, wanted = self._budgets.tokens_per_call, booking.tokens_in + booking.tokens_out
        if most and wanted > most:
            raise Unavailable(
                f"this call needs about {wanted:,} tokens, more than the budget of {most:,} tokens "
                "a call; send less, or raise STANDFAST_TOKENS_PER_CALL"
            )

    async def book(self, booking: Booking) -> Booking:
        """Count a call as expected before it is made; Unavailable if the day's budget is short."""
        booked = replace(booking, day=self._now().date())
        await self._add(booked, booking.expected, check=True)
        return booked

    async def settle(self, booked: Booking, spent: Usage) -> None:
        """Replace what was expected by what it was."""
        expected = booked.expected
        change = Usage(
            tokens_in=spent.tokens_in - expected.tokens_in,
            tokens_out=spent.tokens_out - expected.tokens_out,
            cost=spent.cost - expected.cost,
        )
        if change != Usage():
            await self._add(booked, change, check=False)

    async def _add(self, booked: Booking, change: Usage, *, check: bool) -> None:
        landed = self._new_id()
        for _ in range(ATTEMPTS_MAX):
            known = await self._cell(booked)
            if known.value.get("last") == landed:
                return  # the try of which nobody knew what came of it
            if check:
                self._check_day(booked, change, known.value)
            value = _booked(known.value, f"{booked.operation}/{booked.model}", change, landed)
            try:
                await self._registry.put(replace(known, value=value), now=self._now())
                return
            except Conflict:
                continue  # another call was booked meanwhile: count it too
            except Unavailable as error:
                if not error.outcome_unknown:
                    raise
        raise Unavailable("too many calls are being booked at once; try again")

    async def _cell(self, booked: Booking) -> Cell:
        day = booked.day or self._now().date()
        key = cell_key(BUDGET, booked.root, f"{day}")
        found = await self._registry.get((key,), now=self._now())
        return found[0] if found else _new_day(booked.root, day)

    def _check_day(self, booked: Booking, wanted: Usage, used: dict[str, Any]) -> None:
        limits = self._budgets
        tokens = used["tokens_in"] + used["tokens_out"] + wanted.tokens_in + wanted.tokens_out
        if limits.tokens_per_day and tokens > limits.tokens_per_day:
            raise self._used_up(booked, f"{limits.tokens_per_day:,} tokens")
        if limits.money_per_day and used["cost"] + wanted.cost > limits.money_per_day:
            raise self._used_up(booked, f"${limits.money_per_day:g}")

    def _used_up(self, booked: Booking, what: str) -> Unavailable:
        now = self._now()
        midnight = datetime.combine(now.date() + timedelta(days=1), time(), UTC)
        return Unavailable(
            f"the budget of {what} a day for {booked.root} is used up; it starts anew at 00:00 UTC",
            retry_after=(midnight - now).total_seconds(),
        )

    def _now(self) -> datetime:
        return self._clock().astimezone(UTC)


def kept_until(day: date) -> datetime:
    """How long it is known what was spent on a day."""
    return datetime.combine(day, time(), UTC) + timedelta(days=KEPT_DAYS)


def _new_day(root: str, day: date) -> Cell:
    value = {**NOTHING, "by": {}}
    return Cell(key=cell_key(BUDGET, root, f"{day}"), value=value, expires_at=kept_until(day))


async def days_of(
    registry: Registry, root: str, *, now: datetime, after: tuple[str, str] = ("", "")
) -> AsyncIterator[tuple[str, str, Mapping[str, Mapping[str, Any]]]]:
    """The days on which a root ("" for all of them, in order) has spent something: the root, the
    day, and what, by "operation/model". ``after``: from this root and day on."""
    prefix = cell_key(BUDGET, root, "") if root else cell_key(BUDGET, "")
    last = cell_key(BUDGET, after[0], after[1])[:-1]  # so that the day itself is behind it
    while page := await registry.list(prefix, now=now, after=last, limit=PAGE):
        for cell in page:
            _, whose, day = cell.key.split("\t")
            if (whose, day) >= after:
                yield whose, day, dict(sorted(cell.value["by"].items()))
        last = page[-1].key


async def keep_spent(
    registry: Registry, root: str, day: date, what: str, spent: Mapping[str, Any], now: datetime
) -> bool:
    """Note what another store's books say of a day; False if these know of it already."""
    for _ in range(ATTEMPTS_MAX):
        fresh = _new_day(root, day)
        found = await registry.get((fresh.key,), now=now)
        known = found[0] if found else fresh
        if what in known.value["by"]:
            return False
        change = Usage(**{name: spent[name] for name in NOTHING})
        value = _booked(known.value, what, change, known.value.get("last", ""))
        try:
            await registry.put(replace(known, value=value), now=now)
            return True
        except Conflict:
            continue
    raise Unavailable("too many calls are being booked at once; try again")


def _booked(day: Mapping[str, Any], what: str, change: Usage, last: str) -> dict[str, Any]:
    """The day with one more call in its total and in its part."""
    part = _added(day["by"].get(what, NOTHING), change)
    return {**_added(day, change), "by": {**day["by"], what: part}, "last": last}


def _added(spent: Mapping[str, Any], change: Usage) -> dict[str, Any]:
    return {
        "calls": spent["calls"] + change.calls,
        "tokens_in": spent["tokens_in"] + change.tokens_in,
        "tokens_out": spent["tokens_out"] + change.tokens_out,
        "cost": round(spent["cost"] + change.cost, 9),
    }
