"""Waiting for what is written next: one look at the file for all who wait, however many they are.
Another process may write, so somebody has to look; a look of each would keep every reader busy."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping

import apsw

from standfast.stores.rows import to_json
from standfast.stores.sqlite.connection import select

POLL_SECONDS = 0.05
Heads = Callable[[Iterable[str]], Awaitable[Mapping[str, int]]]
Waiting = dict[asyncio.Future[None], tuple[str, int]]


class NewsDesk:
    """``heads``: the number of the last entry of each root that is asked for."""

    def __init__(self, heads: Heads) -> None:
        self._heads = heads
        self._desks: dict[asyncio.AbstractEventLoop, tuple[Waiting, asyncio.Task[None]]] = {}

    async def wait(self, root: str, after: int, seconds: float) -> None:
        """Until the root has an entry behind ``after``, or for so long."""
        loop = asyncio.get_running_loop()
        if loop not in self._desks:
            waiting: Waiting = {}
            self._desks[loop] = waiting, loop.create_task(self._look(loop, waiting))
        waiting, _ = self._desks[loop]
        told = loop.create_future()
        waiting[told] = root, after
        try:
            await asyncio.wait((told,), timeout=seconds)
            if told.done():
                told.result()
        finally:
            waiting.pop(told, None)

    async def _look(self, loop: asyncio.AbstractEventLoop, waiting: Waiting) -> None:
        try:
            await asyncio.sleep(POLL_SECONDS)
            while waiting:
                found = await self._heads({root for root, _ in waiting.values()})
                for told, (root, after) in list(waiting.items()):
                    if found.get(root, 0) > after and not told.done():
                        told.set_result(None)
                await asyncio.sleep(POLL_SECONDS)
        except Exception as error:  # it is theirs, and whoever waits next looks anew
            for told in waiting:
                if not told.done():
                    told.set_exception(error)
        finally:
            del self._desks[loop]


def heads(db: apsw.Connection, roots: Iterable[str]) -> dict[str, int]:
    asked = to_json(sorted(roots))
    rows = select(
        db, "SELECT name, head FROM root WHERE name IN (SELECT value FROM json_each(?))", asked
    )
    return dict(rows)
