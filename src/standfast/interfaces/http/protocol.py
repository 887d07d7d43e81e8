"""HTTP/1.1 as uvicorn speaks it, with five things it lacks: headers have to arrive in time, answers
have to be read in time, what is no HTTP, or one connection too many, is answered with a problem
too, and no address takes all the connections there are. Where they are scarce, those that were
opened and never asked for anything go first: whoever opens a thousand sockets closes their own."""

from __future__ import annotations

import asyncio
from collections import Counter
from itertools import islice
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from standfast.interfaces.http.answers import json_bytes
from standfast.interfaces.http.guards import counted_address
from standfast.interfaces.http.problems import MEDIA_TYPE, body_of, problem

HEADER_SECONDS = 10.0
UNREAD_SECONDS = 60.0  # for a part of an answer: a quarter of a megabyte at most
CONNECTIONS_MAX = 1000
ADDRESS_MAX = 256  # of one address
SILENT_SECONDS = 0.5  # that a connection has to say something, where they are scarce
HEAD = b"HTTP/1.1 "
HEAD_BYTES = 4 << 10
REFUSED_MAX = 100  # connections too many that are told so at once; the rest are only closed
BUSY = problem(
    503,
    "the server has as many connections as it takes; try again soon",
    headers={"Retry-After": "1", "Connection": "close"},
    error="Unavailable",
    retry_after=1.0,
)


CROWDED = problem(
    429,
    "this address has as many connections as one address may; close some, or use them again",
    headers={"Retry-After": "1", "Connection": "close"},
    error="Unavailable",
    retry_after=1.0,
)


class Crowd:
    """The connections of one server, by address; and those that never asked, the oldest first."""

    def __init__(self, per_address: int) -> None:
        self.per_address = per_address
        self._of: Counter[str] = Counter()
        self._silent: dict[str, dict[Protocol, float]] = {}

    def enter(self, one: Protocol) -> None:
        self._of[one.address] += 1
        self._silent.setdefault(one.address, {})[one] = one.loop.time()

    def leave(self, one: Protocol) -> None:
        self.has_asked(one)
        self._of[one.address] -= 1
        if not self._of[one.address]:
            del self._of[one.address]

    def has_asked(self, one: Protocol) -> None:
        silent = self._silent.get(one.address, {})
        silent.pop(one, None)
        if not silent:
            self._silent.pop(one.address, None)

    def is_crowded(self, address: str) -> bool:
        return 0 < self.per_address < self._of[address]

    def make_room(self, now: float, address: str) -> None:
        """Close as many connections of this address as it has too many, those that are silent for
        longest first, if that is long."""
        many = self._of[address] - self.per_address
        self._close(now, address, many)

    def make_one_room(self, now: float) -> None:
        """The same where the server is full: one, of the address that has most silent ones, and of
        those the one that is silent for longest."""
        whose = max(self._silent, key=self._silence, default="")
        self._close(now, whose, 1)

    def _silence(self, address: str) -> tuple[int, float]:
        silent = self._silent[address]
        return len(silent), -next(iter(silent.values()))

    def _close(self, now: float, address: str, many: int) -> None:
        silent = self._silent.get(address, {})
        for one in [one for one in islice(silent, many) if now - silent[one] >= SILENT_SECONDS]:
            self.has_asked(one)
            one.transport.abort()


class WholeAnswers:
    """A transport that sends the head of an answer together with what follows it: two small
    packets take the system, and whoever reads them, twice the work. What follows later does not
    keep the head waiting."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._head = b""

    def write(self, data: bytes) -> None:
        if self._head:
            data, self._head = self._head + data, b""
        elif data.startswith(HEAD) and len(data) < HEAD_BYTES:
            self._head = data
            self._loop.call_soon(self._send)
            return
        self._transport.write(data)

    def close(self) -> None:
        self._send()
        self._transport.close()

    def _send(self) -> None:
        if self._head:
            self.write(b"")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class ServerConfig(uvicorn.Config):
    """Knows how many connections one address may have (0: all there are), and who has them."""

    def __init__(self, *arguments: Any, per_address: int = ADDRESS_MAX, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.crowd = Crowd(per_address)


class Protocol(H11Protocol):
    """Whoever opens a connection and then says little or nothing does not keep it."""

    _waiting: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None
    address = ""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._most = self.limit_concurrency or CONNECTIONS_MAX
        self.limit_concurrency = None  # uvicorn's own answer would be plain text
        self._crowd = getattr(self.config, "crowd", None) or Crowd(0)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.transport = WholeAnswers(transport, self.loop)  # type: ignore[assignment]
        self.address = counted_address(self.client[0]) if self.client else ""
        self._crowd.enter(self)
        if self._crowd.is_crowded(self.address):
            self._crowd.make_room(self.loop.time(), self.address)
        elif len(self.connections) > self._most:
            self._crowd.make_one_room(self.loop.time())
        if len(self.connections) > self._most + REFUSED_MAX:
            transport.abort()  # each holds a descriptor, also if it never says a word
        else:
            self._wait_for_headers()

    def data_received(self, data: bytes) -> None:
        before = self.cycle
        super().data_received(data)
        if self.cycle is not before:
            self._crowd.has_asked(self)
            self._stop_waiting()
        elif self._is_idle() and self._waiting is None:
            self._wait_for_headers()  # the next request of a kept connection has begun

    def handle_events(self) -> None:
        full = len(self.connections) > self._most
        crowded = self._crowd.is_crowded(self.address)
        self.app = CROWDED if crowded else BUSY if full else self.config.loaded_app
        super().handle_events()

    def pause_writing(self) -> None:
        """Nobody reads: who reads nothing for long has nothing more to wait for. Closing would
        wait for them."""
        super().pause_writing()
        if self._unread is None:
            self._unread = self.loop.call_later(UNREAD_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._is_read()

    def _is_read(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._is_read()
        self._crowd.leave(self)
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Whoever is at work on the request has nobody to answer any more."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):  # half an answer is out
            self.transport.close()
            return
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
