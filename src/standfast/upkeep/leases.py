"""Who may do a piece of work now, and how often it has failed.

A lease keeps two workers from paying for the same model call; when its holder dies it runs
out. Attempts are kept beside it: work that failed five times is *stuck*, which every round of
upkeep says again. It is tried again by itself, only seldom: after a day and more, or sooner where
something was said since. Both are cells of the registry, by root and scope.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Any

from standfast.engine import Engine
from standfast.errors import Conflict
from standfast.ports import Cell, Store, cell_key
from standfast.scopes import root_of
from standfast.types import Work
from standfast.types.frozen import frozen

ATTEMPTS_MAX = 5
FIRST_PAUSE_SECONDS = 30
DAY_SECONDS = 86_400
PAUSE_SECONDS_MAX = max(DAY_SECONDS, FIRST_PAUSE_SECONDS * 2**ATTEMPTS_MAX)
STUCK_HOURS, STUCK_HOURS_WITH_NEWS = 30, 1
PAGE = 500
CLOCKS_DIFFER = timedelta(seconds=10)  # between machines that keep the time

LEASE, TRIES = "lease", "work"


@frozen
class Tries:
    """A piece of work that failed: how often, why, and when it may be tried again."""

    scope: str
    key: str
    value: Any


async def lagging(
    store: Store, now: datetime, reader: str, most: int, root: str | None = None
) -> list[Work]:
    """Sessions (of a root) in which this reader lags behind."""
    return await store.due(now, root=root, reader=reader, limit=most)


async def hold(
    engine: Engine, store: Store, scope: str, key: str, seconds: int, holder: str
) -> bool:
    """Take a lease, or keep one's own; False if another holder has it. Who is stopped while taking
    it does not have it."""
    now = engine.now()
    name = _key(LEASE, scope, key)
    known = await _cell(store, name, now)
    if known is not None and known.value["holder"] != holder and _is_believed(known, now):
        return False
    value = {"holder": holder, "seconds": seconds}
    until = now + timedelta(seconds=seconds)
    taking = asyncio.ensure_future(_put(store, name, value, known, now, until))
    try:
        return await asyncio.shield(taking)
    except asyncio.CancelledError:
        # The store writes all the same, and nobody would give back what nobody knows to have:
        # a process that is started again would wait for its own lease to run out.
        if await taking:
            await release(engine, store, scope, key, holder)
        raise


def _is_believed(lease: Cell, now: datetime) -> bool:
    """A lease that ends further ahead than it was long was taken by a clock that is wrong, or
    was before this one was set right: it would keep everybody out for as long as that."""
    length = timedelta(seconds=lease.value["seconds"])
    return lease.expires_at is not None and lease.expires_at - now <= length + CLOCKS_DIFFER


async def release(engine: Engine, store: Store, scope: str, key: str, holder: str) -> None:
    """Give a lease back before it runs out."""
    now = engine.now()
    name = _key(LEASE, scope, key)
    known = await _cell(store, name, now)
    if known is not None and known.value["holder"] == holder:
        await _put(store, name, known.value, known, now, now)


async def may_try(engine: Engine, store: Store, scope: str, key: str, *, news: int = 0) -> str:
    """ "" if the work may be tried now, else why not. ``news`` grows with what is said."""
    known = await _cell(store, _key(TRIES, scope, key), engine.now())
    if known is None:
        return ""
    if known.value["attempts"] >= ATTEMPTS_MAX and not _is_forgiven(
        known.value, engine.now(), news
    ):
        return f"stuck after {known.value['attempts']} tries: {known.value['error']}"
    if known.value["attempts"] >= ATTEMPTS_MAX:
        return ""
    wait = datetime.fromisoformat(known.value["next"]) - engine.now()
    # No pause is longer than a day and what doubling makes of it: what lies further ahead was
    # written by a clock that was wrong.
    if timedelta() < wait <= timedelta(seconds=PAUSE_SECONDS_MAX) + CLOCKS_DIFFER:
        return f"waits until {known.value['next']}: {known.value['error']}"
    return ""


def _is_forgiven(value: Any, now: datetime, news: int) -> bool:
    """Has enough time gone by to try what is stuck once more?"""
    since = datetime.fromisoformat(value["last"]) if "last" in value else now
    hours = STUCK_HOURS_WITH_NEWS if news > value.get("news", news) else STUCK_HOURS
    # Either way: what failed in the future failed by a clock that was wrong.
    return abs(now - since) >= timedelta(hours=hours)


async def failed(
    engine: Engine,
    store: Store,
    scope: str,
    key: str,
    error: str,
    *,
    tried: bool = True,
    retry_after: float = 0.0,
    news: int = 0,
) -> int:
    """Count a failed try; the pause doubles with each and is no shorter than ``retry_after``.
    Work that was not even ``tried``, because a budget is used up for one, only waits."""
    now = engine.now()
    name = _key(TRIES, scope, key)
    known = await _cell(store, name, now)
    attempts = (known.value["attempts"] if known else 0) + int(tried)
    pause = max(FIRST_PAUSE_SECONDS * 2 ** max(attempts - 1, 0), min(retry_after, DAY_SECONDS))
    value = {
        **(known.value if known else {}),
        "attempts": attempts,
        "last": now.isoformat(),
        "news": news,
        "error": error[:300],
        "next": (now + timedelta(seconds=pause)).isoformat(),
    }
    await _put(store, name, value, known, now, None)
    return attempts


async def note_place(engine: Engine, store: Store, scope: str, key: str, place: int) -> None:
    """How far the rules have read while a piece of work waits; gone when it succeeds."""
    name = _key(TRIES, scope, key)
    known = await _cell(store, name, engine.now())
    if known is not None:
        value = {**known.value, "place": place}
        await _put(store, name, value, known, engine.now(), known.expires_at)


async def noted_place(engine: Engine, store: Store, scope: str, key: str) -> int:
    known = await _cell(store, _key(TRIES, scope, key), engine.now())
    return int(known.value.get("place", 0)) if known else 0


async def succeeded(engine: Engine, store: Store, scope: str, key: str) -> None:
    """Forget earlier failures."""
    now = engine.now()
    name = _key(TRIES, scope, key)
    known = await _cell(store, name, now)
    if known is not None:
        await _put(store, name, known.value, known, now, now)


async def tries(engine: Engine, store: Store, root: str = "") -> AsyncIterator[Tries]:
    """What failed and was not done since, in one root or in all of them."""
    prefix, after = cell_key(TRIES, *([root] if root else []), ""), ""
    while page := await store.registry.list(prefix, now=engine.now(), after=after, limit=PAGE):
        for cell in page:
            _, _, scope, key = cell.key.split("\t", 3)
            yield Tries(scope=scope, key=key, value=cell.value)
        after = page[-1].key


async def forgive(engine: Engine) -> int:
    """Forget the failures of all work of this handle's scopes that waits or is stuck: somebody
    has looked. The number of pieces of work that may be tried again."""
    forgiven = 0
    for store in (engine.store, engine.volatile):
        for root in sorted({root_of(scope) for scope in engine.bound}) or [""]:
            async for one in tries(engine, store, root):
                if engine.may_change(one.scope):
                    await succeeded(engine, store, one.scope, one.key)
                    forgiven += 1
    return forgiven


def _key(kind: str, scope: str, key: str) -> str:
    return cell_key(kind, root_of(scope), scope, key)


async def _cell(store: Store, key: str, now: datetime) -> Cell | None:
    found = await store.registry.get((key,), now=now)
    return found[0] if found else None


async def _put(
    store: Store, key: str, value: Any, known: Cell | None, now: datetime, until: datetime | None
) -> bool:
    version = known.version if known else 0
    cell = Cell(key=key, value=value, expires_at=until, version=version)
    try:
        await store.registry.put(cell, now=now)
    except Conflict:
        return False
    return True
