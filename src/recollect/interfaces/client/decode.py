"""JSON of a server as the values that a local memory answers with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, TypeVar

from recollect.errors import Incompatible, Invalid
from recollect.types import Answer, Hit, Packet
from recollect.types.pages import Page
from recollect.types.serial import from_plain

T = TypeVar("T")
Read = Callable[[Any], T]

_SCORES = {field.name for field in fields(Hit)} - {"record"}


def one(kind: type[T]) -> Read[T]:
    """Reads a value of this kind."""

    def read(raw: Any) -> T:
        try:
            return from_plain(kind, raw)
        except Invalid as error:
            raise Incompatible(
                f"the server answers in a way that this version does not know: {error}; "
                "use the same version on both sides"
            ) from None

    return read


def several(name: str, kind: type[T]) -> Read[tuple[T, ...]]:
    """Reads the list under this name."""
    read_one = one(kind)
    return lambda raw: tuple(map(read_one, _member(raw, name)))


def page(kind: type[T]) -> Read[Page[T]]:
    read_one = one(kind)
    return lambda raw: Page(
        items=tuple(map(read_one, _member(raw, "items"))), next=str(_member(raw, "next"))
    )


def answer(raw: Any) -> Answer:
    return one(Answer)(_nested(raw, "hits"))


def packet(raw: Any) -> Packet:
    return one(Packet)(_nested(raw, "hits", "near_misses"))


def _nested(raw: Any, *names: str) -> dict[str, Any]:
    """A hit is sent as its record's fields with the scores beside them."""
    return {**raw, **{name: [_hit(hit) for hit in _member(raw, name)] for name in names}}


def _hit(raw: dict[str, Any]) -> dict[str, Any]:
    record = {name: value for name, value in raw.items() if name not in _SCORES}
    return {"record": record, **{name: raw[name] for name in _SCORES if name in raw}}


def _member(raw: Any, name: str) -> Any:
    if not isinstance(raw, dict) or name not in raw:
        raise Incompatible(f"the server's answer has no {name!r}; is it a recollect server?")
    return raw[name]
