"""Idempotency-Key: the same write sent again answers again and changes nothing.

Before the write its key is put down, with a beginning for the ids that the write will make; behind
it the answer. A server that was killed in between does the write again with the same ids, so that
the store sees commits it knows and applies none of them twice.
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from recollect.engine import Engine
from recollect.errors import Conflict, Invalid
from recollect.interfaces.http.answers import answer
from recollect.interfaces.http.callers import Caller
from recollect.interfaces.rendering import as_json
from recollect.memory import AsyncMemory
from recollect.ports import NewId
from recollect.scopes import root_of
from recollect.types import Item

NAMESPACE = "idempotency"
KEPT = timedelta(hours=24)
LENGTH_MAX = 255
REPLAYED_HEADER = "Idempotency-Replayed"
OTHER_BODY = "this Idempotency-Key was used for another request; choose a new one"

Write = Callable[[AsyncMemory], Awaitable[Any]]


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
    told = "\0".join((caller.name, request.method, request.url.path))
    name = hmac.digest(secret, told.encode(), "sha256").hex()
    # Keyed, so that nobody can try texts against what is kept.
    body = hmac.digest(secret, await request.body() + request.url.query.encode(), "sha256").hex()
    running: Running = request.app.state.running
    async with running.alone(name):
        kept = await _kept(caller.engine, name, body)
        if kept.value["body"] != body:
            raise Conflict(OTHER_BODY, kind="idempotency")
        if "answer" in kept.value:
            return answer(kept.value["answer"], headers={REPLAYED_HEADER: "true"})
        again = replace(caller.engine, new_id=_ids(kept))
        result = as_json(await write(AsyncMemory(again)))
        await _put(caller.engine, replace(kept, value={**kept.value, "answer": result}))
        return answer(result)


async def _kept(engine: Engine, name: str, body: str) -> Item:
    """What is known of this key; put down now if it is new."""
    scope = engine.write_scope(None)
    now = engine.now()
    known = await engine.store.items(
        root_of(scope), NAMESPACE, now=now, scopes=(scope,), keys=(name,)
    )
    if known:
        return known[0]
    item = Item(
        scope=scope,
        namespace=NAMESPACE,
        key=name,
        value={"body": body, "ids": engine.new_id()},
        expires_at=now + KEPT,
    )
    try:
        return await _put(engine, item)
    except Conflict:  # another process was quicker
        known = await engine.store.items(
            root_of(scope), NAMESPACE, now=now, scopes=(scope,), keys=(name,)
        )
        if not known:
            raise
        return known[0]


async def _put(engine: Engine, item: Item) -> Item:
    batch = engine.batch(root_of(item.scope), NAMESPACE, actor="", change="", items=(item,))
    await engine.commit(engine.store, batch)
    return replace(item, version=item.version + 1)


def _ids(kept: Item) -> NewId:
    """The same ids in the same order each time, behind all that were made before."""
    number = 0

    def new_id() -> str:
        nonlocal number
        number += 1
        return f"{kept.value['ids']}-{number:05x}"

    return new_id
