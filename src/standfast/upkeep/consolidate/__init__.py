"""Consolidation: once a day, or when asked to, the memories of a root are gone through.

What is stale is archived, contradictions that became decidable are decided, near duplicates are
joined, weight moves with use, the stable block is chosen, profiles and procedures are proposed.
A run plans first and then writes, in bounded commits that are one change: ``undo`` takes all of
it back. It erases nothing. A run that would retire too much asks first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from hashlib import blake2b

from standfast.engine import Engine
from standfast.models.calls import sum_of
from standfast.types import Receipt, ReceiptItem, Usage
from standfast.upkeep.consolidate.commits import (
    apply_held,
    apply_steps,
    clear_held,
    drop_held,
    hold_plan,
)
from standfast.upkeep.consolidate.marks import Mark, keep, mark_of, set_mark
from standfast.upkeep.consolidate.portraits import add_profiles, choose_stable
from standfast.upkeep.consolidate.practice import practise
from standfast.upkeep.consolidate.run import CONSOLIDATING, LEASE_SECONDS, ConsolidationRun
from standfast.upkeep.consolidate.survey import news, planned, survey
from standfast.upkeep.journal import prune
from standfast.upkeep.leases import hold, release

__all__ = ["apply_held", "consolidate", "consolidate_due", "drop_held"]

ROOTS_PER_ROUND = 20
SEVERAL = 5  # processes may share the work
ROOTS_AT_ONCE = 1000
ACTOR = "maintenance"


async def consolidate(
    engine: Engine, *, scope: str | None = None, dry_run: bool = False, force: bool = False
) -> Receipt:
    """Every root that this handle may change and in which something happened since the last run,
    or one scope and all below it, now."""
    if scope is not None:
        scope = engine.write_scope(scope)
    if scope is not None or engine.bound or dry_run or force:
        by_root, _ = await engine.read_scopes(scope, descend=True)
    else:
        by_root = {root: (root,) for root in await _unsettled(engine)}
    done = {
        root: await _run_in(engine, root, scopes, dry_run=dry_run, force=force)
        for root, scopes in by_root.items()
    }
    return _joined(done)


async def consolidate_due(engine: Engine) -> Receipt:
    """The roots whose last run is too long ago, some of them in each round."""
    waiting = await engine.store.registry.unsettled(
        engine.now(), news=False, limit=SEVERAL * ROOTS_PER_ROUND
    )
    due = [root for root in waiting if root not in engine.volatile_roots]
    if len(due) > ROOTS_PER_ROUND:  # other processes begin with others of them
        due.sort(key=lambda root: blake2b(f"{engine.name} {root}".encode()).digest())
    done = {
        root: await _run_in(engine, root, (root,), dry_run=False, force=False, gently=True)
        for root in due[:ROOTS_PER_ROUND]
    }
    return _joined(done)


async def _unsettled(engine: Engine) -> list[str]:
    """All roots in which something happened, or that nobody has gone through for too long."""
    limit = ROOTS_AT_ONCE
    while True:
        found = await engine.store.registry.unsettled(engine.now(), news=True, limit=limit)
        if len(found) < limit:
            return sorted(found)
        limit *= 10


def _joined(done: Mapping[str, Receipt]) -> Receipt:
    """One receipt; where several roots changed, the notes name the change of each."""
    changes = {root: receipt.change for root, receipt in done.items() if receipt.change}
    notes = [note for receipt in done.values() for note in receipt.notes]
    if len(changes) > 1:
        notes += [f"consolidated {root}: change {change}" for root, change in changes.items()]
    usage = Usage()
    for receipt in done.values():
        usage = sum_of(usage, receipt.usage)
    return Receipt(
        items=tuple(item for receipt in done.values() for item in receipt.items),
        change=next(iter(changes.values())) if len(changes) == 1 else "",
        notes=tuple(notes),
        usage=usage,
    )


async def _run_in(
    engine: Engine,
    root: str,
    scopes: tuple[str, ...],
    *,
    dry_run: bool,
    force: bool,
    gently: bool = False,
) -> Receipt:
    holder = "" if dry_run else engine.new_id()
    if holder and not await hold(engine, engine.store, root, CONSOLIDATING, LEASE_SECONDS, holder):
        item = ReceiptItem(id=root, status="skipped", reason="another worker consolidates it")
        return Receipt(items=(item,))
    mark = await mark_of(engine, root)
    if gently and _is_fresh(engine, mark):  # another process has just done it
        await release(engine, engine.store, root, CONSOLIDATING, holder)
        return Receipt(items=())
    run = ConsolidationRun(
        engine=engine,
        root=root,
        scopes=scopes,
        change=engine.new_id(),
        actor=ACTOR,
        mark=mark,
        started=engine.now(),
        renewed=engine.now(),
        dry=dry_run,
        gently=gently,
        holder=holder,
    )
    try:
        await _go(run, force=force)
    finally:
        if holder:
            await release(engine, engine.store, root, CONSOLIDATING, holder)
    return Receipt(
        items=tuple(run.items),
        change=run.change if run.wrote else "",
        notes=tuple(run.notes),
        usage=run.usage,
    )


def _is_fresh(engine: Engine, mark: Mark) -> bool:
    pause = timedelta(hours=engine.profile.consolidate_hours)
    # Either way: what was tried in the future was tried by a clock that was wrong.
    return mark.tried is not None and abs(engine.now() - mark.tried) < pause


async def _go(run: ConsolidationRun, *, force: bool) -> None:
    engine, profile = run.engine, run.engine.profile
    happened = await news(run)
    run.mark = replace(run.mark, kept=run.mark.kept | set(happened.back))
    surveyed = await survey(run)
    plan = await planned(run, surveyed, happened)
    if not run.dry and happened.back:
        await keep(engine, run.root, happened.back)
    too_much = plan.is_too_much(profile.consolidate_share_max, profile.consolidate_retire_least)
    if too_much and not force:
        run.tell_all(plan.steps if run.dry else ())
        await hold_plan(run, plan)
        if not run.dry and run.whole:
            await set_mark(engine, run.root, run.mark, run.started)
        return
    if run.dry:
        run.tell_all(plan.steps)
    else:
        await apply_steps(run, plan.steps)
    going = frozenset(step.id for step in plan.steps if step.retires)
    await add_profiles(run, surveyed, going)
    await choose_stable(run, surveyed)
    await practise(run)
    if not run.dry:
        await clear_held(run)
        if run.whole:
            await set_mark(engine, run.root, _done(run, happened.seq), run.started)
            await prune(engine, run.root, happened.seq)


def _done(run: ConsolidationRun, seq: int) -> Mark:
    return replace(run.mark, at=run.started, seq=seq)
