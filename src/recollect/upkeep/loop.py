"""One round of upkeep: work is derived from the state of the store, never queued."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace

from recollect.changes import Change, claim_space
from recollect.engine import Engine
from recollect.errors import Conflict, Invalid, RecollectError, Unavailable
from recollect.index.vectors import says_nothing
from recollect.models.calls import sum_of
from recollect.scopes import SYSTEM_ROOT, root_of
from recollect.types import Receipt, ReceiptItem, Usage, Vector, Work
from recollect.upkeep.consolidate import consolidate, consolidate_due
from recollect.upkeep.fold import fold_due_sessions
from recollect.upkeep.learn import learn_due_sessions
from recollect.upkeep.leases import forgive, hold

log = logging.getLogger(__name__)

PAUSE_SECONDS = 5.0
PAUSE_SECONDS_BUSY = 0.2
PAUSE_SECONDS_MAX = 300.0
LEASE_SECONDS = 30
WORK_PER_ROUND = 500
VECTORS_PER_COMMIT = 100
PAUSE_SECONDS_FAILING = 60.0
LOOK_SECONDS = 600.0  # between two looks for roots that were not consolidated for long


async def maintain(
    engine: Engine,
    *,
    dry_run: bool = False,
    scope: str | None = None,
    force: bool = False,
    retry: bool = False,
) -> Receipt:
    """A round by hand: what is due, and consolidation now. A dry run only says what that would
    change. ``retry``: what is stuck there may be tried again."""
    asker = engine if scope is None else engine.narrowed((scope,), engine.rights)
    if dry_run:
        return await consolidate(engine, scope=scope, dry_run=True, force=force)
    if retry:
        await forgive(asker)
    done = await _as_seen(engine, await one_round(_whole(engine), everything=True))
    consolidated = await consolidate(engine, scope=scope, force=force)
    return Receipt(
        items=(*done.items, *consolidated.items),
        change=consolidated.change or done.change,
        notes=(*done.notes, *consolidated.notes),
        usage=sum_of(done.usage, consolidated.usage),
    )


def _whole(engine: Engine) -> Engine:
    """Upkeep is for the whole store, whoever asks for it."""
    return replace(engine, bound=())


async def _as_seen(engine: Engine, done: Receipt) -> Receipt:
    """What was done, as far as it is the asker's: others' records, costs and roots are theirs."""
    if not engine.bound:
        return done
    ids = [id_ for item in done.items for id_ in (item.id, item.record) if id_]
    own = await engine.find_records(ids)
    return Receipt(items=tuple(i for i in done.items if i.id in own or i.record in own))


async def one_round(engine: Engine, *, everything: bool = False) -> Receipt:
    """Count uses, add missing vectors, learn, fold, drop what has expired; say what was done.
    With ``everything`` turns do not wait for more before they are learned from."""
    await flush_uses(engine)
    trouble = await engine.vector_trouble()
    items: list[ReceiptItem] = []
    usage = Usage()
    if engine.embedder and not trouble:
        space = engine.embedder.space
        work = await engine.store.due(
            engine.now(), kinds=("embed",), space=space, limit=WORK_PER_ROUND
        )
        items, usage = await embed_work(engine, work, space)
    learned = await learn_due_sessions(engine, everything=everything)
    items += learned.items
    items += await fold_due_sessions(engine)
    items += await _expire(engine)
    await engine.store.scrub()  # finishes what a reader kept a forget() from finishing
    notes = [f"no vectors added: {trouble}"] if trouble and engine.embedder else []
    changes = list(learned.changes.values())
    notes += [f"learned in {root}: change {change}" for root, change in learned.changes.items()]
    return Receipt(
        items=tuple(items),
        change=changes[0] if len(changes) == 1 else "",
        notes=tuple(notes),
        usage=sum_of(usage, learned.usage),
    )


async def flush_uses(engine: Engine) -> None:
    """Counters are a hint, not a memory: losing them to a full disk is no error."""
    if not engine.used:
        return
    used = engine.used.copy()
    engine.used.clear()  # the same counter serves every narrowed handle
    found = await engine.find_records(tuple(used))
    by_root: dict[str, list[str]] = {}
    for record, store in found.values():
        if store is engine.store:
            by_root.setdefault(root_of(record.scope), []).extend([record.id] * used[record.id])
    for root, ids in by_root.items():
        change = Change(engine, root, "uses")
        change.used += ids
        try:
            await change.commit()
        except Unavailable:
            return


async def embed_work(
    engine: Engine, work: list[Work], space: str
) -> tuple[list[ReceiptItem], Usage]:
    """Vectors of ``space``, which must be the embedder's, for records that lack them, and what
    they cost."""
    items: list[ReceiptItem] = []
    usage = Usage()
    for root in dict.fromkeys(w.root for w in work):
        ids = [w.id for w in work if w.root == root]
        for start in range(0, len(ids), VECTORS_PER_COMMIT):
            part = ids[start : start + VECTORS_PER_COMMIT]
            done, cost = await _embed_some(engine, root, part, space)
            items += done
            usage = sum_of(usage, cost)
            if done and all(item.status == "failed" for item in done):
                break  # the rest of this root would fail alike
    return items, usage


async def _embed_some(
    engine: Engine, root: str, ids: list[str], space: str
) -> tuple[list[ReceiptItem], Usage]:
    records = await engine.store.records(root, ids, now=engine.now())
    embedded = await engine.embed_records(records)
    found = {
        record.id: vector
        for record, vector in zip(records, embedded.vectors, strict=True)
        if vector is not None
    }
    if found:
        if not await engine.space():
            await claim_space(engine, space)
        change = Change(engine, root, "embed", actor="maintenance")
        change.vectors, change.space = found, space
        try:
            await change.commit()
        except (Conflict, Invalid):
            # A record went away meanwhile; the next round sees what is left.
            return [], embedded.usage
    items = [
        ReceiptItem(id=record.id, status="stored", reason=_added(found[record.id]))
        if record.id in found
        else ReceiptItem(id=record.id, status="failed", reason=embedded.trouble)
        for record in records
    ]
    return items, replace(embedded.usage, texts_embedded=len(found))


def _added(vector: Vector) -> str:
    if not says_nothing(vector):
        return "vector added"
    return "found by keyword only: it means nothing to the embedder, or may not be sent to it"


async def _expire(engine: Engine) -> list[ReceiptItem]:
    work = await engine.store.due(engine.now(), kinds=("expire",), limit=WORK_PER_ROUND)
    for root in dict.fromkeys(w.root for w in work):
        await Change(engine, root, "expire", actor="maintenance").commit(sweep=True)
    # Leases and the like are nobody's memories: they go without a word.
    return [
        ReceiptItem(id=w.id, status="erased", reason="expired") for w in work if w.detail != "item"
    ]


async def run_in_background(engine: Engine) -> None:
    """Rounds of upkeep for as long as the memory is open. What fails is said once and tried
    again later, less and less often; a full disk must not fill the log too."""
    pause = PAUSE_SECONDS
    look_again = 0.0
    while True:
        await asyncio.sleep(pause)
        try:
            if await hold(
                engine, engine.store, SYSTEM_ROOT, "maintain", LEASE_SECONDS, engine.name
            ):
                receipt = await one_round(engine)
                if asyncio.get_running_loop().time() >= look_again:
                    look_again = asyncio.get_running_loop().time() + LOOK_SECONDS
                    await consolidate_due(engine)
                pause = _pause_after(receipt, pause)
        except RecollectError as error:
            if pause < PAUSE_SECONDS_MAX:
                log.warning("upkeep failed: %s", error, extra={"action": "maintain"})
            pause = min(pause * 2, PAUSE_SECONDS_MAX)


def _pause_after(receipt: Receipt, pause: float) -> float:
    """Soon again while there is work; less often while all of it fails, because a service that
    is down is asked in vain."""
    if not receipt.items:
        return PAUSE_SECONDS
    if all(item.status == "failed" for item in receipt.items):
        return min(max(pause, PAUSE_SECONDS) * 2, PAUSE_SECONDS_FAILING)
    return PAUSE_SECONDS_BUSY
