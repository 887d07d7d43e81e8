"""How often records were used: counted in this process, written now and then."""

from __future__ import annotations

from recollect.changes import Change
from recollect.engine import Engine
from recollect.errors import Unavailable


async def flush_uses(engine: Engine) -> None:
    """Counters are a hint, not a memory: losing them to a full disk is no error."""
    by_root: dict[str, list[str]] = {}
    for (root, id_), times in engine.used.items():
        by_root.setdefault(root, []).extend([id_] * times)
    engine.used.clear()  # the same counter serves every narrowed handle
    for root, ids in by_root.items():
        change = Change(engine, root, "uses")
        change.used += ids if root not in engine.volatile_roots else await _kept(engine, root, ids)
        try:
            await change.commit()
        except Unavailable:
            return


async def _kept(engine: Engine, root: str, ids: list[str]) -> list[str]:
    """Those that are not in this process only."""
    found = await engine.store.records(root, list(dict.fromkeys(ids)), now=engine.now())
    here = {record.id for record in found}
    return [id_ for id_ in ids if id_ in here]
