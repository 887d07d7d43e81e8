"""HTTP/1.1 as uvicorn speaks it, with three things it lacks: headers have to arrive in time, and
what is no HTTP, or one connection too many, is answered with a problem too."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from recollect.interfaces.http.answers import json_bytes
from recollect.interfaces.http.problems import MEDIA_TYPE, body_of, problem

HEADER_SECONDS = 10.0
CONNECTIONS_MAX = 1000
REFUSED_MAX = 100  # connections too many that are told so at once; the rest are only closed
BUSY = problem(
    503,
    "the server has as many connections as it takes; try again soon",
    headers={"Retry-After": "1", "Connection": "close"},
    error="Unavailable",
    retry_after=1.0,
)


class Protocol(H11Protocol):
    """Whoever opens a connection and then says little or nothing does not keep it."""

    _waiting: asyncio.TimerHandle | None = None

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._most = self.limit_concurrency or CONNECTIONS_MAX
        self.limit_concurrency = None  # uvicorn's own answer would be plain text

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self._most + REFUSED_MAX:
            transport.abort()  # each holds a descriptor, also if it never says a word
        else:
            self._wait_for_headers()

    def data_received(self, data: bytes) -> None:
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self._stop_waiting()
        elif self._is_idle() and self._waiting is None:
            self._wait_for_headers()  # the next request of a kept connection has begun

    def handle_events(self) -> None:
        full = len(self.connections) > self._most
        self.app = BUSY if full else self.config.loaded_app
        super().handle_events()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        body = json_bytes(body_of(400, msg))
        headers = [
            (b"content-type", MEDIA_TYPE.encode()),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
        ]
        for event in (
            h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
            h11.Data(data=body),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event))
        self.transport.close()

    def _is_idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _wait_for_headers(self) -> None:
        self._waiting = self.loop.call_later(HEADER_SECONDS, self._give_up)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _give_up(self) -> None:
        self._waiting = None
        if self._is_idle():
            self.transport.close()
