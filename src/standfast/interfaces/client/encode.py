"""Arguments of verbs as JSON and as parts of an address."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from standfast.errors import Invalid
from standfast.memory.arguments import moment

TIMES = ("since", "until")


def plain(value: Any, what: str) -> Any:
    """JSON-like data; what JSON cannot carry is Invalid."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise Invalid(f"{what} holds {value}, which JSON cannot carry")
        return value
    if isinstance(value, datetime):
        return value.isoformat()
    if hasattr(value, "model_dump"):  # a message as the libraries of providers have it
        return plain(value.model_dump(exclude_none=True), what)
    try:
        if isinstance(value, Mapping):
            return {_key(key, what): plain(part, what) for key, part in value.items()}
        if isinstance(value, Iterable) and not isinstance(value, bytes | bytearray | memoryview):
            return [plain(part, what) for part in value]
    except RecursionError:
        raise Invalid(f"{what} is nested too deeply") from None
    raise Invalid(f"{what} holds a {type(value).__name__}; only JSON values can be stored")


def _key(key: Any, what: str) -> str:
    if not isinstance(key, str):
        raise Invalid(f"a key in {what} must be text that is not empty")
    return key


def as_query(given: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Names and values for an address; what is None or empty is left out."""
    pairs: list[tuple[str, str]] = []
    for name, value in given.items():
        if name in TIMES and isinstance(value, int | float):
            value, _ = moment(value, name)
        said = plain(value, name)
        listed = said if isinstance(said, list) else [said]
        pairs += [(name, _word(one)) for one in listed if one is not None and one != ""]
    return pairs


def _word(value: Any) -> str:
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return str(value).lower() if isinstance(value, bool) else str(value)
