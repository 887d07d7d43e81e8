"""Who may do a piece of work now, and how often it has failed.

A lease keeps two workers from paying for the same model call; when its holder dies it runs
out. Attempts are kept beside it: work that failed five times is *stuck*, which every round of
upkeep says again until somebody has looked.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from recollect.changes import Change
from recollect.engine import Engine
from recollect.errors import Conflict
from recollect.ports import Store
from recollect.scopes import root_of
from recollect.types import Item, Work

ATTEMPTS_MAX = 5
FIRST_PAUSE_SECONDS = 30
DAY_SECONDS = 86_400
LAGGING_LOOKED_AT = 100_000


async def lagging(store: Store, now: datetime, reader: str, most: int) -> list[Work]:
    """Sessions in which this reader lags behind. The store tells of all readers, and another
    one's backlog must not hide this one's."""
    limit = most
    while True:
        work = await store.due(now, kinds=("fold",), limit=limit)
        own = [one for one in work if one.detail == reader]
        if len(own) >= most or len(work) < limit or limit >= LAGGING_LOOKED_AT:
            return own[:most]
        limit *= 10


async def hold(
    engine: Engine, store: Store, scope: str, key: str, seconds: int, holder: str
) -> bool:
    """Take a lease, or keep one's own; False if another holder has it."""
    known = await _item(engine, store, scope, "lease", key)
    if known is not None and known.value != holder:
        return False
    until = engine.now() + timedelta(seconds=seconds)
    return await _put(engine, store, scope, "lease", key, holder, known, until)


async def release(engine: Engine, store: Store, scope: str, key: str, holder: str) -> None:
    """Give a lease back before it runs out."""
    known = await _item(engine, store, scope, "lease", key)
    if known is not None and known.value == holder:
        await _put(engine, store, scope, "lease", key, "", known, engine.now())


async def may_try(engine: Engine, store: Store, scope: str, key: str) -> str:
    """ "" if the work may be tried now, else why not."""
    known = await _item(engine, store, scope, "work", key)
    if known is None:
        return ""
    if known.value["attempts"] >= ATTEMPTS_MAX:
        return f"stuck after {known.value['attempts']} tries: {known.value['error']}"
    if engine.now() < datetime.fromisoformat(known.value["next"]):
        return f"waits until {known.value['next']}: {known.value['error']}"
    return ""


async def failed(
    engine: Engine,
    store: Store,
    scope: str,
    key: str,
    error: str,
    *,
    tried: bool = True,
    retry_after: float = 0.0,
) -> int:
    """Count a failed try; the pause doubles with each and is no shorter than ``retry_after``.
    Work that was not even ``tried``, because a budget is used up for one, only waits."""
    known = await _item(engine, store, scope, "work", key)
    attempts = (known.value["attempts"] if known else 0) + int(tried)
    pause = max(FIRST_PAUSE_SECONDS * 2 ** max(attempts - 1, 0), min(retry_after, DAY_SECONDS))
    value = {
        "attempts": attempts,
        "error": error[:300],
        "next": (engine.now() + timedelta(seconds=pause)).isoformat(),
    }
    await _put(engine, store, scope, "work", key, value, known, None)
    return attempts


async def succeeded(engine: Engine, store: Store, scope: str, key: str) -> None:
    """Forget earlier failures."""
    known = await _item(engine, store, scope, "work", key)
    if known is not None:
        await _put(engine, store, scope, "work", key, known.value, known, engine.now())


async def forgive(engine: Engine) -> int:
    """Forget the failures of all work of this handle's scopes that waits or is stuck: somebody
    has looked. The number of pieces of work that may be tried again."""
    forgiven = 0
    for root in await engine.all_roots():
        for store in engine.stores_of(root):
            items = await store.items(root, "work", now=engine.now(), limit=LAGGING_LOOKED_AT)
            for item in items:
                if not engine.may_change(item.scope):
                    continue
                over = (engine, store, item.scope, "work", item.key, item.value, item)
                forgiven += await _put(*over, engine.now())
    return forgiven


async def _item(engine: Engine, store: Store, scope: str, namespace: str, key: str) -> Item | None:
    found = await store.items(
        root_of(scope), namespace, now=engine.now(), scopes=(scope,), keys=(key,)
    )
    return found[0] if found else None


async def _put(
    engine: Engine,
    store: Store,
    scope: str,
    namespace: str,
    key: str,
    value: Any,
    known: Item | None,
    expires_at: datetime | None,
) -> bool:
    item = Item(
        scope=scope,
        namespace=namespace,
        key=key,
        value=value,
        expires_at=expires_at,
        version=known.version if known else 0,
    )
    change = Change(engine, root_of(scope), namespace, store=store, actor=engine.name)
    change.items.append(item)
    try:
        await change.commit()
    except Conflict:
        return False
    return True
