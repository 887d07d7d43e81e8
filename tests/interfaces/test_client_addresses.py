"""Connecting: to the right address, past no proxy, and with no key in any error."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from standfast import Denied, Incompatible, Invalid, Memory, StandfastError, Unavailable
from tests.serving import Served, served


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with served() as running:
        yield running


@pytest.fixture(scope="module")
def key(server: Served) -> str:
    return server.key()


def seen(url: str, key: str | None, **options: float) -> int:
    with Memory.connect(url, key, **options) as memory:
        return memory.stats().records


@contextmanager
def somebody_else(answer: bytes) -> Iterator[str]:
    """A server that says this to everybody; to say nothing at all it holds the connection."""
    listener = socket.create_server(("127.0.0.1", 0))
    held: list[socket.socket] = []

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            held.append(connection)
            connection.recv(1 << 16)
            if answer:
                connection.sendall(answer)
                connection.close()

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.close()
        for connection in held:
            connection.close()


def told(status: str, body: bytes, kind: str = "application/json", more: str = "") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{more}\r\n"
    return head.encode() + body


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:99999",
        "http://127.0.0.1:port",
        "http://127.0.0.1:4777?x=1",
        "http://127.0.0.1:4777#x",
        "http://ann:secret@127.0.0.1:4777",
        "http://[::1",
    ],
)
def test_an_address_is_a_host_and_a_port(url: str) -> None:
    with pytest.raises(Invalid, match="is no address"):
        Memory.connect(url, "rck_x")


def test_a_key_is_taken_without_the_space_around_it(server: Served, key: str) -> None:
    assert seen(server.url, f" {key}\n") == 0


def test_A10_a_key_that_cannot_be_sent_is_not_shown(server: Served, key: str) -> None:
    for wrong in (f"Bearer {key}", f"{key}\r\nX: 1", f"{key} {key}", f"{key}\x00", f"{key}é"):
        with pytest.raises((Invalid, Denied)) as refused:
            seen(server.url, wrong)
        assert key not in repr(refused.value)
        assert key not in repr(refused.value.__context__)


def test_what_is_said_to_this_machine_passes_no_proxy(
    server: Served, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    assert seen(server.url, key) == 0
    assert seen(server.url.replace("127.0.0.1", "localhost"), key) == 0


def test_certificates_that_are_not_there_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere/at/all.pem")
    with pytest.raises(StandfastError, match=r"SSL_CERT_FILE|cannot reach"):
        Memory.connect("https://memory.example.invalid", "rck_x")


def test_https_to_a_server_without_it_is_told(server: Served, key: str) -> None:
    with pytest.raises(Unavailable, match="does not speak https"):
        Memory.connect(server.url.replace("http:", "https:"), key)


@pytest.mark.parametrize(
    "answer",
    [
        told("200 OK", b"<html>hello</html>", "text/html"),
        told("200 OK", b'{"hello": 1}'),
        told("200 OK", b"[1]"),
        told("404 Not Found", b"nothing here", "text/plain"),
        told("302 Found", b"", "text/plain", "Location: http://127.0.0.1:9/\r\n"),
    ],
)
def test_another_server_is_known_when_connecting(answer: bytes) -> None:
    with somebody_else(answer) as url, pytest.raises(Incompatible, match="standfast"):
        Memory.connect(url, "rck_x")


def test_an_address_with_v1_behind_it_is_told(server: Served, key: str) -> None:
    with pytest.raises(Incompatible, match="without /v1"):
        Memory.connect(f"{server.url}/v1", key)


def test_a_problem_of_another_make_is_an_error_of_ours() -> None:
    problem = told("400 Bad", b'{"detail": "x", "status": "abc"}', "application/problem+json")
    with somebody_else(problem) as url, pytest.raises(Invalid, match="x"):
        Memory.connect(url, "rck_x")


def test_a_server_that_says_nothing_is_given_up() -> None:
    with somebody_else(b"") as url, pytest.raises(Unavailable, match=r"no answer within 0\.2 sec"):
        Memory.connect(url, "rck_x", timeout=0.2)
