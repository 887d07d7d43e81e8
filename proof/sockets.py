"""A server that is sent whatever: bytes over a real connection, and what comes back."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from proof.family import Broken
from standfast import Memory
from standfast.settings import Settings
from tests.serving import served

SECONDS = 10.0  # for any answer, of a busy machine too


@dataclass(slots=True)
class Desk:
    """What parsers of a trial work with: a server, a memory to import into, a folder."""

    port: int
    secret: str
    memory: Memory
    folder: Path

    def post(self, path: str, body: bytes) -> int:
        """A request that is well-formed but for its body."""
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {self.secret}\r\n"
        head += "Accept: application/json, text/event-stream\r\nConnection: close\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        return self.send(head.encode() + body, is_whole=True)

    def send(self, raw: bytes, *, is_whole: bool = False) -> int:
        """The status of the answer; 0: it hung up without one. Never a failure of its own. Behind
        what may be no whole request the line is closed on our side, and whoever closes it before
        the answer has no right to one."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=SECONDS) as line:
            line.sendall(raw)
            try:
                if not is_whole:
                    line.shutdown(socket.SHUT_WR)
            except OSError:
                return 0  # it has hung up already
            try:
                answer = b"".join(iter(lambda: line.recv(1 << 16), b""))
            except TimeoutError:
                raise Broken(f"no answer in {SECONDS:.0f} s to {raw[:200]!r}") from None
            except OSError:
                return 0
        if not answer:
            return 0
        status = int(answer.split(maxsplit=2)[1])
        if status >= 500:
            raise Broken(f"{status} to {raw[:300]!r}: {answer[-300:]!r}")
        return status


@contextmanager
def desk(folder: Path) -> Iterator[Desk]:
    app = {"settings": Settings(rate=0, connections_per_address=0)}
    with (
        served("dict:", app=app) as server,
        Memory.open("dict:", embedder="none", background=False) as memory,
    ):
        port = urlsplit(server.url).port or 0
        found = Desk(port, server.key("user:ann"), memory, folder)
        yield found
        if found.post("/v1/recall", json.dumps({"query": "tea"}).encode()) != 200:
            raise Broken("afterwards the server does not answer")


def body_of(value: Any) -> bytes:
    return json.dumps(value).encode("utf-8", "replace")
