"""What one request may take from all others: a turn, its bytes in and out, its time.

A request that is small is answered here, in its tenant's turn. One that is large goes to the annex,
because reading, comparing and encoding it takes longer than others should wait. Either way it ends
after so many seconds.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from standfast.access.quotas import TooMany
from standfast.access.shares import FairTurns, Flow, Refusals, TenantPlaces, Unread, tenants_of
from standfast.interfaces.http.annex import Annex, too_slow
from standfast.interfaces.http.bodies import BODY
from standfast.interfaces.http.callers import CALLER
from standfast.interfaces.http.guards import App, Message, Receive, Scope, Send, address_of
from standfast.memory.rehearsal import Rehearsal
from standfast.settings import Settings

INLINE_BYTES = 4 << 10  # of a body or a query that is answered on the loop that everybody shares
LARGE_BYTES = 64 << 10  # of a body that takes one of a tenant's few places
LARGE_MAX = 8
NOTICE_BYTES_MAX = 4096
OPEN_RUNNING_MAX = 2  # requests that need no key, at once; each is a millisecond or two
OPEN_PATIENCE_SECONDS = 0.05  # that such a one waits for a moment without others
HEALTH = "/health"
SENT_AT_ONCE = 1 << 18  # the next part goes when this one is nearly read
UNREAD_BYTES_MAX = 64 << 20  # of answers to one tenant
REQUESTS_MAX = 400  # of one tenant under way, of all the connections that a server takes
# They wait for something, or carry files: no turn is held, and no time is set, for those.
WATCHING = ("/v1/work", "/v1/import")


@dataclass(slots=True)
class FairShares:
    """The books of one server."""

    turns: FairTurns = field(default_factory=FairTurns)
    open: FairTurns = field(default_factory=lambda: FairTurns(OPEN_RUNNING_MAX))
    uploads: Flow = field(default_factory=lambda: Flow(0, ""))
    answers: Flow = field(default_factory=lambda: Flow(0, ""))
    refusals: Refusals = field(default_factory=Refusals)
    large: TenantPlaces = field(
        default_factory=lambda: TenantPlaces(
            LARGE_MAX, "large requests of this tenant are under way", wait=1
        )
    )
    requests: TenantPlaces = field(
        default_factory=lambda: TenantPlaces(
            REQUESTS_MAX, "requests of this tenant are under way or being read", wait=1
        )
    )
    unread: Unread = field(default_factory=lambda: Unread(UNREAD_BYTES_MAX))
    seconds: float | None = None
    annex: Annex | None = None
    rehearsal: Rehearsal | None = None

    @classmethod
    def of(cls, settings: Settings) -> FairShares:
        return cls(
            uploads=Flow(settings.upload_mb, "has sent"),
            answers=Flow(settings.egress_mb, "was sent"),
            seconds=settings.request_seconds or None,
        )


class Threshold:
    """The layer before a body is read: whoever is known to be at a limit is told so for nothing."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller = scope.get(CALLER)
        if caller is None:
            return await self._app(scope, receive, send)
        shares: FairShares = scope["app"].state.shares
        tenants = tenants_of(caller.engine)
        first = tenants[:1]
        places = [shares.requests]
        if not scope["path"].startswith(WATCHING) and _is_large(scope):
            places.append(shares.large)
        try:
            shares.uploads.check(tenants)
            shares.answers.check(tenants)
            shares.turns.check_room(tenants[0])
            shares.unread.check(tenants)
            for kind in places:
                kind.check(first)
        except TooMany:
            await shares.refusals.hold(tenants[0])
            raise
        for kind in places:  # nobody was waited for since they were looked at
            kind.take(first)
        try:
            return await self._app(scope, receive, send)
        finally:
            for kind in places:
                kind.leave(first)


