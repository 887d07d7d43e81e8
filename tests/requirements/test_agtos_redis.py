"""agtOS as written: its memory is in Redis where there is one, and works on where there is none."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator

import pytest

from standfast import AsyncMemory
from standfast.stores import outage
from tests.redis import Server, fresh_address, own_server


@pytest.fixture
def agtos(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("STANDFAST_PROFILE", "agtos")
    address = fresh_address()
    monkeypatch.setenv("REDIS_URL", address)
    return address


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """One that may be killed."""
    monkeypatch.setenv("STANDFAST_PROFILE", "agtos")
    monkeypatch.setattr(outage, "PAUSE_SECONDS", 0.05)
    server = own_server("--appendfsync", "always")
    monkeypatch.setenv("REDIS_URL", server.url)
    yield server
    server.remove()


async def opened(**options: str) -> AsyncMemory:
    return await AsyncMemory.open(embedder="hashing", background=False, **options)


async def _talk(memory: AsyncMemory, session: str) -> None:
    said = [
        {"role": "user", "content": "Please remember that I prefer window seats on trains"},
        {"role": "assistant", "content": "Noted: window seats."},
    ]
    await memory.observe(session, said, scope="user:ann")


def test_A2_A9_episodes_are_kept_in_the_redis_that_the_variable_names(
    agtos: str,
) -> None:
    async def work() -> None:
        async with await opened() as memory:
            await _talk(memory, "one")
            await memory.end("one", scope="user:ann")
        async with await opened() as memory:  # another process would see the same
            found = await memory.recall("window seats", scope="user:ann")
            assert any("window" in hit.record.text for hit in found.hits)
            ends = {hit.record.expires_at for hit in found.hits if hit.record.type == "episode"}
            assert ends
            assert None not in ends, "an episode has a time to live"
        async with await AsyncMemory.open(agtos, embedder="hashing", background=False) as memory:
            assert (await memory.recall("window", scope="user:ann")).hits

    asyncio.run(work())


def test_A6_A12_without_redis_it_works_on_by_keyword_and_says_so(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    async def work() -> None:
        async with await opened() as memory:
            await memory.remember("Ann prefers window seats", scope="user:ann", type="preference")
            assert (await memory.recall("window seats", scope="user:ann")).hits
            server.kill()
            for _ in range(3):
                away = await memory.recall("window seats", scope="user:ann")
                assert [hit.record.text for hit in away.hits] == ["Ann prefers window seats"]
                assert all(hit.similarity is None for hit in away.hits)
                assert any("degraded" in note and "cannot reach" in note for note in away.notes)
            await _talk(memory, "offline")  # working memory always works
            packet = await memory.context(session="offline", scope="user:ann")
            assert [one["role"] for one in packet.messages][-2:] == ["user", "assistant"]
            server.start()
            await _until_back(memory)
            kept = await memory.remember("Bob likes aisles", scope="user:ann")
            assert kept.items[0].status == "stored"

    with caplog.at_level(logging.WARNING, logger="standfast"):
        asyncio.run(work())
    told = [record.getMessage() for record in caplog.records]
    assert sum("cannot reach" in line for line in told) == 1, told
    assert sum("is back" in line for line in told) == 1, told


async def _until_back(memory: AsyncMemory) -> None:
    for _ in range(100):
        found = await memory.recall("window seats", scope="user:ann")
        if not any("degraded" in note for note in found.notes):
            assert any(hit.similarity is not None for hit in found.hits)
            return
        await asyncio.sleep(0.05)
    raise AssertionError("it did not come back by itself")


def test_A6_it_begins_without_redis_too(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    server.kill()

    async def work() -> None:
        async with await opened() as memory:
            await _talk(memory, "first")
            found = await memory.recall("window", scope="user:ann")
            assert any("degraded" in note for note in found.notes)
            server.start()
            await asyncio.sleep(0.2)
            kept = await memory.remember("Bob likes aisles", scope="user:ann")
            assert kept.items[0].status == "stored"

    with caplog.at_level(logging.WARNING, logger="standfast"):
        asyncio.run(work())
    assert any("cannot reach" in record.getMessage() for record in caplog.records)


def test_A12_a_redis_that_forgets_is_warned_of(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    server = own_server("--appendonly", "no")
    monkeypatch.setenv("STANDFAST_PROFILE", "agtos")
    monkeypatch.setenv("REDIS_URL", server.url)

    async def work() -> None:
        async with await opened() as memory:
            await memory.remember("Bob likes aisles", scope="user:ann")

    with caplog.at_level(logging.WARNING, logger="standfast"):
        asyncio.run(work())
    server.remove()
    assert any("appendonly is off" in record.getMessage() for record in caplog.records)
