"""review: what waits for a person to decide. It only looks; ``resolving`` decides."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from datetime import datetime
from typing import Any, get_args

from standfast import compat
from standfast.engine import Engine, every_item, every_record
from standfast.lifecycle.disputes import disputes_of
from standfast.ports import Store
from standfast.scopes import is_visible
from standfast.text.inputs import count
from standfast.text.trust import SUSPICION
from standfast.types import Item, Listing, Record, ReviewItem, ReviewKind, Status, Where
from standfast.types.frozen import frozen
from standfast.upkeep.consolidate.commits import held_steps
from standfast.upkeep.leases import ATTEMPTS_MAX as TRIES_MAX
from standfast.upkeep.leases import TRIES as WORK
from standfast.upkeep.leases import Tries, tries

PROPOSALS = compat.PROPOSALS
CONSOLIDATION = "consolidate/"
TOUCHED_MAX = 50

_ORDER: tuple[ReviewKind, ...] = get_args(ReviewKind)


@frozen
class Desk:
    """One root in one store, as far as the asker's own scopes reach."""

    engine: Engine
    store: Store
    root: str
    scopes: tuple[str, ...]

    def has(self, scope: str) -> bool:
        return is_visible(scope, self.scopes, descend=True, exact=True)


async def review(engine: Engine, *, scope: str | None, limit: int) -> tuple[ReviewItem, ...]:
    count(limit, "limit")
    found: list[ReviewItem] = []
    for desk in await desks_of(engine, scope):
        proposals = [item async for item in items_of(desk, PROPOSALS)]
        held = {held_record(item) for item in proposals}
        found += await _disputed(desk, limit)
        found += await _quarantined(desk, limit, held)
        found += [one for item in proposals if (one := await held_item(desk, item))]
    found += [stuck_item(one) async for _, one in stuck(engine, scope)]
    found.sort(key=lambda one: (_ORDER.index(one.kind), one.since or engine.now(), one.id))
    return tuple(found[:limit])


async def desks_of(engine: Engine, scope: str | None) -> list[Desk]:
    """Parents are seen when recalling, but they are others' to decide about."""
    by_root, _ = await engine.read_scopes(scope, descend=True)
    return [
        Desk(engine=engine, store=store, root=root, scopes=scopes)
        for root, scopes in by_root.items()
        for store in engine.stores_of(root)
    ]


async def items_of(desk: Desk, namespace: str) -> AsyncIterator[Item]:
    async for item in every_item(desk.store, desk.root, namespace, desk.engine.now()):
        if desk.has(item.scope) and isinstance(item.value, Mapping):
            yield item


def _records(desk: Desk, status: Status) -> AsyncIterator[Record]:
    query = Listing(
        where=Where(
            scopes=desk.scopes, now=desk.engine.now(), descend=True, exact=True, statuses=(status,)
        ),
        order="id",
    )
    return every_record(desk.store, query)


# Disputes


async def _disputed(desk: Desk, limit: int) -> list[ReviewItem]:
    """One item for a record and its opponents, the newest first in line; none for a record that
    nothing speaks against any more."""
    records = [record async for record in _records(desk, "disputed")]
    newest_first = sorted(records, key=lambda one: (one.learned_at, one.id), reverse=True)
    found: list[ReviewItem] = []
    seen: set[str] = set()
    for record in newest_first:
        if record.id in seen or len(found) == limit:
            continue
        others = await opponents(desk, record)
        if others:
            seen |= {record.id, *(other.id for other in others)}
            found.append(_dispute(record, others))
    return found


async def opponents(desk: Desk, record: Record) -> list[Record]:
    disputes = await disputes_of(desk.engine, desk.store, desk.root, [record])
    return [one for one in disputes.opponents(record.id) if desk.engine.may_see(one.scope)]


def _dispute(record: Record, others: list[Record]) -> ReviewItem:
    return ReviewItem(
        id=record.id,
        kind="disputed",
        scope=record.scope,
        why=f"these cannot {'both' if len(others) == 1 else 'all'} be true",
        since=max(record.learned_at, *(other.learned_at for other in others)),
        record=record,
        touches=tuple(others),
        actions=("approve", "reject", "edit", "merge"),
    )


# Quarantine


async def _quarantined(desk: Desk, limit: int, held: set[str]) -> list[ReviewItem]:
    found: list[ReviewItem] = []
    async for record in _records(desk, "quarantined"):
        if record.id not in held:
            found.append(_quarantine(record))
            if len(found) == limit:
                break
    return found


def _quarantine(record: Record) -> ReviewItem:
    doubt = record.data.get(SUSPICION)
    why = f"it {doubt}" if isinstance(doubt, str) and doubt else "it was held back"
    is_turn = record.type == "turn"
    return ReviewItem(
        id=record.id,
        kind="quarantined",
        scope=record.scope,
        why=f"{why} (from {record.source})",
        since=record.learned_at,
        record=record,
        actions=("approve", "reject") if is_turn else ("approve", "reject", "edit", "merge"),
    )


# Change sets that were not applied


def held_record(item: Item) -> str:
    """The record that keeps a proposal's text, if one does."""
    return str(item.value.get("record") or "")


async def held_item(desk: Desk, item: Item) -> ReviewItem | None:
    if item.key.startswith(CONSOLIDATION):
        ids = [step.id for step in held_steps(item)]
        why = f"a consolidation {item.value.get('about', 'was held')}"
        return await _held(desk, item, why, ids, since=_moment(item.value.get("at")))
    dropped = _names(item.value.get("dropped"))
    kept = await desk.store.records(desk.root, (held_record(item),), now=desk.engine.now())
    if not kept:
        return None  # the text was forgotten, and with it what was proposed
    why = f"an update of MEMORY.md would drop {len(dropped)} facts"
    return await _held(desk, item, why, dropped, since=kept[0].learned_at, record=kept[0])


async def _held(
    desk: Desk,
    item: Item,
    why: str,
    ids: list[str],
    *,
    since: datetime | None,
    record: Record | None = None,
) -> ReviewItem:
    touched = await desk.store.records(desk.root, ids[:TOUCHED_MAX], now=desk.engine.now())
    return ReviewItem(
        id=item.key,
        kind="held",
        scope=item.scope,
        why=why,
        since=since,
        record=record,
        touches=tuple(one for one in touched if desk.engine.may_see(one.scope)),
        actions=("approve", "reject"),
    )


def _names(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, Iterable) else []


def _moment(value: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None


# Work that failed too often


async def stuck(engine: Engine, scope: str | None) -> AsyncIterator[tuple[Store, Tries]]:
    """With the store that it is in. For who may see everything it is one look, however many
    roots there are."""
    if scope is None and not engine.bound:
        for store in (engine.store, engine.volatile):
            async for one in tries(engine, store):
                if is_stuck(one):
                    yield store, one
        return
    for desk in await desks_of(engine, scope):
        async for one in tries(engine, desk.store, desk.root):
            if is_stuck(one) and desk.has(one.scope):
                yield desk.store, one


def is_stuck(work: Tries) -> bool:
    attempts = work.value.get("attempts")
    return isinstance(attempts, int) and attempts >= TRIES_MAX


def work_id(work: Tries) -> str:
    return f"{WORK}/{work.scope}/{work.key}"


def stuck_item(work: Tries) -> ReviewItem:
    return ReviewItem(
        id=work_id(work),
        kind="stuck",
        scope=work.scope,
        why=f"{work.key} failed {work.value['attempts']} times: {work.value.get('error', '')}",
        since=_moment(work.value.get("next")),
        actions=("approve",),
    )