class Fair:
    """The innermost layer: whoever gets here is known, and their body is read."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller = scope.get(CALLER)
        if caller is None:
            return await self._show(scope, receive, send)
        shares: FairShares = scope["app"].state.shares
        tenants = tenants_of(caller.engine)
        body: bytes = scope.get(BODY, b"")
        shares.uploads.add(tenants, len(body))

        async def receiving() -> Message:
            message = await receive()
            if BODY not in scope:
                shares.uploads.add(tenants, len(message.get("body", b"")))
            return message

        async def sending(message: Message) -> None:
            if message.get("status") == HTTPStatus.TOO_MANY_REQUESTS:
                await shares.refusals.hold(tenants[0])
            body = message.get("body", b"")
            if not body:
                return await send(message)
            shares.answers.add(tenants, len(body))
            shares.unread.hold(tenants, len(body))
            try:
                for part in _parts(message, body):
                    await send(part)
            finally:
                shares.unread.let_go(tenants, len(body))
            return None

        # What calls off waits for nobody: not for the very work that it is to end.
        if scope["path"].startswith(WATCHING) or _is_notice(scope, body):
            return await self._app(scope, receiving, sending)
        asked = max(len(body), len(scope["query_string"]))
        if shares.annex is not None and asked > INLINE_BYTES:
            said, answer = await shares.annex.answer(tenants[0], _header(scope), body)
            return await _send(said, answer, sending)
        if shares.rehearsal is not None:
            await shares.rehearsal.over()
        try:
            async with (
                asyncio.timeout(shares.seconds) as timer,
                shares.turns.turn(tenants[0]) as turn,
            ):
                shares.unread.check(tenants)  # many may have come before one was answered

                async def letting_go(message: Message) -> None:
                    """The answer has begun: how fast it is read, or how long somebody listens,
                    is nobody else's concern."""
                    turn.give_back()
                    if timer.when() is not None:
                        timer.reschedule(None)
                    await sending(message)

                return await self._app(scope, receiving, letting_go)
        except TimeoutError:
            if not timer.expired():
                raise
            raise too_slow(shares.seconds or 0, scope["method"]) from None

    async def _show(self, scope: Scope, receive: Receive, send: Send) -> None:
        """What needs no key, one address after the other and behind whoever has one: many who
        come at once are many callbacks in a row, for which a tenant would have to wait."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        address = address_of(scope)
        # Whoever watches the server asks from an address where others may be, too.
        row = "health from" if scope["path"] == HEALTH else "from"
        shares: FairShares = scope["app"].state.shares
        async with shares.open.turn(f"{row} {address}") as turn:
            await shares.turns.idle(OPEN_PATIENCE_SECONDS)
            await asyncio.sleep(scope["app"].state.visitors.pause(address))

            async def letting_go(message: Message) -> None:
                turn.give_back()
                await send(message)

            return await self._app(scope, receive, letting_go)


def _is_notice(scope: Scope, body: bytes) -> bool:
    """A message of MCP that asks for no answer, such as one that cancels a call."""
    if (
        not scope["path"].startswith("/mcp")
        or len(body) > NOTICE_BYTES_MAX
        or b'"notifications/' not in body
    ):
        return False
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return False
    method = said.get("method") if isinstance(said, dict) else None
    return isinstance(method, str) and method.startswith("notifications/") and "id" not in said


def _is_large(scope: Scope) -> bool:
    """Does it say that it is, or not say how long it is?"""
    for name, value in scope["headers"]:
        if name == b"transfer-encoding" or (
            name == b"content-length" and value.isdigit() and int(value) > LARGE_BYTES
        ):
            return True
    return False


def _header(scope: Scope) -> dict[str, Any]:
    """The request as it is told a helper."""
    return {
        "method": scope["method"],
        "path": scope["path"],
        "query": scope["query_string"].decode("latin-1"),
        "headers": [[k.decode("latin-1"), v.decode("latin-1")] for k, v in scope["headers"]],
        "client": list(scope["client"]) if scope.get("client") else None,
    }


async def _send(said: dict[str, Any], body: bytes, send: Send) -> None:
    headers = [(k.encode("latin-1"), v.encode("latin-1")) for k, v in said["headers"]]
    await send({"type": "http.response.start", "status": said["status"], "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})


def _parts(message: Message, body: bytes) -> Iterator[Message]:
    """What is sent at once waits in memory, and nobody could tell how much of it is read."""
    if len(body) <= SENT_AT_ONCE:
        yield message
        return
    last = (len(body) - 1) // SENT_AT_ONCE * SENT_AT_ONCE
    for start in range(0, last, SENT_AT_ONCE):
        yield {**message, "body": body[start : start + SENT_AT_ONCE], "more_body": True}
    yield {**message, "body": body[last:]}
