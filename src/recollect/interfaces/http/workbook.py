"""What became of long work, kept in the store for a while: a server that is started again can
still say it.

Whoever does a piece of work says every few seconds that it is alive. What says nothing any more
has ended with its server.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from typing import Any

from recollect.changes import put_item
from recollect.engine import Engine
from recollect.errors import Conflict, RecollectError
from recollect.interfaces.render import as_json
from recollect.scopes import SYSTEM_ROOT
from recollect.types import Item, Receipt

NAMESPACE = "job"
ALIVE = timedelta(seconds=30)  # without a word; then it has ended with its server
LISTED_MAX = 1000
ATTEMPTS = 3  # two words of one piece of work may meet

Entry = dict[str, Any]  # what is kept of one piece of work


class Workbook:
    """Writing here may fail, when the disk is full for one: the work goes on all the same."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

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
            except RecollectError:
                return
            return

    async def _put_once(self, id_: str, value: Entry | None, kept: timedelta) -> None:
        known = await self._items(id_)
        item = Item(
            scope=SYSTEM_ROOT,
            namespace=NAMESPACE,
            key=id_,
            value=value,
            expires_at=self._engine.now() + kept,
            version=known[0].version if known else 0,
        )
        await put_item(self._engine, item, NAMESPACE)

    async def read(self, id_: str = "") -> dict[str, Entry]:
        """One entry, or all of them, by id."""
        return {item.key: item.value for item in await self._items(id_)}

    async def _items(self, id_: str) -> list[Item]:
        return await self._engine.store.items(
            SYSTEM_ROOT,
            NAMESPACE,
            now=self._engine.now(),
            keys=(id_,) if id_ else (),
            limit=LISTED_MAX,
        )

    def is_alive(self, entry: Entry) -> bool:
        return self._engine.now() < datetime.fromisoformat(entry["alive_until"])


def short(receipt: Receipt | None) -> Any:
    """A receipt as it is kept: how many of each, not each. What is said of a memory must not stay
    here when the memory is forgotten."""
    if receipt is None:
        return None
    counts = Counter(item.status for item in receipt.items)
    told = ", ".join(f"{number} {status}" for status, number in sorted(counts.items()))
    note = f"the server was started again since; of the items it knows: {told or 'none'}"
    return as_json(Receipt(items=(), change=receipt.change, notes=(note,), usage=receipt.usage))
