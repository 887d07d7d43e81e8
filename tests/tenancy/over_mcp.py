"""Agents: the official client, on a process of its own or on a server."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from tests.interfaces.mcp_world import command, text_of
from tests.tenancy.surfaces import Arguments, Call, Said

PATIENCE_SECONDS = 60
LISTED = 50

Connect = Callable[[], AbstractAsyncContextManager[Client]]

# A verb -> the tool that does it, the names it has for the arguments, and what else it is told.
TOOLS: Mapping[str, tuple[str, Mapping[str, str], Arguments]] = {
    "records": ("memory_search", {"scope": "scope"}, {"query": "", "limit": LISTED}),
    "recall": ("memory_search", {"query": "query", "scope": "scope"}, {"limit": LISTED}),
    "remember": ("memory_save", {"text": "text", "scope": "scope", "supersedes": "replaces"}, {}),
    "forget": ("memory_forget", {"ids": "ids", "sources": "sources"}, {"dry_run": False}),
    "history": ("memory_history", {"id": "id", "scope": "scope"}, {}),
    "changes": ("memory_history", {"scope": "scope"}, {}),
    "review": ("memory_review", {"scope": "scope"}, {}),
    "resolve": (
        "memory_review",
        {"id": "id", "action": "action", "text": "text", "into": "into"},
        {},
    ),
    "undo": ("memory_review", {"change": "id", "scope": "scope"}, {"action": "undo"}),
    "context": (
        "memory_context",
        {"query": "task", "session": "session", "scope": "scope"},
        {},
    ),
    "pending": ("memory_context", {"scope": "scope"}, {"task": "vault", "received": True}),
    "save_procedure": ("procedure_save", {"name": "name", "steps": "steps", "scope": "scope"}, {}),
    "find_procedures": ("procedure_find", {"query": "query", "scope": "scope"}, {}),
    "procedure_used": (
        "procedure_used",
        {"id_or_name": "procedure", "success": "success", "scope": "scope"},
        {},
    ),
    "observe": (
        "session_log",
        {"session": "session", "messages": "messages", "scope": "scope"},
        {},
    ),
    "end": ("session_log", {"session": "session", "scope": "scope"}, {"ended": True}),
}
ONE_SCOPE = ("memory_context", "procedure_find")


def lacks(asked: Call) -> str:
    """Why no tool can be asked this; "" if one can."""
    if asked.verb == "get":
        return ""
    if asked.verb not in TOOLS:
        return f"no tool does {asked.verb}"
    tool, names, _ = TOOLS[asked.verb]
    if strange := sorted(asked.arguments.keys() - names.keys()):
        return f"{tool} takes no {', '.join(strange)}"
    if tool in ONE_SCOPE and isinstance(asked.arguments.get("scope"), list):
        return f"{tool} takes one scope"
    return ""


class Mcp:
    """A client that stays connected, on a loop of its own."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._over = asyncio.Event()
        self.client: Client
        self._thread = threading.Thread(target=self._main, name="agent", daemon=True)
        self._thread.start()

    def _main(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._stay())

    async def _stay(self) -> None:
        async with self._connect() as self.client:
            self._ready.set()
            await self._over.wait()

    def run(self, work: Callable[[Client], Any]) -> Any:
        """Waits until it is connected: several may be connecting at once."""
        assert self._ready.wait(PATIENCE_SECONDS), "the client does not connect"
        return asyncio.run_coroutine_threadsafe(work(self.client), self._loop).result(
            PATIENCE_SECONDS
        )

    def ask(self, asked: Call) -> Said:
        if asked.verb == "get":
            told = [self.read(f"memory://record/{id_}") for id_ in asked.arguments["ids"]]
            return Said(any(one.ok for one in told), "\n".join(one.text for one in told))
        tool, names, more = TOOLS[asked.verb]
        given = {names[name]: value for name, value in asked.arguments.items()}
        return self.use(tool, **more, **given)

    def use(self, tool: str, **arguments: Any) -> Said:
        answer = self.run(lambda client: client.call_tool(tool, arguments))
        typed = json.dumps(answer.structured_content, ensure_ascii=False)
        return Said(not answer.is_error, f"{text_of(answer)}\n{typed}")

    def read(self, uri: str) -> Said:
        """A resource."""
        return self._heard(lambda client: client.read_resource(uri), lambda said: said.contents)

    def prompt(self, name: str, **arguments: str) -> Said:
        return self._heard(
            lambda client: client.get_prompt(name, arguments), lambda said: said.messages
        )

    def _heard(self, work: Callable[[Client], Any], shown: Callable[[Any], Any]) -> Said:
        try:
            return Said(True, str(shown(self.run(work))))
        except MCPError as error:
            return Said(False, str(error))

    def close(self) -> None:
        self._ready.wait(PATIENCE_SECONDS)
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(PATIENCE_SECONDS)


def over_stdio(store: Path, scope: str) -> Mcp:
    server = command(store, "--no-background", "--scope", scope)
    return Mcp(lambda: Client(server))


def over_http(url: str, key: str) -> Mcp:
    @asynccontextmanager
    async def connected() -> AsyncIterator[Client]:
        headers = {"Authorization": f"Bearer {key}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=PATIENCE_SECONDS) as http,
            Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
        ):
            yield client

    return Mcp(connected)
