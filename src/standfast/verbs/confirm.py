"""confirm: pending messages that a packet delivered were used, each by itself.

They are delivered in the order they came in. A message that was too long for a packet stays
pending while those behind it are consumed: how far everything is consumed is a cursor, and what is
consumed beyond it is noted message by message until the cursor catches up.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import merge

from standfast.changes import Change, retried
from standfast.engine import Engine
from standfast.errors import Conflict, Invalid
from standfast.packet.buffers import CONSUMED, PENDING, pending_key
from standfast.ports import Store
from standfast.scopes import parents, root_of
from standfast.types import (
    CursorMove,
    Erase,
    Item,
    Message,
    Packet,
    Receipt,
    ReceiptItem,
    Session,
    SessionKey,
)

PENDING_DELIVERED_MAX = 100
PAGE = 100
NOTED_MAX = 10_000


async def waiting(
    engine: Engine, store: Store, scopes: Iterable[str]
) -> tuple[list[Message], list[str]]:
    """Messages nobody has consumed yet, first in first out, and summaries of those compacted
    away: for each scope its own and its parents'."""
    queues: list[list[Message]] = []
    summaries: list[str] = []
    keys: dict[str, dict[SessionKey, None]] = {}  # by root
    for scope in dict.fromkeys(seen for one in scopes for seen in (*parents(one), one)):
        keys.setdefault(root_of(scope), {})[pending_key(scope)] = None
    for root, wanted in keys.items():
        for session in await store.sessions(root, tuple(wanted), limit=len(wanted)):
            key = SessionKey(session.scope, session.id)
            newest = await store.summaries(key, limit=1, newest=True)
            summaries += [summary.text for summary in newest]
            queues.append(await _unconsumed(engine, store, session))
    return list(merge(*queues, key=lambda message: message.at))[:PENDING_DELIVERED_MAX], summaries


async def _unconsumed(engine: Engine, store: Store, session: Session) -> list[Message]:
    """The oldest messages of one buffer that wait, in the order they came."""
    key = SessionKey(session.scope, session.id)
    noted = await _noted(engine, store, key.scope)
    found: list[Message] = []
    after = session.cursors.get(CONSUMED, 0)
    while len(found) < PENDING_DELIVERED_MAX:
        page = await store.messages(key, now=engine.now(), after=after, limit=PAGE)
        found += [message for message in page if message.id not in noted]
        if len(page) < PAGE:
            break
        after = page[-1].seq
    return found


async def _noted(engine: Engine, store: Store, scope: str) -> dict[str, Item]:
    items = await store.items(
        root_of(scope), CONSUMED, now=engine.now(), scopes=(scope,), limit=NOTED_MAX
    )
    return {item.key: item for item in items}


async def confirm(engine: Engine, packet: Packet) -> Receipt:
    """The packet was used: its pending messages need not be delivered again. What is known of
    them is read from the store, for a packet may have come a long way."""
    by_key: dict[SessionKey, list[str]] = {}
    for message in packet.pending:
        key = SessionKey(engine.write_scope(message.scope), message.session)
        if key.id != PENDING:
            raise Invalid(f"message {message.id!r} was not pending; confirm what a packet lists")
        by_key.setdefault(key, []).append(message.id)
    items: list[ReceiptItem] = []
    for key, ids in by_key.items():
        found: set[str] = set()
        for store in engine.stores_of(root_of(key.scope)):
            here = await store.messages(key, now=engine.now(), ids=ids, limit=len(ids))
            found.update(message.id for message in here)
            if here:
                await _consume(engine, store, key, here)
        items += [_confirmed(id_, id_ in found) for id_ in ids]
    return Receipt(items=tuple(items))


def _confirmed(id_: str, known: bool) -> ReceiptItem:
    if known:
        return ReceiptItem(id=id_, status="stored", reason="consumed")
    return ReceiptItem(id=id_, status="skipped", reason="no such message is pending")


async def _consume(engine: Engine, store: Store, key: SessionKey, messages: list[Message]) -> None:
    change = Change(engine, root_of(key.scope), "consume", store=store)

    async def attempt(_: Conflict | None) -> None:
        change.clear()
        sessions = await store.sessions(change.root, (key,))
        if not sessions:
            return
        place = sessions[0].cursors.get(CONSUMED, 0)
        noted = await _noted(engine, store, key.scope)
        done = noted.keys() | {message.id for message in messages if message.seq > place}
        reach, passed = await _reach(engine, store, key, place, done)
        if reach > place:
            change.cursors = [CursorMove(session=key, reader=CONSUMED, old=place, new=reach)]
        change.items = [_note(m) for m in messages if m.seq > reach and m.id not in noted]
        change.erasures = [
            Erase(kind="item", scope=key.scope, namespace=CONSUMED, id=id_)
            for id_ in passed
            if id_ in noted
        ]
        await change.commit()

    await retried(attempt, "these messages are confirmed by others too; confirm them again")


async def _reach(
    engine: Engine, store: Store, key: SessionKey, place: int, done: Iterable[str]
) -> tuple[int, list[str]]:
    """How far everything is consumed, and what that passes. A number that is missing belongs to
    a message that expired or was forgotten."""
    ids = set(done)
    passed: list[str] = []
    while page := await store.messages(key, now=engine.now(), after=place, limit=PAGE):
        for message in page:
            if message.id not in ids:
                return place, passed
            place = message.seq
            passed.append(message.id)
        if len(page) < PAGE:
            break
    return place, passed


def _note(message: Message) -> Item:
    return Item(
        scope=message.scope,
        namespace=CONSUMED,
        key=message.id,
        value=message.seq,
        expires_at=message.expires_at,
    )
