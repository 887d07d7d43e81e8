"""How many messages no reader could read: counted by root, for whoever watches a server."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta

from standfast.engine import Engine
from standfast.errors import Conflict
from standfast.ports import Cell, Store, cell_key

COUNT = "unread"
ATTEMPTS_MAX = 8
KEPT = timedelta(days=90)  # since the last one
PAGE = 500


async def add_unread(engine: Engine, store: Store, root: str, number: int) -> None:
    """The count is a hint: each turn says itself whether its message was read."""
    key, now = cell_key(COUNT, root), engine.now()
    for _ in range(ATTEMPTS_MAX):
        found = await store.registry.get((key,), now=now)
        known = found[0] if found else Cell(key=key, value=0)
        total = int(known.value) + number
        cell = Cell(key=key, value=total, expires_at=now + KEPT, version=known.version)
        with suppress(Conflict):  # another process counts too
            await store.registry.put(cell, now=now)
            return


async def count_unread(engine: Engine, roots: tuple[str, ...] = ()) -> int:
    """In these roots; () for all of them."""
    registry, now = engine.store.registry, engine.now()
    if roots:
        keys = tuple(cell_key(COUNT, root) for root in roots)
        return sum(int(cell.value) for cell in await registry.get(keys, now=now))
    total, after = 0, ""
    while page := await registry.list(cell_key(COUNT, ""), now=now, after=after, limit=PAGE):
        total += sum(int(cell.value) for cell in page)
        after = page[-1].key
    return total
