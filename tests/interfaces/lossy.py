"""A proxy that loses things: between a client and a server, one request a connection."""

from __future__ import annotations

import socket
import threading
from types import TracebackType
from urllib.parse import urlsplit


class LossyProxy:
    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._server = (parts.hostname or "", parts.port or 0)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._lost = 0
        self._when = "before"
        self._answer = b""
        self._refused = 0
        self.requests = 0
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> LossyProxy:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._listener.close()
        socket.create_connection(self._server).close()

    def lose(self, count: int, when: str = "before") -> None:
        """The next requests, before the server gets them, or their answers behind it."""
        self._lost, self._when = count, when

    def refuse(self, count: int, retry_after: int) -> None:
        """Answer for the server that it has no time."""
        body = b'{"status": 503, "detail": "busy", "error": "Unavailable"}'
        head = f"HTTP/1.1 503 Busy\r\nRetry-After: {retry_after}\r\nConnection: close\r\n"
        head += f"Content-Type: application/problem+json\r\nContent-Length: {len(body)}\r\n\r\n"
        self._refused, self._answer = count, head.encode() + body

    def redirect_to(self, url: str) -> None:
        head = f"HTTP/1.1 307 Elsewhere\r\nLocation: {url}\r\nConnection: close\r\n"
        self._refused, self._answer = 99, f"{head}Content-Length: 0\r\n\r\n".encode()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                self._handle(connection)

    def _handle(self, connection: socket.socket) -> None:
        request = _read(connection)
        if not request:
            return
        self.requests += 1
        if self._refused:
            self._refused -= 1
            connection.sendall(self._answer)
            return
        lost = self._lost > 0
        self._lost -= lost
        if lost and self._when == "before":
            return
        answer = self._asked(request)
        if not lost:
            connection.sendall(answer)

    def _asked(self, request: bytes) -> bytes:
        with socket.create_connection(self._server) as server:
            server.sendall(request.replace(b"onnection: keep-alive", b"onnection: close", 1))
            parts = []
            while part := server.recv(1 << 16):
                parts.append(part)
        return b"".join(parts)


def _read(connection: socket.socket) -> bytes:
    """A whole request."""
    raw = b""
    while b"\r\n\r\n" not in raw:
        part = connection.recv(1 << 16)
        if not part:
            return b""
        raw += part
    head, _, body = raw.partition(b"\r\n\r\n")
    length = 0
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    while len(body) < length:
        body += connection.recv(1 << 16)
    return head + b"\r\n\r\n" + body
