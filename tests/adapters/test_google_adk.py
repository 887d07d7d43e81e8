"""A memory service of Google's ADK."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip(
    "google.adk.memory",
    reason="google-adk cannot be installed beside our pins: test_own_environment.py runs this file",
)

from standfast import Memory
from tests.adapters.killed import killed_writer

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(str(tmp_path / "m.db"), background=False, embedder="none") as opened:
        opened.remember("Ann likes green tea", scope="user:ann")
        opened.remember("Bob likes coffee", scope="user:bob")
        yield opened


def test_X14_adk_sessions_are_remembered_once(memory: Memory) -> None:
    from google.adk.events.event import Event
    from google.adk.memory.memory_entry import MemoryEntry
    from google.adk.sessions.session import Session
    from google.genai import types

    from standfast.adapters.google_adk import StandfastMemoryService

    def event(id_: str, author: str, text: str) -> Event:
        content = types.Content(role=author, parts=[types.Part(text=text)])
        return Event(id=id_, author=author, content=content, timestamp=1_740_000_000.0)

    async def scene() -> None:
        service = StandfastMemoryService(memory)
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


def test_X14_adk_many_at_once_lose_nothing(memory: Memory) -> None:
    from google.adk.events.event import Event
    from google.genai import types

    from standfast.adapters.google_adk import StandfastMemoryService

    async def scene() -> None:
        service = StandfastMemoryService(memory)

        async def add(number: int) -> None:
            content = types.Content(role="user", parts=[types.Part(text=f"event {number}")])
            told = Event(id=f"e{number}", author="user", content=content)
            await service.add_events_to_memory(
                app_name="shop", user_id=f"u{number % 2}", events=[told], session_id="s"
            )

        await asyncio.gather(*(add(number) for number in (*range(20), *range(20))))

    asyncio.run(scene())
    for user in (0, 1):
        kept = [one.text for one in memory.messages("s", scope=f"app:shop:user:u{user}").items]
        assert sorted(kept) == sorted(f"event {n}" for n in range(20) if n % 2 == user)


WRITER = """
from google.adk.events.event import Event
from google.genai import types
from standfast.adapters.google_adk import StandfastMemoryService
async def write():
    service = StandfastMemoryService(memory)
    for number in range(10_000):
        content = types.Content(role="user", parts=[types.Part(text=f"event {number}")])
        told = [Event(id=f"e{number}", author="user", content=content)]
        await service.add_events_to_memory(
            app_name="shop", user_id="ann", events=told, session_id="s")
        print(number, flush=True)
asyncio.run(write())
"""


def test_X14_adk_what_was_answered_survives_a_kill(tmp_path: Path) -> None:
    store = str(tmp_path / "killed.db")
    answered = killed_writer(WRITER, store)
    with Memory.open(store, background=False, embedder="none") as memory:
        kept = memory.messages("s", scope="app:shop:user:ann", limit=1000).items
    assert [one.text for one in kept][:answered] == [f"event {n}" for n in range(answered)]
