"""The light doctor: all records of all roots are read again, some at a time, however seldom anybody
asks for them. Reading is what compares a row with its checksum. What is found damaged is noted in
the registry, where whoever watches the health of the store sees it."""

from __future__ import annotations

import logging
from contextlib import suppress
from datetime import timedelta
from typing import get_args

from recollect.engine import Engine, every_root
from recollect.errors import Conflict, Unavailable
from recollect.ports import Cell, cell_key
from recollect.types import Listing, Status, Where

log = logging.getLogger(__name__)

AT_ONCE = 200
PAGES_PER_LOOK = 10
PLACE, DAMAGE = "inspected", "damage"
NOTED = timedelta(days=2)  # longer than one round takes: what is still damaged is found again


async def inspect(engine: Engine) -> str:
    """Read on from where somebody stopped. What is wrong there, "" if nothing is. Other processes
    may do the same at once: then some rows are read twice."""
    now = engine.now()
    key = cell_key(PLACE, "records")
    found = await engine.store.registry.get((key,), now=now)
    place = found[0] if found else Cell(key=key, value=["", ""])
    root, after = place.value
    trouble = ""
    for _ in range(PAGES_PER_LOOK):
        root = root or await _next_root(engine, "")
        if not root:
            return ""
        try:
            after = await _read_some(engine, root, after)
        except Unavailable as error:
            if not error.lasting:
                raise
            trouble = str(error)
            await _note(engine, root, trouble)
            after = ""
        if not after:
            root = await _next_root(engine, root)
            if not root:
                break
    with suppress(Conflict):  # another process was here
        await engine.store.registry.put(
            Cell(key=key, value=[root, after], version=place.version), now=now
        )
    return trouble


async def _read_some(engine: Engine, root: str, after: str) -> str:
    """The last id of a page; "" if it was the last page."""
    where = Where(
        scopes=(root,), now=engine.now(), descend=True, exact=True, statuses=get_args(Status)
    )
    page = await engine.store.listing(Listing(where=where, order="id", after=after, limit=AT_ONCE))
    return page[-1].id if len(page) == AT_ONCE else ""


async def _next_root(engine: Engine, behind: str) -> str:
    async for root in every_root(engine.store):
        if root > behind:
            return root
    return ""


async def _note(engine: Engine, root: str, trouble: str) -> None:
    log.warning("damaged: %s", trouble, extra={"action": "inspect"})
    key, now = cell_key(DAMAGE, root), engine.now()
    known = await engine.store.registry.get((key,), now=now)
    version = known[0].version if known else 0
    cell = Cell(key=key, value=trouble, expires_at=now + NOTED, version=version)
    with suppress(Conflict):  # it is noted already
        await engine.store.registry.put(cell, now=now)
