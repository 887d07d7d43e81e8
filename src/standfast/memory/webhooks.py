"""Changes told to other programs: signed, in order, at least once, and never in a writer's way.

A webhook reads the journal as any reader of the stream does, from a place that the registry keeps:
what was not taken is told again, by whichever process has the store open. An event's id is the same
each time. A receiver that is slow or away holds up its own events and nothing else.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from standfast import compat
from standfast.access import keys
from standfast.access.shares import FairTurns
from standfast.engine import Engine
from standfast.errors import Conflict, Denied, Invalid, NotFound, StandfastError
from standfast.memory import AsyncMemory
from standfast.memory.stream import StreamEvent, stream_changes
from standfast.ports import Cell, cell_key
from standfast.scopes import root_of
from standfast.types.frozen import frozen
from standfast.upkeep.leases import hold, release

if TYPE_CHECKING:
    from standfast.memory.posts import Sent

log = logging.getLogger(__name__)

WEBHOOKS, PLACES = compat.WEBHOOK_CELLS, compat.WEBHOOK_PLACE_CELLS
SECRET_PREFIX = compat.WEBHOOK_SECRET_PREFIX
WEBHOOKS_MAX = 20  # of one root: each holds a task, and at times a thread
POSTS_MAX = 32  # under way at once, of all roots: each has a thread
PAGE = 500
LEASE_SECONDS = 60
LOOK_SECONDS = 2.0
SLICE_SECONDS = 10.0
FIRST_PAUSE_SECONDS = 1.0
PAUSE_SECONDS_MAX = 3_600.0


@frozen
class Webhook:
    """Where the changes of a scope and all below it are told. ``text``: with what memories say.
    ``failing`` is how often the event that waits was tried in vain, ``trouble`` why."""

    id: str
    url: str
    scope: str
    text: bool
    created_at: datetime
    delivered: int = 0
    failing: int = 0
    trouble: str = ""


async def add_webhook(
    memory: AsyncMemory, url: str, *, scope: str | None = None, text: bool = False
) -> tuple[Webhook, str]:
    """A new one and its secret, which signs every event and is shown once. It tells what happens
    from now on. Invalid: the address is none, or of a private network that nobody allowed.
    Denied: to who came with a token, which ends and cannot be revoked: a webhook lives as long as
    the key that it was made with."""
    from standfast.memory.posts import check  # the web and its certificates, for whoever has any

    engine = memory.engine
    engine.allow("admin")
    if engine.key.startswith(keys.TOKEN):
        raise Denied("a webhook ends with the key it was made with: use a key, not a token")
    where = engine.write_scope(scope)
    await check(url, engine.webhook_hosts)
    known = [cell for cell in await _cells(engine) if _root(cell) == root_of(where)]
    if len(known) >= WEBHOOKS_MAX:
        raise Invalid(f"{root_of(where)} has {WEBHOOKS_MAX} webhooks; remove one first")
    secret = SECRET_PREFIX + engine.new_secret()
    id_ = engine.new_secret()[:12]
    value = {
        "url": url,
        "scope": where,
        "text": bool(text),
        "created_at": engine.now().isoformat(),
        "secret": secret,
        "key": engine.key,
    }
    first = await anext(stream_changes(_reader(engine, where), scope=where))
    place = Cell(key=cell_key(PLACES, id_), value={"place": first.place, "delivered": 0})
    await engine.store.registry.put(place, now=engine.now())
    cell = Cell(key=cell_key(WEBHOOKS, id_), value=value)
    await engine.store.registry.put(cell, now=engine.now())
    if engine.audit is not None:
        engine.audit.note(engine, "admin", "add_webhook", scopes=(where,), ids=(id_,))
    return _webhook(cell, place.value), secret


async def list_webhooks(memory: AsyncMemory) -> tuple[Webhook, ...]:
    """Those of scopes that this handle may change, without their secrets."""
    engine = memory.engine
    engine.allow("admin")
    return tuple(
        [
            _webhook(cell, (await _place(engine, _id(cell))).value)
            for cell in await _cells(engine)
            if engine.may_change(cell.value["scope"])
        ]
    )


async def remove_webhook(memory: AsyncMemory, id_: str) -> Webhook:
    """It is told nothing more."""
    engine = memory.engine
    engine.allow("admin")
    for cell in await _cells(engine):
        if _id(cell) == id_ and engine.may_change(cell.value["scope"]):
            place = await _place(engine, id_)
            for gone in (cell, place):
                with suppress(Conflict):
                    ended = replace(gone, expires_at=engine.now())
                    await engine.store.registry.put(ended, now=engine.now())
            if engine.audit is not None:
                where = (cell.value["scope"],)
                engine.audit.note(engine, "admin", "remove_webhook", scopes=where, ids=(id_,))
            return _webhook(cell, place.value)
    raise NotFound(f"there is no webhook {id_!r}; `standfast webhooks list` shows them")


def signature(secret: str, at: int, body: bytes) -> str:
    """What a receiver compares with: the time is signed too, so that an old event cannot be sent
    again as a new one."""
    signed = hmac.new(secret.encode(), b"%d." % at + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={signed}"


async def _cells(engine: Engine) -> list[Cell]:
    """All of them, of whichever root."""
    found: list[Cell] = []
    prefix, now = cell_key(WEBHOOKS, ""), engine.now()
    while page := await engine.store.registry.list(
        prefix, now=now, after=found[-1].key if found else "", limit=PAGE
    ):
        found += page
    return found


async def _place(engine: Engine, id_: str) -> Cell:
    key = cell_key(PLACES, id_)
    found = await engine.store.registry.get((key,), now=engine.now())
    return found[0] if found else Cell(key=key, value={"place": "", "delivered": 0})


def _id(cell: Cell) -> str:
    return cell.key.split("\t", 1)[1]


def _root(cell: Cell) -> str:
    return root_of(cell.value["scope"])


def _webhook(cell: Cell, place: Mapping[str, Any]) -> Webhook:
    value = cell.value
    return Webhook(
        id=_id(cell),
        url=value["url"],
        scope=value["scope"],
        text=value["text"],
        created_at=datetime.fromisoformat(value["created_at"]),
        delivered=place.get("delivered", 0),
        failing=place.get("failing", 0),
        trouble=place.get("trouble", ""),
    )


def _reader(engine: Engine, scope: str) -> AsyncMemory:
    """What a webhook may see: its scope and all below it, as one who may only read."""
    return AsyncMemory(replace(engine, bound=(scope,), rights=frozenset({"read"}), audit=None))


# Delivery


async def run_webhooks(engine: Engine) -> None:
    """For as long as the memory is open: each webhook is the work of one process at a time."""
    running: dict[str, asyncio.Task[None]] = {}
    turns = FairTurns(POSTS_MAX)
    try:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            with suppress(StandfastError):
                there = {_id(cell): cell for cell in await _cells(engine)}
                for id_ in [one for one, task in running.items() if task.done()]:
                    _look_at(running.pop(id_))
                for id_, cell in there.items():
                    if id_ not in running:
                        running[id_] = asyncio.create_task(_tell(engine, cell, turns))
    finally:
        for task in running.values():
            task.cancel()
        await asyncio.gather(*running.values(), return_exceptions=True)


def _look_at(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.warning("a webhook stopped and is begun again: %s", type(error).__name__)


async def _tell(engine: Engine, cell: Cell, turns: FairTurns) -> None:
    """Event by event until it is removed, its key is revoked or another process has it."""
    teller = _Teller(engine, cell, turns)
    if not await teller.may_go_on():
        return
    try:
        place = (await _place(engine, teller.id)).value["place"]
        reader = _reader(engine, teller.scope)
        events = stream_changes(
            reader, scope=teller.scope, after=place or "start", text=cell.value["text"]
        )
        async for event in events:
            if not await teller.may_go_on():
                return
            if event.name in ("change", "gap") and not await teller.deliver(event):
                return
    finally:
        await release(engine, engine.store, root_of(teller.scope), teller.lease, engine.name)


class _Teller:
    """One webhook in this process."""

    def __init__(self, engine: Engine, cell: Cell, turns: FairTurns) -> None:
        self._engine = engine
        self._cell = cell
        self._turns = turns
        self.id = _id(cell)
        self.scope: str = cell.value["scope"]
        self.lease = f"webhook {self.id}"

    async def may_go_on(self) -> bool:
        engine = self._engine
        there = await engine.store.registry.get((self._cell.key,), now=engine.now())
        key = self._cell.value["key"]
        if not there or (key and not await keys.still_works(engine, key)):
            return False
        root = root_of(self.scope)
        return await hold(engine, engine.store, root, self.lease, LEASE_SECONDS, engine.name)

    async def deliver(self, event: StreamEvent) -> bool:
        """Until it is taken; False if nobody wants it any more."""
        body = self._body(event)
        tries, pause = 0, FIRST_PAUSE_SECONDS
        while True:
            sent = await self._send(event, body)
            if sent.taken:
                await self._note(place=event.place, delivered=1)
                return True
            tries += 1
            await self._note(failing=tries, trouble=sent.trouble)
            if tries == 1:
                log.warning("webhook %s is not taken: %s", self.id, sent.trouble)
            wait = min(max(pause, sent.wait), PAUSE_SECONDS_MAX)
            pause = min(pause * 2, PAUSE_SECONDS_MAX)
            if not await self._wait(wait):
                return False

    async def _wait(self, seconds: float) -> bool:
        """In slices, so that a webhook that was removed ends and a lease is kept."""
        while seconds > 0:
            await asyncio.sleep(min(seconds, SLICE_SECONDS))
            seconds -= SLICE_SECONDS
            if not await self.may_go_on():
                return False
        return True

    def _body(self, event: StreamEvent) -> bytes:
        told = {
            "id": event_id(self.id, event),
            "webhook": self.id,
            "type": event.name,
            "data": dict(event.data),
        }
        return json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()

    async def _send(self, event: StreamEvent, body: bytes) -> Sent:
        from standfast.memory.posts import post

        at = int(self._engine.now().timestamp())
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "standfast",
            "X-Standfast-Event": event_id(self.id, event),
            "X-Standfast-Signature": signature(self._cell.value["secret"], at, body),
        }
        # Receivers that never answer hold up those of their own root.
        async with self._turns.turn(root_of(self.scope)):
            return await post(self._cell.value["url"], body, headers, self._engine.webhook_hosts)

    async def _note(
        self, *, place: str = "", delivered: int = 0, failing: int = 0, trouble: str = ""
    ) -> None:
        cell = await _place(self._engine, self.id)
        value = {
            "place": place or cell.value["place"],
            "delivered": cell.value.get("delivered", 0) + delivered,
            "failing": failing,
            "trouble": trouble,
        }
        with suppress(Conflict):  # another process has it now; a double has the same id
            await self._engine.store.registry.put(
                replace(cell, value=value), now=self._engine.now()
            )


def event_id(webhook: str, event: StreamEvent) -> str:
    """The same however often it is told."""
    what = f"{webhook} {event.name} {event.data.get('root')} {event.data.get('seq')} {event.place}"
    return compat.EVENT_PREFIX + hashlib.sha256(what.encode()).hexdigest()[:32]
