"""What must hold for every request, whatever route it is for, before anything looks at it.

A page in a browser must not reach a server on this machine: the Host header has to be one of
ours, and a page's Origin has to be the server itself or one that was allowed.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping, Sequence
from contextlib import suppress
from functools import lru_cache
from ipaddress import IPv6Address, ip_network
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.responses import Response

from standfast.errors import StandfastError
from standfast.interfaces.http.metrics import Metrics, method_of, route_of
from standfast.interfaces.http.problems import Refused, problem, problem_of

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

log = logging.getLogger(__name__)

DRAIN_SECONDS = 2.0
ADDRESS_BYTES_MAX = 16 << 10
HEADER_BYTES_MAX = 32 << 10
LOOPBACK = ("127.0.0.1", "localhost", "::1")
# Two of one kind mean that two readers may see two different requests.
ONCE = (
    "authorization",
    "content-encoding",
    "content-length",
    "content-type",
    "host",
    "idempotency-key",
    "if-none-match",
    "mcp-session-id",
    "origin",
    "transfer-encoding",
    "x-standfast-device",
)
PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, POST, PUT, DELETE",
    "Access-Control-Allow-Headers": "authorization, content-type, idempotency-key, "
    "if-none-match, x-standfast-device, mcp-session-id, mcp-protocol-version, last-event-id",
    "Access-Control-Max-Age": "600",
}
UNGUESSED = (b"x-content-type-options", b"nosniff")
UNKEPT = (b"cache-control", b"no-store")
EXPOSED = "ETag, Location, Retry-After, X-Standfast-Degraded, Mcp-Session-Id"


class Guard:
    """The outermost layer, around every route and around MCP too."""

    def __init__(
        self,
        app: App,
        *,
        metrics: Metrics,
        hosts: Iterable[str] = (),
        origins: Iterable[str] = (),
    ) -> None:
        """``hosts`` are names this server answers to beside the loopback; ``origins`` are pages
        elsewhere that may use it."""
        self._app = app
        self._metrics = metrics
        self._hosts = frozenset(name.lower() for name in (*LOOPBACK, *hosts))
        self._origins = frozenset(origin.lower().rstrip("/") for origin in origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        if scope["type"] != "http":
            return await send({"type": "websocket.close", "code": 1008})
        # HEAD is GET without its body, as RFC 9110 wants it.
        method, head = scope["method"], scope["method"] == "HEAD"
        inner = {**scope, "method": "GET"} if head else scope
        sending = _Sending(send, head=head)
        begun = time.perf_counter()
        self._metrics.running += 1
        try:
            await self._checked(inner, receive, sending)
        finally:
            self._metrics.running -= 1
            seconds = time.perf_counter() - begun
            self._metrics.add(method_of(method), route_of(inner), sending.status, seconds)

    async def _checked(self, scope: Scope, receive: Receive, send: _Sending) -> None:
        try:
            send.origin = self._checked_sender(scope)
        except Refused as refused:
            answer = problem(refused.status, str(refused), headers={"Connection": "close"})
            await _hold_back(scope)
            return await answer(scope, receive, send)
        if send.origin and scope["method"] == "OPTIONS":
            return await Response(status_code=204, headers=PREFLIGHT)(scope, receive, send)
        return await self._answered(scope, receive, send)

    async def _answered(self, scope: Scope, receive: Receive, send: _Sending) -> None:
        """Whatever goes wrong inside is told as a problem, and never in the words of a trace."""
        try:
            return await self._app(scope, receive, send)
        except Refused as refused:
            answer = problem(refused.status, str(refused), headers={"Connection": "close"})
            if refused.unread:
                await _drain(receive)
        except StandfastError as error:
            answer = problem_of(error)
        except Exception as error:
            _log_crash(scope, error)
            answer = problem(500, "the server failed to do this; it was logged")
        if not send.status:
            return await answer(scope, receive, send)
        raise ConnectionAbortedError  # half an answer is out: the connection must end

    def _checked_sender(self, scope: Scope) -> str:
        """The Origin to answer to, "" if the request comes from no foreign page."""
        _check_size(scope)
        given: list[tuple[bytes, bytes]] = scope["headers"]
        headers = dict(reversed(given))  # of two of one name the first
        if len(headers) < len(given):
            _check_once([name for name, _ in given])
        if b"content-length" in headers and b"transfer-encoding" in headers:
            # Somebody in front may have gone by the other one: behind it begins no new request.
            raise Refused(400, "a body has a length or comes in pieces, not both")
        host = headers.get(b"host", b"").decode("latin-1")
        if host_name(host) not in self._hosts:
            raise Refused(421, "this server does not answer to that name; set STANDFAST_HOSTS")
        if b"origin" not in headers:
            self._check_fetch(headers)
            return ""
        origin = headers[b"origin"].decode("latin-1")
        if origin.lower() in self._origins:
            return origin
        if _place_of(origin) != host.lower():
            raise Refused(403, "pages of another origin may not use this server")
        return ""

    def _check_fetch(self, headers: Mapping[bytes, bytes]) -> None:
        """Browsers say where an image or a script without Origin is embedded."""
        site, mode = headers.get(b"sec-fetch-site"), headers.get(b"sec-fetch-mode")
        if site == b"cross-site" and mode != b"navigate":
            raise Refused(403, "pages of another origin may not use this server")


class _Sending:
    """Sends, adds the headers that every answer carries, and knows whether it has begun. Of the
    answer to HEAD only the head."""

    def __init__(self, send: Send, *, head: bool) -> None:
        self._send = send
        self._head = head
        self.origin = ""
        self.status = 0  # of the answer; 0: it has not begun

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message = {**message, "headers": _completed(message.get("headers", ()))}
            if self.origin:
                headers = MutableHeaders(scope=message)
                headers["Access-Control-Allow-Origin"] = self.origin
                headers["Access-Control-Expose-Headers"] = EXPOSED
                headers.add_vary_header("Origin")
            await self._send(message)
            if self._head:  # at once: of a stream nobody waits for the end
                await self._send({"type": "http.response.body", "body": b"", "more_body": False})
        elif not self._head:
            await self._send(message)


def _completed(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """With what every answer carries. Whoever answers may say that it can be kept."""
    found = [one for one in headers if one[0] != UNGUESSED[0]]
    found.append(UNGUESSED)
    if all(name != UNKEPT[0] for name, _ in found):
        found.append(UNKEPT)
    return found


def address_of(scope: Scope) -> str:
    """Where it comes from, as it is counted; "" if nobody knows."""
    return counted_address(scope["client"][0]) if scope.get("client") else ""


@lru_cache(maxsize=4096)
def counted_address(address: str) -> str:
    """Of IPv6 the network: one customer has a whole /64, and as many addresses as they like."""
    try:
        found = IPv6Address(address)
    except ValueError:
        return address
    if found.ipv4_mapped:
        return str(found.ipv4_mapped)
    return address if found.is_loopback else str(ip_network((found.packed, 64), strict=False))


async def _hold_back(scope: Scope) -> None:
    """Refusing is cheap, but not for nothing: an address that goes on is answered late."""
    state = scope["app"].state
    if state.visitors.is_refused_often(address := address_of(scope)):
        await state.shares.refusals.hold(f"from {address}")


def _check_size(scope: Scope) -> None:
    if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > ADDRESS_BYTES_MAX:
        raise Refused(414, f"the address is longer than {ADDRESS_BYTES_MAX:,} bytes; use POST")
    if sum([len(name) + len(value) for name, value in scope["headers"]]) > HEADER_BYTES_MAX:
        raise Refused(431, f"the headers are longer than {HEADER_BYTES_MAX:,} bytes")


def _check_once(names: Sequence[bytes]) -> None:
    for name in ONCE:
        if names.count(name.encode()) > 1:
            raise Refused(400, f"the header {name} stands there twice")


async def _drain(receive: Receive) -> None:
    """Let a body that is not wanted arrive, for a moment: many a client reads the answer only
    after all is sent."""
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_SECONDS):
            while (message := await receive())["type"] == "http.request":
                if not message.get("more_body", False):
                    return


def _place_of(origin: str) -> str:
    """Host and port of an origin; "" if it has none, or is none at all."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


@lru_cache(maxsize=32)
def host_name(header: str) -> str:
    """The name in a Host header, without port and brackets; "" if it is none."""
    try:
        parts = urlsplit(f"//{header}")
        if parts.netloc != header or "@" in header:
            return ""
        _ = parts.port  # ValueError if it is none
        return (parts.hostname or "").lower()
    except ValueError:
        return ""


def _log_crash(scope: Scope, error: Exception) -> None:
    """Where it happened, but not what was said: that may be somebody's memory."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f"{trace.tb_frame.f_code.co_name}, line {trace.tb_lineno}" if trace else "unknown"
    route = getattr(scope.get("route"), "path", "")
    log.error("%s in %s for %s %s", type(error).__name__, place, scope["method"], route)
