"""Schemas as short as they can be: every model that is connected reads all of them."""

from __future__ import annotations

from typing import Any


def lean(schema: dict[str, Any]) -> dict[str, Any]:
    """The same without generated titles, and without saying that what may be left out may also be
    null."""
    return {name: _part(name, value) for name, value in _plain(schema).items()}


def _part(name: str, value: Any) -> Any:
    if name in ("properties", "$defs"):  # names chosen by us, "title" among them
        return {key: lean(below) for key, below in value.items()}
    if name in ("default", "enum", "const"):
        return value
    if isinstance(value, dict):
        return lean(value)
    if isinstance(value, list):
        return [lean(one) if isinstance(one, dict) else one for one in value]
    return value


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in schema.items() if name != "title"}
    choices = kept.get("anyOf")
    if choices is None or {"type": "null"} not in choices:
        return kept
    rest = [choice for choice in choices if choice != {"type": "null"}]
    if kept.get("default", "") is None:
        del kept["default"]
    if len(rest) > 1:
        return {**kept, "anyOf": rest}
    del kept["anyOf"]
    return {**rest[0], **kept}
