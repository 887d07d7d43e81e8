"""The registry of the dict store, and which roots were gone through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from standfast.errors import Unavailable
from standfast.ports import Cell
from standfast.stores.cells import check_cell, check_version
from standfast.stores.commit import plain_json
from standfast.stores.dict.tables import is_expired


class DictRegistry:
    """``standfast.ports.Registry`` in a plain dict. ``heads`` are the numbers of the last journal
    entries by root, as the store keeps them."""

    def __init__(self, heads: dict[str, int]) -> None:
        self._heads = heads
        self._cells: dict[str, Cell] = {}
        self._settled: dict[str, tuple[int, datetime]] = {}  # root -> up to which entry, until
        self._versions = 0
        self._closed = False

    async def get(self, keys: Sequence[str], *, now: datetime) -> list[Cell]:
        self._check_open()
        found = (self._cells.get(key) for key in keys)
        return [_detached(cell) for cell in found if cell and not is_expired(cell, now)]

    async def put(self, cell: Cell, *, now: datetime) -> Cell:
        self._check_open()
        check_cell(cell)
        new = replace(cell, value=plain_json(cell.value))
        stored = self._cells.get(cell.key)
        check_version(cell, stored.version if stored and not is_expired(stored, now) else 0)
        self._versions += 1
        new = replace(new, version=self._versions)
        written = {**self._cells, new.key: new}
        self._cells = {key: one for key, one in written.items() if not is_expired(one, now)}
        return _detached(new)

    async def settle(self, root: str, *, seq: int, until: datetime) -> None:
        self._check_open()
        if root in self._heads:
            self._settled[root] = (seq, until)

    async def unsettled(self, now: datetime, *, news: bool, limit: int = 100) -> list[str]:
        self._check_open()
        known = [root for root, head in self._heads.items() if head]
        waited = [root for root in known if self._rests_until(root, now) <= now]
        waited.sort(key=lambda root: (root in self._settled, self._rests_until(root, now), root))
        others = sorted(set(known) - set(waited)) if news else []
        stirred = [root for root in others if self._settled[root][0] < self._heads[root]]
        return [*waited, *stirred][: max(0, limit)]

    async def list(
        self, prefix: str, *, now: datetime, after: str = "", limit: int = 100
    ) -> list[Cell]:
        self._check_open()
        found = [
            _detached(cell)
            for key, cell in sorted(self._cells.items())
            if key.startswith(prefix) and key > after and not is_expired(cell, now)
        ]
        return found[: max(0, limit)]

    def _rests_until(self, root: str, now: datetime) -> datetime:
        return self._settled[root][1] if root in self._settled else now

    def stir(self, root: str) -> None:
        """Something happened there that takes no number in the journal."""
        if root in self._settled:
            self._settled[root] = (-1, self._settled[root][1])

    def close(self) -> None:
        self._closed = True
        self._cells.clear()

    def _check_open(self) -> None:
        if self._closed:
            raise Unavailable("this store is closed; open it again")


def _detached(cell: Cell) -> Cell:
    return replace(cell, value=plain_json(cell.value))
