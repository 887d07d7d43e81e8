"""reembed: move a live store to another vector space now, resumable, never mixing the two.

Vectors of the new space are added beside the old ones while every reader goes on with the old
space. When no record lacks one, a single compare-and-set makes the new space the active one;
then the old vectors are dropped. What is done is seen from the rows, so a run that was killed
is simply started again. Maintenance does the same by itself, in small steps, where the store's
space is one that its embedder takes the place of.
"""

from __future__ import annotations

from collections.abc import Callable

from standfast.changes import claim_space
from standfast.engine import Engine
from standfast.errors import Denied, Invalid, Unavailable
from standfast.models.calls import sum_of
from standfast.types import Receipt, ReceiptItem, Usage
from standfast.upkeep.loop import embed_work
from standfast.upkeep.reembedding import begin, cut_over, drop_old

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
    active = await engine.space()
    if active:
        await begin(engine, asked=True)
    embedded, usage = await _embed_everything(engine, target, progress or (lambda _: None))
    if not active:
        await claim_space(engine, target)
    moved = await cut_over(engine)
    if not moved and await engine.space() != target:
        raise Unavailable("somebody else moved the store meanwhile; look and try again")
    while await drop_old(engine):
        pass
    item = ReceiptItem(id=target, status="stored", reason=f"{embedded} records embedded")
    return Receipt(items=(item,), notes=(moved,) if moved else (), usage=usage)


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
