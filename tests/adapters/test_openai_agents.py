"""A session of the OpenAI Agents SDK; the SDK's own tests run beside these, see
``foreign/agents_sessions.py``."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip(
    "agents.memory",
    reason="openai-agents cannot be installed beside our pins: test_own_environment.py runs this",
)

from standfast import Memory
from standfast.adapters.openai_agents import StandfastSession
from tests.adapters.killed import killed_writer

pytestmark = pytest.mark.filterwarnings("ignore")
ITEMS: list[Any] = [
    {"role": "user", "content": "What is the weather in Porto?"},
    {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": "{}", "id": "f1"},
    {"type": "function_call_output", "call_id": "c1", "output": "sunny"},
    {"type": "reasoning", "id": "r1", "summary": [], "encrypted_content": "gAAAA" + "x" * 200},
    {"type": "message", "role": "assistant", "status": "completed", "id": "m1",
     "content": [{"type": "output_text", "text": "It is sunny.", "annotations": []}]},
]  # fmt: skip


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(str(tmp_path / "m.db"), background=False, embedder="none") as opened:
        yield opened


def test_X14_agents_items_come_back_as_they_were(memory: Memory) -> None:
    async def scene() -> None:
        session = StandfastSession("chat", memory, scope="user:ann")
        assert await session.get_items() == []
        assert await session.pop_item() is None
        await session.add_items(ITEMS)
        assert await session.get_items() == ITEMS
        assert await session.get_items(2) == ITEMS[-2:]
        assert await StandfastSession("chat", memory, scope="user:bob").get_items() == []
        assert await session.pop_item() == ITEMS[-1]
        await session.add_items(ITEMS[-1:])
        assert await session.get_items() == ITEMS
        (hit, *_) = memory.recall("is it sunny in Porto?", scope="user:ann").hits
        assert "Porto" in hit.record.text or "sunny" in hit.record.text
        await session.clear_session()
        await session.clear_session()
        assert await session.get_items() == []

    asyncio.run(scene())


def test_X14_agents_many_at_once_lose_nothing(memory: Memory) -> None:
    async def scene() -> None:
        session = StandfastSession("chat", memory)
        told: list[list[Any]] = [[{"role": "user", "content": f"message {n}"}] for n in range(30)]
        await asyncio.gather(*map(session.add_items, told))
        kept = await session.get_items()
        assert sorted(one["content"] for one in kept) == sorted(t[0]["content"] for t in told)

    asyncio.run(scene())


def test_X14_agents_a_run_goes_on_where_it_was(memory: Memory) -> None:
    """The SDK's own runner and a model that answers with what it was given."""
    from agents import Agent, Runner, set_tracing_disabled
    from agents.items import ModelResponse
    from agents.models.interface import Model
    from agents.usage import Usage
    from openai.types.responses import ResponseOutputMessage, ResponseOutputText

    seen: list[Any] = []

    class Echo(Model):
        async def get_response(self, *args: Any, **named: Any) -> ModelResponse:
            given = named.get("input", args[1] if len(args) > 1 else None)
            seen.append(given)
            text = ResponseOutputText(
                text=f"answer {len(seen)}", type="output_text", annotations=[]
            )
            said = ResponseOutputMessage(
                id=f"m{len(seen)}", content=[text], role="assistant", status="completed",
                type="message",
            )  # fmt: skip
            return ModelResponse(output=[said], usage=Usage(), response_id=None)

        def stream_response(self, *args: Any, **named: Any) -> Any:
            raise NotImplementedError

    async def scene() -> None:
        set_tracing_disabled(True)
        agent = Agent(name="echo", model=Echo())
        for asked in ("I like tea", "What do I like?"):
            session = StandfastSession("run", memory, scope="user:ann")
            await Runner.run(agent, asked, session=session)
        other = StandfastSession("run", memory, scope="user:bob")
        await Runner.run(agent, "And I?", session=other)

    asyncio.run(scene())
    assert "I like tea" in str(seen[1])
    assert "answer 1" in str(seen[1])
    assert "tea" not in str(seen[2])


WRITER = """
from standfast.adapters.openai_agents import StandfastSession
async def write():
    session = StandfastSession("s", memory, scope="user:ann")
    for number in range(10_000):
        await session.add_items([{"role": "user", "content": f"message {number}"}])
        print(number, flush=True)
asyncio.run(write())
"""


def test_X14_agents_what_was_answered_survives_a_kill(tmp_path: Path) -> None:
    store = str(tmp_path / "killed.db")
    answered = killed_writer(WRITER, store)
    with Memory.open(store, background=False, embedder="none") as memory:
        session = StandfastSession("s", memory, scope="user:ann")
        kept = asyncio.run(session.get_items())
    assert [one["content"] for one in kept][:answered] == [f"message {n}" for n in range(answered)]
