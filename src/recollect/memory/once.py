"""Once: the same write asked for again answers again and changes nothing.

A key's mark says what was asked, and from where on the write takes its ids. It is put down in the
same commit as the write's first change, and the answer in the same as its last one where the verb
knows it by then. Whoever is killed in between leaves a mark without an answer: the write is done
again with the same ids, so that the store sees commits it knows and applies none of them twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Any

from recollect.changes import Change
from recollect.engine import Engine
from recollect.errors import Conflict, RecollectError, Unavailable
from recollect.memory import AsyncMemory
from recollect.ports import NewId
from recollect.scopes import SYSTEM_ROOT
from recollect.types import Batch, Item
from recollect.types.ids import id_behind, id_for
from recollect.types.json import as_json

NAMESPACE = "idempotency"
KEPT = timedelta(hours=24)
RACES_MAX = 8
OTHER_BODY = "this Idempotency-Key was used for another request; choose a new one"

Write = Callable[[AsyncMemory], Awaitable[Any]]
Told = Callable[[], Any] | None  # what the verb will answer; None: not known yet
Commit = Callable[[Batch], Awaitable[int]]


class OvertakenError(RecollectError):
    """Another process put down the mark first; nothing of this write was done. No verb knows how
    to go on from here, so it is none of the errors that they look out for."""


async def done_once(memory: AsyncMemory, name: str, body: str, write: Write) -> tuple[Any, bool]:
    """What the write answers, and whether it was done before: then that is its answer again.
    ``name`` is the request's, ``body`` tells whether it says the same."""
    engine = memory.engine
    for _ in range(RACES_MAX):
        mark = await _mark(engine, name, body)
        if mark.value["body"] != body:
            raise Conflict(OTHER_BODY, kind="idempotency")
        if "answer" in mark.value:
            return mark.value["answer"], True
        with suppress(OvertakenError):
            return await _do(engine, Marking(mark), write), False
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


async def _do(engine: Engine, marking: Marking, write: Write) -> Any:
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
    return marking.mark.value.get("answer", result)


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
