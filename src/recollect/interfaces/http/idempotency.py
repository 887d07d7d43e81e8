"""Idempotency-Key: the same write sent again answers again and changes nothing.

A key's mark says what was asked, and from where on the write takes its ids. It is put down in the
same commit as the write's first change, and the answer in the same as its last one where the verb
knows it by then. Whoever is killed in between leaves a mark without an answer: the write is done
again with the same ids, so that the store sees commits it knows and applies none of them twice.
"""

from __future__ import annotations

import asyncio
import hmac
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from recollect.changes import Change
from recollect.engine import Engine
from recollect.errors import Conflict, Invalid, RecollectError, Unavailable
from recollect.interfaces.http.answers import answer
from recollect.interfaces.http.bodies import BODY
from recollect.interfaces.http.callers import Caller
from recollect.interfaces.render import as_json
from recollect.memory import AsyncMemory
from recollect.ports import NewId
from recollect.scopes import SYSTEM_ROOT
from recollect.types import Batch, Item
from recollect.types.ids import id_behind, id_for

NAMESPACE = "idempotency"
KEPT = timedelta(hours=24)
LENGTH_MAX = 255
RACES_MAX = 8
REPLAYED_HEADER = "Idempotency-Replayed"
OTHER_BODY = "this Idempotency-Key was used for another request; choose a new one"

Write = Callable[[AsyncMemory], Awaitable[Any]]
Told = Callable[[], Any] | None  # what the verb will answer; None: not known yet
Commit = Callable[[Batch], Awaitable[int]]


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


class OvertakenError(RecollectError):
    """Another process put down the mark first; nothing of this write was done. No verb knows how
    to go on from here, so it is none of the errors that they look out for."""


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
        for _ in range(RACES_MAX):
            mark = await _mark(caller.engine, name, body)
            if mark.value["body"] != body:
                raise Conflict(OTHER_BODY, kind="idempotency")
            if "answer" in mark.value:
                return answer(mark.value["answer"], headers={REPLAYED_HEADER: "true"})
            with suppress(OvertakenError):
                return await _do(caller.engine, Marking(mark), write)
        raise Unavailable("others send the same Idempotency-Key at the same time; try again")


async def _mark(engine: Engine, name: str, body: str) -> Item:
    """What is known of this key; a new mark, not put down yet, if nothing is."""
    now = engine.now()
    known = await engine.store.items(
        SYSTEM_ROOT, NAMESPACE, now=now, scopes=(SYSTEM_ROOT,), keys=(name,)
    )
    return (
        known[0]
        if known
        else Item(
            scope=SYSTEM_ROOT,
            namespace=NAMESPACE,
            key=name,
            value={"body": body, "ids": engine.new_id()},
            expires_at=now + KEPT,
        )
    )


async def _do(engine: Engine, marking: Marking, write: Write) -> Response:
    again = replace(engine, new_id=_ids(marking.mark.value["ids"]), once=marking)
    try:
        result = await write(AsyncMemory(again))
    except OvertakenError:
        raise
    except RecollectError:
        if not marking.mark.version:  # from now on the key means this request
            with suppress(Unavailable, OvertakenError):
                await marking.put(_empty_batch(engine), None, engine.store.commit)
        raise
    if "answer" not in marking.mark.value:
        with suppress(Unavailable):  # what is done is done, also if the disk is full by now
            await marking.put(_empty_batch(engine), lambda: result, engine.store.commit)
    return answer(marking.mark.value.get("answer", result))


def _empty_batch(engine: Engine) -> Batch:
    return Change(engine, SYSTEM_ROOT, NAMESPACE).batch()


class Marking:
    """``recollect.engine.Once`` for one write: its mark goes with its commits.

    Done again, a write may make other commits in between or fewer of them, so a batch has its id
    from what it is about. The store knows some of them already and would overlook a mark there.
    """

    def __init__(self, mark: Item) -> None:
        """``mark`` is as the store has it; with version 0 if it has none yet."""
        self.mark = mark
        self._again = mark.version > 0
        self._done: Counter[str] = Counter()

    async def commit(self, batch: Batch, told: Told, commit: Commit) -> int:
        said = _said_in(batch)
        batch = replace(batch, id=id_for(self.mark.value["ids"], f"{said} {self._done[said]}"))
        if self._again or (self.mark.version and told is None):
            number = await commit(batch)
        else:
            number = await self.put(batch, told, commit)
        self._done[said] += 1
        return number

    async def put(self, batch: Batch, told: Told, commit: Commit) -> int:
        """Commit with the mark, and with the answer in it if it is known."""
        mark = self.mark
        if told is not None:
            mark = replace(mark, value={**mark.value, "answer": as_json(told())})
        try:
            number = await commit(replace(batch, mark=mark))
        except Conflict as conflict:
            if conflict.kind != "mark":
                raise
            raise OvertakenError("another process does the same write") from None
        self.mark = replace(mark, version=mark.version + 1)
        return number


def _said_in(batch: Batch) -> str:
    """What a batch is about, whatever was there before it."""
    about: list[Any] = [
        *((m.scope, m.session, m.id) for m in batch.messages),
        *(record.id for record in batch.records),
        *((edge.source, edge.kind, edge.target) for edge in batch.relations),
        *(summary.id for summary in batch.summaries),
        *((i.scope, i.namespace, i.key) for i in batch.items),
        *((e.kind, e.scope, e.session, e.namespace, e.id) for e in batch.erase),
    ]
    # Messages bring a new session with them the first time, and none when they come again.
    beside = [
        *((session.scope, session.id) for session in batch.sessions),
        *((move.session, move.reader) for move in batch.cursors),
        *batch.vectors,
    ]
    return repr((batch.root, batch.reason, about or beside))


def _ids(first: str) -> NewId:
    """The same ids in the same order each time, behind all that were made before."""
    numbers = count(1)
    return lambda: id_behind(first, next(numbers))
