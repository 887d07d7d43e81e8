"""MCP beside the routes: the same door, the same limits."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from starlette.requests import HTTPConnection

from recollect.interfaces.caller import Caller
from recollect.interfaces.http.callers import caller_of
from recollect.interfaces.http.guards import App
from recollect.interfaces.http.problems import told
from recollect.interfaces.mcp.mount import McpRoute
from recollect.types import Right


@asynccontextmanager
async def mcp_route(rights: Iterable[Right] = (), profile: str = "") -> AsyncIterator[App]:
    """An application for ``/mcp``, for as long as the server runs. ``rights``: what tools may do
    beside reading, writing and erasing, with a key that may."""
    route = McpRoute(_let_in, told, rights, profile)
    async with route.running():
        yield route


async def _let_in(connection: HTTPConnection) -> Caller:
    return caller_of(connection.scope)
