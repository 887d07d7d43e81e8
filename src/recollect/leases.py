"""Who may do a piece of work now, and how often it has failed.

A lease keeps two workers from paying for the same model call; when its holder dies it runs
out. Attempts are kept beside it: work that failed five times is *stuck*, which every round of
upkeep says again until somebody has looked.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from recollect.engine import Engine
from recollect.errors import Conflict
from recollect.ports import Store
from recollect.scopes import root_of
from recollect.types import Item

ATTEMPTS_MAX = 5
FIRST_PAUSE_SECONDS = 30


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


async def failed(engine: Engine, store: Store, scope: str, key: str, error: str) -> int:
    """Count a failed try; the pause doubles with each."""
    known = await _item(engine, store, scope, "work", key)
    attempts = (known.value["attempts"] if known else 0) + 1
    pause = FIRST_PAUSE_SECONDS * 2 ** (attempts - 1)
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
    batch = engine.batch(root_of(scope), namespace, actor=engine.name, change="", items=(item,))
    try:
        await engine.commit(store, batch)
    except Conflict:
        return False
    return True
