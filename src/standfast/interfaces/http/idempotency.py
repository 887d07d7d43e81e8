"""Idempotency-Key: the same write sent again answers again and changes nothing."""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.requests import Request
from starlette.responses import Response

from standfast.errors import Invalid
from standfast.interfaces.caller import Caller
from standfast.interfaces.http.answers import answer
from standfast.interfaces.http.bodies import BODY
from standfast.memory.once import Write, done_once

LENGTH_MAX = 255
REPLAYED_HEADER = "Idempotency-Replayed"


class Running:
    """Writes under way in this process, so that a second one waits for the first."""

    def __init__(self) -> None:
        self._locks: dict[str, tuple[asyncio.Lock, list[None]]] = {}

    @asynccontextmanager
    async def alone(self, name: str) -> AsyncIterator[None]:
        lock, users = self._locks.setdefault(name, (asyncio.Lock(), []))
        users.append(None)
        try:
            async with lock:
                yield
        finally:
            users.pop()
            if not users:
                del self._locks[name]


async def once(request: Request, caller: Caller, key: str, write: Write) -> Response:
    """The write's answer, or the one it had before."""
    if not 1 <= len(key) <= LENGTH_MAX or not key.isascii() or not key.isprintable():
        raise Invalid(f"Idempotency-Key must be 1 to {LENGTH_MAX} printable ASCII characters")
    secret = key.encode()
    who = (caller.name, *caller.engine.bound)  # one key may stand for the users of many devices
    told = "\0".join((*who, request.method, request.scope["path"]))
    name = hmac.digest(secret, told.encode(), "sha256").hex()
    # Keyed, so that nobody can try texts against what is kept.
    body = hmac.digest(secret, request.scope[BODY] + request.scope["query_string"], "sha256").hex()
    running: Running = request.app.state.running
    async with running.alone(name):
        result, again = await done_once(
            caller.memory, name, body, write, scope=_named_scope(request)
        )
    return answer(result, headers={REPLAYED_HEADER: "true"} if again else {})


def _named_scope(request: Request) -> str | None:
    """The scope that a request names, in its body or in its address."""
    try:
        asked = json.loads(request.scope[BODY] or b"{}")
    except ValueError:
        return None
    named = asked.get("scope") if isinstance(asked, dict) else None
    named = named or request.query_params.get("scope")
    first = named[0] if isinstance(named, list) and named else named
    return first if isinstance(first, str) else None
