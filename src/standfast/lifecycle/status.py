"""The life of a record: the only place that writes its status and when it was retired. Pure.

A record is born active, or held back if something speaks against believing it. It may be disputed,
superseded by another or archived; and from all of those it may come back. An edge between records
holds until it is retired, and may hold again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import datetime
from typing import Any, TypeVar

from standfast.text.trust import SUSPICION
from standfast.types import Record, Relation

# What is about this row of this store, and nothing that undoing brings back.
_OF_THE_ROW = frozenset(("version", "uses", "used_at"))

Row = TypeVar("Row", Record, Relation)


def held(record: Record, why: str) -> Record:
    """Not recalled until somebody approves it; as it is if there is no reason why."""
    if not why:
        return record
    return replace(record, status="quarantined", data={**record.data, SUSPICION: why})


def put_away(record: Record) -> Record:
    """Kept for whoever decides about it, out of sight of every search, under no suspicion."""
    return replace(record, status="quarantined")


def released(record: Record) -> Record:
    """Held back no longer."""
    data = {name: value for name, value in record.data.items() if name != SUSPICION}
    return replace(record, status="active", data=data)


def disputed(record: Record, *, by: Record | None = None) -> Record:
    """It waits for a person to decide. Whoever is trusted less puts nothing in doubt: else a page
    could weaken any fact by saying otherwise. Their own word is what is doubtful then."""
    if by is not None and by.trust < record.trust:
        return record
    return replace(record, status="disputed")


def settled(record: Record) -> Record:
    """Nothing speaks against it any more, or a person decided for it."""
    return replace(record, status="active")


def superseded(record: Record, now: datetime) -> Record:
    """Another one says it, or says otherwise, from now on."""
    return replace(record, status="superseded", retired_at=now)


def archived(record: Record, now: datetime) -> Record:
    """Not believed any more, and nothing took its place."""
    return replace(record, status="archived", retired_at=now)


def past(record: Record, until: datetime | None) -> Record:
    """What was true until then and is known as such: superseded from the start, and believed."""
    return replace(record, status="superseded", valid_to=until)


def revived(record: Record, until: datetime | None) -> Record:
    """Believed again, and true until then; None: it has not ended."""
    return replace(record, status="active", retired_at=None, valid_to=until)


def undone(row: Row, before: Mapping[str, Any], now: datetime) -> Row:
    """A record or an edge with the fields that the journal has of it. Those are JSON: times come
    back as times, lists as tuples. What was believed until now and is so no longer was retired
    now, whenever that was done first."""
    restored: dict[str, Any] = {}
    for field in fields(row):
        if field.name not in before or field.name in _OF_THE_ROW:
            continue
        value = before[field.name]
        if "datetime" in str(field.type) and isinstance(value, str):
            value = datetime.fromisoformat(value)
        restored[field.name] = tuple(value) if isinstance(value, list) else value
    if row.retired_at is None and restored.get("retired_at"):
        restored["retired_at"] = now
    return replace(row, **restored)


def cut(edge: Relation, at: datetime) -> Relation:
    """An edge that holds no longer."""
    return replace(edge, retired_at=at)


def drawn_again(edge: Relation) -> Relation:
    """An edge that was retired and holds again."""
    return replace(edge, retired_at=None)
