"""The journal, kept no longer than wanted.

Only what is older than the period that was set goes, and only once it was gone through. A change
of several commits goes as a whole, so that undo never sees half of one; what says that something
was forgotten, revoked or opted out of stays for ever, without a word of what it was. A mirror that
was away for longer compares everything when it comes back.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from standfast import compat
from standfast.changes import Change
from standfast.engine import Engine
from standfast.errors import Conflict
from standfast.ports import Cell, cell_key
from standfast.types import Entry

ENTRIES_PAGE = 200
ACCOUNTED_FOR = ("forget", "policy", "revoke")
PRUNED = compat.PRUNED_CELLS


async def prune(engine: Engine, root: str, read_up_to: int) -> int:
    """Drop old entries up to that number; how many. Where nothing is set, none is old."""
    if not engine.journal_days:
        return 0
    before = engine.now() - timedelta(days=engine.journal_days)
    done = await _done(engine, root)
    last, dropped, waiting = done.value, 0, False
    while page := await engine.store.journal(root, after=last, limit=ENTRIES_PAGE):
        old = [entry for entry in page if entry.at < before and entry.seq <= read_up_to]
        kept = await _kept(engine, root, old, before)
        gone = [entry.seq for entry in old if entry.seq not in kept]
        if gone:
            await Change(engine, root, "prune").commit(prune=tuple(gone))
            dropped += len(gone)
        waiting = waiting or any(kept.values())
        if len(old) < len(page):
            last = old[-1].seq if old else last
            break
        last = page[-1].seq
    if last > done.value and not waiting:
        await _note(engine, done, last)
    return dropped


async def _kept(
    engine: Engine, root: str, entries: Iterable[Entry], before: datetime
) -> dict[int, bool]:
    """The numbers of those that stay, and whether they only wait for the rest of their change."""
    kept: dict[int, bool] = {}
    newest: dict[str, datetime] = {}
    for entry in entries:
        if entry.reason in ACCOUNTED_FOR:
            kept[entry.seq] = False
            continue
        if entry.change != entry.batch and entry.change not in newest:
            found = await engine.store.journal(root, change=entry.change, newest=True, limit=1)
            newest[entry.change] = found[-1].at if found else entry.at
        if newest.get(entry.change, entry.at) >= before:
            kept[entry.seq] = True
    return kept


async def _done(engine: Engine, root: str) -> Cell:
    """Up to which entry it was decided for good what stays."""
    key = cell_key(PRUNED, root)
    found = await engine.store.registry.get((key,), now=engine.now())
    return found[0] if found else Cell(key=key, value=0)


async def _note(engine: Engine, done: Cell, last: int) -> None:
    cell = Cell(key=done.key, value=last, version=done.version)
    try:
        await engine.store.registry.put(cell, now=engine.now())
    except Conflict:
        return  # another process was there; it looks at the same entries again, and drops none
