"""A store moves from one vector space to another: the plan, its progress, the cut-over, the drop.

Which records still lack a vector is read off the rows (``Store.due``), so a process may be killed
at any point. One cell of the registry holds what the rows do not say:

    old, new            the two spaces
    records, done, rate the progress, for whoever waits: how many a second
    drop, after         spaces whose vectors go, and the last root in which they are gone

The cell is written before the active space changes and removed when nothing is left to drop.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any

from standfast.changes import Change
from standfast.engine import ACTIVE_SPACE, REEMBEDDING, Engine, active_spaces, every_root
from standfast.errors import Conflict, Unavailable
from standfast.ports import Cell
from standfast.scopes import SYSTEM_ROOT
from standfast.types import ReceiptItem
from standfast.types.pages import Reembedding
from standfast.upkeep.leases import hold, release

log = logging.getLogger(__name__)

MOVE, SECONDS = "reembed", 120  # the lease of the store, to begin and to end a move
SAMPLE = 32  # records that are embedded to estimate how long all of them take
ROOTS_PER_ROUND = 20
ATTEMPTS_MAX = 8


def progress_of(engine: Engine) -> Reembedding | None:
    """How far the store is, as this process read it last; None: it does not move."""
    cell, active = engine.trusted.move, engine.trusted.space
    if cell is not None and cell.value["new"] != active:
        return _told(cell.value)
    if engine.embedder is None or not engine.moves_on:
        return None
    return Reembedding(old=active, new=engine.embedder.space, records=0)


def state_of(engine: Engine) -> str:
    """For an answer, which may be somebody's who sees a part of the store only."""
    progress = progress_of(engine)
    if progress is None or not progress.records:
        return "re-embedding begins with the next maintenance"
    return f"re-embedding from {progress.old} to {progress.new} is {progress.percent}% done"


async def begin_one(engine: Engine, *, shared: bool) -> str:
    """Where the store's space has a successor here one process plans the move; why it cannot."""
    begun = engine.trusted.move and engine.trusted.move.value["new"]
    if not engine.moves_on or (engine.embedder and begun == engine.embedder.space):
        return ""
    async with _held(engine, shared=shared) as mine:
        try:
            if mine:
                await begin(engine)
        except Unavailable as error:
            return str(error)
    return ""


async def end_one(engine: Engine, *, shared: bool) -> list[ReceiptItem]:
    """No record lacks its vector: the store changes its space, and some roots lose the old ones."""
    async with _held(engine, shared=shared) as mine:
        said = await cut_over(engine) if mine and engine.moves_on else ""
        dropped = await drop_old(engine) if mine else 0
    space, why = engine.trusted.space, f"old vectors dropped in {dropped} roots"
    items = [ReceiptItem(id=space, status="stored", reason=said)] if said else []
    return [*items, *([ReceiptItem(id=space, status="erased", reason=why)] if dropped else [])]


@asynccontextmanager
async def _held(engine: Engine, *, shared: bool) -> AsyncIterator[bool]:
    """The lease of the whole move, where other processes do rounds, too."""
    held = not shared or await hold(engine, engine.store, SYSTEM_ROOT, MOVE, SECONDS, engine.name)
    try:
        yield held
    finally:
        if shared and held:
            await release(engine, engine.store, SYSTEM_ROOT, MOVE, engine.name)


async def plan(engine: Engine) -> Reembedding | None:
    """How many records a move to this embedder's space concerns, and how long it would take. None:
    the store has this space already. Unavailable: nothing can be embedded now."""
    assert engine.embedder is not None
    new = engine.embedder.space
    old = (await active_spaces(engine.store, engine.now()))[0]
    if old in ("", new):
        return None
    move = Reembedding(old=old, new=new, records=await _count(engine))
    return replace(move, minutes=await _minutes(engine, move))


async def begin(engine: Engine, *, asked: bool = False) -> None:
    """Write down that the store moves to this embedder's space, and how much that is. A move that
    nobody ``asked`` for is measured first, and leaves one to somebody else's embedder alone.

    Unavailable: such a move is under way, or nothing can be embedded now.
    """
    assert engine.embedder is not None
    new = engine.embedder.space
    active, known = await active_spaces(engine.store, engine.now())
    under_way = known.value["new"] if known is not None else ""
    if under_way == new or (not under_way and active == new):
        return
    if under_way not in ("", active) and not asked and not engine.may_replace(under_way):
        raise Unavailable(f"somebody moves the store to {under_way}; end that with reembed")
    planned = Reembedding(old=active, new=new, records=await _count(engine))
    if not asked:
        planned = replace(planned, minutes=await _minutes(engine, planned))
    left = [*known.value["drop"], under_way] if known is not None else []
    value = {
        **_written(planned),
        "drop": sorted({active, *left} - {new}),
        "after": "",
    }
    cell = replace(known or Cell(key=REEMBEDDING, value=None), value=value)
    with suppress(Conflict):  # another process has written it a moment ago
        engine.trusted.move = await engine.store.registry.put(cell, now=engine.now())
        log.info("%s", planned, extra={"action": "reembed"})


