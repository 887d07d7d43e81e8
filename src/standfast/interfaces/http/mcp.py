"""MCP beside the routes: the same door, the same limits.

The protocol's package takes longer to load than the rest of the server does to start, and most
servers are never asked by it: it is loaded in a thread when the first client comes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.requests import HTTPConnection

from standfast.interfaces.caller import Caller
from standfast.interfaces.http.callers import caller_of
from standfast.interfaces.http.guards import App, Receive, Scope, Send
from standfast.interfaces.http.problems import told
from standfast.types import Right

if TYPE_CHECKING:
    from standfast.interfaces.mcp.mount import McpRoute


@asynccontextmanager
async def mcp_route(rights: Iterable[Right] = (), profile: str = "") -> AsyncIterator[App]:
    """An application for ``/mcp``, for as long as the server runs. ``rights``: what tools may do
    beside reading, writing and erasing, with a key that may."""
    late = _LateRoute(tuple(rights), profile)
    try:
        yield late
    finally:
        await late.end()


class _LateRoute:
    """The route, from the first request on. One task begins and ends what runs behind it."""

    def __init__(self, rights: tuple[Right, ...], profile: str) -> None:
        self._rights, self._profile = rights, profile
        self._ready: asyncio.Future[McpRoute] | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._ended = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._ready is None or (self._ready.done() and self._ready.exception()):
            self._ready = asyncio.get_running_loop().create_future()
            self._keeper = asyncio.create_task(self._keep(self._ready))
        route = await asyncio.shield(self._ready)
        await route(scope, receive, send)

    async def _keep(self, ready: asyncio.Future[McpRoute]) -> None:
        try:
            route = await asyncio.to_thread(self._load)
            async with route.running():
                ready.set_result(route)
                await self._ended.wait()
        except Exception as error:
            if ready.done():
                raise
            ready.set_exception(error)

    def _load(self) -> McpRoute:
        from standfast.interfaces.mcp.mount import McpRoute

        return McpRoute(_let_in, told, self._rights, self._profile)

    async def end(self) -> None:
        self._ended.set()
        if self._keeper is not None:
            await self._keeper


async def _let_in(connection: HTTPConnection) -> Caller:
    return caller_of(connection.scope)
