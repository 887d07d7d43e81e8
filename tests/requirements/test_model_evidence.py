"""What a model says about known memories, and what happens while it says nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from standfast import Memory
from standfast.testing.scripted import ScriptedAnswer, ScriptedQuestion, ScriptedServer, fails
from tests.requirements.conftest import MovableClock, OpenMemory
from tests.requirements.learning_world import (
    ANN,
    fact,
    facts,
    impatient,
    learns,
    model_at,
    nothing,
)

pytest.importorskip("pydantic_ai", reason="needs the extra llm")

KNOWN = "Ann keeps her sourdough starter in a red jar."


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(otherwise=nothing()) as running:
        yield running


@pytest.fixture
def memory(open_memory: OpenMemory, server: ScriptedServer) -> Iterator[Memory]:
    with model_at(server):
        yield impatient(open_memory(background=False), seconds=20)


def linking(text: str, kind: str, known: str) -> Callable[[ScriptedQuestion], ScriptedAnswer]:
    """An answer that says what its fact is to a known one."""

    def answer(asked: ScriptedQuestion) -> ScriptedAnswer:
        shown = [line for line in asked.user.splitlines() if line.startswith("[k")]
        handle = next(line[1 : line.index("]")] for line in shown if known in line)
        return learns(fact(text, links=f"{kind} {handle}"))

    return answer


def told(memory: Memory, clock: MovableClock, server: ScriptedServer, *said: Any) -> dict[str, str]:
    """What became of the known statement and of the new one."""
    message, text, kind = said
    memory.remember(KNOWN, scope=ANN, author="Ann")
    clock.forward(days=1)
    memory.observe("chat", [message], scope=ANN, author="Ann")
    server.script(linking(text, kind, KNOWN))
    memory.maintain()
    return {record.text: record.status for record in facts(memory) if record.valid_to is None}


@pytest.mark.parametrize("kind", ["supersedes", "corrects"])
def test_L6_a_model_may_replace_what_is_about_the_same(
    memory: Memory, clock: MovableClock, server: ScriptedServer, kind: str
) -> None:
    new = "Ann keeps her sourdough starter in a blue crock."
    found = told(memory, clock, server, "The sourdough starter lives in a blue crock.", new, kind)
    assert found.get(KNOWN, "superseded") == "superseded"
    assert found[new] == "active"


def test_L6_a_model_may_find_that_two_contradict(
    memory: Memory, clock: MovableClock, server: ScriptedServer
) -> None:
    new = "Ann keeps her sourdough starter in a blue crock."
    told(memory, clock, server, "The sourdough starter is in a blue crock.", new, "contradicts")
    (item,) = memory.review(scope=ANN)
    assert {one.text for one in (item.record, *item.touches) if one} == {KNOWN, new}


def test_L6_while_a_model_is_away_the_rules_learn_and_nothing_is_doubled(
    memory: Memory, clock: MovableClock, server: ScriptedServer
) -> None:
    memory.observe("chat", ["I live in Hamburg."], scope=ANN, author="Ann")
    server.script(*(fails(401) for _ in range(5)))
    for _ in range(5):
        memory.maintain()
        clock.forward(hours=1)
    assert [record.text for record in facts(memory)] == ["Ann lives in Hamburg."]
    assert "stuck" in memory.maintain().items[0].reason
    clock.now += timedelta(days=3)
    memory.observe("chat", ["It is lovely here."], scope=ANN, author="Ann")
    server.script(learns(fact("Ann lives in the city of Hamburg.")))
    memory.maintain()
    live = [record.text for record in facts(memory) if record.status == "active"]
    assert live == ["Ann lives in the city of Hamburg."]
    assert memory.review(scope=ANN) == ()
