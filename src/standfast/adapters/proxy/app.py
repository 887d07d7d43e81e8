"""The proxy itself: an ASGI application between a client and its model server."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import httpx2

from standfast.adapters.proxy.dialects import (
    Body,
    Dialect,
    Listening,
    dialect_of,
    numbered,
    question_in,
    read_body,
    said_in,
    session_of,
    with_packet,
)
from standfast.errors import Invalid, StandfastError
from standfast.memory import AsyncMemory
from standfast.scopes import make_scope

log = logging.getLogger("standfast.adapters")

BODY_BYTES_MAX = 64 << 20
PACKET_SECONDS = 2.0  # longer nobody waits for memories
DRAIN_SECONDS = 10  # for what is still to be kept when it ends
HEADER = b"x-standfast"
OFF = b"off"
SESSION_HEADER = b"x-standfast-session"
USER_HEADER = b"x-standfast-user"
OWN = (HEADER, SESSION_HEADER, USER_HEADER)
HOP_BY_HOP = (b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"te",
              b"trailer", b"transfer-encoding", b"upgrade")  # fmt: skip
NOT_FORWARDED = (*HOP_BY_HOP, *OWN, b"host", b"content-length")
LOOPBACK = ("127.0.0.1", "localhost", "::1")

Scope = MutableMapping[str, Any]
Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]
OpenMemory = Callable[[], Awaitable[AsyncMemory]]


class Proxy:
    """``open_memory`` is called with the first request that needs it, and again while it fails."""

    def __init__(
        self,
        upstream: str,
        open_memory: OpenMemory,
        *,
        scope: str,
        tokens: int | None = None,
        transport: Any = None,
    ) -> None:
        self._upstream = _address(upstream)
        self._open = open_memory
        self._scope = scope
        self._tokens = tokens
        self._memory: AsyncMemory | None = None
        self._opening = asyncio.Lock()
        self._later: set[asyncio.Task[None]] = set()
        self._http = httpx2.AsyncClient(
            timeout=httpx2.Timeout(600.0, connect=30.0), transport=transport
        )

    async def close(self) -> None:
        """What was said is written before it ends."""
        if self._later:
            await asyncio.wait(self._later, timeout=DRAIN_SECONDS)
        await self._http.aclose()
        if self._memory is not None:
            await self._memory.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            await self._request(scope, receive, send)
        else:  # a socket for both directions at once: refused before it is open
            await send({"type": "websocket.close", "code": 1008})

    async def _live(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            ends = message["type"] == "lifespan.shutdown"
            if ends:
                await self.close()
            await send({"type": f"{message['type']}.complete"})
            if ends:
                return

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers: Headers = list(scope["headers"])
        if trouble := _foreign(headers):
            await _refuse(send, 403, trouble)
            return
        if not _path_of(scope).startswith("/"):  # it would become a part of the upstream's name
            await _refuse(send, 400, "the path of a request begins with a slash")
            return
        raw = await _whole(receive)
        if raw is None:
            await _refuse(send, 413, f"a request has at most {BODY_BYTES_MAX >> 20} MiB")
            return
        passing = Passing(scope=scope, headers=headers, raw=raw)
        passing.dialect = dialect_of(scope["method"], scope["path"])
        if passing.dialect is not None and passing.own(HEADER).lower() != OFF.decode():
            await self._remember(passing)
        forward = asyncio.create_task(self._forward(passing, send))
        gone = asyncio.create_task(_disconnected(receive))
        await asyncio.wait({forward, gone}, return_when=asyncio.FIRST_COMPLETED)
        gone.cancel()
        if not forward.done():
            forward.cancel()
        with suppress(asyncio.CancelledError):
            await forward
        self._observe_later(passing)

    # The memory

    async def _remember(self, passing: Passing) -> None:
        """Put the packet in; whatever fails, the request goes on as it came."""
        assert passing.dialect is not None
        body = read_body(passing.raw, passing.dialect)
        if body is None:
            return
        passing.body = body
        try:
            async with asyncio.timeout(PACKET_SECONDS):
                passing.session = passing.own(SESSION_HEADER) or session_of(body, passing.dialect)
                passing.user = self._scope_for(passing.own(USER_HEADER))
                memory = await self._opened()
                question = question_in(said_in(body, passing.dialect))
                packet = await memory.context(
                    query=question, scope=passing.user, tokens=self._tokens
                )
        except TimeoutError:
            passing.told = "off; the memory took too long"
        except StandfastError as error:
            passing.told = f"off; {error}"
        except Exception as error:  # nothing of ours may stop a request that is not ours
            log.warning("the proxy goes on without memory: %s", error)
            passing.told = f"off; {type(error).__name__}"
        else:
            passing.told = f"on; memories={len(packet.hits)}"
            if packet.text:
                changed = with_packet(body, passing.dialect, packet.text)
                passing.raw = json.dumps(changed, ensure_ascii=False).encode()

    def _scope_for(self, user: str) -> str:
        return f"{self._scope}:{make_scope(('user', user))}" if user else self._scope

    async def _opened(self) -> AsyncMemory:
        async with self._opening:
            if self._memory is None:
                self._memory = await self._open()
            return self._memory

    def _observe_later(self, passing: Passing) -> None:
        if passing.body is None or passing.dialect is None or not passing.answered:
            return
        task = asyncio.create_task(self._observe(passing, passing.body, passing.dialect))
        self._later.add(task)
        task.add_done_callback(self._later.discard)

    async def _observe(self, passing: Passing, body: Body, dialect: Dialect) -> None:
        said = said_in(body, dialect)
        answer = passing.listening.answer() if passing.listening else None
        told = list(numbered([*said, *([answer] if answer else [])]))
        if not told or not passing.session or not passing.user:
            return
        try:
            memory = await self._opened()
            await memory.observe(
                passing.session, told, scope=passing.user, channel="proxy", actor="proxy"
            )
        except Exception as error:  # the answer is long gone: all that can be done is say it
            log.error("what was said in %s was not kept: %s", passing.session, error)

    # The other side

    async def _forward(self, passing: Passing, send: Send) -> None:
        scope = passing.scope
        query = scope.get("query_string", b"").decode("latin-1")
        url = f"{self._upstream}{_path_of(scope)}" + (f"?{query}" if query else "")
        left_out = {*NOT_FORWARDED, *_named_in_connection(passing.headers)}
        headers = [(n, v) for n, v in passing.headers if n.lower() not in left_out]
        if passing.body is not None:  # it is to be read on the way back
            headers = [(n, v) for n, v in headers if n.lower() != b"accept-encoding"]
            headers.append((b"accept-encoding", b"identity"))
        request = self._http.build_request(
            scope["method"], url, headers=headers, content=passing.raw
        )
        try:
            response = await self._http.send(request, stream=True)
        except httpx2.HTTPError as error:
            why = f"the model server cannot be reached: {type(error).__name__}"
            await _refuse(send, 502, why, passing.told)
            return
        try:
            await self._stream_back(passing, response, send)
        except httpx2.HTTPError as error:
            # It breaks off for the client too, who must not take it for the whole answer.
            log.warning("the model server broke off its answer: %s", type(error).__name__)
        finally:
            await response.aclose()

    async def _stream_back(self, passing: Passing, response: Any, send: Send) -> None:
        raw: Headers = [(n.lower(), v) for n, v in response.headers.raw]
        left_out = {*HOP_BY_HOP, HEADER, *_named_in_connection(raw)}
        headers = [(n, v) for n, v in raw if n not in left_out]
        if passing.told:
            headers.append((HEADER, _header_value(passing.told)))
        if passing.body is not None and passing.dialect and response.status_code < 300:
            passing.listening = Listening(passing.dialect)
            passing.answered = True
        await send(
            {"type": "http.response.start", "status": response.status_code, "headers": headers}
        )
        async for piece in response.aiter_raw():
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            if passing.listening is not None:
                passing.listening.hear(piece)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


class Passing:
    """One request on its way."""

    def __init__(self, *, scope: Scope, headers: Headers, raw: bytes) -> None:
        self.scope, self.headers, self.raw = scope, headers, raw
        self.dialect: Dialect | None = None
        self.body: Body | None = None  # as the client sent it
        self.session = self.user = self.told = ""
        self.listening: Listening | None = None
        self.answered = False

    def own(self, name: bytes) -> str:
        """A header that is meant for us."""
        found = [value for key, value in self.headers if key.lower() == name]
        return found[0].decode("utf-8", "replace").strip() if found else ""


def _address(upstream: str) -> str:
    parts = urlsplit(upstream)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise Invalid(
            f"--upstream {upstream!r} is no address of a model server; "
            'write it like "https://api.openai.com" or "http://127.0.0.1:11434"'
        )
    return upstream.rstrip("/")


def _foreign(headers: Headers) -> str:
    """A page in a browser must not use it: names of other hosts lead to a loopback address, too.
    A header that stands there twice is read as all of them."""
    told = [(name.lower(), value.decode("latin-1")) for name, value in headers]
    hosts = [_host_of(f"//{value}") for name, value in told if name == b"host"]
    if not hosts or not {*hosts} <= {*LOOPBACK}:
        return "this proxy answers only to its own address on this machine"
    origins = [_host_of(value) for name, value in told if name == b"origin"]
    embedded = (b"sec-fetch-site", "cross-site") in told
    if embedded or not {*origins} <= {*LOOPBACK}:
        return "this proxy does not answer to pages from elsewhere"
    return ""


def _host_of(address: str) -> str:
    """ "" if it has none, or is none at all."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _path_of(scope: Scope) -> str:
    """As it was written."""
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    return raw.decode("latin-1")


def _named_in_connection(headers: Headers) -> set[bytes]:
    """Headers that are meant for the next one on the way only."""
    listed = [value for name, value in headers if name.lower() == b"connection"]
    return {part.strip().lower() for value in listed for part in value.split(b",")}


async def _whole(receive: Receive) -> bytes | None:
    pieces: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return b"".join(pieces)
        piece = message.get("body", b"")
        size += len(piece)
        if size > BODY_BYTES_MAX:
            return None
        pieces.append(piece)
        if not message.get("more_body"):
            return b"".join(pieces)


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _refuse(send: Send, status: int, why: str, told: str = "") -> None:
    body = json.dumps({"error": {"message": why, "type": "standfast_proxy"}}).encode()
    headers = [(b"content-type", b"application/json")]
    if told:
        headers.append((HEADER, _header_value(told)))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _header_value(text: str) -> bytes:
    plain = "".join(c if 32 <= ord(c) < 127 else "?" for c in text)
    return plain[:300].encode()
