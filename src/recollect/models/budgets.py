"""What models may cost: budgets per call and per day, kept as items beside the memories.

Each root scope has one total a day (namespace ``budget``) that every call is held against, and
one item per day, operation and model (namespace ``usage``) for people to read. Both change in one
commit, by compare-and-set.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from recollect.errors import Conflict, Unavailable
from recollect.ports import Clock, NewId, Store
from recollect.text.tokens import estimate
from recollect.types import Batch, Item, Usage

ATTEMPTS_MAX = 64
KEPT_DAYS = 90
MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Dollars per million tokens."""

    tokens_in: float = 0.0
    tokens_out: float = 0.0

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / MILLION


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """Hard limits; 0 = none. A call counts question and answer; a day begins at 00:00 UTC and
    belongs to one root scope."""

    tokens_per_call: int = 32_000
    tokens_per_day: int = 1_000_000
    money_per_day: float = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
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
        self._store = store
        self._clock = clock
        self._new_id = new_id
        self._budgets = budgets

    def check_call(self, booking: Booking) -> None:
        """Unavailable if one call alone is too large."""
        most, wanted = self._budgets.tokens_per_call, booking.tokens_in + booking.tokens_out
        if most and wanted > most:
            raise Unavailable(
                f"this call needs about {wanted:,} tokens, more than the budget of {most:,} tokens "
                "a call; send less, or raise RECOLLECT_TOKENS_PER_CALL"
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
        for _ in range(ATTEMPTS_MAX):
            total = await self._item(booked, "budget", f"{booked.day}")
            if check:
                self._check_day(booked, change, total.value)
            key = f"{booked.day}/{booked.operation}/{booked.model}"
            detail = await self._item(booked, "usage", key)
            batch = Batch(
                id=self._new_id(),
                root=booked.root,
                at=self._now(),
                reason="usage",
                items=(_added(total, change), _added(detail, change)),
            )
            try:
                await _commit(self._store, batch)
                return
            except Conflict:
                continue  # another call was booked meanwhile: count it too
        raise Unavailable("too many calls are being booked at once; try again")

    async def _item(self, booked: Booking, namespace: str, key: str) -> Item:
        found = await self._store.items(
            booked.root, namespace, now=self._now(), scopes=(booked.root,), keys=(key,)
        )
        if found:
            return found[0]
        day = booked.day or self._now().date()
        expiry = datetime.combine(day, time(), UTC) + timedelta(days=KEPT_DAYS)
        nothing = {"calls": 0, "tokens_in": 0, "tokens_out": 0, "cost": 0.0}
        return Item(
            scope=booked.root, namespace=namespace, key=key, value=nothing, expires_at=expiry
        )

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


def _added(item: Item, change: Usage) -> Item:
    value = {
        "calls": item.value["calls"] + change.calls,
        "tokens_in": item.value["tokens_in"] + change.tokens_in,
        "tokens_out": item.value["tokens_out"] + change.tokens_out,
        "cost": round(item.value["cost"] + change.cost, 9),
    }
    return replace(item, value=value)


async def _commit(store: Store, batch: Batch) -> None:
    """Where the outcome is unknown ask again with the same id, which is safe."""
    try:
        await store.commit(batch)
    except Unavailable as error:
        if not error.outcome_unknown:
            raise
        await store.commit(batch)
