"""MCP over HTTP: a real server, the official client, keys, and everybody's own memory only."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from standfast.access import keys
from standfast.interfaces.mcp.mount import PATH
from tests.interfaces.mcp_world import TOOLS, Agent, run
from tests.serving import Served, served

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
PATIENCE_SECONDS = 60
HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    """One for all tests of this file; each uses scopes of its own."""
    with served() as running:
        yield running


@pytest.fixture
def fresh_server() -> Iterator[Served]:
    with served() as running:
        yield running


@asynccontextmanager
async def connected(server: Served, key: str = "", mode: str = "auto") -> AsyncIterator[Agent]:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(server.url + PATH, http_client=http)
        async with Client(transport, mode=mode) as client:
            yield Agent(client)


def post(server: Served, body: Any = None, key: str = "", **headers: str) -> httpx2.Response:
    sent = {**HEADERS, **headers}
    if key:
        sent["Authorization"] = f"Bearer {key}"
    content = body if isinstance(body, bytes) else json.dumps(body or HELLO).encode()
    return httpx2.post(server.url + PATH, content=content, headers=sent, timeout=60)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_whole_conversation_over_http(server: Served, mode: str) -> None:
    key = server.key(f"user:talker-{mode}")

    async def scenario() -> None:
        async with connected(server, key, mode) as agent:
            assert tuple(t.name for t in (await agent.client.list_tools()).tools) == TOOLS
            id_ = await agent.saves("Ann deploys on Tuesdays", tags=["deploy"])
            assert await agent.finds("when does Ann deploy?") == ["Ann deploys on Tuesdays"]
            assert "Tuesdays" in await agent.says("memory_context", task="deploy")
            await agent.does("procedure_save", name="deploy", steps=["make deploy"])
            assert (await agent.does("procedure_find", query="deploy"))["memories"]
            await agent.does("procedure_used", procedure="deploy", success=True)
            await agent.does("session_log", session="chat", messages=["Hello!"])
            await agent.does("session_log", session="chat", ended=True, outcome="Deployed.")
            changes = (await agent.does("memory_history", id=id_))["changes"]
            assert changes[0]["actor"].startswith("key:")
            assert (await agent.does("memory_review"))["questions"] == []
            begun = await agent.client.get_prompt("recall_before_task", {"task": "deploy"})
            assert "Tuesdays" in begun.messages[0].content.text  # type: ignore[union-attr]
            [content] = (await agent.client.read_resource(f"memory://record/{id_}")).contents
            assert "Tuesdays" in content.text  # type: ignore[union-attr]
            await agent.does("memory_forget", ids=[id_], dry_run=False)
            assert "takes no" in await agent.fails("memory_save", text="x", colour="red")
            assert "there is no record" in await agent.fails("memory_history", id="nobody")

    run(scenario())


def test_A10_every_request_needs_a_key_that_works(fresh_server: Served) -> None:
    server = fresh_server
    assert post(server).status_code == 200  # no key was ever made, and this is the same machine
    key = server.key("user:ann")
    refused = post(server)
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"].startswith("Bearer")
    assert refused.headers["content-type"] == "application/problem+json"
    assert post(server, key="rck_" + "A" * 43).status_code == 401
    assert post(server, key=key).status_code == 200
    assert post(server, Authorization="Basic YTpi").status_code == 401


def test_A10_a_session_id_or_header_is_no_identity(server: Served) -> None:
    ann, bob = server.key("user:ann"), server.key("user:bob")
    call = {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {"name": "memory_save", "arguments": {"text": "I am Ann", "scope": "user:ann"}},
    }
    assert post(server, call, ann).json()["result"]["isError"] is False
    other = post(server, call, bob, **{"Mcp-Session-Id": "ann", "X-Forwarded-User": "ann"}).json()
    assert other["result"]["isError"] is True
    assert "outside 'user:bob'" in other["result"]["content"][0]["text"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Content-Type": "text/plain"}, 415),
        ({"Accept": "text/html"}, 406),
    ],
)
def test_pages_and_strangers_are_refused(
    server: Served, headers: dict[str, str], status: int
) -> None:
    assert post(server, key=server.key("user:ann"), **headers).status_code == status


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_there_are_no_streams_and_no_sessions_to_hold(server: Served, method: str) -> None:
    headers = {**HEADERS, "Authorization": f"Bearer {server.key('user:ann')}"}
    answer = httpx2.request(method, server.url + PATH, headers=headers, timeout=60)
    assert answer.status_code == 405
    assert answer.headers["allow"] == "POST"
    ids = {post(server, key=server.key("user:ann")).headers["mcp-session-id"] for _ in range(2)}
    assert len(ids) == 2


def test_nobody_cancels_the_calls_of_another(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two agents with the same key count their requests alike; a third has another key."""
    key, stranger = server.key("user:ann"), server.key("user:bob")
    begun = threading.Semaphore(0)
    go_on = threading.Event()
    search = server.memory._engine.store.search

    async def slow(*arguments: Any, **options: Any) -> Any:
        begun.release()
        await asyncio.to_thread(go_on.wait, PATIENCE_SECONDS)
        return await search(*arguments, **options)

    monkeypatch.setattr(server.memory._engine.store, "search", slow)
    call = {
        "jsonrpc": "2.0",
        "id": 5,
        "method": "tools/call",
        "params": {"name": "memory_search", "arguments": {"query": "tea"}},
    }
    cancel = {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": 5},
    }
    with ThreadPoolExecutor(2) as pool:
        mine = pool.submit(post, server, call, key, **{"Mcp-Session-Id": "one"})
        theirs = pool.submit(post, server, call, key, **{"Mcp-Session-Id": "two"})
        assert begun.acquire(timeout=PATIENCE_SECONDS)
        assert begun.acquire(timeout=PATIENCE_SECONDS)
        for who, session in ((stranger, "one"), (stranger, "two"), (key, "none"), (key, "one")):
            answer = post(server, cancel, who, **{"Mcp-Session-Id": session})
            assert answer.status_code == 202
        assert mine.result(PATIENCE_SECONDS).status_code == 202  # cancelled: there is no answer
        go_on.set()
        assert theirs.result(PATIENCE_SECONDS).json()["result"]["isError"] is False


