"""Otto as written: records in its file, pending messages in Redis where there is one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import redis

from standfast import AsyncMemory, compat
from standfast.errors import Incompatible, Invalid, Unavailable
from standfast.stores import outage
from standfast.stores.redis.queue import RedisQueue
from standfast.types import Message, Packet, Receipt
from tests.redis import Server, fresh_address, own_server
from tests.requirements.conftest import MovableClock

WEB = "project:web"


@pytest.fixture
def otto(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    return _set_up(monkeypatch, tmp_path, fresh_address())


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Server]:
    """One that may be killed."""
    server = own_server("--appendfsync", "always")
    _set_up(monkeypatch, tmp_path, server.url)
    yield server
    server.remove()


def _set_up(monkeypatch: pytest.MonkeyPatch, folder: Path, address: str) -> str:
    monkeypatch.setattr(outage, "PAUSE_SECONDS", 0.05)
    monkeypatch.setenv("STANDFAST_PROFILE", "otto")
    monkeypatch.setenv("OTTO_MEMORY_DB", str(folder / "otto.db"))
    monkeypatch.setenv("REDIS_URL", address)
    return address


async def opened(**options: Any) -> AsyncMemory:
    return await AsyncMemory.open(embedder="hashing/768", background=False, **options)


async def send(memory: AsyncMemory, *texts: str, scope: str = WEB) -> Receipt:
    said = [{"role": "user", "content": text, "id": f"id of {text}"} for text in texts]
    return await memory.observe("slack", said, scope=scope, channel="C1", pending=True)


async def task(memory: AsyncMemory, scope: str = WEB) -> Packet:
    return await memory.context(session="task", scope=scope, query="")


def texts(messages: tuple[Message, ...]) -> list[str]:
    return [message.text for message in messages]


def _keys(address: str) -> dict[str, int]:
    """What is in Redis, without the ids it remembers: name -> seconds to live."""
    url, _, prefix = address.partition("?prefix=")
    with redis.Redis.from_url(url) as db:
        names = db.scan_iter(match=f"{prefix or compat.REDIS_PREFIX}:*", count=1000)
        return {
            name.decode(): int(db.ttl(name))
            for name in names
            if not name.endswith((b"known", b"number")) and b"about" not in name
        }


def test_O14_pending_messages_wait_in_redis_first_in_first_out_for_thirty_days(otto: str) -> None:
    async def work() -> None:
        async with await opened() as memory:
            receipt = await send(memory, "the logo changed", "use the blue one")
            assert [item.status for item in receipt.items] == ["stored"] * 2
            assert all("Redis" in item.reason for item in receipt.items)
            await send(memory, "another project", scope="project:data")
            assert await memory.engine.store.sessions("project:web") == []
            [(name, ttl)] = [(n, t) for n, t in _keys(otto).items() if "{project:web}" in n]
            assert name.endswith("pending:queue")
            assert timedelta(days=29) < timedelta(seconds=ttl) <= timedelta(days=30)
            assert texts(await memory.pending(scope=WEB)) == [
                "the logo changed",
                "use the blue one",
            ]
        async with await opened() as memory:  # another process
            packet = await task(memory)
            assert texts(packet.pending) == ["the logo changed", "use the blue one"]
            assert "the logo changed" in packet.text
            assert not any("{project:web}" in name for name in _keys(otto))
            found = await memory.recall("logo", scope=WEB)
            assert found.hits[0].record.data["channel"] == "C1", "taken in, it can be searched"
        async with await opened() as memory:  # it was killed before it confirmed
            packet = await task(memory)
            assert len(packet.pending) == 2
            await memory.confirm(packet)
            assert (await task(memory)).pending == ()
            assert await memory.pending(scope=WEB) == ()

    asyncio.run(work())


@pytest.mark.usefixtures("otto")
def test_O14_a_message_that_is_sent_again_is_delivered_once() -> None:
    async def work() -> None:
        async with await opened() as memory:
            await send(memory, "one")
            again = await send(memory, "one", "two")
            assert [item.status for item in again.items] == ["skipped", "stored"]
            packet = await task(memory)
            assert texts(packet.pending) == ["one", "two"]
            await memory.confirm(packet)
            late = await send(memory, "one", "two")
            assert {item.status for item in late.items} == {"skipped"}
            assert (await task(memory)).pending == ()

    asyncio.run(work())


@pytest.mark.usefixtures("otto")
def test_O14_who_is_killed_while_taking_messages_takes_each_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Between the queue and the file, and between the file and letting go."""

    async def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    async def work() -> None:
        for number, step in enumerate(("standfast.verbs.queue.logged", "done")):
            memory = await opened()
            await send(memory, *(f"message {number}{end}" for end in "abc"))
            with monkeypatch.context() as patch:
                target = step if "." in step else RedisQueue
                patch.setattr(*((target, killed) if target is step else (target, step, killed)))
                with pytest.raises(KeyboardInterrupt):
                    await task(memory)
            await memory.close()
            async with await opened() as memory:
                wanted = [f"message {number}{end}" for end in "abc"]
                assert texts(await memory.pending(scope=WEB)) == wanted
                packet = await task(memory)
                assert texts(packet.pending) == wanted
                await memory.confirm(packet)
                assert (await task(memory)).pending == ()

    asyncio.run(work())


