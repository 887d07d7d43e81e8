"""``standfast mcp``: the server for one agent, over standard input and output.

Any number of them may run on one file. The store is opened when the client has had its first
answer, so that nothing slows that down; the first tool waits for it. Standard output carries the
protocol alone.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData
from mcp_types.jsonrpc import JSONRPCError, JSONRPCNotification, jsonrpc_message_adapter

from standfast.errors import StandfastError
from standfast.interfaces.caller import Caller
from standfast.interfaces.mcp.lines import lines_of
from standfast.interfaces.mcp.server import Toolset, build_server
from standfast.types import Right

if TYPE_CHECKING:
    import anyio

    from standfast.memory import AsyncMemory

log = logging.getLogger(__name__)

STDIN = 0
GRACE_SECONDS = 3.0

Open = Callable[[], Awaitable["AsyncMemory"]]


def run(
    open_memory: Open,
    *,
    actor: str,
    tools: Toolset = "standfast",
    rights: Iterable[Right] = (),
    profile: str = "",
) -> int:
    """Serve until the client closes our input, or until told to stop."""
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="standfast: %(message)s")
    opening = Opening(open_memory, actor)
    server = build_server(opening.asker, rights=rights, tools=tools, profile=profile)
    asyncio.run(_serve(server, opening))
    return 0


async def _serve(server: MCPServer[Any], opening: Opening) -> None:
    serving = asyncio.create_task(_speak(server, opening))
    told_to_stop = asyncio.create_task(_signalled())
    await asyncio.wait({serving, told_to_stop}, return_when=asyncio.FIRST_COMPLETED)
    told_to_stop.cancel()
    serving.cancel()
    done, _ = await asyncio.wait({serving}, timeout=GRACE_SECONDS)
    await opening.close()
    if not done:
        # The client neither reads nor goes away; a write to it would hold the process for ever.
        os._exit(0)
    if not serving.cancelled() and (error := serving.exception()):
        log.error("the connection broke: %s", error)


async def _signalled() -> None:
    """Ends when somebody wants the process to end."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        with suppress(NotImplementedError):  # not on Windows
            loop.add_signal_handler(number, stop.set)
    await stop.wait()


async def _speak(server: MCPServer[Any], opening: Opening) -> None:
    out: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    heard = _understood(_heard(lines_of(STDIN), opening), out)
    lines = cast("anyio.AsyncFile[str]", _Lines(heard))
    async with stdio_server(stdin=lines) as (incoming, outgoing):
        out.set_result(outgoing)
        low = server._lowlevel_server
        await low.run(incoming, outgoing, low.create_initialization_options())


async def _heard(lines: AsyncIterator[str], opening: Opening) -> AsyncIterator[str]:
    """Whoever says a second thing has had the answer to the first."""
    number = 0
    async for line in lines:
        number += 1
        if number == 2:
            opening.begin()
        yield line


async def _understood(lines: AsyncIterator[str], out: asyncio.Future[Any]) -> AsyncIterator[str]:
    """What is no message is answered here: the SDK would drop it, and whoever sent it wait."""
    async for line in lines:
        if (wrong := what_is_wrong(line)) is not None:
            await (await out).send(SessionMessage(wrong))
        elif line.strip():
            yield line


def what_is_wrong(line: str) -> JSONRPCError | None:
    """The answer to a line that is no message of JSON-RPC; None if it is one, or blank."""
    if not line.strip():
        return None
    with suppress(ValueError):
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
        asks = isinstance(message, JSONRPCNotification) and "id" in json.loads(line)
        if not asks:  # with an id that is none it wants an answer, and is taken for a notice
            return None
    code, told, id_ = PARSE_ERROR, "this is no JSON", None
    with suppress(ValueError, RecursionError):
        said = json.loads(line)
        code, told = INVALID_REQUEST, "this is no message of JSON-RPC 2.0, or no whole text"
        id_ = said.get("id") if isinstance(said, dict) else None
    known = id_ if isinstance(id_, str | int) and not isinstance(id_, bool) else None
    if isinstance(known, str) and not known.isprintable():
        known = None  # half a surrogate pair cannot be sent back
    error = ErrorData(code=code, message=told)
    return JSONRPCError(jsonrpc="2.0", id=known, error=error)


class _Lines:
    """An asynchronous iterator in the place of a file, which is all that the SDK makes of it."""

    def __init__(self, lines: AsyncIterator[str]) -> None:
        self._lines = lines

    def __aiter__(self) -> AsyncIterator[str]:
        return self._lines


class Opening:
    """A memory that is being opened while the first messages are exchanged."""

    def __init__(self, open_memory: Open, actor: str) -> None:
        self._open = open_memory
        self._actor = actor
        self._opened: asyncio.Task[AsyncMemory] | None = None

    def begin(self) -> asyncio.Task[AsyncMemory]:
        """What failed, such as a locked file, is tried again."""
        if self._opened is None or (self._opened.done() and self._opened.exception()):
            self._opened = asyncio.create_task(self._open_it())
        return self._opened

    async def _open_it(self) -> AsyncMemory:
        return await self._open()

    async def asker(self, _: object) -> Caller:
        """Waits until it is open."""
        # A call that is cancelled must not take the opening with it.
        return Caller(memory=await asyncio.shield(self.begin()), via=self._actor)

    async def close(self) -> None:
        if self._opened is None:
            return
        try:
            memory = await self._opened
        except StandfastError as error:
            log.error("%s", error)
        else:
            await memory.close()
