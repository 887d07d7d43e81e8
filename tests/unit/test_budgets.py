"""Budgets: checked before a call, right after it, across processes, restarts and failures."""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from standfast.errors import Conflict, Unavailable
from standfast.models.budgets import Budgets
from standfast.models.careful import Patience
from standfast.ports import Cell, Prompt, Reply
from standfast.stores.dict import DictStore
from standfast.types import Usage
from tests.unit.asking_world import (
    ANN,
    GOOD,
    PROMPT,
    Scripted,
    World,
    failure,
    run,
    usage_in,
)


def test_X12_a_call_that_is_too_large_is_not_made() -> None:
    model = Scripted(GOOD)
    careful = World().careful(model, budgets=Budgets(tokens_per_call=110))
    large = Prompt(operation="summarize", system="s", user="word " * 50, tokens_max=100)
    assert "more than the budget of 110 tokens a call" in str(failure(careful, large))
    assert model.asked == 0
    assert careful.budgets.tokens_per_call == 110


def test_X12_the_day_has_a_budget_of_tokens_per_root() -> None:
    world, model, store = World(), Scripted(GOOD), DictStore()
    careful = world.careful(model, store, budgets=Budgets(tokens_per_day=250))
    scopes = [ANN, "user:ann:agent:x", ANN]
    assert [run(careful, scope=scope).text for scope in scopes] == ["Tea."] * 3
    error = failure(careful)
    assert isinstance(error, Unavailable)
    assert str(error) == (
        "the budget of 250 tokens a day for user:ann is used up; it starts anew at 00:00 UTC"
    )
    assert error.retry_after == 7200.0
    assert model.asked == 3
    assert run(careful, scope="user:bob").text == "Tea.", "everybody has a budget of their own"
    world.now += timedelta(hours=3)
    assert run(careful).text == "Tea.", "a new day"


def test_X12_the_day_has_a_budget_of_money() -> None:
    limits = Budgets(money_per_day=0.0005, tokens_per_day=0, tokens_per_call=0)
    model = Scripted(Reply(text="Tea.", usage=Usage(calls=1, tokens_in=100, tokens_out=100)))
    careful = World().careful(model, budgets=limits)
    assert run(careful).usage.cost == pytest.approx(0.0003)
    assert "the budget of $0.0005 a day" in str(failure(careful))
    assert model.asked == 1


def test_X12_no_limit_is_no_limit() -> None:
    limits = Budgets(tokens_per_call=0, tokens_per_day=0, money_per_day=0)
    model = Scripted(Reply(text="Tea.", usage=Usage(calls=1, tokens_in=10**9, tokens_out=10**9)))
    careful = World().careful(model, budgets=limits)
    assert [run(careful).text for _ in range(3)] == ["Tea."] * 3


def test_X12_usage_is_kept_by_day_operation_and_model() -> None:
    store = DictStore()
    careful = World().careful(Scripted(GOOD), store)
    run(careful)
    run(careful, Prompt(operation="extract", system="s", user="u"))
    used = {"calls": 1, "tokens_in": 40, "tokens_out": 10, "cost": 0.00006}
    assert usage_in(store) == {
        "2026-11-15/summarize/test:model": used,
        "2026-11-15/extract/test:model": used,
    }
    (total,) = usage_in(store, namespace="budget").values()
    assert (total["calls"], total["tokens_in"]) == (2, 80)


def test_X12_what_may_have_been_answered_counts_as_asked() -> None:
    store = DictStore()
    patience = Patience(tries=1)
    lost = Unavailable("broke off", outcome_unknown=True)
    failure(World().careful(Scripted(lost), store, patience=patience))
    (used,) = usage_in(store).values()
    assert used["tokens_in"] > 0
    assert used["tokens_out"] == 0
    refused = DictStore()
    failure(World().careful(Scripted(Unavailable("busy")), refused, patience=patience))
    (used,) = usage_in(refused).values()
    assert (used["calls"], used["tokens_in"], used["cost"]) == (1, 0, 0.0)


