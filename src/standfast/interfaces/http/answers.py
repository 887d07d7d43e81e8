"""Answers as JSON: our own values, not looked at a second time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from starlette.responses import Response

from standfast.interfaces.render import as_json, without_paths
from standfast.memory.beside import beside
from standfast.types import Message, Packet, Record
from standfast.types.json import names_of

VALUE_CHARACTERS, RECORD_CHARACTERS = 20, 700  # of JSON, beside the text
DEGRADED_HEADER = "X-Standfast-Degraded"
# ``json.dumps`` makes one for each call, unless it is asked for nothing in particular.
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_SMALL = frozenset((int, float, bool, type(None)))


def json_bytes(value: Any) -> bytes:
    """UTF-8; half a surrogate pair, which no UTF-8 can carry, stays the escape it came as."""
    return _ENCODER.encode(value).encode("utf-8", "backslashreplace")


# What may be the words of an error, and where else to look for it.
_TOLD = ("notes", "reason", "why")
_WITHIN = ("items", "receipt", "stuck")


def outward(value: Any) -> Any:
    """As JSON, without the paths of this machine that an error may have named."""
    return _without_paths(as_json(value))


def _without_paths(body: Any) -> Any:
    if isinstance(body, list):
        return [_without_paths(part) for part in body]
    if not isinstance(body, dict):
        return body
    told = {name: _hushed(body[name]) for name in _TOLD if name in body}
    within = {name: _without_paths(body[name]) for name in _WITHIN if name in body}
    return {**body, **told, **within} if told or within else body


def _hushed(said: Any) -> Any:
    if isinstance(said, list):
        return [_hushed(part) for part in said]
    return without_paths(said) if isinstance(said, str) else said


def answer(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(
        json_bytes(outward(value)),
        status_code=status,
        headers=dict(headers or {}),
        media_type="application/json",
    )


async def answer_beside(
    value: Any, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """The same; a long one is written beside the loop."""
    return await beside(length_of(value), partial(answer, value, status, headers))


ENOUGH = 100_000  # characters: such an answer is long, whatever else is in it


def length_of(value: Any) -> int:
    """About how many characters it takes, as far as that tells a long answer from a short one:
    counting all of a long one would hold the loop itself."""
    length, rest = 0, [value]
    while rest and length < ENOUGH:
        one = rest.pop()
        kind: Any = type(one)
        if kind in _SMALL:
            length += VALUE_CHARACTERS
        elif isinstance(one, str):
            length += len(one)
        elif kind in (Record, Message):
            length += RECORD_CHARACTERS + len(one.text)
        elif (names := names_of(kind)) is not None:
            rest += [getattr(one, name) for name in names]
        elif isinstance(one, Mapping):
            length += VALUE_CHARACTERS * len(one)
            rest += one.values()
        elif isinstance(one, list | tuple):
            length += VALUE_CHARACTERS * len(one)
            rest += one
        else:
            length += VALUE_CHARACTERS
    return length


def etag_of(packet: Packet) -> str:
    """The same while the packet would say the same. Weak: scores may differ behind the comma."""
    said = {
        "text": packet.text,
        "messages": as_json(packet.messages),
        "pending": [(message.scope, message.id) for message in packet.pending],
    }
    return f'W/"{hashlib.sha256(json_bytes(said)).hexdigest()[:32]}"'


def matches(if_none_match: str, etag: str) -> bool:
    """Is it one of those that the client has? Compared weakly, as RFC 9110 says."""
    known = [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
    return "*" in known or etag.removeprefix("W/") in known


def header_text(text: str) -> str:
    """Text that no header can be broken with."""
    return "".join(c if " " <= c <= "~" else "?" for c in " ".join(text.split()))[:500]
