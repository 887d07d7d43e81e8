"""MCP inside of the HTTP server: streamable HTTP, stateless, each request by its own key.

There are no sessions to keep or to steal: a request is a POST with its key, and the answer is
JSON. A client is given a session id, but only to tell its calls from those of others who use the
same key when it cancels one. Whoever closes the connection cancels the call too.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, MutableMapping
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response

from standfast.interfaces.caller import Caller
from standfast.interfaces.mcp.server import Tell, build_server
from standfast.types import Right

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Call = tuple[str, str, str]  # who, in which session, which request

PATH = "/mcp"
BODY_BYTES_MAX = 8 << 20  # the guard around all routes has its own limit
SESSION_HEADER = "mcp-session-id"
_ASKER = "standfast.mcp.asker"


class McpRoute:
    """An ASGI application for one path. ``let_in`` says who asks, or raises Denied; ``tell``
    words an error for them."""

    def __init__(
        self,
        let_in: Callable[[HTTPConnection], Awaitable[Caller]],
        tell: Tell = str,
        rights: Iterable[Right] = (),
        profile: str = "",
    ) -> None:
        self._let_in = let_in
        self._running: dict[Call, asyncio.Task[None]] = {}
        server = build_server(_asker_of, tell, rights, profile=profile)
        server.streamable_http_app(
            streamable_http_path=PATH,
            json_response=True,
            stateless_http=True,
            max_request_body_size=BODY_BYTES_MAX,
            # Host and Origin are checked around all routes, with the names that were configured.
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        self._manager = server.session_manager

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """For the lifespan of the application; once for each route."""
        async with self._manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        asker = await self._let_in(request)
        if request.method != "POST":
            # A stream that would only ever be idle, or the end of a session that never was.
            await Response(status_code=405, headers={"Allow": "POST"})(scope, receive, send)
            return
        body = await request.body()
        method, call = _read(body, asker, request.headers.get(SESSION_HEADER, ""))
        if method == "notifications/cancelled" and call in self._running:
            self._running[call].cancel()
        scope[_ASKER] = asker
        answer = _Answer(send, with_session=method == "initialize")
        work = asyncio.ensure_future(self._manager.asgi_app(scope, _replayed(body), answer))
        if call is not None and method != "notifications/cancelled":
            self._running[call] = work
            work.add_done_callback(lambda _: self._running.pop(call, None))
        await _unless_gone(work, receive)
        if work.cancelled() and not answer.begun:
            await Response(status_code=202)(scope, receive, answer)


async def _asker_of(context: Context[Any, Any]) -> Caller:
    request = context.request_context.request
    assert isinstance(request, Request)
    found: Caller = request.scope[_ASKER]
    return found


def _read(body: bytes, asker: Caller, session: str) -> tuple[str, Call | None]:
    """What is asked for, and which call it is or cancels; None where nobody could tell."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return "", None
    if not isinstance(message, dict) or not isinstance(message.get("method"), str):
        return "", None
    method: str = message["method"]
    params = message.get("params")
    named = params if method == "notifications/cancelled" else message
    id_ = named.get("id", named.get("requestId")) if isinstance(named, dict) else None
    known = session and id_ is not None
    # A key that several devices use reaches another part for each: none ends another's call.
    who = json.dumps([asker.actor, *asker.engine.bound])
    return method, (who, session, json.dumps(id_)) if known else None


class _Answer:
    """Sends, and knows whether an answer has begun."""

    def __init__(self, send: Send, *, with_session: bool) -> None:
        self._send = send
        self._with_session = with_session
        self.begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            if self._with_session and message["status"] == 200:
                MutableHeaders(scope=message)[SESSION_HEADER] = secrets.token_hex(16)
        await self._send(message)


def _replayed(body: bytes) -> Receive:
    """The body, then silence: that the client has gone is looked after elsewhere."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        if waiting:
            return waiting.pop()
        await asyncio.Event().wait()
        raise AssertionError("nobody sets it")

    return replay


async def _unless_gone(work: asyncio.Task[None], receive: Receive) -> None:
    """Wait for it, but stop it as soon as the client has closed the connection."""
    gone = asyncio.ensure_future(_disconnected(receive))
    try:
        await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        gone.cancel()
        work.cancel()
    await asyncio.wait({work})
    if not work.cancelled():
        work.result()


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
