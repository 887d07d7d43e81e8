"""JSON of a server as the values that a local memory answers with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar

from standfast.errors import Incompatible, Invalid
from standfast.interfaces.answers import LIST_NAMES, kind_of
from standfast.memory.arguments import verb_spec
from standfast.types import Answer, Hit, Packet
from standfast.types.pages import Page
from standfast.types.serial import from_plain

T = TypeVar("T")
Read = Callable[[Any], T]

_NESTED: dict[Any, tuple[str, ...]] = {Answer: ("hits",), Packet: ("hits", "near_misses")}
_SCORES = {field.name for field in fields(Hit)} - {"record"}


def one(kind: type[T], *nested: str) -> Read[T]:
    """Reads a value of this kind; ``nested`` are its members with hits."""

    def read(raw: Any) -> T:
        try:
            return from_plain(kind, _nested(raw, *nested) if nested else raw)
        except Invalid as error:
            raise Incompatible(
                f"the server answers in a way that this version does not know: {error}; "
                "use the same version on both sides"
            ) from None

    return read


def reader_of(verb: str) -> Read[Any]:
    """Reads what the server answers to a verb."""
    how, kind = kind_of(verb_spec(verb).answers)
    if how == "one":
        return one(kind, *_NESTED.get(kind, ()))
    read, name = one(kind), LIST_NAMES.get(verb, "items")
    if how == "list":
        return lambda raw: tuple(map(read, _member(raw, name)))
    return lambda raw: Page(
        items=tuple(map(read, _member(raw, "items"))), next=str(_member(raw, "next"))
    )


def _nested(raw: Any, *names: str) -> dict[str, Any]:
    """A hit is sent as its record's fields with the scores beside them."""
    return {**raw, **{name: [_hit(hit) for hit in _member(raw, name)] for name in names}}


def _hit(raw: dict[str, Any]) -> dict[str, Any]:
    record = {name: value for name, value in raw.items() if name not in _SCORES}
    return {"record": record, **{name: raw[name] for name in _SCORES if name in raw}}


def _member(raw: Any, name: str) -> Any:
    if not isinstance(raw, dict) or name not in raw:
        raise Incompatible(f"the server's answer has no {name!r}; is it a standfast server?")
    return raw[name]
