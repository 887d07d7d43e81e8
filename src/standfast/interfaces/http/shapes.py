"""What answers look like, for the documentation: drawn from the values themselves, so that no
field is described twice or forgotten."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, make_dataclass
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

from standfast.types import Hit, Record

_SHAPES: set[Any] = set()  # all that were made here


def shape_of(hint: Any) -> Any:
    """The type that JSON of such a value has: every field is there, tuples are lists, and a hit
    has its record's fields beside its own."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint in _SHAPES:
        return hint
    if is_dataclass(hint) and isinstance(hint, type):
        return _shape_of_class(hint)
    if origin is tuple:
        return list[shape_of(arguments[0])]  # type: ignore[misc]
    if origin in (Union, types.UnionType):
        return Union[tuple(map(shape_of, arguments))]  # noqa: UP007
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return dict[str, shape_of(arguments[1])]  # type: ignore[misc]
    return hint


@cache
def _shape_of_class(kind: type) -> type:
    hints = get_type_hints(kind)
    names = [field.name for field in fields(kind)]
    if kind is Hit:
        hints = {**get_type_hints(Record), **hints}
        names = [field.name for field in fields(Record)] + [n for n in names if n != "record"]
    return object_of(kind.__name__, **{name: hints[name] for name in names})


def object_of(name: str, /, **members: Any) -> type:
    """An object with these members, all of them there."""
    fields_ = [(member, shape_of(hint)) for member, hint in members.items()]
    made = make_dataclass(name, fields_, kw_only=True)
    _SHAPES.add(made)
    return made


def page_of(name: str, kind: Any) -> type:
    return object_of(name, items=tuple[kind, ...], next=str)
