"""Careful asking: tries, pauses, the breaker."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import timedelta
from importlib.util import find_spec

import pytest

from standfast.errors import Invalid, Unavailable
from standfast.models.careful import Careful, Patience
from standfast.ports import AnswerError, Prompt, Reply
from standfast.settings import Settings
from standfast.stores.dict import DictStore
from standfast.testing import scripted
from standfast.testing.scripted import ScriptedServer
from standfast.types import Usage
from standfast.wiring.models import open_careful
from tests.unit.asking_world import (
    ANN,
    GOOD,
    NONSENSE,
    PROMPT,
    Scripted,
    World,
    failure,
    run,
    usage_in,
)

# Tries


def test_an_answer_comes_with_what_it_cost() -> None:
    reply = run(World().careful(Scripted(GOOD)))
    assert (reply.text, reply.notes) == ("Tea.", ())
    assert reply.usage == Usage(calls=1, tokens_in=40, tokens_out=10, cost=60 / 1_000_000)


def test_failures_are_tried_again_after_growing_pauses() -> None:
    world, model = World(), Scripted(Unavailable("busy"), Unavailable("busy"), GOOD)
    reply = run(world.careful(model))
    assert (model.asked, world.slept) == (3, [1.0, 2.0])
    assert reply.usage.calls == 3


def test_pauses_have_chance_in_them_and_an_end() -> None:
    world, model = World(), Scripted(Unavailable("busy"))
    patience = Patience(tries=8, pause=4.0, pause_max=10.0)
    careful = world.careful(model, chance=lambda: 0.0, patience=patience)
    assert isinstance(failure(careful), Unavailable)
    assert world.slept == [2.0, 4.0, 5.0, 5.0], "then the breaker opens"


def test_a_server_is_not_asked_before_it_wants_to_be() -> None:
    world = World()
    model = Scripted(Unavailable("busy", retry_after=20.0), GOOD)
    run(world.careful(model))
    assert world.slept == [20.0]


def test_a_long_wait_is_handed_to_the_caller() -> None:
    world, model = World(), Scripted(Unavailable("busy", retry_after=3600.0))
    error = failure(world.careful(model))
    assert isinstance(error, Unavailable)
    assert (error.retry_after, model.asked, world.slept) == (3600.0, 1, [])


def test_what_lasts_is_not_tried_again() -> None:
    model = Scripted(Unavailable("no key", lasting=True))
    assert "no key" in str(failure(World().careful(model)))
    assert model.asked == 1


def test_nonsense_is_asked_again_and_paid_for() -> None:
    store = DictStore()
    reply = run(World().careful(Scripted(NONSENSE, GOOD), store))
    assert (reply.usage.calls, reply.usage.tokens_in) == (2, 80)
    error = failure(World().careful(Scripted(NONSENSE), store))
    assert isinstance(error, AnswerError)
    assert error.usage.calls == 3
    (used,) = usage_in(store).values()
    assert (used["calls"], used["tokens_in"], used["tokens_out"]) == (5, 200, 50)


def test_a_model_that_hangs_is_left_in_time() -> None:
    async def forever() -> Reply:
        await asyncio.Event().wait()
        raise AssertionError

    patience = Patience(tries=2, seconds=0.05)
    error = failure(World().careful(Scripted(forever), patience=patience))
    assert "did not answer within 0.05 seconds" in str(error)


def test_any_failure_of_a_model_becomes_unavailable_without_its_words() -> None:
    error = failure(World().careful(Scripted(ZeroDivisionError("secret"))))
    assert isinstance(error, Unavailable)
    assert "ZeroDivisionError" in str(error)
    assert "secret" not in str(error)


def test_without_a_model_the_error_says_what_to_set() -> None:
    careful = World().careful(Scripted(GOOD))
    assert careful.model_for("summarize") is careful.model_for("")
    nobody = Careful(
        {}, store=DictStore(), clock=World().clock, new_id=World().new_id, chance=lambda: 0.0
    )
    assert "STANDFAST_MODEL" in str(failure(nobody))


def test_nothing_of_those_who_opted_out_is_shown_to_a_model() -> None:
    async def persists(scope: str, authors: Iterable[str] = ()) -> bool:
        return scope != "user:bob" and "bob" not in authors

    model = Scripted(GOOD)
    careful = World().careful(model, persists=persists)
    assert "opted out" in str(failure(careful, scope="user:bob"))
    with pytest.raises(Unavailable, match="opted out"):
        asyncio.run(careful.ask(PROMPT, scope=ANN, authors=("ann", "bob")))
    assert model.asked == 0
    assert run(careful).text == "Tea."


# The breaker


def opened(world: World, model: Scripted) -> Careful:
    careful = world.careful(model, patience=Patience(tries=1))
    for _ in range(5):
        failure(careful)
    return careful


def test_after_five_failures_a_model_is_left_alone_for_a_minute() -> None:
    world, model = World(), Scripted(Unavailable("busy"))
    careful = opened(world, model)
    error = failure(careful)
    assert isinstance(error, Unavailable)
    assert model.asked == 5
    assert "left alone until 22:01:00 UTC" in str(error)
    assert "busy" in str(error)
    assert error.retry_after == 60.0


def test_after_the_minute_one_call_finds_out() -> None:
    world, model = World(), Scripted(Unavailable("busy"))
    careful = opened(world, model)
    world.now += timedelta(seconds=61)
    assert "busy" in str(failure(careful))
    assert model.asked == 6
    failure(careful)
    assert model.asked == 6, "it failed again: another minute"
    world.now += timedelta(seconds=61)
    model.steps = [GOOD]
    assert run(careful).text == run(careful).text == "Tea."


def test_only_one_call_at_a_time_finds_out() -> None:
    world = World()
    model = Scripted(Unavailable("busy"))
    careful = opened(world, model)
    world.now += timedelta(seconds=61)

    async def slowly() -> Reply:
        await asyncio.sleep(0.05)
        return GOOD

    async def both() -> list[Reply | BaseException]:
        model.steps = [slowly]
        calls = (careful.ask(PROMPT, scope=ANN) for _ in range(3))
        return await asyncio.gather(*calls, return_exceptions=True)

    outcomes = asyncio.run(both())
    assert [type(outcome) for outcome in outcomes].count(Reply) == 1
    assert run(careful).text == "Tea."


def test_a_cancelled_call_does_not_keep_the_breaker_shut() -> None:
    world, model = World(), Scripted(Unavailable("busy"))
    careful = opened(world, model)
    world.now += timedelta(seconds=61)

    async def forever() -> Reply:
        await asyncio.Event().wait()
        raise AssertionError

    async def cancelled() -> None:
        model.steps = [forever]
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(careful.ask(PROMPT, scope=ANN), 0.05)

    asyncio.run(cancelled())
    model.steps = [GOOD]
    assert run(careful).text == "Tea."


def test_nonsense_is_no_failure_of_the_service() -> None:
    model = Scripted(NONSENSE)
    careful = World().careful(model)
    for _ in range(4):
        assert isinstance(failure(careful), AnswerError)
    assert model.asked == 12


def test_a_question_that_is_refused_is_not_asked_again_and_blocks_no_other() -> None:
    model = Scripted(Invalid("too long"))
    careful = World().careful(model)
    for _ in range(6):
        assert "too long" in str(failure(careful))
    model.steps = [GOOD]
    assert (run(careful).text, model.asked) == ("Tea.", 7)


def test_each_model_has_its_own_breaker() -> None:
    world = World()
    bad, good = Scripted(Unavailable("busy"), name="bad"), Scripted(GOOD, name="good")
    careful = Careful(
        {"": good, "summarize": bad},
        store=DictStore(),
        clock=world.clock,
        new_id=world.new_id,
        chance=lambda: 0.0,
        patience=Patience(tries=1),
    )
    for _ in range(6):
        failure(careful)
    extract = Prompt(operation="extract", system="s", user="u")
    assert run(careful, extract).text == "Tea."


def test_no_more_than_four_calls_at_once() -> None:
    running, most = 0, 0

    async def counted() -> Reply:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.02)
        running -= 1
        return GOOD

    careful = World().careful(Scripted(counted))

    async def many() -> None:
        await asyncio.gather(*(careful.ask(PROMPT, scope=ANN) for _ in range(10)))

    asyncio.run(many())
    assert most == 4


# All of it, over HTTP


@pytest.mark.skipif(find_spec("pydantic_ai") is None, reason="the extra is missing: standfast[llm]")
def test_settings_open_careful_models_that_recover() -> None:
    schema = {"type": "object", "properties": {"summary": {"type": "string"}}}
    prompt = Prompt(operation="summarize", system="s", user="tea at noon", schema=schema)
    world, store = World(), DictStore()
    with ScriptedServer(otherwise=scripted.summarises(words=2)) as server:
        settings = Settings(model="m", model_url=server.url, model_price="1/2")
        careful = open_careful(settings, store=store, clock=world.clock, new_id=world.new_id)
        assert careful is not None
        server.script(scripted.too_many(retry_after=0), scripted.prose())
        reply = run(careful, prompt)
    assert reply.data == {"summary": "tea at"}
    assert (reply.usage.calls, len(server.requests)) == (3, 3)
    assert reply.usage.cost > 0
    assert open_careful(Settings(), store=store, clock=world.clock, new_id=world.new_id) is None