async def advance(engine: Engine, embedded: int, seconds: float) -> None:
    """Count records that have their vector now. For people: what is due is read off the rows."""
    own = engine.embedder.space if engine.embedder else ""
    for _ in range(ATTEMPTS_MAX if embedded else 0):
        cell = (await active_spaces(engine.store, engine.now()))[1]
        if cell is None or cell.value["new"] != own:
            return
        told, rate = cell.value, embedded / max(seconds, 0.001)
        value = {
            **told,
            "done": min(told["records"], told["done"] + embedded),
            "rate": (told["rate"] + rate) / 2 if told["rate"] else rate,  # of late, mostly
        }
        with suppress(Conflict):  # another process counts, too
            cell = replace(cell, value=value)
            engine.trusted.move = await engine.store.registry.put(cell, now=engine.now())
            return


async def cut_over(engine: Engine) -> str:
    """Make the new space the active one, by compare-and-set; what was said of it. "": another
    process was faster, or the store is there already."""
    assert engine.embedder is not None
    store, now, new = engine.store, engine.now(), engine.embedder.space
    cells = {
        cell.key: cell for cell in await store.registry.get((ACTIVE_SPACE, REEMBEDDING), now=now)
    }
    active, move = cells.get(ACTIVE_SPACE), cells.get(REEMBEDDING)
    if active is None or active.value == new or move is None or move.value["new"] != new:
        return ""  # without the cell nobody would know what to drop
    try:
        await store.registry.put(replace(active, value=new), now=now)
    except Conflict:
        return ""
    engine.trusted.space = new
    told = f"moved from {active.value} to {new}"
    log.info("the store %s", told, extra={"action": "reembed"})
    return told


async def drop_old(engine: Engine) -> int:
    """Drop the vectors of former spaces in the next roots; how many roots that was. The cell goes
    when no root is left."""
    store = engine.store
    active, cell = await active_spaces(store, engine.now())
    if cell is None or cell.value["new"] != active:
        return 0
    roots = await store.roots(after=cell.value["after"], limit=ROOTS_PER_ROUND)
    for root in roots:
        for space in cell.value["drop"]:
            await Change(engine, root, "drop space", actor="reembed").commit(drop_space=space)
    now = engine.now()
    if len(roots) < ROOTS_PER_ROUND:
        cell = replace(cell, expires_at=now)
    else:
        cell = replace(cell, value={**cell.value, "after": roots[-1]})
    with suppress(Conflict):  # another process dropped the same, which does no harm
        await store.registry.put(cell, now=now)
    return len(roots)


def _written(move: Reembedding) -> dict[str, Any]:
    rate = move.records / move.minutes / 60 if move.minutes else 0
    told = {"old": move.old, "new": move.new, "records": move.records}
    return {**told, "done": move.done, "rate": rate}


def _told(value: Any) -> Reembedding:
    left = value["records"] - value["done"]
    return Reembedding(
        old=value["old"],
        new=value["new"],
        records=value["records"],
        done=value["done"],
        minutes=left / value["rate"] / 60 if value["rate"] else None,
    )


async def _count(engine: Engine) -> int:
    counted = 0
    async for root in every_root(engine.store):
        found = await engine.store.counts((root,), now=engine.now(), descend=True)
        counted += sum(found.values())
    return counted


async def _minutes(engine: Engine, move: Reembedding) -> float | None:
    """Measured on a few records. The first text is left out, because it loads the model."""
    work = await engine.store.due(engine.now(), kinds=("embed",), space=move.new, limit=SAMPLE)
    some = [one.id for one in work if one.root == work[0].root]
    records = await engine.store.records(work[0].root, some, now=engine.now()) if work else []
    if not records:
        return None
    await _embedded(engine, records[:1])
    begun = time.perf_counter()
    await _embedded(engine, records)
    return (time.perf_counter() - begun) / len(records) * move.records / 60


async def _embedded(engine: Engine, records: Sequence[Any]) -> None:
    found = await engine.embed_records(records)
    if found.trouble:
        raise Unavailable(found.trouble)
