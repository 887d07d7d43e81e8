"""The queue that pending messages wait in, where there is one: what goes in, and what is taken out
into the store when a task wants it.

A message is in the store before the queue lets go of it, and the store knows it by its id: whoever
is killed in between takes it again, and it is there once. While the queue is away messages wait in
the store itself, and what waits in the queue comes later; both are said.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace

from standfast import compat
from standfast.changes import Change
from standfast.engine import Engine
from standfast.errors import Conflict, StandfastError, Unavailable
from standfast.forgotten import Tombstones
from standfast.packet.buffers import PENDING_ABOVE, pending_key
from standfast.ports import Cell, PendingQueue, QueuedMessage, cell_key
from standfast.scopes import parents, root_of
from standfast.text.messages import Taken
from standfast.types import Message, Receipt, ReceiptItem, SessionKey
from standfast.verbs.log import KNOWN, OTHER_TEXT, TWICE, Incoming, logged

OWNER = cell_key(compat.QUEUE_CELLS, "owner")  # by what name this store claims messages
TAKEN_AT_ONCE = 100


async def queued(engine: Engine, said: Incoming, *, actor: str) -> Receipt:
    """Put them into the queue; into the store's own buffer while it is away, and for people of
    whom nothing is to be kept, which the store knows."""
    assert engine.queue is not None
    key = said.key
    authors = {one.message.author for one in said.taken}
    if await engine.opted_out(key.scope, authors):
        return await logged(engine, said, actor=actor)
    messages = [one.message for one in said.taken if said.first[one.message.id] is one]
    skipped = await _known(engine, key, messages)
    fresh = [message for message in messages if message.id not in skipped]
    length = 0
    if fresh:
        await _admit(engine, key, fresh)
        try:
            waiting = [QueuedMessage(message, said.channel) for message in fresh]
            known, length = await engine.queue.put(waiting, now=engine.now())
        except Unavailable as error:
            return _at_home(await logged(engine, said, actor=actor), error)
        skipped |= dict.fromkeys(known, KNOWN)
    if engine.audit is not None and fresh:
        ids = [message.id for message in fresh]
        engine.audit.note(engine, "write", "observe", scopes=(key.scope,), ids=ids)
    notes = await drained(engine, (key.scope,)) if length > PENDING_ABOVE else []
    items = tuple(_item(one, said.first[one.message.id], skipped) for one in said.taken)
    return Receipt(items=items, notes=tuple(notes))


async def _known(engine: Engine, key: SessionKey, messages: Sequence[Message]) -> dict[str, str]:
    """Those that the store has had, and what to say about them."""
    stones = await Tombstones.of(engine.store, root_of(key.scope), engine.now())
    buried = await stones.messages(messages) if stones else ()
    skipped = dict.fromkeys((id_ for _, id_ in buried), "forgotten before")
    ids = [message.id for message in messages]
    held = await engine.store.messages(key, now=engine.now(), ids=ids, limit=len(ids))
    texts = {message.id: message.text for message in held}
    for message in messages:
        if message.id in texts:
            same = texts[message.id] == message.text
            skipped.setdefault(message.id, KNOWN if same else OTHER_TEXT)
    return skipped


async def _admit(engine: Engine, key: SessionKey, messages: Sequence[Message]) -> None:
    """Who has written enough for today is refused now, not when a task wants it."""
    if engine.meter is not None:
        change = Change(engine, root_of(key.scope), "observe")
        change.messages += messages
        await engine.meter.admit(change.batch())


def _at_home(receipt: Receipt, error: Unavailable) -> Receipt:
    return replace(receipt, notes=(*receipt.notes, f"degraded: they wait in the store, {error}"))


def _item(one: Taken, first: Taken, skipped: dict[str, str]) -> ReceiptItem:
    id_ = one.message.id
    if one is not first:
        same = one.message.text == first.message.text
        return ReceiptItem(id=id_, status="skipped", reason=TWICE if same else OTHER_TEXT)
    if id_ in skipped:
        return ReceiptItem(id=id_, status="skipped", reason=skipped[id_])
    reasons = (*one.notes, "waits in Redis until a task wants it")
    return ReceiptItem(id=id_, status="stored", reason="; ".join(reasons))


async def drained(engine: Engine, scopes: Iterable[str]) -> list[str]:
    """Take what waits for these scopes, and for their parents, into the store. Notes say what
    has to wait on, and why; nothing is lost by it."""
    queue = engine.queue
    if queue is None:
        return []
    try:
        owner = await _owner(engine)
        for scope in dict.fromkeys(seen for one in scopes for seen in (*parents(one), one)):
            await _take_in(engine, queue, scope, owner)
    except Unavailable as error:
        return [f"degraded: pending messages that are not in the store wait on, {error}"]
    return []


async def all_drained(engine: Engine) -> list[str]:
    """The same everywhere, for whoever has to see all there is."""
    if engine.queue is None:
        return []
    try:
        scopes = await engine.queue.scopes()
    except Unavailable as error:
        return [f"pending messages that wait outside of the store were not seen: {error}"]
    return await drained(engine, scopes)


async def _take_in(engine: Engine, queue: PendingQueue, scope: str, owner: str) -> None:
    own = replace(engine, once=None)  # it is no part of what the caller asks for
    key = pending_key(scope)
    while waiting := await queue.take(scope, owner, TAKEN_AT_ONCE):
        alive = [one for one in waiting if _is_alive(engine, one.message)]
        for channel in dict.fromkeys(one.channel for one in alive):
            taken = [
                Taken(message=one.message, notes=()) for one in alive if one.channel == channel
            ]
            await logged(own, Incoming.of(key, channel, taken))
        await queue.done(scope, [one.message.id for one in waiting])
        if len(waiting) < TAKEN_AT_ONCE:
            return


async def _owner(engine: Engine) -> str:
    """A claim is the store's, not the process's: whoever opens it next goes on with it."""
    registry, now = engine.store.registry, engine.now()
    cells = await registry.get((OWNER,), now=now)
    if not cells:
        with suppress(Conflict):
            await registry.put(Cell(key=OWNER, value=engine.new_id()), now=now)
        cells = await registry.get((OWNER,), now=now)
    return str(cells[0].value)


async def peeked(engine: Engine, scope: str) -> list[Message]:
    """What waits there for this scope and its parents, left where it is."""
    if engine.queue is None:
        return []
    found: list[Message] = []
    with suppress(StandfastError):  # it has been said that it is away
        owner = await _owner(engine)
        for one in (*parents(scope), scope):
            found += [held.message for held in await engine.queue.waiting(one, owner)]
    return [one for one in found if _is_alive(engine, one)]


def _is_alive(engine: Engine, message: Message) -> bool:
    return message.expires_at is None or message.expires_at > engine.now()
