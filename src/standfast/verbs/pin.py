"""pin: what is shown at every task and never fades, or no longer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from standfast.engine import Engine
from standfast.types import LIVE, Receipt, Record
from standfast.verbs.archive import alter_each


async def pin(engine: Engine, ids: Sequence[str], *, pinned: bool, actor: str) -> Receipt:
    """Pinned is ``core``; what is pinned no longer is as durable as its type usually is."""

    def altered(record: Record, _: datetime) -> Record | str:
        if record.type == "turn":
            return "a turn is what somebody said; pin what was learned from it"
        if record.status not in LIVE:
            return f"it is {record.status}: nobody is shown it"
        if pinned == (record.durability == "core"):
            return "it is pinned already" if pinned else "it was not pinned"
        usual = engine.profile.durability_of_type[record.type]
        below = usual if usual != "core" else "standard"
        return replace(record, durability="core" if pinned else below)

    told = "pinned: shown at every task" if pinned else "pinned no longer"
    reason = "pin" if pinned else "unpin"
    return await alter_each(engine, ids, altered, reason=reason, told=told, actor=actor)
