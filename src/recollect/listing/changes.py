"""The journal from its end, as far as the asker may see it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import replace

from recollect.engine import Engine
from recollect.inputs import count
from recollect.listing.cursors import Place, place_of
from recollect.listing.values import Page
from recollect.listing.walking import page_of
from recollect.scopes import root_of
from recollect.types import Entry, Touch

PAGE = 100
# The books that programs keep: nothing anybody remembers.
BOOKS = ("lease/", "work/", "idempotency/", "budget/", "usage/")


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
        for entry in reversed(visible_entries(engine, page)):
            if not all(map(_is_bookkeeping, entry.touched)):
                yield [entry.seq], entry
        before = page[0].seq


def _is_bookkeeping(touch: Touch) -> bool:
    return touch.kind == "item" and touch.id.startswith(BOOKS)


def visible_entries(engine: Engine, entries: Iterable[Entry]) -> list[Entry]:
    """What these entries say about scopes that the asker may see; a whole root is many people's."""
    seen = [
        replace(e, touched=tuple(t for t in e.touched if engine.may_see(t.scope))) for e in entries
    ]
    return [entry for entry in seen if entry.touched]
