"""pydantic-ai: memories before a request, tools, and a history that is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from standfast import Memory
from standfast.errors import NotFound
from tests.adapters.killed import killed_writer

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(str(tmp_path / "m.db"), background=False, embedder="none") as opened:
        opened.remember("Ann likes green tea", scope="user:ann")
        opened.remember("Bob likes coffee", scope="user:bob")
        yield opened


def test_X14_pydantic_ai_memories_go_before_a_request(memory: Memory) -> None:
    pytest.importorskip("pydantic_ai.capabilities", reason="pydantic-ai is not installed")
    from pydantic_ai import Agent
    from pydantic_ai.capabilities import ProcessHistory
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    from standfast.adapters.pydantic_ai import history_processor, keep_messages, memory_toolset

    seen: list[str] = []

    def model(messages: list[Any], _: Any) -> Any:
        seen.append(str(messages))
        if len(seen) == 1:
            return ModelResponse(parts=[ToolCallPart("recall_memories", {"query": "tea"})])
        if len(seen) == 2:
            call = ToolCallPart("remember_statement", {"text": "Ann drinks at four"})
            return ModelResponse(parts=[call])
        return ModelResponse(parts=[TextPart("Green tea.")])

    agent = Agent(
        FunctionModel(model),
        capabilities=[ProcessHistory(history_processor(memory, scope="user:ann"))],
        toolsets=[memory_toolset(memory, scope="user:ann")],
    )

    async def scene() -> None:
        first = await agent.run("What tea do I like?")
        assert first.output == "Green tea."
        await keep_messages(memory, "chat", first.all_messages(), scope="user:ann")
        again = await agent.run("And when?", message_history=first.all_messages())
        await keep_messages(memory, "chat", again.all_messages(), scope="user:ann")

    asyncio.run(scene())
    assert "Ann likes green tea" in seen[0]
    assert "coffee" not in str(seen)
    packets = [one.count("dynamic_ref='standfast'") for one in seen]
    assert packets[0] == 1
    assert max(packets) == 1  # never the packet of an earlier request beside it
    kept = [(m.role, m.text) for m in memory.messages("chat", scope="user:ann").items]
    assert [text for _, text in kept].count("What tea do I like?") == 1
    assert ("user", "And when?") in kept
    assert kept[-1] == ("assistant", "Green tea.")
    assert memory.recall("when does Ann drink?", scope="user:ann").hits


def test_X14_pydantic_ai_many_at_once_keep_a_history_once(memory: Memory) -> None:
    from pydantic_ai.messages import ModelRequest, UserPromptPart

    from standfast.adapters.pydantic_ai import keep_messages

    told = [ModelRequest(parts=[UserPromptPart(content=f"message {n}")]) for n in range(10)]

    async def scene() -> None:
        both = ("user:ann", "user:bob")
        await asyncio.gather(
            *(keep_messages(memory, "s", told, scope=scope) for scope in both for _ in range(5))
        )

    asyncio.run(scene())
    for scope in ("user:ann", "user:bob"):
        kept = [one.text for one in memory.messages("s", scope=scope).items]
        assert kept == [f"message {n}" for n in range(10)]


def test_X14_pydantic_ai_what_is_forgotten_goes_before_no_request(memory: Memory) -> None:
    from pydantic_ai.messages import ModelRequest, UserPromptPart

    from standfast.adapters.pydantic_ai import history_processor, keep_messages

    asked = [ModelRequest(parts=[UserPromptPart(content="What tea do I like?")])]
    processed = history_processor(memory, scope="user:ann")
    assert "green tea" in str(asyncio.run(processed(list(asked))))
    asyncio.run(keep_messages(memory, "chat", asked, scope="user:ann"))
    memory.forget(scope="user:ann")
    assert "green tea" not in str(asyncio.run(processed(list(asked))))
    with pytest.raises(NotFound):
        memory.messages("chat", scope="user:ann")


WRITER = """
from pydantic_ai.messages import ModelRequest, UserPromptPart
from standfast.adapters.pydantic_ai import keep_messages
async def write():
    told = []
    for number in range(10_000):
        told.append(ModelRequest(parts=[UserPromptPart(content=f"message {number}")]))
        await keep_messages(memory, "s", told, scope="user:ann")
        print(number, flush=True)
asyncio.run(write())
"""


def test_X14_pydantic_ai_what_was_answered_survives_a_kill(tmp_path: Path) -> None:
    store = str(tmp_path / "killed.db")
    answered = killed_writer(WRITER, store)
    with Memory.open(store, background=False, embedder="none") as memory:
        kept = memory.messages("s", scope="user:ann", limit=1000).items
    assert [one.text for one in kept][:answered] == [f"message {n}" for n in range(answered)]
