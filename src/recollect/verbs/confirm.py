"""confirm: the pending messages of a packet were used, and need not be delivered again."""

from __future__ import annotations

from collections.abc import Iterable

from recollect.changes import Change, retried
from recollect.engine import Engine
from recollect.errors import Conflict, Invalid
from recollect.packet.buffers import CONSUMED, PENDING, consumed_up_to, pending_key
from recollect.ports import Store
from recollect.scopes import parents, root_of
from recollect.types import Message, Packet, Receipt, ReceiptItem, SessionKey

PENDING_DELIVERED_MAX = 100


async def waiting(
    engine: Engine, store: Store, scopes: Iterable[str]
) -> tuple[list[Message], list[str]]:
    """Messages nobody has consumed yet, oldest first, and summaries of those compacted away:
    for each scope its own and its parents'."""
    found: list[Message] = []
    summaries: list[str] = []
    keys: dict[str, dict[SessionKey, None]] = {}  # by root
    for scope in dict.fromkeys(seen for one in scopes for seen in (*parents(one), one)):
        keys.setdefault(root_of(scope), {})[pending_key(scope)] = None
    for root, wanted in keys.items():
        for session in await store.sessions(root, tuple(wanted), limit=len(wanted)):
            key = SessionKey(session.scope, session.id)
            newest = await store.summaries(key, limit=1, newest=True)
            summaries += [summary.text for summary in newest]
            after = session.cursors.get(CONSUMED, 0)
            found += await store.messages(
                key, now=engine.now(), after=after, limit=PENDING_DELIVERED_MAX
            )
    return sorted(found, key=lambda message: (message.at, message.scope, message.seq)), summaries


async def confirm(engine: Engine, packet: Packet) -> Receipt:
    """The packet was used: its pending messages need not be delivered again. How far that
    reaches is read from the store, for a packet may have come a long way."""
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
                await _consume(engine, store, key, max(message.seq for message in here))
        items += [_confirmed(id_, id_ in found) for id_ in ids]
    return Receipt(items=tuple(items))


def _confirmed(id_: str, known: bool) -> ReceiptItem:
    if known:
        return ReceiptItem(id=id_, status="stored", reason="consumed")
    return ReceiptItem(id=id_, status="skipped", reason="no such message is pending")


async def _consume(engine: Engine, store: Store, key: SessionKey, seq: int) -> None:
    change = Change(engine, root_of(key.scope), "consume", store=store)

    async def attempt(_: Conflict | None) -> None:
        sessions = await store.sessions(change.root, (key,))
        move = consumed_up_to(key, sessions[0].cursors, seq) if sessions else None
        change.cursors = [move] if move else []
        await change.commit()

    await retried(attempt, "these messages are confirmed by others too; confirm them again")
