"""Whatever recollect answers with, as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import Any

from recollect.types import Hit

_AS_IT_IS = frozenset((str, int, float, bool, type(None)))


def as_json(value: Any) -> Any:
    """Anything recollect answers with, as JSON-able data; times as ISO 8601."""
    if type(value) in _AS_IT_IS:  # most of it; looked at first for speed
        return value
    if isinstance(value, Hit):
        return hit_as_json(value)
    if isinstance(value, list | tuple | set | frozenset):
        return [as_json(part) for part in value]
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {key: as_json(part) for key, part in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return {name: as_json(getattr(value, name)) for name in _names(type(value))}
    return value


def hit_as_json(hit: Hit) -> dict[str, Any]:
    """The record's own fields with the scores beside them; nothing is lost."""
    scores = {name: as_json(getattr(hit, name)) for name in _names(Hit) if name != "record"}
    return {**as_json(hit.record), **scores}


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
