"""Summaries by a model: incremental, checked, paid once, and safe when the model is not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from standfast import Memory
from standfast.testing import scripted
from standfast.testing.scripted import ScriptedServer, says_json
from tests.requirements.conftest import MovableClock, OpenMemory
from tests.requirements.learning_world import impatient, model_at

pytest.importorskip("pydantic_ai", reason="needs the extra llm")


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(otherwise=says_json({"summary": "They talk about tea."})) as running:
        yield running


@pytest.fixture
def memory(open_memory: OpenMemory, server: ScriptedServer) -> Iterator[Memory]:
    with model_at(server):
        yield impatient(open_memory(profile="otto", background=False))


def chat(memory: Memory, count: int, start: int = 0) -> None:
    messages = [
        {"role": "user" if n % 2 == 0 else "assistant", "content": f"line {n} about tea"}
        for n in range(start, start + count)
    ]
    memory.observe("chat", messages, scope="user:ann")


def shown(memory: Memory) -> list[dict[str, Any]]:
    return [dict(m) for m in memory.context(session="chat", scope="user:ann").messages]


def test_O11_a_model_summarises_the_older_messages(memory: Memory, server: ScriptedServer) -> None:
    chat(memory, 13)
    receipt = memory.maintain()
    assert "(model)" in receipt.items[-1].reason
    messages = shown(memory)
    assert messages[0]["role"] == "system"
    assert '- "They talk about tea."' in messages[0]["content"]  # quoted, like all that is recalled
    assert len(messages) == 9
    (asked,) = server.requests
    assert "line 4 about tea" in asked.user
    assert "line 5 about tea" not in asked.user


def test_O12_the_next_round_gets_the_old_summary_and_only_new_messages(
    memory: Memory, server: ScriptedServer
) -> None:
    chat(memory, 13)
    memory.maintain()
    chat(memory, 6, start=13)
    memory.maintain()
    second = server.requests[1].user
    assert "They talk about tea." in second
    assert "line 4 about tea" not in second
    assert "line 5 about tea" in second


BAD = {
    "hangs": scripted.hangs(),
    "fails": scripted.fails(),
    "resets": scripted.resets(),
    "empty": scripted.empty_body(),
    "prose": scripted.prose(),
    "cut off": scripted.cut_off(),
    "half": scripted.half_body(),
    "nothing": scripted.says_nothing(),
    "null": scripted.says_null(),
    "another form": says_json({"text": "They talk about tea."}),
    "empty summary": says_json({"summary": "  "}),
    "huge": scripted.huge(),
    "page": scripted.html_page(),
    "not utf-8": scripted.not_utf8(),
    "too many": scripted.too_many(),
}


@pytest.mark.parametrize("behaviour", BAD.values(), ids=BAD)
def test_O13_a_misbehaving_model_costs_nothing_but_time(
    memory: Memory, server: ScriptedServer, clock: MovableClock, behaviour: scripted.Behaviour
) -> None:
    chat(memory, 13)
    server.script(behaviour)
    receipt = impatient(memory, seconds=1 if behaviour is BAD["hangs"] else 30).maintain()
    impatient(memory)
    failures = [item for item in receipt.items if item.status == "failed"]
    assert len(failures) == 1
    assert "tried again" in failures[0].reason
    assert [m["content"] for m in shown(memory)][-1] == "line 12 about tea"
    again = memory.maintain()
    assert "waits until" in again.items[-1].reason  # not asked again at once
    clock.forward(minutes=2)
    assert "(model)" in memory.maintain().items[-1].reason
    assert '- "They talk about tea."' in shown(memory)[0]["content"]


def test_work_that_fails_five_times_is_stuck_and_said_so(
    memory: Memory, server: ScriptedServer, clock: MovableClock
) -> None:
    chat(memory, 13)
    server.script(*(scripted.prose() for _ in range(9)))
    for _ in range(5):
        assert memory.maintain().items[-1].status == "failed"
        clock.forward(hours=1)
    stuck = memory.maintain().items[-1]
    assert "stuck after 5 tries" in stuck.reason
    assert len(server.requests) == 5
    assert len(shown(memory)) == 13


def test_A10_the_text_of_an_opted_out_user_never_reaches_a_model(
    memory: Memory, server: ScriptedServer
) -> None:
    memory.set_policy("user:ann", persist=False)
    chat(memory, 13)
    assert "(extract)" in memory.maintain().items[-1].reason
    assert server.requests == []


def test_X12_a_budget_that_is_used_up_stops_the_calls(
    open_memory: OpenMemory, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STANDFAST_MODEL", "openai-compatible:test")
    monkeypatch.setenv("STANDFAST_MODEL_URL", server.url)
    monkeypatch.setenv("STANDFAST_TOKENS_PER_DAY", "100")
    memory = open_memory(profile="otto", background=False)
    chat(memory, 13)
    reason = memory.maintain().items[-1].reason
    assert "budget" in reason or "tokens" in reason
    assert server.requests == []


def test_two_workers_pay_for_one_summary(memory: Memory, server: ScriptedServer) -> None:
    import asyncio

    chat(memory, 13)
    inner = memory._memory

    async def both() -> None:
        await asyncio.gather(inner.maintain(), inner.maintain())

    memory._loop.run(both())
    assert len(server.requests) == 1
    assert len(shown(memory)) == 9
