"""A session of the OpenAI Agents SDK; the SDK's own tests run beside these, see
``foreign/agents_sessions.py``."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("agents.memory", reason="openai-agents is not installed (extra: openai-agents)")

from recollect import Memory
from recollect.adapters.openai_agents import RecollectSession

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
        session = RecollectSession("chat", memory, scope="user:ann")
        assert await session.get_items() == []
        assert await session.pop_item() is None
        await session.add_items(ITEMS)
        assert await session.get_items() == ITEMS
        assert await session.get_items(2) == ITEMS[-2:]
        assert await RecollectSession("chat", memory, scope="user:bob").get_items() == []
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
        session = RecollectSession("chat", memory)
        told: list[list[Any]] = [[{"role": "user", "content": f"message {n}"}] for n in range(30)]
        await asyncio.gather(*map(session.add_items, told))
        kept = await session.get_items()
        assert sorted(one["content"] for one in kept) == sorted(t[0]["content"] for t in told)

    asyncio.run(scene())