@pytest.mark.usefixtures("otto")
def test_O14_two_files_on_one_redis_never_both_deliver_a_message(tmp_path: Path) -> None:
    async def work() -> None:
        async with await opened() as one, await opened(store=tmp_path / "other.db") as other:
            await send(one, *(f"message {number}" for number in range(30)))
            packets = await asyncio.gather(*(task(memory) for memory in (one, other, one, other)))
            for first, second in ((0, 1), (2, 3)):
                mine, theirs = (set(texts(packets[at].pending)) for at in (first, second))
                assert not mine & theirs
            both = {*texts(packets[2].pending), *texts(packets[3].pending)}
            assert len(both) == 30

    asyncio.run(work())


def test_O8_a_long_queue_is_compacted_into_the_file(otto: str) -> None:
    async def work() -> None:
        async with await opened() as memory:
            await send(memory, *(f"message {number}" for number in range(60)))
            assert not any("queue" in name for name in _keys(otto))
            await memory.maintain()
            packet = await task(memory)
            assert texts(packet.pending) == [f"message {number}" for number in range(50, 60)]
            assert "message 3" in packet.text, "the others are in the summary"

    asyncio.run(work())


def test_O14_O13_without_redis_messages_wait_in_the_file_and_none_is_lost(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    async def work() -> None:
        async with await opened() as memory:
            await send(memory, "before")
            server.kill()
            receipt = await send(memory, "while it is away")
            assert [item.status for item in receipt.items] == ["stored"]
            assert any("degraded" in note and "cannot reach" in note for note in receipt.notes)
            packet = await task(memory)
            assert texts(packet.pending) == ["while it is away"]
            assert any("degraded" in note and "wait on" in note for note in packet.notes)
            await memory.confirm(packet)
            server.start()
            await asyncio.sleep(0.3)
            packet = await task(memory)
            assert texts(packet.pending) == ["before"]
            assert not any("degraded" in note for note in packet.notes)
            await memory.confirm(packet)
            assert (await task(memory)).pending == ()

    with caplog.at_level(logging.WARNING, logger="standfast"):
        asyncio.run(work())
    told = [record.getMessage() for record in caplog.records]
    assert sum("cannot reach" in line for line in told) == 1, told
    assert sum(line.endswith(" is back") and "wait" not in line for line in told) == 1, told


def test_O14_it_begins_without_redis_too(server: Server) -> None:
    server.kill()

    async def work() -> None:
        async with await opened() as memory:
            assert (await send(memory, "early")).items[0].status == "stored"
            server.start()
            await asyncio.sleep(0.2)
            await send(memory, "late")
            assert texts((await task(memory)).pending) == ["early", "late"]

    asyncio.run(work())


@pytest.mark.usefixtures("otto")
def test_O14_an_answer_that_was_cut_off_makes_no_second_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Redis has it, nobody knows, and the file has it too."""
    put = RedisQueue.put

    async def cut(queue: RedisQueue, waiting: Any, **now: Any) -> Any:
        await put(queue, waiting, **now)
        raise Unavailable("cut", outcome_unknown=True)

    async def work() -> None:
        async with await opened() as memory:
            with monkeypatch.context() as patch:
                patch.setattr(RedisQueue, "put", cut)
                await send(memory, "only once")
            packet = await task(memory)
            assert texts(packet.pending) == ["only once"]
            await memory.confirm(packet)
            assert (await task(memory)).pending == ()

    asyncio.run(work())


def test_O14_what_waits_is_forgotten_exported_and_never_kept_of_who_opted_out(
    otto: str, tmp_path: Path
) -> None:
    async def work() -> None:
        async with await opened() as memory:
            await send(memory, "in the export")
            target = tmp_path / "export.jsonl"
            await memory.export_to(target)
            assert "in the export" in target.read_text()
            await send(memory, "to be forgotten")
            receipt = await memory.forget(scope=WEB)
            assert any("Redis" in note for note in receipt.notes)
            assert (await task(memory)).pending == ()
            assert (await send(memory, "to be forgotten")).items[0].status == "skipped"
            await memory.set_policy(WEB, persist=False)
            assert (await send(memory, "private")).items[0].status == "volatile"
            assert not any("{project:web}" in name for name in _keys(otto))

    asyncio.run(work())


@pytest.mark.usefixtures("otto")
def test_O14_messages_expire_in_the_queue(clock: MovableClock) -> None:
    async def work() -> None:
        async with await opened(clock=clock) as memory:
            await send(memory, "old news")
            clock.forward(days=31)
            assert await memory.pending(scope=WEB) == ()
            assert (await task(memory)).pending == ()

    asyncio.run(work())


@pytest.mark.usefixtures("otto")
def test_O14_a_url_that_is_no_redis_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", "postgresql://me:secret@localhost/x")
    with pytest.raises(Invalid, match="REDIS_URL names no Redis") as refused:
        asyncio.run(opened())
    assert "secret" not in str(refused.value)
    server = own_server("--maxmemory-policy", "allkeys-lru")
    monkeypatch.setenv("REDIS_URL", server.url)
    with pytest.raises(Incompatible, match="noeviction"):
        asyncio.run(opened())
    server.remove()
