"""What must hold for every request: Host, Origin, bodies, types; and what answers never say."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import time
from datetime import datetime
from typing import Any

import httpx2
import pytest

from standfast.access.keys import create_key
from standfast.errors import Incompatible, Unavailable
from standfast.interfaces.http.bodies import (
    DEPTH_MAX,
    OPEN_BYTES,
    PIECE_BYTES,
    VALUES_MAX,
    BodyLimits,
    too_deep,
    too_many,
)
from standfast.interfaces.http.guards import host_name
from standfast.interfaces.http.problems import told
from standfast.memory import AsyncMemory
from standfast.settings import Settings
from tests.interfaces.http.conftest import ServeApp, Served

PATHS = ("/health", "/v1/records", "/mcp", "/openapi.json", "/metrics", "/nothing")
JSON = {"Content-Type": "application/json"}


def is_problem(answer: httpx2.Response, status: int) -> None:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    assert {"type", "title", "status", "detail"} <= set(body)
    assert body["status"] == status
    assert body["detail"]


# Pages in a browser


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "evil.example:4777", "localhost@evil.example",
     "0.0.0.0", "127.0.0.1:x", "[::1", "2130706433", "user@127.0.0.1", "127.0.0.1/x", "."],
)  # fmt: skip
def test_X10_a_name_that_is_not_ours_is_refused_everywhere(
    ann: httpx2.Client, path: str, host: str
) -> None:
    is_problem(ann.get(path, headers={"Host": host}), 421)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "LOCALHOST:80", "[::1]:4777", "127.0.0.1:1"]
)
def test_our_own_names_are_fine(ann: httpx2.Client, host: str) -> None:
    assert ann.get("/v1/records", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    ("header", "name"), [("a:b:c", ""), ("", ""), ("a b", "a b"), ("[::1]", "::1")]
)
def test_the_name_in_a_host_header(header: str, name: str) -> None:
    assert host_name(header) == name


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://127.0.0.1.evil.example", "", "file://"]
)
def test_X10_a_page_of_another_origin_is_refused_everywhere(
    ann: httpx2.Client, path: str, origin: str
) -> None:
    answer = ann.get(path, headers={"Origin": origin})
    is_problem(answer, 403)
    assert "access-control-allow-origin" not in answer.headers


def test_X10_a_preflight_gets_nothing_and_writes_nothing(ann: httpx2.Client) -> None:
    headers = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    is_problem(ann.options("/v1/remember", headers=headers), 403)
    before = ann.get("/v1/stats").json()
    planted = ann.post(
        "/v1/remember", json={"text": "planted"}, headers={"Origin": "https://evil.example"}
    )
    is_problem(planted, 403)
    assert ann.get("/v1/stats").json() == before


def test_a_page_of_the_server_itself_is_fine(server: Served, ann: httpx2.Client) -> None:
    answer = ann.get("/v1/records", headers={"Origin": server.address})
    assert answer.status_code == 200
    assert "access-control-allow-origin" not in answer.headers


def test_an_image_on_a_foreign_page_is_refused(ann: httpx2.Client) -> None:
    embedded = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    is_problem(ann.get("/v1/records", headers=embedded), 403)
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert ann.get("/health", headers=link).status_code == 200


def test_hosts_and_origins_can_be_allowed_one_by_one(serve_app: ServeApp) -> None:
    settings = Settings(hosts="memory.example, other.example", origins="https://app.example")
    server = serve_app("dict:", settings=settings)
    page = {"Origin": "https://app.example"}
    with server.client() as client:
        assert client.get("/health", headers={"Host": "memory.example"}).status_code == 200
        is_problem(client.get("/health", headers={"Host": "x.memory.example"}), 421)
        answer = client.get("/v1/records", headers=page)
        assert answer.headers["access-control-allow-origin"] == "https://app.example"
        assert answer.headers["vary"] == "Origin"
        preflight = client.options("/v1/remember", headers=page)
        assert preflight.status_code == 204
        assert "idempotency-key" in preflight.headers["access-control-allow-headers"]
        assert "*" not in str(preflight.headers)
        is_problem(client.get("/v1/records", headers={"Origin": "http://app.example"}), 403)


def test_every_answer_forbids_sniffing_and_storing(ann: httpx2.Client) -> None:
    for path in PATHS:
        headers = ann.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert "server" not in headers
    packet = ann.get("/v1/context")
    assert packet.headers["cache-control"] == "private, no-cache"


# Bodies


def test_a_body_has_a_size(serve_app: ServeApp) -> None:
    server = serve_app("dict:", limits=BodyLimits(body_bytes=1000, stream_bytes=2000))
    with server.client() as client:
        assert client.post("/v1/remember", json={"text": "x" * 900}).status_code == 200
        is_problem(client.post("/v1/remember", json={"text": "x" * 1000}), 413)

        def parts() -> Any:
            yield b'{"text": "'
            for _ in range(100):
                yield b"x" * 100
            yield b'"}'

        is_problem(client.post("/v1/remember", content=parts(), headers=JSON), 413)
        lines = {"Content-Type": "application/x-ndjson"}
        is_problem(client.post("/v1/import", content=b"x" * 3000, headers=lines), 413)
        is_problem(client.post("/v1/import", content=iter([b"x" * 1500] * 3), headers=lines), 413)
        assert client.get("/v1/stats").json()["records"] == 1, "the connection is usable again"


def test_a_text_and_a_batch_have_a_size(ann: httpx2.Client) -> None:
    long = ann.post("/v1/remember", json={"text": "x" * (1 << 20) + "x"})
    is_problem(long, 400)
    assert "1 MiB" in long.json()["detail"]
    many = {"session": "many", "messages": ["x"] * 1001}
    is_problem(ann.post("/v1/observe", json=many), 400)
    is_problem(ann.post("/v1/get", json={"ids": ["x"] * 1001}), 400)
    is_problem(ann.post("/v1/recall", json={"query": "x", "limit": 1001}), 400)
    is_problem(ann.get("/v1/records", params={"limit": 10**30}), 400)
    is_problem(ann.get("/v1/context", params={"query": "x" * 9_000, "session": "y" * 600}), 400)


def nested(depth: int, opening: str = "[", closing: str = "]") -> bytes:
    return (opening * depth + "1" + closing * depth).encode()


@pytest.mark.parametrize("depth", [DEPTH_MAX + 1, 1000, 100_000])
def test_a_body_has_a_depth(ann: httpx2.Client, depth: int) -> None:
    content = b'{"text": "deep", "data": {"a": ' + nested(depth) + b"}}"
    is_problem(ann.post("/v1/remember", content=content, headers=JSON), 400)
    objects = b'{"text": "deep", "data": ' + nested(depth, '{"a":', "}") + b"}"
    is_problem(ann.post("/v1/remember", content=objects, headers=JSON), 400)


@pytest.mark.parametrize(
    ("body", "deep"),
    [
        (nested(DEPTH_MAX), False),
        (nested(DEPTH_MAX + 1), True),
        (json.dumps(["[" * 500, "{" * 500, '"' + "[" * 500, "\\"]).encode(), False),
        (json.dumps([[[]]] * 500).encode(), False),
        (b'"' + b"[" * 500, True),  # no JSON: the quote is never closed
        (b"", False),
    ],
)
def test_brackets_in_texts_do_not_count(body: bytes, deep: bool) -> None:
    assert too_deep(body) is deep


@pytest.mark.parametrize(
    ("begin", "part"),
    [
        (b"[", b'"\\'),
        (b'["', b"\\"),
        (b"", b"[]"),
        (b'{"query":"', b'\\"['),  # a string that never ends, with something escaped all along
        (b'{"query":"', b"[" * 65 + b'\\"'),
    ],
)
def test_looking_for_depth_takes_linear_time(begin: bytes, part: bytes) -> None:
    """Sixteen times as much takes about sixteen times as long, not two hundred and fifty. In time
    of this thread's own, which is the same however busy the machine is."""
    body = begin + part * (250_000 // len(part))
    few = min(_effort(body) for _ in range(5))
    many = min(_effort(begin + part * (4_000_000 // len(part))) for _ in range(3))
    assert many < 64 * max(few, 1e-4)


def _effort(body: bytes) -> float:
    begun = time.thread_time()
    too_deep(body)
    return time.thread_time() - begun


@pytest.mark.parametrize(
    ("body", "many"),
    [
        (json.dumps([1] * VALUES_MAX).encode(), False),
        (json.dumps([1] * (VALUES_MAX + 1)).encode(), True),
        (json.dumps({str(n): [] for n in range(VALUES_MAX // 2 + 1)}).encode(), True),
        (json.dumps(["[,{" * VALUES_MAX, '\\"' * 3]).encode(), False),
        (b'["' + b"\\\\" * PIECE_BYTES + b'",' + b"[],{}," * VALUES_MAX + b"1]", True),
        (b'["' + b"\\\\" * PIECE_BYTES + b'\\",' + b"[],{}," * VALUES_MAX + b'"]', False),
    ],
)
def test_X12_a_body_has_so_many_values(body: bytes, many: bool) -> None:
    """Wherever a piece of it ends: a reader spends seconds on millions of them."""
    assert too_many(body) is many


@pytest.mark.parametrize("path", ["/v1/login", "/oauth/token", "/oauth/register"])
def test_X12_without_a_key_a_body_is_small(ann: httpx2.Client, path: str) -> None:
    """600,000 names in a body to /v1/login held the server for five seconds."""
    body = b'{"code": "' + b"x" * OPEN_BYTES + b'"}'
    is_problem(ann.post(path, content=body, headers=JSON), 413)


def test_X12_a_body_with_too_many_values_is_refused(ann: httpx2.Client) -> None:
    body = b'{"query": [' + b"[]," * VALUES_MAX + b"[]]}"
    is_problem(ann.post("/v1/recall", content=body, headers=JSON), 400)


@pytest.mark.parametrize(
    ("body", "deep"),
    [
        (b'{"a": "\\\\", "b": ' + nested(DEPTH_MAX), True),  # a backslash, and the string ends
        (b'{"a": "\\"' + b"[" * 500 + b'"}', False),
        (b'{"a": "\\\\\\"' + b"[" * 500 + b'"}', False),
    ],
)
def test_what_is_escaped_ends_no_text(body: bytes, deep: bool) -> None:
    assert too_deep(body) is deep


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "",
     "application/json; charset=utf-16", "application/jsonp", "text/json", "application/xml"],
)  # fmt: skip
def test_another_type_is_refused(ann: httpx2.Client, kind: str) -> None:
    before = ann.get("/v1/stats").json()
    headers = {"Content-Type": kind} if kind else {}
    is_problem(ann.post("/v1/remember", content=b'{"text": "x"}', headers=headers), 415)
    is_problem(ann.post("/v1/import", content=b"{}", headers=headers), 415)
    assert ann.get("/v1/stats").json() == before


def test_json_may_say_that_it_is_utf8(ann: httpx2.Client) -> None:
    for kind in ("application/json;charset=UTF-8", 'Application/JSON; charset="utf-8"'):
        answer = ann.post("/v1/recall", content=b'{"query": "x"}', headers={"Content-Type": kind})
        assert answer.status_code == 200


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", "identity, gzip", "x"])
def test_nothing_is_unpacked(ann: httpx2.Client, encoding: str) -> None:
    bomb = gzip.compress(b'{"text": "' + b"x" * 50_000_000 + b'"}')
    headers = {**JSON, "Content-Encoding": encoding}
    is_problem(ann.post("/v1/remember", content=bomb, headers=headers), 415)


@pytest.mark.parametrize(
    "content", [b"", b"{", b"nul", b"[]", b"null", b'"x"', b"{'text': 1}", b"\xff\xfe", b"\x00"]
)
def test_what_is_no_object_is_refused(ann: httpx2.Client, content: bytes) -> None:
    is_problem(ann.post("/v1/remember", content=content, headers=JSON), 400)


def test_wrong_routes_and_methods_say_what_to_do(ann: httpx2.Client) -> None:
    is_problem(ann.get("/nothing"), 404)
    assert "/openapi.json" in ann.get("/v1/nothing").json()["detail"]
    wrong = ann.get("/v1/remember")
    is_problem(wrong, 405)
    assert wrong.headers["allow"] == "POST"
    assert "POST" in wrong.json()["detail"]
    assert ann.put("/v1/records").status_code == 405
    assert ann.request("TRACE", "/v1/records").status_code == 405
    assert ann.request("BREW", "/v1/records").status_code == 405


@pytest.mark.parametrize(
    "path",
    ["//v1/records", "/v1//records", "/v1/records/", "/v1/%2e%2e/v1/records",
     "/v1/records/%2e%2e%2f%2e%2e%2fhealth", "/v1/records%00", "/V1/records", "/v1;x/records",
     "/v1/keys/..%2frecords", "/health/..%2fv1/records"],
)  # fmt: skip
def test_path_tricks_lead_nowhere_and_need_the_key(server: Served, path: str) -> None:
    with server.client() as nobody, server.client("ann") as ann:
        assert nobody.get(path).status_code in (401, 429)
        answer = ann.get(path)
        assert answer.status_code in (400, 404), answer.text


def test_no_header_can_be_injected(ann: httpx2.Client) -> None:
    for value in ("x\r\nInjected: yes", "x\nInjected: yes"):
        answer = ann.get("/v1/messages", params={"session": value})
        is_problem(answer, 400)
        assert "injected" not in answer.headers
    answer = ann.get("/api/memory/search", params={"q": "x\r\nInjected: yes"})
    assert "injected" not in answer.headers


# What answers and logs never say


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ValueError("the secret text of somebody at /root/secret.py"), 500),
        (Unavailable("cannot write /home/ann/.local/memory.db: disk full"), 503),
        (Incompatible("C:\\Users\\ann\\memory.db is a folder; name a file"), 500),
    ],
)
def test_X10_an_error_tells_no_path_and_no_trace(
    serve_app: ServeApp,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: Exception,
    status: int,
) -> None:
    async def fails(*_: Any, **__: Any) -> None:
        raise error

    server = serve_app("dict:")
    monkeypatch.setattr(AsyncMemory, "recall", fails)
    with server.client() as client, caplog.at_level(logging.DEBUG):
        answer = client.post("/v1/recall", json={"query": "x"})
        is_problem(answer, status)
        for word in ("secret", "Traceback", "/home", "/root", "memory.db", "Users"):
            assert word not in answer.text
        assert "secret text" not in caplog.text
        assert client.get("/v1/records").status_code == 200, "and the server goes on"


def test_a_message_keeps_its_advice_without_the_path() -> None:
    error = Unavailable("cannot write /home/ann/memory.db: No space left on device")
    assert told(error) == "cannot write the file: No space left on device"
    kept = Unavailable("the budget of $5 a day for user:ann is used up; and 1/2 of it")
    assert told(kept) == str(kept)


def test_retry_after_is_told(serve_app: ServeApp, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails(*_: Any, **__: Any) -> None:
        raise Unavailable("the budget is used up", retry_after=12.2)

    server = serve_app("dict:")
    monkeypatch.setattr(AsyncMemory, "recall", fails)
    with server.client() as client:
        answer = client.post("/v1/recall", json={"query": "x"})
        is_problem(answer, 503)
        assert answer.headers["retry-after"] == "13"
        assert answer.json()["error"] == "Unavailable"


def test_nothing_secret_is_logged(
    server: Served, ann: httpx2.Client, caplog: pytest.LogCaptureFixture, capfd: Any
) -> None:
    with caplog.at_level(logging.DEBUG):
        ann.get("/api/memory/search", params={"q": "my-private-question"})
        ann.post("/v1/remember", json={"text": "my-private-fact"})
        ann.get("/v1/records", headers={"Authorization": "Bearer rck_" + "S" * 43})
    ours = [r.getMessage() for r in caplog.records if not r.name.startswith("http")]
    said = " ".join(ours) + "".join(capfd.readouterr())
    for word in ("my-private", server.keys["ann"], "rck_SSS"):
        assert word not in said


# The server itself


def test_health_tells_how_it_is_and_no_more(server: Served) -> None:
    with server.client() as nobody:
        answer = nobody.get("/health")
        assert answer.json() == {
            "status": "ok",
            "stuck": 0,
            "unread": 0,
            "kept_as_said": 0,
            "learning": "on",
        }


def test_health_counts_stuck_work(serve_app: ServeApp) -> None:
    from standfast.upkeep.leases import ATTEMPTS_MAX, failed

    server = serve_app("dict:")
    engine = server.engine
    for _ in range(ATTEMPTS_MAX):
        server.run(failed(engine, engine.store, "user:ann", "fold/chat", "/secret: gone"))
    with server.client() as client:
        answer = client.get("/health")
        assert answer.json() == {
            "status": "degraded",
            "stuck": 1,
            "unread": 0,
            "kept_as_said": 0,
            "learning": "on",
        }
        for path in ("/v1/review", "/v1/due"):
            told = client.get(path).text
            assert "the file: gone" in told
            assert "secret" not in told


def test_health_and_metrics_count_what_is_kept_as_it_was_said(serve_app: ServeApp) -> None:
    """A composed text whose words nobody said so is refused, and counted with its writer."""
    server = serve_app("dict:")
    server.key("admin", rights=("read", "write", "admin"))
    server.key("ann", "user:ann")
    with server.client("admin") as anybody, server.client("ann") as ann:
        server.app.state.memory.engine.kept_as_said.update(["model"])
        assert anybody.get("/health").json() == {
            "status": "ok",
            "stuck": 0,
            "unread": 0,
            "kept_as_said": 1,
            "learning": "on",
        }
        counted = 'standfast_kept_as_said_total{writer="model"} 1\n'
        assert counted in anybody.get("/metrics").text
        assert "standfast_kept_as_said_total" not in ann.get("/metrics").text, "it is of all"


def test_health_says_when_the_store_does_not_answer(
    serve_app: ServeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve_app("dict:")

    async def fails(*_: Any, **__: Any) -> None:
        raise Unavailable("cannot read /secret/memory.db")

    monkeypatch.setattr(server.engine.store.registry, "get", fails)
    with server.client() as client:
        answer = client.get("/health")
        assert answer.status_code == 503
        said = answer.json()
        since = datetime.fromisoformat(said.pop("since"))
        away = {"status": "unavailable", "stuck": 0, "store": "unreachable", "why": ""}
        assert said == away
        assert datetime.fromisoformat(client.get("/health").json()["since"]) == since
        monkeypatch.undo()
        assert client.get("/health").json() == {
            "status": "ok",
            "stuck": 0,
            "unread": 0,
            "kept_as_said": 0,
            "learning": "on",
        }


def _ann_key(server: Served) -> str:
    key, secret = server.run(create_key(server.engine, scopes=("user:ann",)))
    assert key.scopes == ("user:ann",)
    return str(secret)


def test_health_says_why_to_whoever_has_a_key(
    serve_app: ServeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve_app("dict:")
    bearer = [f"Bearer {secret}" for secret in (_ann_key(server), "rck_" + "S" * 43)]

    async def fails(*_: Any, **__: Any) -> None:
        raise Unavailable("cannot reach PostgreSQL at db.internal:5432/memory", slow=True)

    ann, stranger = (server.client(headers={"Authorization": one}) for one in bearer)
    with ann, stranger:
        assert ann.get("/health").status_code == 200  # it was seen here, and nowhere else
        for name in ("get", "list"):
            monkeypatch.setattr(server.engine.store.registry, name, fails)
        assert "db.internal:5432" in ann.get("/health").json()["why"]
        assert ann.get("/health").json()["store"] == "slow"
        assert "db.internal" in ann.get("/v1/records").json()["detail"]
        for path in ("/health", "/v1/records"):
            answer = stranger.get(path)
            assert answer.status_code == 503
            assert "db.internal" not in answer.text
        assert stranger.get("/health").json()["why"] == ""


HELLO = {"role": "user", "content": "Hello"}


def test_X1_health_says_that_the_disk_takes_no_writes_until_it_does(
    serve_app: ServeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve_app("dict:")

    async def full(*_: Any, **__: Any) -> None:
        raise Unavailable("cannot write /secret/memory.db: disk full")

    with server.client() as client:
        with monkeypatch.context() as patched:
            patched.setattr(server.engine.store, "commit", full)
            kept = client.post("/v1/observe", json={"session": "chat", "messages": [HELLO]})
            assert kept.json()["items"][0]["status"] == "volatile"
            assert "disk full" in kept.json()["items"][0]["reason"]
            assert "secret" not in kept.text, "where the file lies is nobody's business"
            again = client.post(
                "/v1/observe",
                json={"session": "chat", "messages": [HELLO]},
                headers={"Idempotency-Key": "again"},
            )
            assert "secret" not in again.text
            assert client.get("/health").json() == {
                "status": "degraded",
                "stuck": 0,
                "unread": 0,
                "kept_as_said": 0,
                "learning": "on",
            }
        client.post("/v1/observe", json={"session": "chat", "messages": [HELLO]})
        assert client.get("/health").json() == {
            "status": "ok",
            "stuck": 0,
            "unread": 0,
            "kept_as_said": 0,
            "learning": "on",
        }
        assert server.run(server.engine.space()), "whoever comes next must know the vectors' space"


def test_X1_a_write_that_worked_the_second_time_is_no_trouble(
    serve_app: ServeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve_app("dict:", embedder="none")
    commit = server.engine.store.commit
    failures = [Unavailable("who knows", outcome_unknown=True)]

    async def shaky(batch: Any) -> int:
        if failures:
            raise failures.pop()
        return await commit(batch)

    monkeypatch.setattr(server.engine.store, "commit", shaky)
    with server.client() as client:
        kept = client.post("/v1/observe", json={"session": "chat", "messages": [HELLO]})
        assert kept.json()["items"][0]["status"] == "stored"
        assert not failures
        assert client.get("/health").json() == {
            "status": "ok",
            "stuck": 0,
            "unread": 0,
            "kept_as_said": 0,
            "learning": "on",
        }


def test_metrics_count_by_route_and_status(server: Served, ann: httpx2.Client) -> None:
    ann.get("/v1/records/no-such-thing-at-all")
    ann.get("/nothing-of-that-name")
    text = ann.get("/metrics").text
    for name in (
        'standfast_due{kind="fold"}',
        "standfast_stuck 0",
        "standfast_spend_dollars_today",
    ):
        assert name in text
    assert 'standfast_requests_total{method="GET",route="/v1/records/{id}",status="404"}' in text
    assert 'standfast_request_seconds_bucket{route="/v1/records/{id}",le="+Inf"}' in text
    assert 'route="none",status="404"' in text
    assert "no-such-thing" not in text
    assert "nothing-of-that-name" not in text
    assert "standfast_requests_running 1" in text
    with server.client() as nobody:
        assert nobody.get("/metrics").status_code in (401, 429)
    assert text.endswith("\n")


def test_whatever_can_be_read_has_a_head(server: Served, ann: httpx2.Client) -> None:
    """Those who watch a server ask so."""
    for path in ("/health", "/v1/records", "/v1/stats", "/openapi.json"):
        whole, head = ann.get(path), ann.head(path)
        assert (head.status_code, head.content) == (200, b""), path
        assert head.headers["content-type"] == whole.headers["content-type"]
        assert head.headers["content-length"] == str(len(whole.content))
    with server.client() as nobody:
        assert nobody.head("/v1/records").status_code == 401
        assert nobody.head("/health").status_code == 200
    assert ann.head("/v1/remember").status_code == 405
    assert ann.head("/v1/nothing").status_code == 404
    assert 'method="HEAD",route="/health",status="200"' in ann.get("/metrics").text


def test_the_head_of_a_stream_does_not_wait_for_its_end(
    serve_app: ServeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(*_: Any, **__: Any) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(AsyncMemory, "maintain", never)
    server = serve_app("dict:")
    with server.client() as client:
        address = client.post("/v1/maintain", json={}).headers["location"]
        head = client.head(f"{address}/events")
        assert head.status_code == 200
        assert head.headers["content-type"].startswith("text/event-stream")
        deadline = time.monotonic() + 10
        while "standfast_requests_running 1\n" not in client.get("/metrics").text:
            assert time.monotonic() < deadline, "it goes on though nobody hears it"
            time.sleep(0.1)


@pytest.mark.parametrize(
    "body",
    [
        '{"text": "x"}'.encode("utf-16"),
        '{"text": "x"}'.encode("utf-32"),
        b'{"text": "\xff\xfe"}',
        b'{"text": "x", "importance": ' + b"9" * 5000 + b"}",
    ],
)
def test_json_that_cannot_be_read_says_what_to_send(ann: httpx2.Client, body: bytes) -> None:
    answer = ann.post("/v1/remember", content=body, headers={"Content-Type": "application/json"})
    is_problem(answer, 400)
    assert "JSON in UTF-8" in answer.json()["detail"]
