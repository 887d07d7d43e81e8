"""restore: what was forgotten since the backup was made stays forgotten.

The backup still holds it. So the tombstones of the current store are laid over the restored one:
what they stand for is erased there, with everything derived, and the tombstones come along. An
opt-out that was declared since stays in force too, and a key that was revoked stays revoked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from standfast import compat
from standfast.access.keys import carry_identity
from standfast.changes import Change, slices
from standfast.engine import (
    Engine,
    chunked,
    every_item,
    every_message,
    every_record,
    every_root,
    every_session,
)
from standfast.forgotten import NAMESPACE, Tombstones, carry_copies, secret_of
from standfast.ports import Store
from standfast.types import (
    Item,
    Listing,
    Message,
    Receipt,
    ReceiptItem,
    Record,
    SessionKey,
    Where,
)
from standfast.verbs.export import EVERY_STATUS
from standfast.verbs.forget import forget
from standfast.verbs.selection import Selection

ACTOR = "restore"
OTHER_KEY = "the backup has tombstones of its own, so those of the old file were not added"


async def bury_again(restored: Engine, current: Store) -> Receipt:
    """Erase from the restored store what the current one has forgotten."""
    items: list[ReceiptItem] = []
    notes: list[str] = list(await carry_identity(restored, current))
    await carry_copies(restored, current)
    async for root in every_root(current):
        stones = await Tombstones.of(current, root, restored.now())
        if stones is not None:
            same_key = await _carry_key(restored, stones)
            items += await _bury(restored, stones)
            if same_key:
                # With the times of the first erasure: who told us again since, wanted it known.
                async for page in chunked(every_item(current, root, NAMESPACE, restored.now())):
                    await _write(restored, root, page)
            else:
                notes.append(f"{root}: {OTHER_KEY}")
        await _carry_opt_outs(restored, current, root)
    return Receipt(items=tuple(items), notes=tuple(notes))


async def _bury(restored: Engine, stones: Tombstones) -> list[ReceiptItem]:
    store, now = restored.store, restored.now()
    erased: list[ReceiptItem] = []
    doomed: list[Selection] = []
    async for session in every_session(store, stones.root):
        key = SessionKey(session.scope, session.id)
        ids: list[str] = []
        said = 0
        async for messages in chunked(every_message(store, key, now)):
            said += len(messages)
            ids += await _forgotten_messages(stones, key, messages)
        if len(ids) < said:
            doomed += [Selection(ids=ids, session=key.id, scope=key.scope)] if ids else []
        elif not await _has_state(stones.store, stones.root, key):
            # All of it was forgotten, so its state and its notes were, too.
            doomed.append(Selection(session=key.id, scope=key.scope))
    for wanted in doomed:
        agreed = replace(wanted, several_authors=True)  # it was, when it was first erased
        erased += (await forget(restored, agreed, actor=ACTOR)).items
    where = Where(scopes=(stones.root,), now=now, descend=True, exact=True, statuses=EVERY_STATUS)
    query = Listing(where=where, order="id")
    found: list[str] = []
    async for records in chunked(every_record(store, query)):
        found += await _forgotten_records(stones, records)
    if found:
        erased += (
            await forget(restored, Selection(ids=found, several_authors=True), actor=ACTOR)
        ).items
    return [replace(item, reason="forgotten since the backup") for item in erased]


async def _forgotten_messages(
    stones: Tombstones, key: SessionKey, messages: Sequence[Message]
) -> list[str]:
    """A tombstone of a text covers what its author said in other messages, too. What the current
    store still has was not forgotten."""
    ids = [id_ for _, id_ in await stones.messages(messages)]
    alive = await stones.store.messages(key, now=stones.now, ids=ids, limit=len(ids)) if ids else ()
    return sorted({*ids} - {message.id for message in alive})


async def _forgotten_records(stones: Tombstones, records: Sequence[Record]) -> list[str]:
    ids = await stones.records(records)
    alive = await stones.store.records(stones.root, sorted(ids), now=stones.now)
    return sorted(ids - {record.id for record in alive})


async def _has_state(current: Store, root: str, key: SessionKey) -> bool:
    """Somebody gave it one since: then it is no forgotten session any more."""
    return any(session.state for session in await current.sessions(root, (key,)))


async def _carry_key(restored: Engine, stones: Tombstones) -> bool:
    """Have both stores the same key now? Erasing makes one where there is none, so this is
    the first thing to do."""
    now = restored.now()
    ours = await secret_of(stones.store, stones.root, now)
    assert ours is not None
    known = await secret_of(restored.store, stones.root, now)
    if known is None:
        await _write(restored, stones.root, [ours])
    return known is None or known.value == ours.value


async def _carry_opt_outs(restored: Engine, current: Store, root: str) -> None:
    policies = await current.items(root, compat.POLICIES, now=restored.now(), limit=10_000)
    opted_out = [
        item
        for item in policies
        if isinstance(item.value, dict) and item.value.get("persist") is False
    ]
    await _write(restored, root, opted_out)


async def _write(restored: Engine, root: str, items: list[Item]) -> None:
    """Each item as it is given, whatever the restored store has in its place."""
    for part in slices(items):
        known: dict[tuple[str, str], Item] = {}
        for item in await restored.store.items(
            root,
            part[0].namespace,
            now=restored.now(),
            keys=[item.key for item in part],
            limit=10_000,
        ):
            known[item.scope, item.key] = item
        changed = [
            replace(item, version=here.version if here else 0)
            for item in part
            if (here := known.get((item.scope, item.key))) is None or here.value != item.value
        ]
        change = Change(restored, root, "restore", actor=ACTOR)
        change.items += changed
        await change.commit()
