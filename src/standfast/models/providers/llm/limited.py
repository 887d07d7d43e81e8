"""An HTTP client that reads no more than it was told to and follows nobody elsewhere."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import cache
from typing import cast

import httpx2

ANSWER_BYTES_MAX = 1 << 20


class TooLargeError(httpx2.StreamError):
    """More came than anybody asked for."""


class _Limited(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, bytes_max: int) -> None:
        self._stream = stream
        self._bytes_max = bytes_max

    async def __aiter__(self) -> AsyncIterator[bytes]:
        seen = 0
        async for part in self._stream:
            seen += len(part)
            if seen > self._bytes_max:
                raise TooLargeError(f"the answer is larger than {self._bytes_max >> 10} KiB")
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


def _limit(bytes_max: int) -> Callable[[httpx2.Response], Awaitable[None]]:
    async def limit(response: httpx2.Response) -> None:
        # A packed answer could unfold to any size behind the limit. We ask for plain ones.
        if response.headers.get("content-encoding", "identity") != "identity":
            raise TooLargeError("the answer is packed, though a plain one was asked for")
        stream = cast(httpx2.AsyncByteStream, response.stream)
        response.stream = _Limited(stream, bytes_max)

    return limit


@cache
def _certificates() -> ssl.SSLContext:
    return httpx2.create_ssl_context()  # 20 ms: once


def new_client(
    seconds: float, *, proxies: bool, bytes_max: int = ANSWER_BYTES_MAX
) -> httpx2.AsyncClient:
    """A client for one question. A hook and not a transport of our own limits it, because with
    a transport the proxies of the environment would be passed over."""
    return httpx2.AsyncClient(
        verify=_certificates(),
        timeout=httpx2.Timeout(seconds),
        follow_redirects=False,
        trust_env=proxies,
        headers={"Accept-Encoding": "identity"},
        event_hooks={"response": [_limit(bytes_max)]},
    )
