"""When a root was consolidated last, how far its journal was read then, and what people brought
back since. Kept beside the store's own items: it is about this store and travels nowhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from recollect.changes import put_item
from recollect.engine import Engine
from recollect.errors import Conflict
from recollect.scopes import SYSTEM_ROOT
from recollect.types import Item

RUNS = "consolidated"
KEPT = "brought-back"
KEPT_MAX = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """``at`` is None if there was no run yet; ``kept`` are ids that no run retires again."""

    at: datetime | None = None
    seq: int = 0
    kept: frozenset[str] = frozenset()


async def last_tries(engine: Engine, roots: Sequence[str]) -> dict[str, datetime]:
    """When each of these roots was looked at last, also if the plan was held; those that never
    were are left out."""
    items = await _items(engine, RUNS, roots)
    return {root: at for root, item in items.items() if (at := _moment(item.value, "tried"))}


async def mark_of(engine: Engine, root: str) -> Mark:
    run = (await _items(engine, RUNS, [root])).get(root)
    kept = (await _items(engine, KEPT, [root])).get(root)
    seq = run.value.get("seq", 0) if run and isinstance(run.value, Mapping) else 0
    return Mark(
        at=_moment(run.value, "at") if run else None,
        seq=seq if isinstance(seq, int) else 0,
        kept=frozenset(_ids(kept)),
    )


async def set_mark(engine: Engine, root: str, mark: Mark, tried: datetime) -> None:
    value = {"at": mark.at.isoformat() if mark.at else "", "seq": mark.seq}
    await _put(engine, RUNS, root, {**value, "tried": tried.isoformat()})


async def keep(engine: Engine, root: str, ids: Iterable[str]) -> None:
    """Remember that somebody wants these; of too many the newest."""
    known = _ids((await _items(engine, KEPT, [root])).get(root))
    wanted = list(dict.fromkeys([*known, *ids]))
    if wanted != known:
        await _put(engine, KEPT, root, wanted[-KEPT_MAX:])


async def _items(engine: Engine, namespace: str, roots: Sequence[str]) -> dict[str, Item]:
    found = await engine.store.items(
        SYSTEM_ROOT, namespace, now=engine.now(), keys=roots, limit=len(roots)
    )
    return {item.key: item for item in found}


async def _put(engine: Engine, namespace: str, root: str, value: Any) -> None:
    known = (await _items(engine, namespace, [root])).get(root)
    item = Item(
        scope=SYSTEM_ROOT,
        namespace=namespace,
        key=root,
        value=value,
        version=known.version if known else 0,
    )
    # Another process may have just written its own; both are about the same moment.
    with suppress(Conflict):
        await put_item(engine, item, namespace, actor=engine.name)


def _moment(value: Any, name: str) -> datetime | None:
    try:
        return datetime.fromisoformat(value[name])
    except (TypeError, KeyError, ValueError):
        return None


def _ids(item: Item | None) -> list[str]:
    listed = item.value if item is not None and isinstance(item.value, list) else []
    return [id_ for id_ in listed if isinstance(id_, str)]
