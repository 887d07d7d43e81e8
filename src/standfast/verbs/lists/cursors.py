"""Cursors: a place in a list as one opaque word.

A cursor gives nobody anything: what may be seen is decided anew for every page. It carries a
check of the question it belongs to, so that one that was made up or used for another question
is refused instead of answering something odd.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from typing import Any

from standfast.errors import Invalid

LENGTH_MAX = 4000
CHECK_LENGTH = 12
START = "c"  # a word that began with "-" would be an option of a command line

Place = list[Any]


def cursor_of(place: Place, question: object) -> str:
    body = json.dumps(place, ensure_ascii=False, separators=(",", ":")).encode()
    return START + base64.urlsafe_b64encode(_check(body, question) + body).rstrip(b"=").decode()


def place_of(cursor: str, question: object, shape: tuple[type, ...]) -> Place | None:
    """The place, one value for each type of ``shape``; None for the beginning."""
    if not cursor:
        return None
    try:
        if len(cursor) > LENGTH_MAX or not cursor.startswith(START):
            raise ValueError
        packed = cursor.removeprefix(START)
        raw = base64.b64decode(packed + "=" * (-len(packed) % 4), altchars=b"-_", validate=True)
        check, body = raw[:CHECK_LENGTH], raw[CHECK_LENGTH:]
        place = json.loads(body)
        fits = isinstance(place, list) and [type(part) for part in place] == list(shape)
        if not fits or check != _check(body, question):
            raise ValueError
    except (ValueError, binascii.Error, RecursionError):
        raise Invalid(
            "this cursor does not belong to this list; take it from the page before, "
            "and ask with the same arguments"
        ) from None
    found: Place = place
    return found


def _check(body: bytes, question: object) -> bytes:
    return hashlib.sha256(repr(question).encode() + b"\0" + body).digest()[:CHECK_LENGTH]
