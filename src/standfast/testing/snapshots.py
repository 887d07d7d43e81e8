"""Everything a store lets one see of a root, as one value that can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from standfast.ports import Store
from standfast.testing.values import EVERY_STATUS, NOW, ROOT
from standfast.types import (
    Entry,
    Item,
    Listing,
    Message,
    Record,
    Relation,
    Session,
    SessionKey,
    Summary,
    Where,
    Work,
)

PLENTY = 10_000


@dataclass(frozen=True)
class Snapshot:
    records: list[Record]
    relations: list[Relation]
    sessions: list[Session]
    messages: list[Message]
    summaries: list[Summary]
    items: list[Item]
    journal: list[Entry]
    due: list[Work]


async def snapshot(
    store: Store,
    root: str = ROOT,
    *,
    now: datetime = NOW,
    namespaces: Sequence[str] = ("policy",),
    space: str = "",
) -> Snapshot:
    """All of a root, each list in an order that does not depend on the store."""
    everything = Where(scopes=(root,), now=now, descend=True, statuses=EVERY_STATUS)
    records = await store.listing(Listing(where=everything, order="id", limit=PLENTY))
    relations = await store.relations(root, [record.id for record in records])
    sessions = await store.sessions(root, limit=PLENTY)
    keys = [SessionKey(session.scope, session.id) for session in sessions]
    return Snapshot(
        records=records,
        relations=sorted(relations, key=lambda edge: (edge.source, edge.kind, edge.target)),
        sessions=sessions,
        messages=[m for key in keys for m in await store.messages(key, now=now, limit=PLENTY)],
        summaries=[s for key in keys for s in await store.summaries(key, limit=PLENTY)],
        items=[
            item
            for name in namespaces
            for item in await store.items(root, name, now=now, limit=PLENTY)
        ],
        journal=await store.journal(root, limit=PLENTY),
        due=await _due(store, root, now, space),
    )


async def _due(store: Store, root: str, now: datetime, space: str) -> list[Work]:
    # What ``detail`` says is agreed for lagging readers only.
    work = [
        one if one.kind == "fold" else replace(one, detail="")
        for one in await store.due(now, space=space, limit=PLENTY)
        if one.root == root
    ]
    return sorted(work, key=lambda one: (one.kind, one.scope, one.id, one.detail))