def test_X12_a_killed_process_has_paid() -> None:
    """Booked before the call: whoever looks meanwhile, or after a kill, finds it counted."""
    store, seen = DictStore(), []

    async def look() -> Reply:
        cells = await store.registry.list("budget\t", now=World().now)
        seen.extend(spent for cell in cells for spent in cell.value["by"].values())
        return GOOD

    run(World().careful(Scripted(look), store))
    assert seen[0]["calls"] == 1
    assert seen[0]["tokens_out"] == PROMPT.tokens_max
    (used,) = usage_in(store).values()
    assert used["tokens_out"] == 10


def test_X12_a_missing_usage_is_estimated_and_an_unknown_price_noted() -> None:
    silent = Reply(text="Tea at noon.", usage=Usage(calls=1))
    reply = run(World().careful(Scripted(silent), price_of=lambda _: None))
    assert reply.usage.tokens_in > 0
    assert reply.usage.tokens_out > 0
    assert reply.usage.cost == 0.0
    assert any("estimated" in note for note in reply.notes)
    assert any("price of test:model is not known" in note for note in reply.notes)


def test_X12_many_at_once_do_not_spend_a_budget_twice() -> None:
    store, limits = DictStore(), Budgets(tokens_per_day=600)

    async def slowly() -> Reply:
        await asyncio.sleep(0.01)
        return Reply(text="Tea.", usage=Usage(calls=1, tokens_in=20, tokens_out=100))

    models = [Scripted(slowly) for _ in range(4)]
    carefuls = [World().careful(model, store, budgets=limits) for model in models]

    async def all_of_them() -> list[Reply | BaseException]:
        calls = (one.ask(PROMPT, scope=ANN) for one in carefuls for _ in range(4))
        return await asyncio.gather(*calls, return_exceptions=True)

    outcomes = asyncio.run(all_of_them())
    answered = sum(isinstance(outcome, Reply) for outcome in outcomes)
    (total,) = usage_in(store, namespace="budget").values()
    assert total["tokens_in"] + total["tokens_out"] <= 600
    assert total["calls"] == answered == sum(model.asked for model in models)
    assert answered >= 4


def test_X12_budgets_hold_after_a_restart(tmp_path: Path) -> None:
    from standfast.stores.sqlite import SqliteStore

    async def one_process() -> str:
        store = await SqliteStore.open(tmp_path / "memory.db")
        try:
            careful = World().careful(Scripted(GOOD), store, budgets=Budgets(tokens_per_day=170))
            return (await careful.ask(PROMPT, scope=ANN)).text
        except Unavailable as error:
            return str(error)
        finally:
            await store.close()

    first, second, third = (asyncio.run(one_process()) for _ in range(3))
    assert (first, second) == ("Tea.", "Tea.")
    assert "used up" in third


class Shaky(DictStore):
    """A store whose registry fails on demand."""

    def __init__(self, *failures: Exception | None) -> None:
        super().__init__()
        self.failures = list(failures)
        inner = self.registry.put

        async def put(cell: Cell, *, now: datetime) -> Cell:
            failure = self.failures.pop(0) if self.failures else None
            if failure:
                raise failure
            return await inner(cell, now=now)

        self.registry.put = put  # type: ignore[method-assign]


def test_X12_no_call_is_made_that_cannot_be_booked() -> None:
    model = Scripted(GOOD)
    error = failure(World().careful(model, Shaky(Unavailable("the disk is full"))))
    assert "disk is full" in str(error)
    assert model.asked == 0


def test_X12_an_answer_is_not_lost_over_the_books(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    store = Shaky(None, Unavailable("the disk is full"))
    assert run(World().careful(Scripted(GOOD), store)).text == "Tea."
    assert "usage stays as estimated" in caplog.text
    (used,) = usage_in(store).values()
    assert used["tokens_out"] == PROMPT.tokens_max


def test_X12_booking_goes_on_after_conflicts_and_unknown_outcomes() -> None:
    lost = Unavailable("did it land?", outcome_unknown=True)
    store = Shaky(Conflict("meanwhile"), lost, None, Conflict("meanwhile"))
    assert run(World().careful(Scripted(GOOD), store)).text == "Tea."
    (used,) = usage_in(store).values()
    assert (used["calls"], used["tokens_in"]) == (1, 40)
