"""Whatever standfast answers with, as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import Any

from standfast.types import Hit

_AS_IT_IS = frozenset((str, int, float, bool, type(None)))


def as_json(value: Any) -> Any:
    """Anything standfast answers with, as JSON-able data; times as ISO 8601."""
    kind: Any = type(value)
    if kind in _AS_IT_IS:  # most of it; looked at first for speed
        return value
    if kind is Hit:
        return hit_as_json(value)
    if (names := names_of(kind)) is not None:
        return {name: as_json(getattr(value, name)) for name in names}
    if isinstance(value, list | tuple | set | frozenset):
        return [as_json(part) for part in value]
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {key: as_json(part) for key, part in value.items()}
    return value


def hit_as_json(hit: Hit) -> dict[str, Any]:
    """The record's own fields with the scores beside them; nothing is lost."""
    names = names_of(Hit) or ()
    scores = {name: as_json(getattr(hit, name)) for name in names if name != "record"}
    return {**as_json(hit.record), **scores}


@cache
def names_of(kind: type) -> tuple[str, ...] | None:
    """The names of a value's parts; None if it is no dataclass."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else None
