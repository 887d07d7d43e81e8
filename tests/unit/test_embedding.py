"""Embedding by a service with care: batches, tries, what is refused, budgets, time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from standfast.errors import Invalid, Unavailable
from standfast.models import embedder
from standfast.models.budgets import Budgets
from standfast.models.calls import Patience
from standfast.models.embedder import CarefulEmbedder, Embedded, batches, clip
from standfast.ports import Limits, Rows, Store
from standfast.stores.dict import DictStore
from standfast.text.tokens import estimate
from standfast.types import Receipt, ReceiptItem, Usage
from standfast.upkeep.background import _pause_after
from tests.unit.asking_world import ANN, DOLLARS, World, usage_in

Rule = Callable[[Sequence[str]], Rows | Exception]


class Service:
    """Answers by rule; the vector of a text is its length and 1."""

    name = "test:vectors"
    space = "test:vectors/2"
    dimensions = 2

    def __init__(self, rule: Rule | None = None, *, limits: Limits | None = None) -> None:
        self.rule = rule
        self.limits = limits or Limits(texts=4, tokens=1000, tokens_each=100)
        self.asked: list[tuple[list[str], bool]] = []
        self.delay = 0.0
        self.at_once = self.most_at_once = 0

    async def ask(self, texts: Sequence[str], *, query: bool) -> Rows:
        self.asked.append((list(texts), query))
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(self.delay)
        self.at_once -= 1
        found = self.rule(texts) if self.rule else rows_of(texts)
        if isinstance(found, Exception):
            raise found
        return found


def rows_of(texts: Sequence[str], tokens: int = 10) -> Rows:
    rows = [[float(len(text)), 1.0] for text in texts]
    return Rows(rows=rows, usage=Usage(calls=1, tokens_in=tokens))


def careful(
    service: Service, world: World | None = None, store: Store | None = None, **more: Any
) -> CarefulEmbedder:
    world = world or World()
    given: dict[str, Any] = {
        "store": store or DictStore(),
        "clock": world.clock,
        "new_id": world.new_id,
        "chance": lambda: 1.0,
        "sleep": world.sleep,
        "price_of": lambda _: DOLLARS,
    }
    return CarefulEmbedder(service, **{**given, **more})


def run(embedder: CarefulEmbedder, texts: Sequence[str], **how: Any) -> Embedded:
    return asyncio.run(embedder.embedded(texts, root=ANN, **how))


TEN = [f"text number {n}" for n in range(10)]


def test_texts_go_in_batches_and_come_back_in_order() -> None:
    service = Service()
    found = run(careful(service), TEN)
    assert sorted(len(texts) for texts, _ in service.asked) == [2, 4, 4]
    assert found.trouble == ""
    assert all(found.vectors)
    assert found.vectors[3] == run(careful(service), TEN[3:4]).vectors[0]


def test_what_is_asked_twice_is_paid_once_but_a_query_is_no_document() -> None:
    service = Service()
    embedder = careful(service)
    first, again = run(embedder, ["tea", "milk"]), run(embedder, ["milk", "sugar"])
    assert again.vectors[0] == first.vectors[1]
    assert run(embedder, ["tea"]).usage == Usage()
    run(embedder, ["tea"], query=True)
    assert [texts for texts, _ in service.asked] == [["tea", "milk"], ["sugar"], ["tea"]]


def test_vectors_have_length_one() -> None:
    (vector,) = run(careful(Service()), ["abc"]).vectors
    assert vector is not None
    x, y = memoryview(vector).cast("f")
    assert (x * x + y * y, x / y) == (pytest.approx(1.0), pytest.approx(3.0))


def test_a_batch_keeps_to_the_tokens_of_a_request_and_of_the_budget() -> None:
    texts = ["word " * 20] * 8  # 22 tokens each by estimate
    limits = Limits(texts=100, tokens=70, tokens_each=100)
    service = Service(limits=limits)
    run(careful(service), texts)
    assert max(len(texts) for texts, _ in service.asked) == 3
    service = Service(limits=limits)
    run(careful(service, budgets=Budgets(tokens_per_call=50)), texts)
    assert max(len(texts) for texts, _ in service.asked) == 2
    assert list(batches(texts, [], 4, 70)) == []


def test_a_long_text_is_cut_on_the_safe_side_and_blanks_go_nowhere() -> None:
    service = Service()
    found = run(careful(service), ["word " * 5000, "   ", "tea"])
    ((sent, _),) = service.asked
    assert len(sent) == 2
    assert 90 <= estimate(sent[0]) <= 100
    assert found.vectors[1] == bytes(8), "no direction: found by keyword"
    assert clip("茶" * 500, 100) == "茶" * 59
    assert clip("tea", 100) == "tea"


def test_a_failure_is_tried_again_after_growing_pauses() -> None:
    answers: list[Rows | Exception] = [
        Unavailable("busy"),
        Unavailable("busy", retry_after=9.0),
        rows_of(["tea"]),
    ]
    world = World()
    found = run(careful(Service(lambda _: answers.pop(0)), world), ["tea"])
    assert found.vectors[0]
    assert world.slept == [1.0, 9.0]
    assert found.usage.calls == 3


def test_what_lasts_or_takes_too_long_is_not_tried_again() -> None:
    for error in (Unavailable("no key", lasting=True), Unavailable("busy", retry_after=120.0)):
        service = Service(lambda _, error=error: error)  # type: ignore[misc]
        found = run(careful(service), ["tea"])
        assert (found.vectors, found.trouble) == ([None], str(error))
        assert len(service.asked) == 1


def test_one_batch_that_fails_leaves_the_others_their_vectors() -> None:
    def rule(texts: Sequence[str]) -> Rows | Exception:
        return Unavailable("busy") if TEN[5] in texts else rows_of(texts)

    found = run(careful(Service(rule)), TEN)
    assert [bool(vector) for vector in found.vectors] == [True] * 4 + [False] * 4 + [True] * 2
    assert found.trouble == "busy"


@pytest.mark.parametrize(
    "rows",
    [
        [[1.0, 2.0, 3.0]],
        [[1.0, 2.0]] * 2,
        [[float("inf"), 1.0]],
        [["a", "b"]],
        [None],
    ],
    ids=["size", "count", "infinite", "text", "none"],
)
def test_vectors_that_are_none_are_paid_for_and_thrown_away(rows: Any) -> None:
    service = Service(lambda _: Rows(rows=rows, usage=Usage(calls=1, tokens_in=10)))
    found = run(careful(service), ["tea"])
    assert found.vectors == [None]
    assert "the embedder" in found.trouble
    assert (found.usage.calls, found.usage.tokens_in) == (3, 30)


def test_a_service_may_fail_in_any_way() -> None:
    found = run(careful(Service(lambda _: RuntimeError("boom"))), ["tea"])
    assert found.trouble == "test:vectors failed: RuntimeError"


# What is refused


def test_a_text_that_is_refused_does_not_hold_up_the_others() -> None:
    def rule(texts: Sequence[str]) -> Rows | Exception:
        return Invalid("not this") if TEN[6] in texts else rows_of(texts)

    service = Service(rule)
    found = run(careful(service), TEN)
    assert found.trouble == ""
    assert found.vectors[6] == bytes(8), "it is found by keyword and due no more"
    assert sum(vector == bytes(8) for vector in found.vectors) == 1
    assert all(found.vectors)


def test_a_text_that_is_too_long_is_tried_shorter() -> None:
    def rule(texts: Sequence[str]) -> Rows | Exception:
        long = [text for text in texts if estimate(text) > 400]
        return Invalid("too long") if long else rows_of(texts)

    service = Service(rule, limits=Limits(texts=4, tokens=9000, tokens_each=2000))
    found = run(careful(service), ["tea", "word " * 1500, "milk"])
    assert found.trouble == ""
    assert all(vector and vector != bytes(8) for vector in found.vectors)


def test_a_service_that_takes_nothing_is_not_asked_text_by_text() -> None:
    service = Service(lambda _: Invalid("dimensions are not supported"))
    found = run(careful(service), TEN[:4])
    assert found.vectors == [None] * 4
    assert found.trouble == "dimensions are not supported"
    assert len(service.asked) == 2, "the batch, and one simple text"


# Queries and time


def test_a_query_is_said_to_be_one_and_tried_once() -> None:
    service = Service(lambda _: Unavailable("busy"))
    world = World()
    found = run(careful(service, world), ["tea?"], query=True)
    assert found.trouble == "busy"
    assert (service.asked, world.slept) == ([(["tea?"], True)], [])


def test_X1_a_query_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedder, "QUERY", Patience(tries=1, seconds=0.2))
    service = Service()
    service.delay = 30.0
    begun = time.monotonic()
    found = run(careful(service), ["tea?"], query=True)
    assert time.monotonic() - begun < 15
    assert "did not answer within 0.2 seconds" in found.trouble
    assert embedder.QUERY_SECONDS <= 5, "a few seconds"


def test_a_call_ends_in_time_and_keeps_what_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedder, "DOCUMENTS_SECONDS", 0.3)

    class Stuck(Service):
        async def ask(self, texts: Sequence[str], *, query: bool) -> Rows:
            if TEN[9] in texts:
                await asyncio.sleep(30)
            return await super().ask(texts, query=query)

    found = run(careful(Stuck()), TEN)
    assert [bool(vector) for vector in found.vectors] == [True] * 8 + [False] * 2
    assert "more than 0.3 seconds" in found.trouble


def test_a_service_that_keeps_failing_is_left_alone() -> None:
    service = Service(lambda _: Unavailable("down"))
    embedder = careful(service)
    for _ in range(6):
        found = run(embedder, ["tea?"], query=True)
    assert len(service.asked) == 5
    assert "left alone until" in found.trouble


def test_upkeep_that_only_fails_comes_less_and_less_often() -> None:
    bad = Receipt(items=(ReceiptItem(id="1", status="failed", reason="down"),))
    good = Receipt(items=(*bad.items, ReceiptItem(id="2", status="stored")))
    pauses = [0.2]
    for _ in range(6):
        pauses.append(_pause_after(bad, pauses[-1]))
    assert pauses[1:] == [10.0, 20.0, 40.0, 60.0, 60.0, 60.0]
    assert _pause_after(good, 60.0) == 0.2
    assert _pause_after(Receipt(items=()), 60.0) == 5.0


def test_only_so_many_requests_at_once() -> None:
    service = Service(limits=Limits(texts=1, tokens=1000, tokens_each=100))
    service.delay = 0.02
    assert all(run(careful(service), TEN * 2).vectors)
    assert service.most_at_once == 4


# Budgets


def test_X12_tokens_and_cost_are_booked_as_embedding() -> None:
    store = DictStore()
    found = run(careful(Service(), store=store), TEN)
    assert found.usage == Usage(calls=3, tokens_in=30, cost=pytest.approx(30 / 1_000_000))
    expected = {"calls": 3, "tokens_in": 30, "tokens_out": 0, "cost": 0.00003}
    assert usage_in(store) == {"2026-11-15/embed/test:vectors": expected}
    assert usage_in(store, namespace="budget") == {"2026-11-15": expected}


def test_X12_what_a_service_does_not_tell_is_estimated() -> None:
    found = run(careful(Service(lambda texts: rows_of(texts, tokens=0))), ["tea with milk"])
    assert (found.usage.tokens_in, found.usage.tokens_out) == (estimate("tea with milk"), 0)


def test_X12_a_day_without_budget_leaves_the_rest_for_tomorrow() -> None:
    store = DictStore()
    service = Service()
    embedder = careful(service, store=store, budgets=Budgets(tokens_per_day=40))
    assert run(embedder, ["tea", "milk", "sugar"]).trouble == ""
    found = run(embedder, TEN[:4] * 2)
    assert found.vectors.count(None) in (4, 8)
    assert "the budget of 40 tokens a day for user:ann is used up" in found.trouble


def test_X12_a_budget_too_small_for_one_text_sends_nothing() -> None:
    service = Service(limits=Limits(texts=4, tokens=1000, tokens_each=500))
    found = run(careful(service, budgets=Budgets(tokens_per_call=5)), ["word " * 50])
    assert found.vectors == [None]
    assert "STANDFAST_TOKENS_PER_CALL" in found.trouble
    assert service.asked == []


def test_X12_a_refused_request_costs_nothing_and_a_lost_one_its_question() -> None:
    store = DictStore()
    lost = Unavailable("gone", outcome_unknown=True, lasting=True)
    run(careful(Service(lambda _: lost), store=store), ["tea"])
    (booked,) = usage_in(store).values()
    assert (booked["calls"], booked["tokens_in"]) == (1, estimate("tea"))
    store = DictStore()
    run(careful(Service(lambda _: Unavailable("busy")), store=store), ["tea"])
    (booked,) = usage_in(store).values()
    assert (booked["calls"], booked["tokens_in"]) == (3, 0)


def test_whoever_needs_only_the_port_gets_rows_or_an_error() -> None:
    rows = asyncio.run(careful(Service()).embed(["abc"]))
    assert rows[0] == [pytest.approx(0.9486833), pytest.approx(0.3162278)]
    with pytest.raises(Unavailable, match="busy"):
        asyncio.run(careful(Service(lambda _: Unavailable("busy"))).embed(["abc"]))
