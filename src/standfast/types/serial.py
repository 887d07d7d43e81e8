"""Values to JSON-able dicts and back: every field, nothing assumed, nothing let through.

Both directions follow ``dataclasses.fields``, so a field that is added to a value is written and
read without a line here. Times are written in UTC; only a message keeps its own offset.
"""

from __future__ import annotations

import json
import math
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from standfast import compat
from standfast.errors import Invalid
from standfast.types import Entry, Item, Message, Record, Relation, Session, Summary

FORMAT = compat.EXPORT_FORMAT
VERSION = 1

# The type of a line -> the value it holds. New ones go to the end.
TYPES: Mapping[str, type] = {
    "session": Session,
    "message": Message,
    "summary": Summary,
    "record": Record,
    "relation": Relation,
    "item": Item,
    "entry": Entry,
}
NAMES: Mapping[type, str] = {kind: name for name, kind in TYPES.items()}

_LARGEST = 2**63 - 1

Value = Session | Message | Summary | Record | Relation | Item | Entry
Encoder = Callable[[Any], Any]
Decoder = Callable[[Any, str], Any]
T = TypeVar("T")


def line_of(value: Value) -> bytes:
    """One line of an export, its end included."""
    return json_line({"type": NAMES[type(value)], "value": to_plain(value)})


def json_line(value: Any) -> bytes:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode() + b"\n"


def to_plain(value: Any) -> Any:
    """JSON-able data that ``from_plain`` turns back into an equal value."""
    if is_dataclass(value) and not isinstance(value, type):
        return _dataclass_encoder(type(value))(value)
    if isinstance(value, datetime):
        return _utc(value).isoformat()
    if isinstance(value, Mapping):
        return {str(key): to_plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(part) for part in value]
    return value


@cache
def _dataclass_encoder(kind: type) -> Encoder:
    hints = get_type_hints(kind)
    encoders = [(field.name, _encoder(hints[field.name])) for field in fields(kind)]
    if kind is Message:
        encoders = [(n, datetime.isoformat if n == "at" else e) for n, e in encoders]

    def encode(value: Any) -> dict[str, Any]:
        return {name: encoder(getattr(value, name)) for name, encoder in encoders}

    return encode


def _encoder(hint: Any) -> Encoder:
    if hint in (str, int, bool) or get_origin(hint) is Literal:
        return _as_it_is
    if hint == tuple[str, ...]:
        return list
    return float if hint is float else to_plain


def _as_it_is(value: Any) -> Any:
    return value


def _utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:  # next to year 1 or 9999
        return moment


def from_plain(kind: type[T], raw: Any) -> T:
    """The value, or Invalid naming the first field that is wrong. A field that has a default
    may be missing: an older program did not know it."""
    decoder: Decoder = _dataclass_decoder(kind)  # type: ignore[arg-type]  # classes are hashable
    found: T = decoder(raw, NAMES.get(kind, kind.__name__))
    return found


@cache
def _dataclass_decoder(kind: type) -> Decoder:
    hints = get_type_hints(kind)
    decoders = {field.name: _decoder(hints[field.name]) for field in fields(kind)}
    required = [
        field.name
        for field in fields(kind)
        if field.default is MISSING and field.default_factory is MISSING
    ]

    def decode(raw: Any, where: str) -> Any:
        if not isinstance(raw, dict):
            raise Invalid(f"{where} must be an object, not {_said(raw)}")
        for name in required:
            if name not in raw:
                raise Invalid(f"{where} has no {name!r}")
        unknown = next((name for name in raw if name not in decoders), None)
        if unknown is not None:
            raise Invalid(f"{where} has the unknown field {unknown[:80]!r}")
        return kind(**{name: decoders[name](part, name) for name, part in raw.items()})

    return decode


def _decoder(hint: Any) -> Decoder:
    origin, arguments = get_origin(hint), get_args(hint)
    if hint in _PLAIN:
        return _PLAIN[hint]
    if origin is Literal:
        return _choice(arguments)
    if origin in (Union, types.UnionType):
        return _optional(_decoder(next(part for part in arguments if part is not type(None))))
    if origin is tuple:
        return _several(_decoder(arguments[0]))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping(_decoder(arguments[1]))
    if is_dataclass(hint) and isinstance(hint, type):
        return _dataclass_decoder(hint)
    raise TypeError(f"no way to read {hint}")


def _text(raw: Any, where: str) -> str:
    if not isinstance(raw, str):
        raise Invalid(f"{where} must be text, not {_said(raw)}")
    try:
        raw.encode()
    except UnicodeEncodeError:
        raise Invalid(f"{where} has half a surrogate pair in it") from None
    return raw


def _whole(raw: Any, where: str) -> int:
    if isinstance(raw, bool) or not isinstance(raw, int) or not 0 <= raw <= _LARGEST:
        raise Invalid(f"{where} must be a whole number from 0, not {_said(raw)}")
    return raw


def _number(raw: Any, where: str) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float) or not _is_small(raw):
        raise Invalid(f"{where} must be a finite number, not {_said(raw)}")
    return float(raw)


def _is_small(number: float) -> bool:
    return -_LARGEST <= number <= _LARGEST if isinstance(number, int) else math.isfinite(number)


def _truth(raw: Any, where: str) -> bool:
    if not isinstance(raw, bool):
        raise Invalid(f"{where} must be true or false, not {_said(raw)}")
    return raw


def _moment(raw: Any, where: str) -> datetime:
    try:
        found = datetime.fromisoformat(raw)
        if found.tzinfo is None:
            raise ValueError
        found.astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        raise Invalid(
            f"{where} must be a time with offset such as 2026-05-03T10:00:00+00:00, "
            f"not {_said(raw)}"
        ) from None
    return found


def _anything(raw: Any, where: str) -> Any:
    """JSON as it is; only texts and numbers that no store can hold are refused."""
    if isinstance(raw, str):
        return _text(raw, where)
    if isinstance(raw, list):
        return [_anything(part, where) for part in raw]
    if isinstance(raw, dict):
        return {_text(key, where): _anything(part, where) for key, part in raw.items()}
    if isinstance(raw, int | float) and not _is_small(raw):
        raise Invalid(f"{where} holds a number that is too large")
    return raw


def _choice(words: tuple[Any, ...]) -> Decoder:
    def decode(raw: Any, where: str) -> Any:
        if not isinstance(raw, str) or raw not in words:
            raise Invalid(f"{where} must be one of {', '.join(words)}, not {_said(raw)}")
        return raw

    return decode


def _optional(decoder: Decoder) -> Decoder:
    return lambda raw, where: None if raw is None else decoder(raw, where)


def _several(decoder: Decoder) -> Decoder:
    def decode(raw: Any, where: str) -> Any:
        if not isinstance(raw, list):
            raise Invalid(f"{where} must be a list, not {_said(raw)}")
        return tuple(decoder(part, where) for part in raw)

    return decode


def _mapping(decoder: Decoder) -> Decoder:
    def decode(raw: Any, where: str) -> Any:
        if not isinstance(raw, dict):
            raise Invalid(f"{where} must be an object, not {_said(raw)}")
        return {_text(key, where): decoder(part, where) for key, part in raw.items()}

    return decode


def _said(raw: Any) -> str:
    text = repr(raw)
    return text if len(text) <= 60 else text[:57] + "..."


_PLAIN: dict[Any, Decoder] = {
    str: _text,
    int: _whole,
    float: _number,
    bool: _truth,
    datetime: _moment,
    Any: _anything,
}
