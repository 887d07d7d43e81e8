"""history: what happened to one record, or lately in a root, as far as the asker may see it."""

from __future__ import annotations

from standfast.engine import Engine
from standfast.errors import NotFound
from standfast.ports import Store
from standfast.scopes import root_of
from standfast.text.inputs import clean_name, count
from standfast.types import Entry
from standfast.verbs.lists.changes import list_changes, visible_entries


async def history(
    engine: Engine, id_: str | None, *, scope: str | None, limit: int
) -> tuple[Entry, ...]:
    count(limit, "limit")
    if id_ is None:
        return (await list_changes(engine, scope=scope, cursor="", limit=limit)).items
    asker = engine if scope is None else engine.narrowed((scope,), engine.rights)
    entries = await _entries(asker, clean_name(id_, "id"), limit)
    if not entries and not await asker.find_records([id_]):
        raise NotFound(f"there is no record {id_!r}")
    return tuple(entries)


async def _entries(asker: Engine, id_: str, limit: int) -> list[Entry]:
    """An erased record still has a history, seen by those who could see it. Others may have
    something of the same name: what is theirs neither shows nor takes the place of what does."""
    roots: set[str | None] = set(map(root_of, asker.bound))
    for store in (asker.store, asker.volatile):
        found: list[Entry] = []
        for root in sorted(roots, key=str) or [None]:
            found += await _visible(asker, store, root, id_, limit - len(found))
        if found:
            return found
    return []


async def _visible(
    asker: Engine, store: Store, root: str | None, id_: str, limit: int
) -> list[Entry]:
    found: list[Entry] = []
    after = 0
    while len(found) < limit:
        page = await store.journal(root, touching=id_, after=after, limit=limit)
        found += await visible_entries(asker, page)
        if root is None or len(page) < limit:
            break
        after = page[-1].seq
    return found[:limit]
