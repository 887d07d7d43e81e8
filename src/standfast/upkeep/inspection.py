"""The light doctor: all rows of all roots that carry a checksum are read again, some at a time,
however seldom anybody asks for them. Reading is what compares a row with its checksum. Every look
compares the schema, too. What is found damaged is noted in the registry, where whoever watches the
health of the store sees it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any, get_args

from standfast import compat
from standfast.engine import Engine, every_root
from standfast.errors import Conflict, Unavailable
from standfast.ports import Cell, cell_key
from standfast.types import Item, Listing, SessionKey, Status, Where

log = logging.getLogger(__name__)

AT_ONCE = 200
ROWS_PER_LOOK = 2_000
PLACE, DAMAGE = compat.INSPECTED_CELLS, compat.DAMAGE_CELLS
NOTED = timedelta(days=2)  # longer than one round takes: what is still damaged is found again
SCHEMA_NOTED = timedelta(minutes=30)  # every look compares it

After = list[Any]  # where a part of a root was left, as JSON has it; [] is its beginning
Read = tuple[int, After]  # how many rows were read, and what they end with; [] if that is all


async def inspect(engine: Engine) -> str:
    """Read on from where somebody stopped. What is wrong there, "" if nothing is. Other processes
    may do the same at once: then some rows are read twice."""
    now = engine.now()
    schema = await _check_schema(engine)
    key = cell_key(PLACE, "rows")
    found = await engine.store.registry.get((key,), now=now)
    place = found[0] if found else Cell(key=key, value=["", 0, []])
    root, part, after = place.value
    trouble, left = "", ROWS_PER_LOOK
    while left > 0:
        root = root or await _next_root(engine, "")
        if not root:
            return schema
        try:
            read, after = await PARTS[part](engine, root, after)
            left -= read + 1
        except Unavailable as error:
            if not error.lasting:
                raise
            trouble = str(error)
            await _note(engine, root, trouble)
            left, after = left - AT_ONCE, []
        if not after:
            part = (part + 1) % len(PARTS)
            root = root if part else await _next_root(engine, root)
            if not root:
                break
    with suppress(Conflict):  # another process was here
        await engine.store.registry.put(
            Cell(key=key, value=[root, part, after], version=place.version), now=now
        )
    return trouble or schema


async def _check_schema(engine: Engine) -> str:
    """Of stores that have one."""
    check: Callable[[], Awaitable[str]] | None = getattr(engine.store, "check_schema", None)
    trouble = await check() if check is not None else ""
    if trouble:
        await _note(engine, "schema", trouble, SCHEMA_NOTED)
    return trouble


async def _records(engine: Engine, root: str, after: After) -> Read:
    """And what ties them together."""
    where = Where(
        scopes=(root,), now=engine.now(), descend=True, exact=True, statuses=get_args(Status)
    )
    asked = Listing(where=where, order="id", after=after[0] if after else "", limit=AT_ONCE)
    page = await engine.store.listing(asked)
    ties = await engine.store.relations(root, [record.id for record in page]) if page else []
    return len(page) + len(ties), [page[-1].id] if len(page) == AT_ONCE else []


async def _sessions(engine: Engine, root: str, after: After) -> Read:
    """A session, some of its messages, and behind the last of those its summaries."""
    scope, id_, seq = after or ["", "", 0]
    store, key = engine.store, SessionKey(scope, id_)
    if not id_ or seq < 0:
        sessions = await store.sessions(root, after=key if id_ else None, limit=1)
        return 1, [sessions[0].scope, sessions[0].id, 0] if sessions else []
    page = await store.messages(key, now=engine.now(), after=seq, limit=AT_ONCE)
    if len(page) == AT_ONCE:
        return len(page), [scope, id_, page[-1].seq]
    summaries = await store.summaries(key, limit=AT_ONCE, newest=True)
    return len(page) + len(summaries), [scope, id_, -1]


async def _items(engine: Engine, root: str, after: After) -> Read:
    behind = None
    if after:
        namespace, scope, key = after
        behind = Item(namespace=namespace, scope=scope, key=key, value=None)
    page = await engine.store.items(root, None, now=engine.now(), after=behind, limit=AT_ONCE)
    last = page[-1] if len(page) == AT_ONCE else None
    return len(page), [last.namespace, last.scope, last.key] if last else []


PARTS: tuple[Callable[[Engine, str, After], Awaitable[Read]], ...] = (_records, _sessions, _items)


async def _next_root(engine: Engine, behind: str) -> str:
    async for root in every_root(engine.store):
        if root > behind:
            return root
    return ""


async def _note(engine: Engine, place: str, trouble: str, noted: timedelta = NOTED) -> None:
    log.warning("damaged: %s", trouble, extra={"action": "inspect"})
    key, now = cell_key(DAMAGE, place), engine.now()
    known = await engine.store.registry.get((key,), now=now)
    version = known[0].version if known else 0
    cell = Cell(key=key, value=trouble, expires_at=now + noted, version=version)
    with suppress(Conflict):  # it is noted already
        await engine.store.registry.put(cell, now=now)
