"""history: what happened to one record, or lately in a root, as far as the asker may see it."""

from __future__ import annotations

from typing import Any

from recollect.engine import Engine
from recollect.errors import NotFound
from recollect.inputs import clean_name, count
from recollect.listing.changes import list_changes, visible_entries
from recollect.types import Entry


async def history(
    engine: Engine, id_: str | None, *, scope: str | None, limit: int
) -> tuple[Entry, ...]:
    count(limit, "limit")
    if id_ is None:
        return (await list_changes(engine, scope=scope, cursor="", limit=limit)).items
    if not await engine.find_records([clean_name(id_, "id")]):
        await _must_have_been(engine, id_)
    return tuple(await _entries(engine, touching=id_, limit=limit))


async def _must_have_been(engine: Engine, id_: str) -> None:
    """An erased record still has a history, seen by those who could see it."""
    if not await _entries(engine, touching=id_, limit=1):
        raise NotFound(f"there is no record {id_!r}")


async def _entries(engine: Engine, **narrow: Any) -> list[Entry]:
    entries = await engine.store.journal(None, **narrow)
    if not entries:
        entries = await engine.volatile.journal(None, **narrow)
    return visible_entries(engine, entries)
