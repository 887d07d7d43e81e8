"""One round of upkeep: work is derived from the state of the store, never queued."""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from types import ModuleType

from standfast.changes import Change, claim_space, flush_uses
from standfast.engine import Engine
from standfast.errors import Conflict, Invalid, StandfastError, Unavailable
from standfast.index.vectors import says_nothing
from standfast.models.calls import sum_of
from standfast.types import Receipt, ReceiptItem, Usage, Vector, Work
from standfast.upkeep.agenda import Agenda, agendas
from standfast.upkeep.consolidate import consolidate
from standfast.upkeep.expiry import expire
from standfast.upkeep.fold import fold_sessions
from standfast.upkeep.learn import LearnRound, learn_sessions
from standfast.upkeep.learn.lanes import cause_of
from standfast.upkeep.leases import forgive, hold, release
from standfast.upkeep.readers import why_not, why_not_judged

log = logging.getLogger(__name__)

UPKEEP = "upkeep"  # the lease of a root
LEASE_SECONDS = 120
VECTORS_PER_COMMIT = 100


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
        planned = await consolidate(engine, scope=scope, dry_run=True, force=force)
        return replace(planned, notes=(*planned.notes, *await _planned_move(asker)))
    if retry:
        await forgive(asker)
    engine = await engine.steady()
    done = await _as_seen(engine, await one_round(_whole(engine), everything=True))
    consolidated = await consolidate(engine, scope=scope, force=force)
    return Receipt(
        items=(*done.items, *consolidated.items),
        change=consolidated.change or done.change,
        notes=(*done.notes, *consolidated.notes),
        usage=sum_of(done.usage, consolidated.usage),
    )


async def _planned_move(engine: Engine) -> list[str]:
    await engine.space()
    if not engine.moves_on or engine.bound:
        return []
    from standfast.upkeep.reembedding import plan

    try:
        return [str(await plan(engine))]
    except Unavailable as error:
        return [f"no vectors added: {error}"]


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


async def one_round(engine: Engine, *, everything: bool = False, shared: bool = False) -> Receipt:
    """Count uses, add missing vectors, learn, fold, drop what has expired; say what was done.
    With ``everything`` turns do not wait for more before they are learned from; when ``shared``
    other processes do rounds too, and each root is the work of one of them."""
    await flush_uses(engine)
    engine = await engine.steady()
    move = _move_of(engine)
    trouble = await engine.vector_trouble()
    if move is not None and not trouble:
        trouble = await move.begin_one(engine, shared=shared)
    space = engine.embedder.space if engine.embedder and not trouble else ""
    done = LearnRound()
    look = partial(agendas, engine, engine.store, space=space, everything=everything)
    due = await look()
    for root in sorted(due, key=partial(_turn, engine)) if shared else due:
        if not shared:
            await _work_or_say(engine, root, due[root], done, everything=everything)
        elif await hold(engine, engine.store, root, UPKEEP, LEASE_SECONDS, engine.name):
            try:
                now_due = await look(root=root)  # another process may have done it since
                if root in now_due:
                    await _work_or_say(engine, root, now_due[root], done, everything=everything)
            finally:
                await release(engine, engine.store, root, UPKEEP, engine.name)
    if move is not None and not trouble and not any(agenda.embed for agenda in due.values()):
        done.items += await move.end_one(engine, shared=shared)
    await work_on_volatile(engine, done, everything=everything)
    await engine.store.scrub()  # finishes what a reader kept a forget() from finishing
    notes = [f"no vectors added: {trouble}"] if trouble and engine.embedder else []
    if why := why_not_judged(engine):
        notes.append(why)
    if move is not None and (progress := move.progress_of(engine)):
        notes.append(str(progress))
    if (engine.profile.learn != "off") and (why := why_not(engine, engine.store)):
        notes.append(why)
    changes = list(done.changes.values())
    notes += [f"learned in {root}: change {change}" for root, change in done.changes.items()]
    return Receipt(
        items=tuple(done.items),
        change=changes[0] if len(changes) == 1 else "",
        notes=tuple(notes),
        usage=done.usage,
    )


def _move_of(engine: Engine) -> ModuleType | None:
    """What moves the store to another vector space, loaded where it moves."""
    if not engine.moves_on and engine.trusted.move is None:
        return None
    from standfast.upkeep import reembedding

    return reembedding


def _turn(engine: Engine, root: str) -> bytes:
    """Each process has an order of its own, so that they do not wait for each other."""
    return blake2b(f"{engine.name} {root}".encode(), digest_size=8).digest()


async def _work_or_say(
    engine: Engine, root: str, due: Agenda, done: LearnRound, *, everything: bool
) -> None:
    """One root's damaged rows are no reason to leave the others alone."""
    try:
        await _work_in(engine, root, due, done, everything=everything)
    except Unavailable as error:
        if not error.lasting or getattr(engine.store, "trouble", None):
            raise
        done.items.append(ReceiptItem(id=root, status="failed", reason=str(error)))
    except StandfastError:
        raise
    except Exception as error:  # nor is a message that cannot be summarized
        reason = cause_of(error)
        log.error("upkeep of %s failed: %s", root, reason, extra={"action": "maintain"})
        done.items.append(ReceiptItem(id=root, status="failed", reason=reason))


async def _work_in(
    engine: Engine, root: str, due: Agenda, done: LearnRound, *, everything: bool
) -> None:
    store = engine.store
    if due.embed and engine.embedder:
        embedded, usage = await embed_work(engine, due.embed, engine.embedder.space)
        done.items += embedded
        done.usage = sum_of(done.usage, usage)
    await learn_sessions(engine, store, due.learn, done, everything=everything)
    done.items += await fold_sessions(engine, store, due.fold)
    if due.expire:
        await expire(engine, root)
    # Marks and the like are nobody's memories: they go without a word.
    done.items += [
        ReceiptItem(id=one.id, status="erased", reason="expired")
        for one in due.expire
        if one.detail != "item"
    ]


async def work_on_volatile(engine: Engine, done: LearnRound, *, everything: bool) -> None:
    """Sessions of this process alone; nobody else sees them."""
    store = engine.volatile
    for due in (await agendas(engine, store, space="", everything=everything)).values():
        await learn_sessions(engine, store, due.learn, done, everything=everything)
        done.items += await fold_sessions(engine, store, due.fold)


async def embed_work(
    engine: Engine, work: list[Work], space: str
) -> tuple[list[ReceiptItem], Usage]:
    """Vectors of ``space``, which must be the embedder's, for records that lack them, and what
    they cost."""
    items: list[ReceiptItem] = []
    usage = Usage()
    begun = time.perf_counter()
    for root in dict.fromkeys(w.root for w in work):
        ids = [w.id for w in work if w.root == root]
        for start in range(0, len(ids), VECTORS_PER_COMMIT):
            part = ids[start : start + VECTORS_PER_COMMIT]
            done, cost = await _embed_some(engine, root, part, space)
            items += done
            usage = sum_of(usage, cost)
            if done and all(item.status == "failed" for item in done):
                break  # the rest of this root would fail alike
    if move := _move_of(engine):
        embedded = sum(item.status == "stored" for item in items)
        await move.advance(engine, embedded, time.perf_counter() - begun)
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