def test_A10_one_device_of_a_key_cancels_no_call_of_another(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if it knows the session id: the key is the same, and what they reach is not."""
    key = server.key("user:ann")
    for device in ("kitchen", "garage"):
        place = f"user:ann:device:{device}"
        server.run(partial(keys.map_device, device=device, scope=place))
    begun, go_on = threading.Semaphore(0), threading.Event()
    search = server.memory._engine.store.search

    async def slow(*arguments: Any, **options: Any) -> Any:
        begun.release()
        await asyncio.to_thread(go_on.wait, PATIENCE_SECONDS)
        return await search(*arguments, **options)

    monkeypatch.setattr(server.memory._engine.store, "search", slow)
    asked = {"name": "memory_search", "arguments": {"query": "tea"}}
    call = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": asked}
    ended = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}}

    def of(device: str) -> dict[str, str]:
        return {"Mcp-Session-Id": "one", "X-Standfast-Device": device}

    with ThreadPoolExecutor(1) as pool:
        mine = pool.submit(lambda: post(server, call, key, **of("kitchen")))
        assert begun.acquire(timeout=PATIENCE_SECONDS)
        assert post(server, ended, key, **of("garage")).status_code == 202
        go_on.set()
        assert mine.result(PATIENCE_SECONDS).json()["result"]["isError"] is False


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"x"',
        b"\xff\xfe",
        b'{"jsonrpc": "2.0", "id": 1, "method": "no/such/method"}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call"}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 7}}',
        b'{"jsonrpc": "2.0", "id": 1e999, "method": "ping"}',
        b"[" * 100 + b"]" * 100,
        json.dumps({**HELLO, "params": "x" * (9 << 20)}).encode(),
    ],
    ids=lambda body: body[:24].decode("latin-1"),
)
def test_bad_bodies_are_refused_and_the_server_goes_on(server: Served, body: bytes) -> None:
    key = server.key("user:ann")
    assert post(server, body or b" ", key).status_code < 500
    assert post(server, key=key).status_code == 200


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_call_ends_when_its_client_goes_away(
    server: Served, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, ended = threading.Event(), threading.Event()

    async def slow(*_: Any, **__: Any) -> None:
        begun.set()
        try:
            await asyncio.sleep(PATIENCE_SECONDS)
        finally:
            ended.set()

    async def scenario() -> None:
        async with connected(server, server.key(f"user:leaver-{mode}"), mode) as agent:
            await agent.saves("Ann likes tea")
            with monkeypatch.context() as patched:
                patched.setattr(server.memory._engine.store, "search", slow)
                async with anyio.create_task_group() as group:
                    group.start_soon(lambda: agent.call("memory_search", query="tea"))
                    assert await asyncio.to_thread(begun.wait, PATIENCE_SECONDS)
                    group.cancel_scope.cancel()
                assert await asyncio.to_thread(ended.wait, 10), "it runs on though nobody waits"
            assert await agent.finds("tea") == ["Ann likes tea"]

    run(scenario())


def test_callers_at_once_each_see_their_own(server: Served) -> None:
    keys = {name: server.key(f"user:{name}") for name in ("uma", "vic", "wim")}

    async def one(name: str) -> None:
        async with connected(server, keys[name]) as agent:
            await asyncio.gather(*(agent.saves(f"{name} has secret {n} here") for n in range(10)))
            texts = await agent.finds("has secret", limit=50)
            assert len(texts) == 10
            assert all(text.startswith(name) for text in texts)

    async def scenario() -> None:
        await asyncio.gather(*map(one, keys))

    run(scenario())


def test_a_revoked_key_ends_with_the_next_call(fresh_server: Served) -> None:
    server = fresh_server
    key = server.key("user:ann")

    async def scenario() -> None:
        async with connected(server, key) as agent:
            await agent.saves("Ann likes tea")

            async def revoke(engine: Any) -> None:
                for known in await keys.list_keys(engine):
                    await keys.revoke_key(engine, known.id)

            await asyncio.to_thread(server.run, revoke)
            with pytest.raises(Exception, match=r"."):
                await agent.finds("tea")

    run(scenario())
    assert post(server, key=key).status_code == 401
