"""What became of long work, kept in the store for a while: a server that is started again can
still say it.

Whoever does a piece of work says every few seconds that it is alive. What says nothing any more
has ended with its server.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from standfast.engine import Engine
from standfast.errors import Conflict, StandfastError
from standfast.forgotten import forgotten_marks
from standfast.ports import Cell, cell_key
from standfast.scopes import root_of
from standfast.types import JOB, Receipt
from standfast.types.json import as_json
from standfast.upkeep.leases import CLOCKS_DIFFER

ALIVE = timedelta(seconds=30)  # without a word; then it has ended with its server
LISTED_MAX = 1000
ATTEMPTS = 3  # two words of one piece of work may meet

Entry = dict[str, Any]  # what is kept of one piece of work


class Workbook:
    """Writing here may fail, when the disk is full for one: the work goes on all the same."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._registry = engine.store.registry

    async def write(self, id_: str, entry: Entry, *, kept: timedelta) -> None:
        alive_until = self._engine.now() + ALIVE
        await self._put(id_, {**entry, "alive_until": alive_until.isoformat()}, kept)

    async def drop(self, id_: str) -> None:
        """Nobody asks for it any more."""
        await self._put(id_, None, timedelta(0))

    async def _put(self, id_: str, value: Entry | None, kept: timedelta) -> None:
        for _ in range(ATTEMPTS):
            try:
                await self._put_once(id_, value, kept)
            except Conflict:
                continue
            except StandfastError:
                return
            return

    async def _put_once(self, id_: str, value: Entry | None, kept: timedelta) -> None:
        now = self._engine.now()
        name = cell_key(JOB, id_)
        known = await self._registry.get((name,), now=now)
        version = known[0].version if known else 0
        cell = Cell(key=name, value=value, expires_at=now + kept, version=version)
        await self._registry.put(cell, now=now)

    async def read(self, id_: str = "") -> dict[str, Entry]:
        """One entry, or all of them, by id."""
        now = self._engine.now()
        prefix = cell_key(JOB, "")
        if id_:
            cells = await self._registry.get((prefix + id_,), now=now)
        else:
            cells = await self._registry.list(prefix, now=now, limit=LISTED_MAX)
        return {cell.key.removeprefix(prefix): cell.value for cell in cells}

    async def forgotten(self, bound: Iterable[str]) -> dict[str, int]:
        """What changes when something is forgotten that somebody with these scopes could see."""
        roots = frozenset(map(root_of, bound))
        return await forgotten_marks(self._engine.store, roots, self._engine.now())

    def is_alive(self, entry: Entry) -> bool:
        """Who says so for longer than one may has a clock that is wrong."""
        left = datetime.fromisoformat(entry["alive_until"]) - self._engine.now()
        return timedelta() < left <= ALIVE + CLOCKS_DIFFER


def short(receipt: Receipt | None) -> Any:
    """A receipt as it is kept: how many of each, not each. What is said of a memory must not stay
    here when the memory is forgotten."""
    if receipt is None:
        return None
    counts = Counter(item.status for item in receipt.items)
    told = ", ".join(f"{number} {status}" for status, number in sorted(counts.items()))
    note = f"the server was started again since; of the items it knows: {told or 'none'}"
    return as_json(Receipt(items=(), change=receipt.change, notes=(note,), usage=receipt.usage))
