"""Conditions on the fields of a thing, as the filters of several projects write them.

``{"k": "v"}`` and ``{"k": {"gte": 3}}``, alternatives in ``OR``, exceptions in ``NOT``. Operators
are named with or without a dollar sign. A field that is not there fulfils nothing but ``ne``,
``nin`` and what is asked to be None.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from standfast.errors import Invalid

Fields = Mapping[str, Any]
Condition = Mapping[str, Any]

ANY = "*"
GROUPS = ("AND", "OR", "NOT")
_MISSING = object()


def check(condition: Condition) -> None:
    """Invalid, if there is anything in it that nobody can answer."""
    if not isinstance(condition, Mapping):
        raise Invalid(f"a filter is a mapping of fields, not {type(condition).__name__}")
    for name, asked in condition.items():
        if _group_of(name):
            if not isinstance(asked, Sequence) or isinstance(asked, str) or not asked:
                raise Invalid(f"{name} needs a list of filters that is not empty")
            for part in asked:
                check(part)
        elif isinstance(asked, Mapping) and asked and _are_operators(asked):
            for operator in asked:
                _operator(operator)


def fulfils(fields: Fields, condition: Condition) -> bool:
    """Does a thing with these fields pass a condition that was checked?"""
    return all(_passes(fields, name, asked) for name, asked in condition.items())


def _passes(fields: Fields, name: str, asked: Any) -> bool:
    if group := _group_of(name):
        passed = [fulfils(fields, part) for part in asked]
        return {"AND": all(passed), "OR": any(passed), "NOT": not any(passed)}[group]
    value = _field(fields, name)
    if asked == ANY:
        return value is not _MISSING
    if isinstance(asked, Mapping) and asked and _are_operators(asked):
        return all(_operated(value, operator, other) for operator, other in asked.items())
    return _equal(value, asked)


def _field(fields: Fields, name: str) -> Any:
    """A field by its name, or by a path of names with dots between them."""
    if name in fields:
        return fields[name]
    first, dot, rest = name.partition(".")
    below = fields.get(first)
    return _field(below, rest) if dot and isinstance(below, Mapping) else _MISSING


def _group_of(name: str) -> str:
    """AND, OR or NOT; "" for a field."""
    group = name.removeprefix("$").upper()
    return group if group in GROUPS and (name.startswith("$") or name == group) else ""


def _are_operators(asked: Mapping[str, Any]) -> bool:
    """A mapping may also be the very value that is looked for."""
    named = [isinstance(name, str) and name.startswith("$") for name in asked]
    if any(named):
        return True
    return all(name in _OPERATORS for name in asked)


def _operated(value: Any, operator: str, other: Any) -> bool:
    try:
        return _operator(operator)(value, other)
    except TypeError:
        return False  # 3 is neither more nor less than "three"


def _operator(name: str) -> Callable[[Any, Any], bool]:
    found = _OPERATORS.get(name.removeprefix("$"))
    if found is None:
        raise Invalid(f"operator {name!r} is unknown; use one of {', '.join(_OPERATORS)}")
    return found


def _equal(value: Any, other: Any) -> bool:
    """A mapping and a list are equal if their parts fulfil what is asked of them."""
    if value is _MISSING:
        return other is None
    if isinstance(other, Mapping) and isinstance(value, Mapping):
        return all(_equal(value.get(key, _MISSING), part) for key, part in other.items())
    if isinstance(other, list | tuple) and isinstance(value, list | tuple):
        same = len(value) == len(other)
        return same and all(_equal(one, part) for one, part in zip(value, other, strict=True))
    return bool(value == other)


def _contains(value: Any, part: Any) -> bool:
    return value is not _MISSING and value is not None and part in value


def _icontains(value: Any, part: Any) -> bool:
    if not isinstance(value, str) or not isinstance(part, str):
        return False
    return part.casefold() in value.casefold()


def _there(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    return lambda value, other: (
        value is not _MISSING and value is not None and compare(value, other)
    )


_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": _equal,
    "ne": lambda value, other: not _equal(value, other),
    "in": lambda value, others: any(_equal(value, other) for other in others),
    "nin": lambda value, others: not any(_equal(value, other) for other in others),
    "gt": _there(lambda value, other: bool(value > other)),
    "gte": _there(lambda value, other: bool(value >= other)),
    "lt": _there(lambda value, other: bool(value < other)),
    "lte": _there(lambda value, other: bool(value <= other)),
    "contains": _contains,
    "icontains": _icontains,
}
