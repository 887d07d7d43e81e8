"""Agents for tests: the official client, on a server in this process or in one of its own."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult

from standfast.interfaces.caller import Caller
from standfast.interfaces.mcp.server import Toolset, build_server
from standfast.memory import AsyncMemory
from standfast.types import ALL_RIGHTS

TOOLS = (
    "memory_save",
    "memory_search",
    "memory_context",
    "memory_forget",
    "memory_history",
    "memory_review",
    "procedure_save",
    "procedure_find",
    "procedure_used",
    "session_log",
)


def run(scenario: Coroutine[Any, Any, None]) -> None:
    """Like asyncio.run; of a group of one error, that error."""
    try:
        asyncio.run(scenario)
    except BaseExceptionGroup as group:
        error: BaseException = group
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        raise error from None


@dataclass
class Agent:
    """A connected client with the words of a test."""

    client: Client

    async def call(self, tool: str, **arguments: Any) -> CallToolResult:
        answer = await self.client.call_tool(tool, arguments)
        assert isinstance(answer, CallToolResult)
        return answer

    async def does(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The typed result of a call that must work."""
        answer = await self.call(tool, **arguments)
        assert not answer.is_error, text_of(answer)
        assert isinstance(answer.structured_content, dict)
        return answer.structured_content

    async def says(self, tool: str, **arguments: Any) -> str:
        answer = await self.call(tool, **arguments)
        assert not answer.is_error, text_of(answer)
        return text_of(answer)

    async def fails(self, tool: str, **arguments: Any) -> str:
        answer = await self.call(tool, **arguments)
        assert answer.is_error, text_of(answer)
        return text_of(answer)

    async def saves(self, text: str, **arguments: Any) -> str:
        items = (await self.does("memory_save", text=text, **arguments))["items"]
        return str(items[0]["id"])

    async def finds(self, query: str, **arguments: Any) -> list[str]:
        found = await self.does("memory_search", query=query, **arguments)
        return [memory["text"] for memory in found["memories"]]


def text_of(answer: CallToolResult) -> str:
    return "\n".join(getattr(block, "text", "") for block in answer.content)


@asynccontextmanager
async def opened(store: str = "dict:", **options: Any) -> AsyncIterator[AsyncMemory]:
    options = {"embedder": "hashing", "background": False, **options}
    async with await AsyncMemory.open(store, **options) as memory:
        yield memory


@asynccontextmanager
async def agent_of(
    memory: AsyncMemory,
    *scopes: str,
    rights: Any = ALL_RIGHTS,
    tools: Toolset = "standfast",
) -> AsyncIterator[Agent]:
    """An agent whose key reaches these scopes; without any, all of them."""
    narrowed = AsyncMemory(memory._engine.narrowed(scopes or None, rights))

    async def who(_: object) -> Caller:
        return Caller(memory=narrowed, via="agent")

    profile = memory._engine.profile.name
    async with Client(build_server(who, rights=rights, tools=tools, profile=profile)) as client:
        yield Agent(client)


@asynccontextmanager
async def started(
    store: Path | str, *arguments: str, mode: str = "auto", **environment: str
) -> AsyncIterator[Agent]:
    """An agent with a `standfast mcp` of its own."""
    async with Client(command(store, *arguments, **environment), mode=mode) as client:
        yield Agent(client)


def command(store: Path | str, *arguments: str, **environment: str) -> StdioServerParameters:
    """`standfast mcp` as a client's configuration starts it."""
    return StdioServerParameters(
        command=sys.executable,
        args=[
            *("-m", "standfast.interfaces.cli", "--store", str(store), "--embedder", "hashing"),
            *("mcp", *arguments),
        ],
        env={**os.environ, **environment},
    )
