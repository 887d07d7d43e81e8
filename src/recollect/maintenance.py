"""One round of upkeep: work is derived from the state of the store, never queued."""

from __future__ import annotations

import asyncio
import logging

from recollect.engine import Engine
from recollect.errors import Conflict, Invalid, RecollectError, Unavailable
from recollect.folding import fold_due_sessions
from recollect.leases import hold
from recollect.scopes import SYSTEM_ROOT, root_of
from recollect.types import Receipt, ReceiptItem, Usage, Work
from recollect.vectors import embedding_text

log = logging.getLogger(__name__)

PAUSE_SECONDS = 5.0
PAUSE_SECONDS_BUSY = 0.2
PAUSE_SECONDS_MAX = 300.0
LEASE_SECONDS = 30
WORK_PER_ROUND = 500
VECTORS_PER_COMMIT = 100


async def maintain(engine: Engine) -> Receipt:
    """Count uses, add missing vectors, drop what has expired; say what was done."""
    await flush_uses(engine)
    trouble = await engine.vector_trouble()
    items: list[ReceiptItem] = []
    if engine.embedder and not trouble:
        space = engine.embedder.space
        work = await engine.store.due(
            engine.now(), kinds=("embed",), space=space, limit=WORK_PER_ROUND
        )
        items += await embed_work(engine, work, space)
    items += await fold_due_sessions(engine)
    items += await _expire(engine)
    await engine.store.scrub()  # finishes what a reader kept a forget() from finishing
    notes = [f"no vectors added: {trouble}"] if trouble and engine.embedder else []
    embedded = sum(1 for item in items if item.reason == "vector added")
    return Receipt(items=tuple(items), notes=tuple(notes), usage=Usage(texts_embedded=embedded))


async def flush_uses(engine: Engine) -> None:
    """Counters are a hint, not a memory: losing them to a full disk is no error."""
    if not engine.used:
        return
    used, engine.used = engine.used, type(engine.used)()
    found = await engine.find_records(tuple(used))
    by_root: dict[str, list[str]] = {}
    for record, store in found.values():
        if store is engine.store:
            by_root.setdefault(root_of(record.scope), []).extend([record.id] * used[record.id])
    for root, ids in by_root.items():
        batch = engine.batch(root, "uses", actor="", change="", used=tuple(ids))
        try:
            await engine.commit(engine.store, batch)
        except Unavailable:
            return


async def embed_work(engine: Engine, work: list[Work], space: str) -> list[ReceiptItem]:
    """Vectors of ``space``, which must be the embedder's, for records that lack them."""
    items: list[ReceiptItem] = []
    for root in dict.fromkeys(w.root for w in work):
        ids = [w.id for w in work if w.root == root]
        for start in range(0, len(ids), VECTORS_PER_COMMIT):
            part = ids[start : start + VECTORS_PER_COMMIT]
            items += await _embed_some(engine, root, part, space)
    return items


async def _embed_some(engine: Engine, root: str, ids: list[str], space: str) -> list[ReceiptItem]:
    records = await engine.store.records(root, ids, now=engine.now())
    vectors, trouble = await engine.embed_texts([embedding_text(record) for record in records])
    found = {
        record.id: vector
        for record, vector in zip(records, vectors, strict=True)
        if vector is not None
    }
    if found:
        if not await engine.space():
            await engine.claim_space(space)
        batch = engine.batch(
            root, "embed", actor="maintenance", change="", vectors=found, space=space
        )
        try:
            await engine.commit(engine.store, batch)
        except (Conflict, Invalid):
            return []  # a record went away meanwhile; the next round sees what is left
    return [
        ReceiptItem(id=record.id, status="stored", reason="vector added")
        if record.id in found
        else ReceiptItem(id=record.id, status="failed", reason=trouble)
        for record in records
    ]


async def _expire(engine: Engine) -> list[ReceiptItem]:
    work = await engine.store.due(engine.now(), kinds=("expire",), limit=WORK_PER_ROUND)
    for root in dict.fromkeys(w.root for w in work):
        batch = engine.batch(root, "expire", actor="maintenance", change="", sweep=True)
        await engine.commit(engine.store, batch)
    # Leases and the like are nobody's memories: they go without a word.
    return [
        ReceiptItem(id=w.id, status="erased", reason="expired") for w in work if w.detail != "item"
    ]


async def run_in_background(engine: Engine) -> None:
    """Rounds of upkeep for as long as the memory is open. What fails is said once and tried
    again later, less and less often; a full disk must not fill the log too."""
    pause = PAUSE_SECONDS
    while True:
        await asyncio.sleep(pause)
        try:
            if await hold(
                engine, engine.store, SYSTEM_ROOT, "maintain", LEASE_SECONDS, engine.name
            ):
                receipt = await maintain(engine)
                pause = PAUSE_SECONDS if not receipt.items else PAUSE_SECONDS_BUSY
        except RecollectError as error:
            if pause < PAUSE_SECONDS_MAX:
                log.warning("upkeep failed: %s", error, extra={"action": "maintain"})
            pause = min(pause * 2, PAUSE_SECONDS_MAX)
