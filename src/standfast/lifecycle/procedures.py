"""Procedures as records: what is kept of one, how it is found by its name, how it is counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from standfast.engine import Engine
from standfast.lifecycle.match import live_equal
from standfast.ports import Store
from standfast.text.compare import text_hash
from standfast.types import Record


def name_hash(name: str) -> str:
    """One live procedure of a name in a scope: the store itself sees to it."""
    return text_hash(f"procedure\n{name}")


def procedure_data(
    name: str, steps: Sequence[str], triggers: Sequence[str], *, version: int
) -> dict[str, Any]:
    return {
        "name": name,
        "steps": list(steps),
        "triggers": list(triggers),
        "version": version,
        "successes": 0,
        "failures": 0,
    }


def version_of(record: Record) -> int:
    return tally(record.data, "version")


def tally(data: Mapping[str, Any], name: str) -> int:
    """A counter in a record's data; 0 if somebody else wrote something else there."""
    value = data.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def phrases_in(data: Mapping[str, Any], name: str) -> list[str]:
    """The steps or triggers in a record's data; none if somebody else wrote something else
    there, as whoever remembers a record of this type may."""
    value = data.get(name)
    if isinstance(value, str):
        return [value] if value else []
    return [str(one) for one in value] if isinstance(value, list | tuple) else []


async def named(engine: Engine, store: Store, scope: str, name: str) -> Record | None:
    """The live procedure of that name in this very scope."""
    return await live_equal(store, scope, name_hash(name), engine.now())


def counted_data(
    data: Mapping[str, Any], success: bool, engine: Engine, note: str = ""
) -> dict[str, Any]:
    outcome: dict[str, Any] = {"success": success, "at": engine.now().isoformat()}
    return {
        **data,
        "successes": tally(data, "successes") + success,
        "failures": tally(data, "failures") + (not success),
        "last_outcome": {**outcome, "note": note} if note else outcome,
    }
