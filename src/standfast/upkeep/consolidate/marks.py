"""When a root was consolidated last, how far its journal was read then, and what people brought
back since. Kept in the registry: it is about this store and travels nowhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from standfast import compat
from standfast.engine import Engine
from standfast.errors import Conflict
from standfast.ports import Cell, cell_key
from standfast.types.frozen import frozen
from standfast.upkeep.journal import PRUNED

PRACTICE, PLACES = (
    compat.PRACTICE,
    compat.PRACTISED,
)  # items: what is done again and again, and how far seen
RUNS = compat.CONSOLIDATED_CELLS
KEPT = compat.BROUGHT_BACK_CELLS
KEPT_MAX = 1000


@frozen
class Mark:
    """``at`` is None if there was no run yet, ``tried`` also says when a plan was held; ``kept``
    are ids that no run retires again."""

    at: datetime | None = None
    tried: datetime | None = None
    seq: int = 0
    kept: frozenset[str] = frozenset()


async def mark_of(engine: Engine, root: str) -> Mark:
    now = engine.now()
    found = await engine.store.registry.get((cell_key(RUNS, root), cell_key(KEPT, root)), now=now)
    cells = {cell.key: cell for cell in found}
    run, kept = cells.get(cell_key(RUNS, root)), cells.get(cell_key(KEPT, root))
    seq = run.value.get("seq", 0) if run and isinstance(run.value, Mapping) else 0
    return Mark(
        at=_moment(run.value, "at") if run else None,
        tried=_moment(run.value, "tried") if run else None,
        seq=seq if isinstance(seq, int) else 0,
        kept=frozenset(_ids(kept)),
    )


async def set_mark(engine: Engine, root: str, mark: Mark, tried: datetime) -> None:
    """What is known of the last run; the root rests until it is due again."""
    pause = timedelta(hours=engine.profile.consolidate_hours)
    value = {"at": mark.at.isoformat() if mark.at else "", "seq": mark.seq}
    await _put(engine, RUNS, root, {**value, "tried": tried.isoformat()})
    await engine.store.registry.settle(root, seq=mark.seq, until=tried + pause)


async def keep(engine: Engine, root: str, ids: Iterable[str]) -> None:
    """Remember that somebody wants these; of too many the newest."""
    known = _ids(await _cell(engine, KEPT, root))
    wanted = list(dict.fromkeys([*known, *ids]))
    if wanted != known:
        await _put(engine, KEPT, root, wanted[-KEPT_MAX:])


async def drop_marks(engine: Engine, root: str) -> None:
    """Nothing of the root is left to go through."""
    for kind in (RUNS, KEPT, PRUNED):
        if await _cell(engine, kind, root) is not None:
            await _put(engine, kind, root, None, until=engine.now())


async def _cell(engine: Engine, kind: str, root: str) -> Cell | None:
    found = await engine.store.registry.get((cell_key(kind, root),), now=engine.now())
    return found[0] if found else None


async def _put(
    engine: Engine, kind: str, root: str, value: Any, until: datetime | None = None
) -> None:
    known = await _cell(engine, kind, root)
    version = known.version if known else 0
    cell = Cell(key=cell_key(kind, root), value=value, expires_at=until, version=version)
    with suppress(Conflict):  # another process has just written its own, of the same moment
        await engine.store.registry.put(cell, now=engine.now())


def _moment(value: Any, name: str) -> datetime | None:
    try:
        return datetime.fromisoformat(value[name])
    except (TypeError, KeyError, ValueError):
        return None


def _ids(cell: Cell | None) -> list[str]:
    listed = cell.value if cell is not None and isinstance(cell.value, list) else []
    return [id_ for id_ in listed if isinstance(id_, str)]
