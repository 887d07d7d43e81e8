"""Bodies: each has a size, a depth, a type and a time in which it has to arrive."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from dataclasses import dataclass

from starlette.datastructures import Headers

from recollect.interfaces.http.guards import App, Message, Receive, Scope, Send
from recollect.interfaces.http.problems import Refused

DEPTH_MAX = 64
BESIDE_BYTES = 64 << 10
BODY = "recollect.body"  # in a request's scope: all of it, unless it is streamed
JSON, LINES = "application/json", "application/x-ndjson"
FORM = "application/x-www-form-urlencoded"
_ELSE = bytes(set(range(256)) - set(b'"[]{}'))


@dataclass(frozen=True, slots=True, kw_only=True)
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
        limits: BodyLimits | None = None,
    ) -> None:
        """``streamed`` are the paths whose bodies are read piece by piece, ``forms`` those that
        take what a page's form sends."""
        self._app = app
        self._forms = frozenset(forms)
        self._streamed = frozenset(streamed)
        self._limits = limits or BodyLimits()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD", "OPTIONS"):
            return await self._app(scope, receive, send)
        streamed = scope["path"] in self._streamed
        most = self._limits.stream_bytes if streamed else self._limits.body_bytes
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
        if await _is_too_deep(body):
            raise Refused(400, f"the JSON is nested deeper than {DEPTH_MAX} levels")
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


async def _is_too_deep(body: bytes) -> bool:
    """What takes a moment to look through is looked through beside the loop."""
    if len(body) < BESIDE_BYTES:
        return too_deep(body)
    return await asyncio.to_thread(too_deep, body)


def too_deep(body: bytes) -> bool:
    """Is it nested deeper than anybody needs? Brackets inside of strings do not count."""
    if body.count(b"[") + body.count(b"{") <= DEPTH_MAX:
        return False
    parts = signs_of(body).split(b'"')  # outside of a string, inside, outside ...
    unclosed = [] if len(parts) % 2 else parts[-1:]
    depth = 0
    for bracket in b"".join((*parts[::2], *unclosed)):
        depth += 1 if bracket in b"[{" else -1
        if depth > DEPTH_MAX:
            return True
    return False


def signs_of(body: bytes) -> bytes:
    """The quotes and brackets of a body, without what is escaped: two passes over all of it,
    whatever stands there. Escaped backslashes go first, so that what follows one is not escaped."""
    unescaped = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    return unescaped.translate(None, _ELSE)
