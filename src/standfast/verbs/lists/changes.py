"""The journal from its end, as far as the asker may see it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from dataclasses import replace

from standfast.engine import Engine
from standfast.scopes import root_of
from standfast.text.inputs import count
from standfast.types import Entry, Touch
from standfast.types.pages import Page
from standfast.verbs.imported import ends_of
from standfast.verbs.lists.cursors import Place, place_of
from standfast.verbs.lists.walk import page_of

PAGE = 100
# The books that programs keep: nothing anybody remembers.
BOOKS = ("lease/", "work/", "idempotency/", "budget/", "usage/", "quota/", "job/")


async def list_changes(
    engine: Engine, *, scope: str | None, cursor: str, limit: int
) -> Page[Entry]:
    count(limit, "limit")
    root = root_of(engine.write_scope(scope))
    place = place_of(cursor, ("changes", root), (int,))
    found = _newest_first(engine, root, place[0] if place else None)
    return await page_of(found, limit, ("changes", root))


async def _newest_first(
    engine: Engine, root: str, before: int | None
) -> AsyncIterator[tuple[Place, Entry]]:
    while page := await engine.store.journal(root, before=before, newest=True, limit=PAGE):
        for entry in reversed(await visible_entries(engine, page)):
            if not all(map(is_bookkeeping, entry.touched)):
                yield [entry.seq], entry
        before = page[0].seq


def is_bookkeeping(touch: Touch) -> bool:
    return touch.kind == "item" and touch.id.startswith(BOOKS)


async def visible_entries(engine: Engine, entries: Sequence[Entry]) -> list[Entry]:
    """What these entries say about scopes that the asker may see; a whole root is many people's,
    and an edge may lead to a record of others."""
    others = {
        id_ for root in {e.root for e in entries} for id_ in await _others(engine, root, entries)
    }
    seen = []
    for entry in entries:
        touched = tuple(touch for touch in entry.touched if _is_seen(engine, touch, others))
        if touched:
            seen.append(replace(entry, touched=touched))
        await asyncio.sleep(0)  # one may touch thousands, and others wait for a turn
    return seen


async def _others(engine: Engine, root: str, entries: Iterable[Entry]) -> list[str]:
    """Of the records that edges of a root lead to, those that the asker cannot see."""
    if engine.may_change(root):
        return []
    ends = {end for e in entries if e.root == root for t in e.touched for end in ends_of(t)}
    found = await engine.store.records(root, sorted(ends), now=engine.now()) if ends else []
    return [record.id for record in found if not engine.may_see(record.scope)]


def _is_seen(engine: Engine, touch: Touch, others: Collection[str]) -> bool:
    return engine.may_see(touch.scope) and not any(end in others for end in ends_of(touch))
