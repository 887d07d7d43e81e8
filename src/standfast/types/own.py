"""Types of your own: what a record of one holds, and what a model is told that learns.

A type of your own is one of the built-in ones under another name: its records carry the tag
``type:NAME``, by which every filter finds them, and their ``data`` holds its fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field
from difflib import get_close_matches
from typing import Any, get_args

from standfast import compat
from standfast.errors import Invalid
from standfast.types import Type
from standfast.types.frozen import frozen

TAG = compat.TYPE_TAG  # before the name of a type, as a tag
TYPES_MAX = 32
FIELDS_MAX = 16
INSTRUCTIONS_MAX = 2000  # characters: they are part of every question
SAID_MAX = 300
EXAMPLE = '{"types": {"order": {"said": "what a customer ordered", "fields": {"dish": "text"}}}}'
_KINDS: Mapping[str, tuple[type, ...]] = {"text": (str,), "number": (int, float), "flag": (bool,)}
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}\Z")
_BASES = tuple(name for name in get_args(Type) if name not in ("turn", "episode", "summary"))


@frozen
class OwnType:
    """``like``: the built-in type that its records have; ``said``: what it is, for a model."""

    name: str
    like: Type = "fact"
    said: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)  # name -> text, number or flag
    required: tuple[str, ...] = ()

    def check(self, data: Mapping[str, Any]) -> None:
        """Invalid, if what it holds is not as it was declared. More than that it may hold."""
        for name in self.required:
            if name not in data:
                raise Invalid(f"a record of type {self.name!r} needs {name!r} in its data")
        for name, kind in self.fields.items():
            if name in data and not _is_of(data[name], kind):
                told = type(data[name]).__name__
                raise Invalid(f"{name!r} of type {self.name!r} is a {kind}, not {told}")


@frozen
class OwnTypes:
    """All of them, and what else a model is told that learns from messages."""

    types: Mapping[str, OwnType] = field(default_factory=dict)
    instructions: str = ""

    def of_tags(self, tags: Iterable[str]) -> OwnType | None:
        """The one that tags name. Invalid, if it is none of them, or they name two."""
        names = [tag.removeprefix(TAG) for tag in tags if tag.startswith(TAG)] if self.types else []
        if len(names) > 1:
            raise Invalid(f"a record has one type of your own, not {' and '.join(names)}")
        for name in names:
            if name not in self.types:
                near = get_close_matches(name, self.types, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"use {', '.join(self.types)}"
                raise Invalid(f"there is no type {name!r} of your own; {hint}")
        return self.types[names[0]] if names else None

    def read(self, name: str, told: str, heard: str) -> dict[str, Any]:
        """The fields of a type as a model writes them, "dish=soup; price=4.50". What is not as
        declared, or not in what was ``heard``, is left out: the statement holds without it."""
        found: dict[str, Any] = {}
        for piece in told.split(";"):
            key, sign, value = (part.strip() for part in piece.partition("="))
            kind = self.types[name].fields.get(key)
            known = bool(sign and kind and value) and value.casefold() in heard.casefold()
            if known and kind and (made := _made(value, kind)) is not None:
                found[key] = made
        return found

    def as_text(self) -> str:
        """For the prompt; "" if there is nothing to say."""
        lines = [self.instructions] if self.instructions else []
        if self.types:
            lines.append('Also these types; fields as "name=value; name=value":')
        for one in self.types.values():
            fields = ", ".join(f"{name} ({kind})" for name, kind in one.fields.items())
            lines.append(f"- {one.name}: {one.said}" + (f" Fields: {fields}." if fields else ""))
        return "\n".join(lines)


NOTHING_OWN = OwnTypes()


def own_types_of(value: Any) -> OwnTypes:
    """From plain data, as a file or a caller has it; Invalid says what to write instead."""
    found = _mapping(value, "own types", ("types", "instructions"))
    types = found.get("types", {})
    if not isinstance(types, Mapping) or len(types) > TYPES_MAX:
        raise Invalid(f"`types` is a mapping of at most {TYPES_MAX} names: {EXAMPLE}")
    return OwnTypes(
        types={name: _own_type(name, one) for name, one in types.items()},
        instructions=_text(found.get("instructions", ""), "instructions", INSTRUCTIONS_MAX),
    )


def _own_type(name: Any, value: Any) -> OwnType:
    if not isinstance(name, str) or not _NAME.match(name) or name in get_args(Type):
        raise Invalid(
            f"{name!r} is no name for a type of your own: small letters, and none of ours"
        )
    found = _mapping(value, f"type {name!r}", ("like", "said", "fields", "required"))
    like = found.get("like", "fact")
    if like not in _BASES:
        raise Invalid(f"type {name!r} is like one of {', '.join(_BASES)}, not {like!r}")
    fields = found.get("fields", {})
    if not isinstance(fields, Mapping) or len(fields) > FIELDS_MAX:
        raise Invalid(f"`fields` of {name!r} is a mapping of at most {FIELDS_MAX} names")
    for field_name, kind in fields.items():
        if not isinstance(field_name, str) or not _NAME.match(field_name) or kind not in _KINDS:
            raise Invalid(f"{field_name!r} of {name!r} is a {' or a '.join(_KINDS)}, not {kind!r}")
    required = found.get("required", ())
    if isinstance(required, str) or any(one not in fields for one in required):
        raise Invalid(f"`required` of {name!r} lists some of its fields")
    said = _text(found.get("said", ""), f"`said` of {name!r}", SAID_MAX)
    return OwnType(name=name, like=like, said=said, fields=dict(fields), required=tuple(required))


def _mapping(value: Any, what: str, known: tuple[str, ...]) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise Invalid(f"{what}: a mapping, not {type(value).__name__}, such as {EXAMPLE}")
    for name in value:
        if name not in known:
            near = get_close_matches(str(name), known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"use {', '.join(known)}"
            raise Invalid(f"{what}: there is no {name!r}; {hint}")
    return value


def _text(value: Any, what: str, most: int) -> str:
    if not isinstance(value, str) or len(value) > most:
        raise Invalid(f"{what}: a text of at most {most} characters")
    return value.strip()


def _is_of(value: Any, kind: str) -> bool:
    return isinstance(value, _KINDS[kind]) and isinstance(value, bool) == (kind == "flag")


def _made(value: str, kind: str) -> Any:
    if kind == "text":
        return value
    if kind == "flag":
        return {"true": True, "yes": True, "false": False, "no": False}.get(value.lower())
    try:
        number = float(value)
    except ValueError:
        return None
    return int(number) if number.is_integer() else number
