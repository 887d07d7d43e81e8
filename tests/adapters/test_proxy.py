"""The proxy between a client and its model server: memory goes in, both sides are kept, and
nothing that is not ours is touched."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn

from standfast import AsyncMemory, Memory, NotFound, Unavailable
from standfast.adapters.proxy.app import Proxy
from standfast.adapters.proxy.dialects import Listening
from standfast.testing.scripted import ScriptedAnswer, ScriptedServer, says

SCOPE = "user:ann"
ASKED = [{"role": "system", "content": "Be kind"},
         {"role": "user", "content": "What tea do I like?"}]  # fmt: skip


@contextmanager
def running(app: Any) -> Iterator[str]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        config = uvicorn.Config(app, log_level="error", lifespan="on", access_log=False)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(20)


@pytest.fixture
def upstream() -> Iterator[ScriptedServer]:
    with ScriptedServer() as server:
        yield server


@pytest.fixture
def store(tmp_path: Path) -> str:
    path = str(tmp_path / "m.db")
    with Memory.open(path, background=False, embedder="none") as memory:
        memory.remember("Ann likes green tea", scope=SCOPE)
        memory.remember("Bob likes coffee", scope="user:bob")
    return path


def opening(path: str) -> Callable[[], Any]:
    async def open_memory() -> AsyncMemory:
        return await AsyncMemory.open(path, scope=SCOPE, background=False, embedder="none")

    return open_memory


@pytest.fixture
def proxy(upstream: ScriptedServer, store: str) -> Iterator[str]:
    with running(Proxy(address(upstream), opening(store), scope=SCOPE)) as url:
        yield url


def address(server: ScriptedServer) -> str:
    return server.url.removesuffix("/v1").rstrip("/")


def said(store: str, session: str) -> list[tuple[str, str]]:
    with Memory.open(store, background=False, embedder="none") as memory:
        try:
            found = memory.messages(session, scope=SCOPE).items
        except NotFound:
            return []
        return [(one.role, one.text) for one in found]


def events(*pieces: str) -> ScriptedAnswer:
    chunks = [{"choices": [{"index": 0, "delta": {"content": piece}}]} for piece in pieces]
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    raw = "".join([*lines, "data: [DONE]\n\n"]).encode()
    return ScriptedAnswer(raw=raw, content_type="text/event-stream")


def test_X14_proxy_what_is_forgotten_goes_to_no_model(upstream: ScriptedServer, store: str) -> None:
    upstream.script(says("I do not know."))
    with Memory.open(store, background=False, embedder="none") as memory:
        memory.forget(scope=SCOPE)
    with running(Proxy(address(upstream), opening(store), scope=SCOPE)) as url:
        body = {"model": "m", "messages": ASKED}
        answer = httpx2.post(f"{url}/v1/chat/completions", json=body, timeout=30)
    assert answer.status_code == 200
    (asked,) = upstream.requests
    assert "green tea" not in json.dumps(asked.body)


def test_X14_proxy_adds_the_packet_and_keeps_both_sides(
    upstream: ScriptedServer, store: str
) -> None:
    upstream.script(says("Green tea."))
    with running(Proxy(address(upstream), opening(store), scope=SCOPE)) as url:
        answer = httpx2.post(
            f"{url}/v1/chat/completions",
            json={"model": "m", "messages": ASKED, "temperature": 0.3, "unknown_field": [1]},
            headers={"authorization": "Bearer key", "x-standfast-session": "chat"},
            timeout=30,
        )
    assert answer.status_code == 200
    assert answer.json()["choices"][0]["message"]["content"] == "Green tea."
    assert answer.headers["x-standfast"].startswith("on; memories=")
    (asked,) = upstream.requests
    body = asked.body
    assert body["unknown_field"] == [1]
    assert body["messages"][0] == ASKED[0]
    assert "green tea" in body["messages"][1]["content"]
    assert "coffee" not in json.dumps(body)
    assert body["messages"][2] == ASKED[1]
    assert asked.headers["authorization"] == "Bearer key"
    assert "x-standfast-session" not in asked.headers
    assert said(store, "chat") == [("user", "What tea do I like?"), ("assistant", "Green tea.")]


def test_X14_proxy_a_conversation_sent_again_is_kept_once(
    upstream: ScriptedServer, store: str
) -> None:
    upstream.script(says("Green tea."), says("At four."))
    head = {"x-standfast-session": "chat"}
    with running(Proxy(address(upstream), opening(store), scope=SCOPE)) as url:
        where = f"{url}/v1/chat/completions"
        first = httpx2.post(where, json={"messages": ASKED}, headers=head, timeout=30).json()
        answered = first["choices"][0]["message"]
        more = [*ASKED, {"role": "assistant", "content": answered["content"]},
                {"role": "user", "content": "And when?"}]  # fmt: skip
        httpx2.post(where, json={"messages": more}, headers=head, timeout=30)
    told = said(store, "chat")
    assert [text for _, text in told].count("What tea do I like?") == 1
    assert told[-2:] == [("user", "And when?"), ("assistant", "At four.")]


def test_X14_proxy_a_stream_passes_byte_by_byte(upstream: ScriptedServer, store: str) -> None:
    scripted = events("Green ", "tea", ".")
    upstream.script(scripted)
    with running(Proxy(address(upstream), opening(store), scope=SCOPE)) as url:
        body = {"messages": ASKED, "stream": True}
        head = {"x-standfast-session": "s"}
        with httpx2.stream(
            "POST", f"{url}/v1/chat/completions", json=body, headers=head, timeout=30
        ) as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            raw = b"".join(answer.iter_raw())
    assert raw == scripted.raw
    assert said(store, "s")[-1] == ("assistant", "Green tea.")


def test_X14_proxy_does_not_hold_a_stream_back(upstream: ScriptedServer, proxy: str) -> None:
    upstream.script(replace(events("a", "b"), manner="drip"))
    body = {"messages": ASKED, "stream": True}
    began = time.monotonic()
    with httpx2.stream("POST", f"{proxy}/v1/chat/completions", json=body, timeout=60) as answer:
        pieces = answer.iter_raw()
        next(pieces)
        first = time.monotonic() - began
        for _ in pieces:
            pass
    assert first < (time.monotonic() - began) / 2


STREAMED = "".join(
    f"event: {one['type']}\ndata: {json.dumps(one)}\n\n"
    for one in (
        {"type": "response.created"},
        {"type": "response.output_text.delta", "delta": "Green "},
        {"type": "response.output_text.delta", "delta": "tea."},
        {"type": "response.completed", "response": {"output": []}},
    )
)
WHOLE = json.dumps(
    {
        "id": "r",
        "output": [
            {
                "type": "message",
                "role": "assistant",
                "content": [{"type": "output_text", "text": "Green tea."}],
            }
        ],
    }
)


@pytest.mark.parametrize("answer", [WHOLE, STREAMED], ids=["whole", "streamed"])
def test_X14_proxy_knows_responses(store: str, answer: str) -> None:
    seen: list[Any] = []

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(answer), 50):
            yield answer[start : start + 50].encode()

    def model(request: httpx2.Request) -> httpx2.Response:
        seen.append(json.loads(request.content))
        return httpx2.Response(200, content=pieces())

    transport = httpx2.MockTransport(model)
    proxy = Proxy("http://models.test", opening(store), scope=SCOPE, transport=transport)
    with running(proxy) as url:
        body = {"model": "m", "input": "What tea do I like?", "instructions": "Be kind"}
        head = {"x-standfast-session": "r"}
        got = httpx2.post(f"{url}/v1/responses", json=body, headers=head, timeout=30)
    assert got.text == answer
    (sent,) = seen
    assert sent["instructions"].startswith("Be kind\n\n")
    assert "green tea" in sent["instructions"]
    assert sent["input"] == "What tea do I like?"
    assert said(store, "r") == [("user", "What tea do I like?"), ("assistant", "Green tea.")]


def test_X14_proxy_off_means_off(upstream: ScriptedServer, store: str) -> None:
    upstream.script(says("x"))
    with running(Proxy(address(upstream), opening(store), scope=SCOPE)) as url:
        answer = httpx2.post(
            f"{url}/v1/chat/completions",
            json={"messages": ASKED},
            headers={"x-standfast": "off", "x-standfast-session": "never"},
            timeout=30,
        )
    assert "x-standfast" not in answer.headers
    assert upstream.requests[0].body == {"messages": ASKED}
    with Memory.open(store, background=False, embedder="none") as memory:
        assert memory.sessions(scope=SCOPE).items == ()


@pytest.mark.parametrize(
    ("content", "path"),
    [
        (b"no json at all", "/v1/chat/completions"),
        (b'{"messages": "odd"}', "/v1/chat/completions"),
        (b'{"input": ["a"]}', "/v1/embeddings"),
        (b"\x00\xff", "/v1/files"),
    ],
)
def test_X14_proxy_passes_on_what_it_does_not_know(
    proxy: str, upstream: ScriptedServer, content: bytes, path: str
) -> None:
    upstream.script(ScriptedAnswer(raw=b'{"odd": 1}', status=418, headers={"x-theirs": "kept"}))
    answer = httpx2.post(f"{proxy}{path}?a=b%20c", content=content, timeout=30)
    if not upstream.requests:  # the scripted server itself refuses what it cannot read
        assert answer.status_code >= 400
        return
    assert answer.status_code == 418
    assert answer.content == b'{"odd": 1}'
    assert answer.headers["x-theirs"] == "kept"
    assert upstream.requests[0].path.endswith("?a=b%20c")


def test_X14_proxy_goes_on_without_a_memory(upstream: ScriptedServer) -> None:
    async def fails() -> AsyncMemory:
        raise Unavailable("the disk is full")

    upstream.script(says("Still here."))
    with running(Proxy(address(upstream), fails, scope=SCOPE)) as url:
        answer = httpx2.post(f"{url}/v1/chat/completions", json={"messages": ASKED}, timeout=30)
    assert answer.status_code == 200
    assert answer.headers["x-standfast"] == "off; the disk is full"
    assert upstream.requests[0].body == {"messages": ASKED}


def test_X14_proxy_waits_only_so_long_for_memories(
    upstream: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def hangs() -> AsyncMemory:
        await asyncio.sleep(60)
        raise AssertionError

    monkeypatch.setattr("standfast.adapters.proxy.app.PACKET_SECONDS", 0.2)
    monkeypatch.setattr("standfast.adapters.proxy.app.DRAIN_SECONDS", 0.2)
    upstream.script(says("Quick."))
    with running(Proxy(address(upstream), hangs, scope=SCOPE)) as url:
        answer = httpx2.post(
            f"{url}/v1/chat/completions",
            json={"messages": ASKED},
            headers={"x-standfast": "on"},
            timeout=30,
        )
    assert answer.headers["x-standfast"] == "off; the memory took too long"


def test_X14_proxy_says_that_the_model_server_is_away(store: str) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{unused.getsockname()[1]}"
        with running(Proxy(nobody, opening(store), scope=SCOPE)) as url:
            answer = httpx2.post(f"{url}/v1/chat/completions", json={"messages": ASKED}, timeout=30)
    assert answer.status_code == 502
    assert "cannot be reached" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example:80"}, {"origin": "https://evil.example"}, {"origin": "http://["},
        {"host": "["}, {"host": ""}, {"origin": "null"}, {"sec-fetch-site": "cross-site"},
        {"host": "127.0.0.1@evil.example"}, {"origin": "http://127.0.0.1.evil.example"},
    ],
)  # fmt: skip
def test_X14_proxy_answers_no_page_from_elsewhere(
    proxy: str, upstream: ScriptedServer, headers: dict[str, str]
) -> None:
    answer = httpx2.post(
        f"{proxy}/v1/chat/completions", json={"messages": ASKED}, headers=headers, timeout=30
    )
    assert answer.status_code == 403
    assert upstream.requests == []


def test_X14_proxy_users_are_kept_apart(upstream: ScriptedServer, store: str) -> None:
    upstream.script(says("a"), says("b"))
    with running(Proxy(address(upstream), opening(store), scope=SCOPE)) as url:
        for user, text in (("one", "my pin is on the fridge"), ("two", "what is my pin?")):
            httpx2.post(
                f"{url}/v1/chat/completions",
                json={"messages": [{"role": "user", "content": text}]},
                headers={"x-standfast-user": user, "x-standfast-session": "s"},
                timeout=30,
            )
    assert "fridge" not in json.dumps(upstream.requests[1].body)


def test_X14_proxy_a_path_passes_as_it_was_written(store: str) -> None:
    seen: list[bytes] = []

    async def pieces() -> AsyncIterator[bytes]:
        yield b"{}"

    def model(request: httpx2.Request) -> httpx2.Response:
        seen.append(request.url.raw_path)
        return httpx2.Response(200, content=pieces(), headers={"content-length": "2"})

    where = "/v1/files/a%2Fb%20c%3F/content?x=%26"
    transport = httpx2.MockTransport(model)
    app = Proxy("http://models.test", opening(store), scope=SCOPE, transport=transport)
    with running(app) as url:
        answer = httpx2.post(f"{url}{where}", json={}, timeout=30)
    assert (answer.content, answer.headers["content-length"]) == (b"{}", "2")
    assert seen == [where.encode()]


def test_X14_proxy_refuses_a_socket(upstream: ScriptedServer, store: str) -> None:
    sent: list[Any] = []

    async def scene() -> None:
        app = Proxy(address(upstream), opening(store), scope=SCOPE)

        async def receive() -> Any:
            return {"type": "websocket.connect"}

        async def send(event: Any) -> None:
            sent.append(event)

        await app({"type": "websocket", "path": "/v1/realtime"}, receive, send)
        await app.close()

    asyncio.run(scene())
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_X14_proxy_many_at_once_keep_both_sides(upstream: ScriptedServer, store: str) -> None:
    upstream.script(*(says("Noted.") for _ in range(16)))
    with running(Proxy(address(upstream), opening(store), scope=SCOPE)) as url:

        def ask(number: int) -> int:
            answer = httpx2.post(
                f"{url}/v1/chat/completions",
                json={"messages": [{"role": "user", "content": f"message {number}"}]},
                headers={"x-standfast-session": f"s{number % 2}"},
                timeout=60,
            )
            return answer.status_code

        with ThreadPoolExecutor(8) as pool:
            assert set(pool.map(ask, range(16))) == {200}
    for session in (0, 1):
        told = [text for role, text in said(store, f"s{session}") if role == "user"]
        assert sorted(told) == sorted(f"message {n}" for n in range(session, 16, 2))


def test_X14_proxy_killed_it_is_started_again(upstream: ScriptedServer, store: str) -> None:
    """The command itself: killed while a client waits, it keeps what it had kept before."""
    command = [sys.executable, "-m", "standfast.interfaces.cli", "--store", store, "--embedder",
               "none", "proxy", "--upstream", address(upstream), "--scope", SCOPE,
               "--port", "0"]  # fmt: skip
    for round_ in (1, 2):
        upstream.script(says("Noted."), replace(events("a", "b"), manner="drip"))
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        with process.stdout as told:
            url = told.readline().split()[2]
            head = {"x-standfast-session": "killed"}
            body = {"messages": [{"role": "user", "content": f"message {round_}"}]}
            where = f"{url}/v1/chat/completions"
            assert httpx2.post(where, json=body, headers=head, timeout=60).status_code == 200
            wait_for(store, round_ * 2)
            with pytest.raises(httpx2.HTTPError):
                broken_off(where, head, process)
            process.wait()
    texts = [text for _, text in said(store, "killed")]
    assert texts == ["message 1", "Noted.", "message 2", "Noted."]


def broken_off(where: str, head: dict[str, str], process: subprocess.Popen[str]) -> None:
    body = {"messages": ASKED, "stream": True}
    with httpx2.stream("POST", where, json=body, headers=head, timeout=60) as answer:
        for _ in answer.iter_raw():
            process.kill()


def wait_for(store: str, count: int) -> None:
    for _ in range(600):
        if len(said(store, "killed")) == count:
            return
        time.sleep(0.05)
    raise AssertionError("it was not kept in 30 seconds")


def test_X14_proxy_an_answer_is_heard_however_it_is_cut() -> None:
    raw = events("Grü", "ner ", "Tee").raw
    assert raw is not None
    for size in (1, 2, 3, 7, 1000):
        listening = Listening("chat")
        for start in range(0, len(raw), size):
            listening.hear(raw[start : start + size])
        assert listening.answer() == {"role": "assistant", "content": "Grüner Tee"}


def test_X14_proxy_serves_the_real_client(upstream: ScriptedServer, store: str) -> None:
    openai = pytest.importorskip("openai", reason="openai is not installed")
    upstream.script(says("Green tea."), events("Green ", "tea", "."))
    with running(Proxy(address(upstream), opening(store), scope=SCOPE)) as url:
        client = openai.OpenAI(base_url=f"{url}/v1", api_key="key", max_retries=0)
        head = {"x-standfast-session": "real"}
        whole = client.chat.completions.create(model="m", messages=ASKED, extra_headers=head)
        assert whole.choices[0].message.content == "Green tea."
        stream = client.chat.completions.create(
            model="m", messages=ASKED, stream=True, extra_headers=head
        )
        pieces = [chunk.choices[0].delta.content or "" for chunk in stream]
        assert "".join(pieces) == "Green tea."
        client.close()
    assert said(store, "real")[:2] == [("user", ASKED[1]["content"]), ("assistant", "Green tea.")]


@pytest.mark.parametrize("where", ["@evil.test/v1/chat/completions", ".evil.test/chat/completions",
                                   "http://evil.test/v1/chat/completions", ":1/chat/completions",
                                   "*"])  # fmt: skip
def test_X14_proxy_memories_go_to_no_other_host(store: str, where: str) -> None:
    """A path without a slash became a part of the upstream's name: whoever could connect had the
    packet sent wherever they liked."""
    seen: list[str] = []

    def model(request: httpx2.Request) -> httpx2.Response:
        seen.append(str(request.url))
        return httpx2.Response(200, json={})

    transport = httpx2.MockTransport(model)
    app = Proxy("http://models.test", opening(store), scope=SCOPE, transport=transport)
    body = json.dumps({"messages": ASKED}).encode()
    head = (
        f"POST {where} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"Connection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with running(app) as url:
        port = int(url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
            connection.sendall(head.encode() + body)
            answer = connection.makefile("rb").readline()
    assert b" 400 " in answer
    assert seen == []


def test_X14_proxy_what_is_for_the_next_one_only_goes_no_further(store: str) -> None:
    seen: list[Any] = []

    async def pieces() -> AsyncIterator[bytes]:
        yield b"{}"

    def model(request: httpx2.Request) -> httpx2.Response:
        seen.append(request.headers)
        told = {"connection": "x-inner", "x-inner": "1", "x-outer": "1", "x-standfast": "forged"}
        return httpx2.Response(200, content=pieces(), headers=told)

    transport = httpx2.MockTransport(model)
    app = Proxy("http://models.test", opening(store), scope=SCOPE, transport=transport)
    with running(app) as url:
        headers = {"Connection": "keep-alive, X-Hop", "X-Hop": "1", "X-Kept": "1"}
        answer = httpx2.get(f"{url}/v1/models", headers=headers, timeout=30)
    assert ("x-hop" in seen[0], "x-kept" in seen[0]) == (False, True)
    assert ("x-inner" in answer.headers, "x-outer" in answer.headers) == (False, True)
    assert "x-standfast" not in answer.headers, "what the memory did, nobody else says"


@pytest.mark.parametrize("raw", [b'{"a": "' + b"x" * 400_000, b"data: " + b"x" * 400_000])
def test_X14_proxy_an_answer_in_small_pieces_takes_linear_time(raw: bytes) -> None:
    def spent(size: int) -> float:
        listening, begun = Listening("chat"), time.process_time()
        for start in range(0, size, 4):
            listening.hear(raw[start : start + 4])
        return time.process_time() - begun

    assert min(spent(400_000) for _ in range(3)) < 3 * min(spent(200_000) for _ in range(3)) + 0.05
