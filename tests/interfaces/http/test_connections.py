"""Below the level of a client library: what arrives late, in pieces, twice, or not at all."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import httpx2
import pytest

from standfast.interfaces.http import protocol
from standfast.interfaces.http.bodies import BodyLimits
from tests.interfaces.http.conftest import ServeApp, Served

PAST = 20.0


class Wire:
    """A connection on which anything can be said."""

    def __init__(self, server: Served, key: str = "ann") -> None:
        self.socket = socket.create_connection(("127.0.0.1", server.port), timeout=PAST)
        self.base = f"Host: 127.0.0.1\r\nAuthorization: Bearer {server.keys.get(key, '')}\r\n"
        if not server.keys:
            self.base = "Host: 127.0.0.1\r\n"

    def say(self, text: str | bytes) -> None:
        self.socket.sendall(text if isinstance(text, bytes) else text.encode("latin-1"))

    def ask(self, line: str, headers: str = "", body: bytes = b"") -> tuple[int, bytes]:
        length = f"Content-Length: {len(body)}\r\n" if body else ""
        kind = "Content-Type: application/json\r\n" if body else ""
        self.say(f"{line} HTTP/1.1\r\n{self.base}{kind}{length}{headers}\r\n")
        self.say(body)
        return self.hear()

    def hear(self) -> tuple[int, bytes]:
        """The status and body of one answer; 0 if the connection ended."""
        reader = self.socket.makefile("rb")
        first = reader.readline()
        if not first:
            return 0, b""
        length = 0
        while line := reader.readline().strip().lower():
            name, _, value = line.partition(b":")
            length = int(value) if name == b"content-length" else length
        return int(first.split()[1]), reader.read(length)

    def close(self) -> None:
        self.socket.close()


Dial = Callable[[Served], Wire]


@pytest.fixture
def dial() -> Iterator[Dial]:
    """Opens connections, and closes them all at the end."""
    opened: list[Wire] = []

    def open_one(server: Served) -> Wire:
        opened.append(Wire(server))
        return opened[-1]

    yield open_one
    for wire in opened:
        wire.close()


@pytest.fixture
def wire(server: Served, dial: Dial) -> Wire:
    return dial(server)


def body_of(answer: tuple[int, bytes]) -> dict[str, object]:
    found: dict[str, object] = json.loads(answer[1])
    return found


def records(client: httpx2.Client) -> int:
    number: int = client.get("/v1/stats").json()["records"]
    return number


@pytest.mark.parametrize(
    "twice",
    ["Host: 127.0.0.1", "Authorization: Bearer x", "Content-Type: text/plain",
     "Origin: x\r\nOrigin: y", "Idempotency-Key: a\r\nIdempotency-Key: b",
     "X-Standfast-Device: a\r\nX-Standfast-Device: b", "Mcp-Session-Id: a\r\nMcp-Session-Id: b"],
)  # fmt: skip
def test_a_header_that_counts_may_not_stand_twice(wire: Wire, twice: str) -> None:
    answer = wire.ask("POST /v1/recall", f"{twice}\r\n", b'{"query": "x"}')
    assert answer[0] == 400
    assert "twice" in str(body_of(answer)["detail"]) or "Invalid HTTP" in str(body_of(answer))


@pytest.mark.parametrize(
    "request_",
    [
        "POST /v1/recall HTTP/1.1\r\n{base}Content-Length: 5\r\n"
        "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /v1/recall HTTP/1.1\r\n{base}Content-Length: 5\r\nContent-Length: 6\r\n\r\nxxxxx",
        "POST /v1/recall HTTP/1.1\r\n{base}Content-Length: -1\r\n\r\n",
        "POST /v1/recall HTTP/1.1\r\n{base}Content-Length: 1_0\r\n\r\n",
        "GET /v1/records HTTP/1.1\r\n{base}X: a\r\n b\x00\r\n\r\n",
        "GET /v1/records HTTP/1.1\r\n{base}Host : x\r\n\r\n",
        "GET /v1/rec ords HTTP/1.1\r\n{base}\r\n",
        "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    ],
)
def test_what_is_no_http_is_a_problem_too(wire: Wire, ann: httpx2.Client, request_: str) -> None:
    wire.say(request_.replace("{base}", wire.base))
    status, body = wire.hear()
    assert status == 400
    assert json.loads(body)["status"] == 400
    assert ann.get("/health").status_code == 200


def test_a_body_of_two_lengths_hides_no_second_request(wire: Wire) -> None:
    body = '{"query": "x"}'
    wire.say(
        f"POST /v1/recall HTTP/1.1\r\n{wire.base}Content-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nTransfer-Encoding: chunked\r\n\r\n"
        f"{len(body):x}\r\n{body}\r\n0\r\n\r\n"
        f"GET /v1/records HTTP/1.1\r\n{wire.base}\r\n"
    )
    told = b""
    with suppress(ConnectionResetError):
        while part := wire.socket.recv(65536):  # until the server has ended the connection
            told += part
    assert told.startswith(b"HTTP/1.1 400 ")
    assert b"not both" in told
    assert told.count(b"HTTP/1.1 ") == 1


# Headers and a body of which two readers may believe two different things.
BODY = '{"query": "x"}'
PIECES = f"{len(BODY):x}\r\n{BODY}\r\n0\r\n\r\n"
LENGTH = f"Content-Length: {len(BODY)}\r\n"
CHUNKED = "Transfer-Encoding: chunked\r\n"
AMBIGUOUS = {
    "length and pieces": f"{LENGTH}{CHUNKED}\r\n{PIECES}",
    "pieces and length": f"{CHUNKED}{LENGTH}\r\n{PIECES}",
    "another coding": f"Transfer-Encoding: identity\r\n{LENGTH}\r\n{BODY}",
    "two codings": f"Transfer-Encoding: chunked, identity\r\n\r\n{PIECES}",
    "a coding that is none": f"Transfer-Encoding: xchunked\r\n{LENGTH}\r\n{BODY}",
    "codings twice": f"{CHUNKED}Transfer-Encoding: identity\r\n\r\n{PIECES}",
    "a folded line": f"Transfer-Encoding:\r\n chunked\r\n{LENGTH}\r\n{PIECES}",
    "an odd blank": f"Transfer-Encoding: \x0bchunked\r\n{LENGTH}\r\n{PIECES}",
    "a blank before the colon": f"Transfer-Encoding : chunked\r\n{LENGTH}\r\n{PIECES}",
    "a sign": f"Content-Length: +{len(BODY)}\r\n\r\n{BODY}",
    "another base": f"Content-Length: 0x{len(BODY):x}\r\n\r\n{BODY}",
    "two lengths": f"Content-Length: {len(BODY)}, 0\r\n\r\n{BODY}",
    "a digit of another script": f"Content-Length: \xb2\r\n\r\n{BODY}",
    "a bare CR": f"X: a\rTransfer-Encoding: chunked\r\n{LENGTH}\r\n{BODY}",
    "a bare LF": f"X: a\nTransfer-Encoding: chunked\r\n{LENGTH}\r\n{BODY}",
    "a piece of another base": f"{CHUNKED}\r\n0x{PIECES}",
    "a negative piece": f"{CHUNKED}\r\n-{PIECES}",
    "a piece that is too short": f"{CHUNKED}\r\n{len(BODY) - 2:x}\r\n{BODY}\r\n0\r\n\r\n",
    "a huge piece": f"{CHUNKED}\r\n{'f' * 40}\r\n{BODY}\r\n0\r\n\r\n",
    "an LF in an extension": f"{CHUNKED}\r\n{len(BODY):x};a\nb\r\n{BODY}\r\n0\r\n\r\n",
    "a long extension": f"{CHUNKED}\r\n{len(BODY):x};{'a' * 200_000}\r\n{BODY}\r\n0\r\n\r\n",
    "an older HTTP": f"{CHUNKED}Connection: keep-alive\r\n\r\n{PIECES}",
}


@pytest.mark.parametrize("shape", AMBIGUOUS)
def test_behind_what_can_be_read_in_two_ways_begins_no_request(
    dial: Dial, server: Served, shape: str
) -> None:
    """Somebody in front may have taken what follows for a part of the body."""
    wire = dial(server)
    version = "1.0" if shape == "an older HTTP" else "1.1"
    with suppress(OSError):
        wire.say(
            f"POST /v1/recall HTTP/{version}\r\n{wire.base}Content-Type: application/json\r\n"
            f"{AMBIGUOUS[shape]}GET /v1/records HTTP/1.1\r\n{wire.base}\r\n"
        )
    told = b""
    with suppress(ConnectionResetError):
        while part := wire.socket.recv(65536):  # until the server has ended the connection
            told += part
    assert told.count(b"HTTP/1.1 ") <= 1
    assert told.startswith(b"HTTP/1.1 400 ") or not told or version == "1.0"


@pytest.mark.parametrize("size", [17_000, 70_000, 2_000_000])
@pytest.mark.parametrize(
    "request_",
    ["GET /{} HTTP/1.1\r\n", "GET /health?q={} HTTP/1.1\r\n", "GET / HTTP/1.1\r\nX: {}{}\r\n"],
)
def test_addresses_and_headers_have_a_size(
    wire: Wire, ann: httpx2.Client, request_: str, size: int
) -> None:
    said = request_.replace("{}", "a" * size) + wire.base + "\r\n"
    with suppress(OSError):  # it was told so before it had said everything
        wire.say(said)
    try:
        assert wire.hear()[0] in (400, 414, 431)
    except ConnectionError:
        assert size > 1_000_000
    assert ann.get("/health").status_code == 200


def test_no_host_at_all_is_refused(dial: Dial, server: Served) -> None:
    wire = dial(server)
    wire.say("GET /health HTTP/1.0\r\n\r\n")
    assert wire.hear()[0] == 421
    wire.close()


@pytest.mark.parametrize(
    "path",
    ["/v1/./records", "/health/../v1/records", "/v1/records/../../health", "//health", "/%68ealth/",
     "http://evil.example/health", "*"],
)  # fmt: skip
def test_paths_are_taken_as_they_stand(dial: Dial, server: Served, path: str) -> None:
    nobody = dial(server)
    nobody.base = "Host: 127.0.0.1\r\n"
    assert nobody.ask(f"GET {path}")[0] in (400, 401, 404, 421, 429)


def test_a_connection_goes_on_after_an_error(wire: Wire) -> None:
    for line, body, status in (
        ("GET /nothing", b"", 404),
        ("POST /v1/recall", b"{", 400),
        ("POST /v1/recall", b'{"query": 5}', 400),
        ("POST /v1/remember", b'{"text": "kept", "scope": "user:bob"}', 403),
        ("GET /v1/recall", b"", 405),
        ("GET /v1/records?limit=1", b"", 200),
    ):
        assert wire.ask(line, "", body)[0] == status, line


def test_an_unwanted_body_does_not_become_the_next_request(dial: Dial, server: Served) -> None:
    nobody = dial(server)
    nobody.base = "Host: 127.0.0.1\r\n"
    smuggled = b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    assert nobody.ask("POST /v1/remember", "", smuggled)[0] in (401, 429)
    assert nobody.ask("GET /health")[0] == 200
    assert nobody.ask("GET /nothing")[0] in (401, 429), "one answer for one question"


def test_chunked_bodies_are_whole_bodies(wire: Wire) -> None:
    wire.say(
        f"POST /v1/recall HTTP/1.1\r\n{wire.base}Content-Type: application/json\r\n"
        "Transfer-Encoding: chunked\r\n\r\n"
    )
    for piece in (b'{"que', b'ry": ', b'"x"}'):
        wire.say(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        time.sleep(0.02)
    wire.say("0\r\n\r\n")
    assert wire.hear()[0] == 200


@pytest.mark.parametrize("cut", [0, 5, 18, 30])
def test_X2_half_a_write_is_no_write(
    dial: Dial, server: Served, ann: httpx2.Client, cut: int
) -> None:
    before = records(ann)
    body = b'{"text": "half of this must not be kept"}'
    wire = dial(server)
    wire.say(
        f"POST /v1/remember HTTP/1.1\r\n{wire.base}Content-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    wire.say(body[:cut])
    wire.close()
    lines = dial(server)
    lines.say(
        f"POST /v1/import HTTP/1.1\r\n{lines.base}Content-Type: application/x-ndjson\r\n"
        "Transfer-Encoding: chunked\r\n\r\n5\r\n{}{}{\r\n"
    )
    lines.close()
    time.sleep(0.1)
    assert records(ann) == before
    assert ann.get("/v1/work").json()["work"] == []


def test_X2_who_hangs_up_after_the_whole_request_has_written(
    dial: Dial, server: Served, ann: httpx2.Client
) -> None:
    for number in range(10):
        body = json.dumps({"text": f"call {number} was hung up", "tags": ["hung"]}).encode()
        wire = dial(server)
        wire.say(
            f"POST /v1/remember HTTP/1.1\r\n{wire.base}Content-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        wire.say(body)
        wire.close()
    for _ in range(100):
        found = ann.get("/v1/records", params={"tags": "hung"}).json()["items"]
        if len(found) == 10:
            break
        time.sleep(0.05)
    assert len(found) == 10


def test_a_slow_body_is_given_up(dial: Dial, serve_app: ServeApp) -> None:
    server = serve_app("dict:", limits=BodyLimits(body_seconds=0.3))
    for line, kind in (("/v1/remember", "json"), ("/v1/import", "x-ndjson")):
        wire = dial(server)
        wire.say(
            f"POST {line} HTTP/1.1\r\n{wire.base}Content-Type: application/{kind}\r\n"
            "Content-Length: 100\r\n\r\n{"
        )
        begun = time.monotonic()
        status, body = wire.hear()
        assert status == 408, body
        assert time.monotonic() - begun < 10
        assert wire.hear() == (0, b""), "and the connection ends"
        wire.close()


def test_slow_headers_are_given_up(
    dial: Dial, serve_app: ServeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "HEADER_SECONDS", 0.3)
    server = serve_app("dict:")
    silent, slow = dial(server), dial(server)
    slow.say("GET /health HTTP/1.1\r\nHost: 127")
    kept = dial(server)
    assert kept.ask("GET /health")[0] == 200
    kept.say("GET /health HTTP/1.1\r\nX: ")  # a second request that never comes
    begun = time.monotonic()
    for wire in (silent, slow, kept):
        assert wire.hear() == (0, b"")
    assert time.monotonic() - begun < 10
    quick = dial(server)
    for _ in range(3):
        assert quick.ask("GET /health")[0] == 200
        time.sleep(0.2)
    assert quick.ask("GET /health")[0] == 200, "who asks now and then keeps the connection"


def test_nobody_upgrades_to_a_websocket(wire: Wire) -> None:
    upgrade = (
        "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    )
    assert wire.ask("GET /mcp", upgrade)[0] != 101


def test_where_somebody_comes_from_cannot_be_claimed(dial: Dial, serve_app: ServeApp) -> None:
    """Without keys only this machine may ask; a header makes nobody this machine, nor another."""
    server = serve_app("dict:")
    wire = dial(server)
    forwarded = "X-Forwarded-For: 192.0.2.1\r\nForwarded: for=192.0.2.1\r\nX-Forwarded-Host: e\r\n"
    assert wire.ask("GET /v1/records", forwarded)[0] == 200
    wire.close()


def test_one_connection_too_many_is_told_when_to_come_back(
    dial: Dial, serve_app: ServeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "REFUSED_MAX", 1)
    server = serve_app("dict:", connections=3)
    held = [dial(server) for _ in range(3)]
    assert [wire.ask("GET /health")[0] for wire in held] == [200] * 3
    late = dial(server)
    late.say(f"GET /health HTTP/1.1\r\n{late.base}\r\n")
    answer = late.socket.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 503")
    assert b"content-type: application/problem+json" in answer.lower()
    assert b"retry-after: 1" in answer.lower()
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"] == "Unavailable"
    late, later = dial(server), dial(server)
    assert later.hear() == (0, b""), "and beyond that it is closed at once"
    late.close()
    held.pop().close()
    time.sleep(0.2)
    assert dial(server).ask("GET /health")[0] == 200


@pytest.mark.skipif(os.name != "posix", reason="limits are POSIX's")
@pytest.mark.parametrize(
    ("soft", "hard", "room"), [(256, 4096, 1000), (512, 512, 212), (64, 64, 1)]
)
def test_a_server_takes_no_more_connections_than_it_has_descriptors_for(
    soft: int, hard: int, room: int
) -> None:
    """Without one, accepting fails over and over, and each failure is logged."""
    code = (
        f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard}))\n"
        "from standfast.interfaces.http.serve import _room\n"
        "print(_room(), resource.getrlimit(resource.RLIMIT_NOFILE)[0])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split() == [str(room), str(min(hard, 1300))]


@pytest.mark.parametrize("key", ["ann", "nobody"])
@pytest.mark.parametrize("chunk", ["fffffffffffffffffffff\r\n", "zz\r\n", "5\r\nhelloXX0\r\n\r\n"])
def test_a_body_that_breaks_off_into_nonsense_is_answered_once_and_quietly(
    server: Served, caplog: pytest.LogCaptureFixture, chunk: str, key: str
) -> None:
    """Both the protocol and the request answered: a trace in the log, for whoever had no key."""
    wire = Wire(server, key)
    kind = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
    wire.say(f"POST /v1/recall HTTP/1.1\r\n{wire.base}{kind}\r\n{chunk}")
    status, _ = wire.hear()
    assert status in (400, 401)
    assert wire.hear() == (0, b""), "there is no second answer"
    wire.close()
    wire = Wire(server)
    assert wire.ask("GET /v1/me")[0] == 200
    wire.close()
    assert [one.getMessage() for one in caplog.records if one.exc_info] == []
