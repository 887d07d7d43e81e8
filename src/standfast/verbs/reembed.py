"""reembed: move a live store to another vector space, resumable, never mixing the two.

Vectors of the new space are added beside the old ones while every reader goes on with the old
space. When no record lacks one, a single compare-and-set makes the new space the active one;
then the old vectors are dropped. What is done is seen from the rows, so a run that was killed
is simply started again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from standfast.changes import Change, claim_space
from standfast.engine import Engine
from standfast.errors import Conflict, Denied, Invalid, Unavailable
from standfast.models.calls import sum_of
from standfast.types import Receipt, ReceiptItem, Usage
from standfast.upkeep.loop import embed_work

RECORDS_PER_ROUND = 500
FAILURES_MAX = 5

Progress = Callable[[int], None]


async def reembed(engine: Engine, progress: Progress | None = None) -> Receipt:
    """Bring every record into the space of this handle's embedder and cut over."""
    if engine.bound:
        raise Denied("this moves the whole store; it takes a handle that is bound to no scope")
    if engine.embedder is None:
        raise Invalid("there is no embedder to move to; open the store with the new one")
    target = engine.embedder.space
    active = await engine.space_cell()
    embedded, usage = await _embed_everything(engine, target, progress or (lambda _: None))
    old = str(active.value) if active else ""
    if active is None:
        await claim_space(engine, target)
    elif old != target:
        await _cut_over(engine, target)
    item = ReceiptItem(id=target, status="stored", reason=f"{embedded} records embedded")
    notes = () if old in ("", target) else (f"moved from {old} to {target}",)
    return Receipt(items=(item,), notes=notes, usage=usage)


async def _embed_everything(engine: Engine, target: str, progress: Progress) -> tuple[int, Usage]:
    done = failures = 0
    usage = Usage()
    while work := await engine.store.due(
        engine.now(), kinds=("embed",), space=target, limit=RECORDS_PER_ROUND
    ):
        items, cost = await embed_work(engine, work, target)
        usage = sum_of(usage, cost)
        added = sum(item.status == "stored" for item in items)
        failures = 0 if added else failures + 1
        if failures > FAILURES_MAX:
            said = next((item.reason for item in items if item.reason), "records keep changing")
            raise Unavailable(f"re-embedding stopped after {done} records: {said}; run it again")
        done += added
        progress(done)
    return done, usage


async def _cut_over(engine: Engine, target: str) -> None:
    """One compare-and-set; then the old vectors go, root by root."""
    active = await engine.space_cell()
    if active is None or active.value == target:
        return
    old = str(active.value)
    try:
        await engine.store.registry.put(replace(active, value=target), now=engine.now())
    except Conflict:
        raise Unavailable("somebody else moved the store meanwhile; look and try again") from None
    await drop_vectors(engine, old)


async def drop_vectors(engine: Engine, space: str) -> None:
    for root in await engine.all_roots():
        await Change(engine, root, "drop space", actor="reembed").commit(drop_space=space)
