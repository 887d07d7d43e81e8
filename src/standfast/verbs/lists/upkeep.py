"""What is to be done, what it has cost, how much there is, and who opted out."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from datetime import date
from functools import partial
from typing import Any

from standfast import compat
from standfast.engine import Engine
from standfast.errors import Denied, Invalid, Unavailable
from standfast.models.budgets import days_of
from standfast.scopes import is_visible, parse_scope, root_of
from standfast.text.inputs import count
from standfast.types import Item, ReviewItem
from standfast.types.pages import Consent, Due, Page, Reembedding, Spent, Stats
from standfast.upkeep.reembedding import plan, progress_of
from standfast.verbs.lists.cursors import Place, place_of
from standfast.verbs.lists.sessions import list_sessions
from standfast.verbs.lists.walk import page_of, parts_from
from standfast.verbs.review import desks_of, items_of, stuck, stuck_item

PAGE = 500
WORK_LOOKED_AT = 10_000
SESSIONS_COUNTED_MAX = 20_000


async def list_due(engine: Engine, *, scope: str | None, limit: int) -> Due:
    """Of the handle's own scopes: parents are others' to look after."""
    count(limit, "limit")
    space = engine.embedder.space if engine.embedder else ""
    look = partial(engine.store.due, engine.now(), space=space, limit=WORK_LOOKED_AT)
    if scope is None and not engine.bound:  # all of it, whosoever it is
        ours = await look()
    else:
        by_root, _ = await engine.read_scopes(scope, descend=True)
        ours = [
            one
            for root, scopes in by_root.items()
            for one in await look(root=root)
            if is_visible(one.scope, scopes, descend=True, exact=True)
        ]
    return Due(work=tuple(ours[:limit]), stuck=tuple(await list_stuck(engine, scope, limit)))


async def list_stuck(engine: Engine, scope: str | None, limit: int) -> list[ReviewItem]:
    found: list[ReviewItem] = []
    async for _, work in stuck(engine, scope):
        found.append(stuck_item(work))
        if len(found) >= limit:
            break
    return found[:limit]


# Costs


async def list_usage(
    engine: Engine, *, scope: str | None, day: str | None, cursor: str, limit: int
) -> Page[Spent]:
    """By root, then by day. A root's costs are those of all in it, so only who owns a whole
    root sees them."""
    count(limit, "limit")
    question = ("usage", scope, day)
    place = place_of(cursor, question, (str, str))
    roots = await _owned_roots(engine, scope)
    wanted = str(_day(day)) if day else ""
    return await page_of(_spent(engine, roots, wanted, place), limit, question)


async def _spent(
    engine: Engine, roots: list[str], wanted: str, place: Place | None
) -> AsyncIterator[tuple[Place, Spent]]:
    begun, last = place or ("", "")
    for one in roots:
        if one and one < begun:
            continue
        async for root, day, parts in days_of(
            engine.store.registry, one, now=engine.now(), after=(begun, last.partition("/")[0])
        ):
            for what, spent in parts.items():
                there = [root, f"{day}/{what}"]
                if there > [begun, last] and wanted in ("", day):
                    yield there, _as_spent(root, day, what, spent)


async def _owned_roots(engine: Engine, scope: str | None) -> list[str]:
    """In order; [""] for all of them."""
    if scope is not None:
        root = root_of(parse_scope(scope))
        if not engine.may_change(root):
            raise Denied(f"what {root!r} costs is known to those who may use all of it")
        return [root]
    if not engine.bound:
        return [""]
    return sorted({root for root in map(root_of, engine.bound) if engine.may_change(root)})


def _day(day: str) -> date:
    try:
        return date.fromisoformat(day)
    except (TypeError, ValueError):
        raise Invalid(f"day={day!r} is no day; write it as 2026-05-03") from None


def _as_spent(root: str, day: str, what: str, spent: Mapping[str, Any]) -> Spent:
    operation, _, model = what.partition("/")
    return Spent(
        scope=root,
        day=day,
        operation=operation,
        model=model,
        calls=int(spent["calls"]),
        tokens_in=int(spent["tokens_in"]),
        tokens_out=int(spent["tokens_out"]),
        cost=float(spent["cost"]),
    )


# How much there is


async def count_all(engine: Engine, *, scope: str | None, descend: bool) -> Stats:
    kinds: Counter[str] = Counter()
    types: Counter[str] = Counter()
    statuses: Counter[str] = Counter()
    async for part in parts_from(engine, scope, descend=descend, place=None):
        counted = await part.store.counts(part.scopes, now=engine.now(), descend=part.descend)
        for (kind, type_, status), number in counted.items():
            kinds[kind] += number
            types[type_] += number
            statuses[status] += number
    sessions, more = await _count_sessions(engine, scope, descend)
    return Stats(
        reembedding=await _move_of(engine),
        records=types.total(),
        sessions=sessions,
        kinds=dict(sorted(kinds.items())),
        types=dict(sorted(types.items())),
        statuses=dict(sorted(statuses.items())),
        complete=not more,
    )


async def _move_of(engine: Engine) -> Reembedding | None:
    """Of the store to another vector space; before it begins, an estimate. It tells how many
    records all tenants have together, so only who sees the whole store is told."""
    if engine.bound:
        return None
    await engine.space()
    move = progress_of(engine)
    if move is not None and not move.records:
        with suppress(Unavailable):
            return await plan(engine)
    return move


async def _count_sessions(engine: Engine, scope: str | None, descend: bool) -> tuple[int, bool]:
    counted, cursor = 0, ""
    while counted < SESSIONS_COUNTED_MAX:
        page = await list_sessions(engine, scope=scope, descend=descend, cursor=cursor, limit=PAGE)
        counted += len(page.items)
        cursor = page.next
        if not cursor:
            return counted, False
    return counted, True


# Consent


async def list_policies(engine: Engine, *, scope: str | None) -> tuple[Consent, ...]:
    """Who opted out, or in again: of a scope and all below it, or of all of the handle's own."""
    found: list[Consent] = []
    for desk in await desks_of(engine, scope):
        if desk.store is engine.store:
            found += [_consent(item) async for item in items_of(desk, compat.POLICIES)]
    return tuple(found)


def _consent(item: Item) -> Consent:
    author = item.key.removeprefix("author:") if item.key != "scope" else ""
    return Consent(scope=item.scope, author=author, persist=bool(item.value.get("persist", True)))
