"""history: what happened to one record, or lately in a root, as far as the asker may see it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from recollect.engine import Engine
from recollect.errors import NotFound
from recollect.inputs import clean_name, count
from recollect.scopes import root_of
from recollect.types import Entry

PAGE = 100


async def history(
    engine: Engine, id_: str | None, *, scope: str | None, limit: int
) -> tuple[Entry, ...]:
    count(limit, "limit")
    if id_ is not None:
        if not await engine.find_records([clean_name(id_, "id")]):
            await _must_have_been(engine, id_)
        return tuple(await _entries(engine, touching=id_, limit=limit))
    root = root_of(engine.write_scope(scope))
    found: list[Entry] = []
    before: int | None = None
    while len(found) < limit and (
        page := await engine.store.journal(root, before=before, newest=True, limit=PAGE)
    ):
        found += reversed(_visible(engine, page))
        before = page[0].seq
    return tuple(found[:limit])


def _visible(engine: Engine, entries: Iterable[Entry]) -> list[Entry]:
    """What these entries say about scopes that the asker may see; a whole root is many people's."""
    seen = [
        replace(e, touched=tuple(t for t in e.touched if engine.may_see(t.scope))) for e in entries
    ]
    return [entry for entry in seen if entry.touched]


async def _must_have_been(engine: Engine, id_: str) -> None:
    """An erased record still has a history, seen by those who could see it."""
    if not await _entries(engine, touching=id_, limit=1):
        raise NotFound(f"there is no record {id_!r}")


async def _entries(engine: Engine, **narrow: Any) -> list[Entry]:
    entries = await engine.store.journal(None, **narrow)
    if not entries:
        entries = await engine.volatile.journal(None, **narrow)
    return _visible(engine, entries)
