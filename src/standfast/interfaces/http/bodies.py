"""Bodies: each has a size, a depth, a type and a time in which it has to arrive."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator

from starlette.datastructures import Headers

from standfast.interfaces.http.guards import App, Message, Receive, Scope, Send
from standfast.interfaces.http.problems import Refused
from standfast.types.frozen import frozen

DEPTH_MAX = 64
VALUES_MAX = 100_000  # in one body: each costs more to read than the byte or two that it takes
OPEN_BYTES = 16 << 10  # of a body that anybody may send, without a key
BESIDE_BYTES = PIECE_BYTES = 64 << 10
BODY = "standfast.body"  # in a request's scope: all of it, unless it is streamed
JSON, LINES = "application/json", "application/x-ndjson"
TEXT = "text/markdown; charset=utf-8"
FORM = "application/x-www-form-urlencoded"
_ELSE = bytes(set(range(256)) - set(b'"[]{},'))


@frozen
class BodyLimits:
    body_bytes: int = 8 << 20
    stream_bytes: int = 4 << 30  # of a body that is read while it arrives
    body_seconds: float = 30.0  # for a whole body, or between two pieces of a streamed one
    bytes_per_second: int = 1 << 10  # of a streamed one, once it had that long


class Bodies:
    """Reads a request's body before anything else sees the request. Nothing is read of a
    request that was refused before."""

    def __init__(
        self,
        app: App,
        *,
        streamed: Iterable[str] = (),
        forms: Iterable[str] = (),
        opened: Iterable[str] = (),
        limits: BodyLimits | None = None,
    ) -> None:
        """``streamed`` are the paths whose bodies are read piece by piece, ``forms`` those that
        take what a page's form sends, ``opened`` those that need no key."""
        self._app = app
        self._opened = frozenset(opened)
        self._forms = frozenset(forms)
        self._streamed = frozenset(streamed)
        self._limits = limits or BodyLimits()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD", "OPTIONS"):
            return await self._app(scope, receive, send)
        streamed = scope["path"] in self._streamed
        most = self._limits.stream_bytes if streamed else self._limits.body_bytes
        if scope["path"] in self._opened:
            most = min(most, OPEN_BYTES)
        headers = Headers(scope=scope)
        _check_length(headers, most)
        _check_encoding(headers)
        if streamed:
            _check_type(headers, LINES, unread=True)
            return await self._app(scope, self._counted(receive, most), send)
        body = await self._whole(receive, most)
        if body is None:
            return None  # whoever asked is gone, and only half of what they asked is here
        if body:
            _check_type(headers, FORM if scope["path"] in self._forms else JSON)
        if b"\0" in body:  # UTF-16 and UTF-32 have them, JSON in UTF-8 has none
            raise Refused(400, "the body is no JSON in UTF-8")
        if trouble := await _trouble_beside(body):
            raise Refused(400, trouble)
        scope[BODY] = body
        return await self._app(scope, _replayed(body, receive), send)

    async def _whole(self, receive: Receive, most: int) -> bytes | None:
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                return await _read(receive, most)
        except TimeoutError:
            raise self._late() from None

    def _late(self) -> Refused:
        seconds = self._limits.body_seconds
        return Refused(408, f"the body did not arrive within {seconds:g} seconds")

    def _counted(self, receive: Receive, most: int) -> Receive:
        """A body that is read while it arrives, neither too long nor too slowly: whoever drips it
        byte by byte does not keep the connection."""
        left = most
        begun = time.monotonic()

        async def counted() -> Message:
            nonlocal left
            due = time.monotonic() - begun - self._limits.body_seconds
            if (most - left) < due * self._limits.bytes_per_second:
                raise self._late()
            try:
                async with asyncio.timeout(self._limits.body_seconds):
                    message = await receive()
            except TimeoutError:
                raise self._late() from None
            left -= len(message.get("body", b""))
            if left < 0:
                raise _too_long(most)
            return message

        return counted


def _too_long(most: int) -> Refused:
    return Refused(413, f"the body has more than {most:,} bytes", unread=True)


def _check_length(headers: Headers, most: int) -> None:
    length = headers.get("content-length", "0")
    if not (length.isascii() and length.isdigit()):
        raise Refused(400, "Content-Length is not a number")
    if int(length) > most:
        raise _too_long(most)


def _check_encoding(headers: Headers) -> None:
    if headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise Refused(
            415, "send the body as it is: compressed bodies are not unpacked here", unread=True
        )


def _check_type(headers: Headers, wanted: str, *, unread: bool = False) -> None:
    kind, _, parameters = headers.get("content-type", "").lower().partition(";")
    charset = parameters.replace(" ", "").replace('"', "")
    if kind.strip() != wanted or (charset and charset != "charset=utf-8"):
        raise Refused(415, f"send this as Content-Type: {wanted}, in UTF-8", unread=unread)


async def _read(receive: Receive, most: int) -> bytes | None:
    """The whole body; None if the connection ended before it was there."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            raise _too_long(most)
        if not message.get("more_body", False):
            return b"".join(parts)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The whole body at once, then whatever else comes, such as the end of the connection."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay


async def _trouble_beside(body: bytes) -> str:
    """What takes a moment to look through is looked through beside the loop."""
    if len(body) < BESIDE_BYTES:
        return trouble_with(body)
    return await asyncio.to_thread(trouble_with, body)


def trouble_with(body: bytes) -> str:
    """Why nobody should read it; "" if anybody may."""
    if too_deep(body):
        return f"the JSON is nested deeper than {DEPTH_MAX} levels"
    if too_many(body):
        return f"the JSON has more than {VALUES_MAX:,} values; send them in several requests"
    return ""


def too_deep(body: bytes) -> bool:
    """Is it nested deeper than anybody needs? Brackets inside of strings do not count."""
    if body.count(b"[") + body.count(b"{") <= DEPTH_MAX:
        return False
    depth = 0
    for bracket in _outside(body).translate(None, b","):
        depth += 1 if bracket in b"[{" else -1
        if depth > DEPTH_MAX:
            return True
    return False


def too_many(body: bytes) -> bool:
    """Has it more values than anybody needs? A reader makes an object of each."""
    signs = (b"[", b"{", b",")
    if sum(map(body.count, signs)) <= VALUES_MAX:
        return False
    return sum(map(_outside(body).count, signs)) > VALUES_MAX


def _outside(body: bytes) -> bytes:
    """The brackets and commas that stand in no string, or in one that never ends."""
    outside: list[bytes] = []
    string: list[bytes] = []
    is_inside = False
    for piece in _pieces(body):
        signs = signs_of(piece).replace(b'""', b"")  # a string without signs, or between two
        for number, part in enumerate(signs.split(b'"')):
            if number:
                is_inside = not is_inside
                string.clear()
            if part:
                (string if is_inside else outside).append(part)
    return b"".join((*outside, *string))


def _pieces(body: bytes) -> Iterator[bytes]:
    """In small ones, because nothing else runs while one is split; none ends within an escape."""
    start = 0
    while start < len(body):
        piece = body[start : start + PIECE_BYTES]
        slashes = len(piece) - len(piece.rstrip(b"\\"))
        if slashes % 2 and len(piece) == PIECE_BYTES:
            piece = piece[:-1]
        yield piece
        start += len(piece)


def signs_of(piece: bytes) -> bytes:
    """The quotes, commas and brackets of a piece, without what is escaped: two passes over all
    of it, whatever stands there. Escaped backslashes go first, so that what follows one is not
    escaped."""
    unescaped = piece.replace(b"\\\\", b"").replace(b'\\"', b"")
    return unescaped.translate(None, _ELSE)
