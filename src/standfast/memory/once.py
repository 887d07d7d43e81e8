"""Once: the same write asked for again answers again and changes nothing.

A key's mark says what was asked, and from where on the write takes its ids. It is an item of the
root that is written to, put down in the same commit as the write's first change, and the answer in
the same as its last one where the verb knows it by then. Whoever is killed in between leaves a
mark without an answer: the write is done again with the same ids, so that the store sees commits
it knows and applies none of them twice. The answer to a forgetting is not kept, because it names
what is gone; nor is that of a dry run that lists texts, because they may go next; nor are answers
of a root in which a scope was forgotten. A write into other roots than the one that its request
names has its mark put down before, and its answer behind it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Any

from standfast.changes import Change
from standfast.engine import Engine
from standfast.errors import Conflict, StandfastError, Unavailable
from standfast.memory import AsyncMemory
from standfast.ports import NewId
from standfast.scopes import root_of
from standfast.types import MARKS, Batch, Item, Receipt
from standfast.types.ids import id_behind, id_for
from standfast.types.json import as_json

KEPT = timedelta(hours=24)
RACES_MAX = 8
OTHER_BODY = "this Idempotency-Key was used for another request; choose a new one"

Write = Callable[[AsyncMemory], Awaitable[Any]]
Told = Callable[[], Any] | None  # what the verb will answer; None: not known yet
Commit = Callable[[Batch], Awaitable[int]]


class OvertakenError(StandfastError):
    """Another process put down the mark first; nothing of this write was done. No verb knows how
    to go on from here, so it is none of the errors that they look out for."""


async def done_once(
    memory: AsyncMemory, name: str, body: str, write: Write, *, scope: str | None = None
) -> tuple[Any, bool]:
    """What the write answers, and whether it was done before: then that is its answer again.
    ``name`` is the request's, ``body`` tells whether it says the same, ``scope`` is the one that
    it names."""
    engine = memory.engine
    home = _home(engine, scope)
    for _ in range(RACES_MAX):
        mark = await _mark(engine, home, name, body)
        if mark.value["body"] != body:
            raise Conflict(OTHER_BODY, kind="idempotency")
        if "answer" in mark.value:
            return mark.value["answer"], True
        with suppress(OvertakenError):
            return await _do(engine, Marking(engine, mark), write), False
    raise Unavailable("others send the same Idempotency-Key at the same time; try again")


def _home(engine: Engine, scope: str | None) -> str:
    """The root in which the mark is: the caller's own; for who may write into several, the one
    that the request names."""
    roots = {root_of(one) for one in engine.bound}
    if len(roots) == 1:
        return roots.pop()
    try:
        return root_of(engine.write_scope(scope))
    except StandfastError:  # the verb will say so
        return root_of(engine.bound[0] if engine.bound else engine.default_scope)


async def _mark(engine: Engine, home: str, name: str, body: str) -> Item:
    """What is known of this key; a new mark, not put down yet, if nothing is."""
    now = engine.now()
    known = await engine.store.items(home, MARKS, now=now, scopes=(home,), keys=(name,))
    return (
        known[0]
        if known
        else Item(
            scope=home,
            namespace=MARKS,
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
    except StandfastError:
        if not marking.mark.version:  # from now on the key means this request
            with suppress(Unavailable, OvertakenError):
                await marking.put_alone(None, engine.store.commit)
        raise
    if "answer" not in marking.mark.value:
        told = None if _lists_texts(result) else lambda: result
        with suppress(Unavailable):  # what is done is done, also if the disk is full by now
            await marking.put_alone(told, engine.store.commit)
    return marking.mark.value.get("answer", result)


def _lists_texts(result: Any) -> bool:
    return isinstance(result, Receipt) and any(item.text for item in result.items)


class Marking:
    """``standfast.engine.Once`` for one write: its mark goes with its commits.

    Done again, a write may make other commits in between or fewer of them, so a batch has its id
    from what it is about. The store knows some of them already and would overlook a mark there.
    """

    def __init__(self, engine: Engine, mark: Item) -> None:
        """``mark`` is as the store has it; with version 0 if it has none yet."""
        self.mark = mark
        self._engine = engine
        self._again = mark.version > 0
        self._forgets = False
        self._done: Counter[str] = Counter()

    async def commit(self, batch: Batch, told: Told, commit: Commit) -> int:
        said = _said_in(batch)
        self._forgets = self._forgets or batch.reason == "forget"
        batch = replace(batch, id=id_for(self.mark.value["ids"], f"{said} {self._done[said]}"))
        elsewhere = batch.root != self.mark.scope
        if elsewhere and not self.mark.version:
            await self.put_alone(None, commit)
        if self._again or elsewhere or (self.mark.version and told is None):
            number = await commit(batch)
        else:
            number = await self._put(batch, told, commit)
        self._done[said] += 1
        return number

    async def put_alone(self, told: Told, commit: Commit) -> None:
        """The mark by itself, with the answer in it if it is known."""
        await self._put(Change(self._engine, self.mark.scope, MARKS).batch(), told, commit)

    async def _put(self, batch: Batch, told: Told, commit: Commit) -> int:
        mark = self.mark
        if told is not None and not self._forgets:  # what names things that are gone is not kept
            mark = replace(mark, value={**mark.value, "answer": as_json(told())})
        try:
            number = await commit(replace(batch, items=(*batch.items, mark)))
        except Conflict as conflict:
            if (conflict.kind, conflict.ids) != ("item", (mark.key,)):
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
    return json.dumps([batch.root, batch.reason, about or beside])


def _ids(first: str) -> NewId:
    """The same ids in the same order each time, behind all that were made before."""
    numbers = count(1)
    return lambda: id_behind(first, next(numbers))
