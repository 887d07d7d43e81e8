"""Adapters for pydantic-ai, Google's ADK and LlamaIndex, each with the real package."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recollect import Memory

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

    from recollect.adapters.pydantic_ai import history_processor, keep_messages, memory_toolset

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
    packets = [one.count("dynamic_ref='recollect'") for one in seen]
    assert packets[0] == 1
    assert max(packets) == 1  # never the packet of an earlier request beside it
    kept = [(m.role, m.text) for m in memory.messages("chat", scope="user:ann").items]
    assert [text for _, text in kept].count("What tea do I like?") == 1
    assert ("user", "And when?") in kept
    assert kept[-1] == ("assistant", "Green tea.")
    assert memory.recall("when does Ann drink?", scope="user:ann").hits


def test_X14_adk_sessions_are_remembered_once(memory: Memory) -> None:
    pytest.importorskip("google.adk.memory", reason="google-adk is not installed")
    from google.adk.events.event import Event
    from google.adk.memory.memory_entry import MemoryEntry
    from google.adk.sessions.session import Session
    from google.genai import types

    from recollect.adapters.google_adk import RecollectMemoryService

    def event(id_: str, author: str, text: str) -> Event:
        content = types.Content(role=author, parts=[types.Part(text=text)])
        return Event(id=id_, author=author, content=content, timestamp=1_740_000_000.0)

    async def scene() -> None:
        service = RecollectMemoryService(memory)
        events = [event("e1", "user", "My bicycle is red"), event("e2", "helper", "Noted.")]
        session = Session(id="s1", app_name="shop", user_id="ann", events=events)
        await service.add_session_to_memory(session)
        session.events.append(event("e3", "user", "It was stolen"))
        await service.add_session_to_memory(session)
        whose = {"app_name": "shop", "user_id": "ann"}
        found = await service.search_memory(**whose, query="what colour is my bicycle?")
        first = found.memories[0]
        assert first.content.parts[0].text == "My bicycle is red"  # type: ignore[index]
        assert (first.author, first.timestamp[:10]) == ("user", "2025-02-19")  # type: ignore[index]
        bob = {"app_name": "shop", "user_id": "bob"}
        assert (await service.search_memory(**bob, query="bicycle")).memories == []
        await service.delete_memory(**bob, memory_id=first.id)
        assert (await service.search_memory(**whose, query="bicycle")).memories
        await service.delete_memory(**whose, memory_id=first.id)
        left = await service.search_memory(**whose, query="bicycle colour red")
        assert "red" not in str(left)
        entry = MemoryEntry(content=types.Content(parts=[types.Part(text="Ann rides on Sundays")]))
        await service.add_memory(**whose, memories=[entry])
        assert "Sundays" in str(await service.search_memory(**whose, query="when does Ann ride?"))

    asyncio.run(scene())
    texts = [m.text for m in memory.messages("s1", scope="app:shop:user:ann").items]
    assert texts == ["Noted.", "It was stolen"]


def test_X14_llama_index_a_block_remembers(memory: Memory) -> None:
    pytest.importorskip("llama_index.core.memory", reason="llama-index-core is not installed")
    from llama_index.core.base.llms.types import ChatMessage, MessageRole
    from llama_index.core.memory import Memory as LlamaMemory

    from recollect.adapters.llama_index import RecollectMemoryBlock

    def said(role: MessageRole, text: str) -> ChatMessage:
        return ChatMessage(role=role, content=text)

    async def scene() -> None:
        block = RecollectMemoryBlock(store=memory, scope="user:ann")
        chat = LlamaMemory.from_defaults(
            session_id="chat",
            token_limit=120,
            token_flush_size=30,
            chat_history_token_ratio=0.5,
            memory_blocks=[block],
        )
        for number in range(12):
            await chat.aput(said(MessageRole.USER, f"The bicycle number {number} is red"))
            await chat.aput(said(MessageRole.ASSISTANT, "Noted, and kept in mind."))
        await chat.aput(said(MessageRole.USER, "What tea do I like?"))
        given = str(await chat.aget())
        assert "green tea" in given
        assert "coffee" not in given

    asyncio.run(scene())
    assert any(one.id == "chat" for one in memory.sessions(scope="user:ann").items)
