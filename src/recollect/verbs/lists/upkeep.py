"""What is to be done, what it has cost, how much there is, and who opted out."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from datetime import date

from recollect.engine import Engine
from recollect.errors import Denied, Invalid
from recollect.scopes import is_visible, parse_scope, root_of
from recollect.text.inputs import count
from recollect.types import Item, ReviewItem
from recollect.types.pages import Consent, Due, Page, Spent, Stats
from recollect.verbs.lists.cursors import Place, place_of
from recollect.verbs.lists.sessions import list_sessions
from recollect.verbs.lists.walk import page_of, parts_from
from recollect.verbs.review import WORK, desks_of, is_stuck, items_of, stuck_item

PAGE = 500
WORK_LOOKED_AT = 10_000
SESSIONS_COUNTED_MAX = 20_000


async def list_due(engine: Engine, *, scope: str | None, limit: int) -> Due:
    """Of the handle's own scopes: parents are others' to look after."""
    count(limit, "limit")
    by_root, _ = await engine.read_scopes(scope, descend=True)
    space = engine.embedder.space if engine.embedder else ""
    work = await engine.store.due(engine.now(), space=space, limit=WORK_LOOKED_AT)
    ours = [
        one
        for one in work
        if is_visible(one.scope, by_root.get(one.root, ()), descend=True, exact=True)
    ]
    return Due(work=tuple(ours[:limit]), stuck=tuple(await list_stuck(engine, scope, limit)))


async def list_stuck(engine: Engine, scope: str | None, limit: int) -> list[ReviewItem]:
    found: list[ReviewItem] = []
    for desk in await desks_of(engine, scope):
        found += [stuck_item(item) async for item in items_of(desk, WORK) if is_stuck(item)]
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
    prefix = f"{_day(day)}/" if day else ""
    roots = sorted(await _owned_roots(engine, scope))
    return await page_of(_spent(engine, roots, prefix, place), limit, question)


async def _spent(
    engine: Engine, roots: list[str], prefix: str, place: Place | None
) -> AsyncIterator[tuple[Place, Spent]]:
    begun = place[0] if place else ""
    for root in roots:
        if root < begun:
            continue
        last = _usage_item(root, place[1]) if place and root == begun else None
        while page := await engine.store.items(
            root, "usage", now=engine.now(), prefix=prefix, after=last, limit=PAGE
        ):
            for item in page:
                yield [root, item.key], _as_spent(item)
            last = page[-1]


async def _owned_roots(engine: Engine, scope: str | None) -> list[str]:
    if scope is not None:
        root = root_of(parse_scope(scope))
        if not engine.may_change(root):
            raise Denied(f"what {root!r} costs is known to those who may use all of it")
        return [root]
    by_root, _ = await engine.read_scopes(None, descend=True)
    return [root for root in by_root if engine.may_change(root)]


def _day(day: str) -> date:
    try:
        return date.fromisoformat(day)
    except (TypeError, ValueError):
        raise Invalid(f"day={day!r} is no day; write it as 2026-05-03") from None


def _usage_item(root: str, key: str) -> Item:
    return Item(scope=root, namespace="usage", key=key, value=None)


def _as_spent(item: Item) -> Spent:
    day, _, rest = item.key.partition("/")
    operation, _, model = rest.partition("/")
    return Spent(
        scope=item.scope,
        day=day,
        operation=operation,
        model=model,
        calls=int(item.value["calls"]),
        tokens_in=int(item.value["tokens_in"]),
        tokens_out=int(item.value["tokens_out"]),
        cost=float(item.value["cost"]),
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
        records=types.total(),
        sessions=sessions,
        kinds=dict(sorted(kinds.items())),
        types=dict(sorted(types.items())),
        statuses=dict(sorted(statuses.items())),
        complete=not more,
    )


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
            found += [_consent(item) async for item in items_of(desk, "policy")]
    return tuple(found)


def _consent(item: Item) -> Consent:
    author = item.key.removeprefix("author:") if item.key != "scope" else ""
    return Consent(scope=item.scope, author=author, persist=bool(item.value.get("persist", True)))
