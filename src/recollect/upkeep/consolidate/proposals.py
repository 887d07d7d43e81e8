"""Plans that would retire too much: kept as a proposal until a person has decided.

A proposal names records by id and version and carries none of their text: what is forgotten
meanwhile is gone from it too. There is one per scope that was gone through at most; a newer plan
takes its place. Who goes through a part of a root asks in that part: the rest is others'.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from recollect.changes import Change
from recollect.engine import Engine
from recollect.errors import Conflict, Invalid
from recollect.scopes import root_of
from recollect.types import Erase, Item, Receipt, ReceiptItem
from recollect.upkeep.consolidate.commits import apply_steps
from recollect.upkeep.consolidate.marks import Mark, keep
from recollect.upkeep.consolidate.run import ConsolidationRun
from recollect.upkeep.consolidate.steps import Plan, Step, plain_step, step_from

NAMESPACE = "proposal"
PREFIX = "consolidate/"
STEPS_MAX = 10_000


async def hold_plan(run: ConsolidationRun, plan: Plan) -> None:
    """Store the plan instead of doing it, and say how to go on."""
    known = await _held(run.engine, run.scopes[0])
    # Weight is moved by the next run; only what concerns the stock of memories is asked about.
    steps = [plain_step(step) for step in plan.steps if step.what != "importance"][:STEPS_MAX]
    same = known is not None and known.value.get("steps") == steps
    key = known.key if known else f"{PREFIX}{run.change}"
    if not same and not run.dry:
        value = {
            "action": "consolidate",
            "about": f"would retire {plan.retired} of {plan.live} memories",
            "at": run.started.isoformat(),
            "scopes": list(run.scopes),
            "steps": steps,
        }
        await _put(run, key, value, known)
    reason = (
        f"would retire {plan.retired} of {plan.live} memories, which is more than "
        f"{run.engine.profile.consolidate_share_max:.0%}: nothing was done; approve with "
        f"`recollect review approve {key}`, or run maintain --force"
    )
    run.items.append(ReceiptItem(id=key, status="pending", reason=reason))


async def _put(
    run: ConsolidationRun, key: str, value: Mapping[str, Any], known: Item | None
) -> None:
    item = Item(
        scope=run.scopes[0],
        namespace=NAMESPACE,
        key=key,
        value=value,
        version=known.version if known else 0,
    )
    change = Change(run.engine, run.root, "propose", actor=run.actor, id=run.engine.new_id())
    change.items.append(item)
    await change.commit()


async def _held(engine: Engine, scope: str) -> Item | None:
    found = await engine.store.items(
        root_of(scope), NAMESPACE, now=engine.now(), scopes=(scope,), prefix=PREFIX, limit=1
    )
    return found[0] if found and isinstance(found[0].value, Mapping) else None


async def clear_held(run: ConsolidationRun) -> None:
    """A run that went through leaves nothing to ask about."""
    known = await _held(run.engine, run.scopes[0])
    if known is not None:
        with suppress(Conflict):  # somebody is deciding about it just now
            await _erase(run.engine, known, run.actor)


async def apply_held(engine: Engine, item: Item, actor: str) -> Receipt:
    """Do what a held proposal says, as one change. Steps whose records changed meanwhile are
    skipped; the proposal is gone afterwards."""
    steps = held_steps(item)
    run = ConsolidationRun(
        engine=engine,
        root=root_of(item.scope),
        scopes=(item.scope,),
        change=engine.new_id(),
        actor=actor,
        mark=Mark(),
        started=engine.now(),
        renewed=engine.now(),
    )
    await _erase(engine, item, actor)  # first: two people must not both do it
    await apply_steps(run, steps)
    return Receipt(items=tuple(run.items), change=run.change if run.wrote else "")


async def drop_held(engine: Engine, item: Item, actor: str) -> Receipt:
    """Turn a held proposal down: what it wanted to retire stays, and is not proposed again."""
    retired = [step.id for step in held_steps(item) if step.retires]
    await _erase(engine, item, actor)
    await keep(engine, root_of(item.scope), retired)
    reason = f"turned down: {len(retired)} memories stay"
    return Receipt(items=(ReceiptItem(id=item.key, status="stored", reason=reason),))


def held_steps(item: Item) -> list[Step]:
    """The steps of a held proposal."""
    listed = item.value.get("steps") if isinstance(item.value, Mapping) else None
    if item.namespace != NAMESPACE or not isinstance(listed, Sequence):
        raise Invalid(f"{item.key!r} is no proposal of a consolidation")
    return [step for step in map(step_from, listed) if step is not None]


async def _erase(engine: Engine, item: Item, actor: str) -> None:
    root = root_of(item.scope)
    current = await engine.store.items(
        root, NAMESPACE, now=engine.now(), scopes=(item.scope,), keys=(item.key,)
    )
    if not current or current[0].version != item.version:
        raise Conflict(f"the proposal {item.key!r} was changed meanwhile; look again", kind="item")
    decision = Change(engine, root, "decide", actor=actor, id=engine.new_id())
    gone = Erase(kind="item", scope=item.scope, namespace=NAMESPACE, id=item.key)
    decision.erasures.append(gone)
    await decision.commit()
