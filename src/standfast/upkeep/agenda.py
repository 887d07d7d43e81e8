"""What is due now, root by root: found along the store's indexes, whatever else it holds."""

from __future__ import annotations

from dataclasses import dataclass, field

from standfast.engine import Engine
from standfast.ports import Store
from standfast.types import Work, WorkKind
from standfast.upkeep import fold, learn
from standfast.upkeep.leases import lagging

LOOKED_AT = 1000  # in one look; most rounds need no second one
WORK_PER_ROUND = 500
LEARNED_LOOKED_AT = 5000
FOLDED_PER_ROUND = 100
KINDS: tuple[WorkKind, ...] = ("expire", "fold", "embed")


@dataclass(slots=True, kw_only=True)
class Agenda:
    """What is due in one root."""

    embed: list[Work] = field(default_factory=list)
    learn: list[Work] = field(default_factory=list)
    fold: list[Work] = field(default_factory=list)
    expire: list[Work] = field(default_factory=list)


async def agendas(
    engine: Engine, store: Store, *, space: str, everything: bool, root: str | None = None
) -> dict[str, Agenda]:
    """What is due, by root, in all of them or in one. ``space``: the one in which vectors are to be
    added, "" if they cannot be; with ``everything`` all lagging sessions are learned from in one
    round."""
    now = engine.now()
    work = await store.due(now, root=root, kinds=KINDS, space=space, limit=LOOKED_AT)
    if len(work) < LOOKED_AT:
        learned = [one for one in work if (one.kind, one.detail) == ("fold", learn.READER)]
        folded = [one for one in work if (one.kind, one.detail) == ("fold", fold.READER)]
    else:  # much of one kind must not hide another
        learned = await lagging(store, now, learn.READER, LEARNED_LOOKED_AT, root)
        folded = await lagging(store, now, fold.READER, FOLDED_PER_ROUND, root)
        work = await store.due(now, root=root, kinds=("expire",), limit=WORK_PER_ROUND)
        work += await store.due(now, root=root, kinds=("embed",), space=space, limit=WORK_PER_ROUND)
    found: dict[str, Agenda] = {}
    for one in work:
        if one.kind == "embed":
            found.setdefault(one.root, Agenda()).embed.append(one)
        elif one.kind == "expire":
            found.setdefault(one.root, Agenda()).expire.append(one)
    for one in learned if everything else learn.some_of(learned, engine):
        found.setdefault(one.root, Agenda()).learn.append(one)
    for one in folded:
        found.setdefault(one.root, Agenda()).fold.append(one)
    return found
