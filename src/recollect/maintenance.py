"""One round of upkeep: work is derived from the state of the store, never queued."""

from __future__ import annotations

from recollect.engine import Engine
from recollect.errors import Conflict, Invalid, Unavailable
from recollect.scopes import root_of
from recollect.types import Receipt, ReceiptItem, Usage, Work

WORK_PER_ROUND = 500
VECTORS_PER_COMMIT = 100


async def maintain(engine: Engine) -> Receipt:
    """Count uses, add missing vectors, drop what has expired; say what was done."""
    await flush_uses(engine)
    trouble = await engine.vector_trouble()
    space = engine.embedder.space if engine.embedder and not trouble else ""
    work = await engine.store.due(engine.now(), space=space, limit=WORK_PER_ROUND)
    items = await _embed(engine, [w for w in work if w.kind == "embed"])
    items += await _expire(engine, [w for w in work if w.kind == "expire"])
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


async def _embed(engine: Engine, work: list[Work]) -> list[ReceiptItem]:
    items: list[ReceiptItem] = []
    for root in dict.fromkeys(w.root for w in work):
        ids = [w.id for w in work if w.root == root]
        for start in range(0, len(ids), VECTORS_PER_COMMIT):
            items += await _embed_some(engine, root, ids[start : start + VECTORS_PER_COMMIT])
    return items


async def _embed_some(engine: Engine, root: str, ids: list[str]) -> list[ReceiptItem]:
    records = await engine.store.records(root, ids, now=engine.now())
    vectors, trouble = await engine.embed([record.text for record in records])
    found = {
        record.id: vector
        for record, vector in zip(records, vectors, strict=True)
        if vector is not None
    }
    if found and engine.embedder is not None:
        if not await engine.space():
            await engine.claim_space(engine.embedder.space)
        batch = engine.batch(
            root,
            "embed",
            actor="maintenance",
            change="",
            vectors=found,
            space=engine.embedder.space,
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


async def _expire(engine: Engine, work: list[Work]) -> list[ReceiptItem]:
    for root in dict.fromkeys(w.root for w in work):
        batch = engine.batch(root, "expire", actor="maintenance", change="", sweep=True)
        await engine.commit(engine.store, batch)
    if work:
        await engine.store.scrub()
    return [ReceiptItem(id=w.id, status="erased", reason="expired") for w in work]
