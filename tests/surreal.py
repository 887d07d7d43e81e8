"""A stand-in for a SurrealDB server: what comes over the socket is answered by the engine that is
embedded in the client's package, in the same protocol (CBOR over WebSocket, or over HTTP)."""

from __future__ import annotations

import asyncio
import re
import threading
from typing import Any

from surrealdb._surrealdb_ext import AsyncEmbeddedDB
from surrealdb.cbor import dumps
from surrealdb.data.cbor import decode
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

USER, PASSWORD = "ann", "hunter2secret"


class StandIn:
    """On a free port of the loopback, in a thread of its own. ``silent``: it takes questions and
    answers none."""

    def __init__(self) -> None:
        self.silent = False
        self.url = ""
        self.http_url = ""
        self._open: set[ServerConnection] = set()
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._over = asyncio.Event()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._main(),))
        self._thread.start()
        assert self._ready.wait(20)

    async def _main(self) -> None:
        self._db = AsyncEmbeddedDB("mem://")
        await self._db.connect()
        posted = await asyncio.start_server(self._answer_post, "127.0.0.1", 0)
        async with (
            posted,
            serve(self._answer, "127.0.0.1", 0, max_size=None, close_timeout=1) as server,
        ):
            port = next(iter(server.sockets)).getsockname()[1]
            self.url = f"ws://{USER}:{PASSWORD}@127.0.0.1:{port}"
            port = posted.sockets[0].getsockname()[1]
            self.http_url = f"http://{USER}:{PASSWORD}@127.0.0.1:{port}"
            self._ready.set()
            await self._over.wait()

    async def _answer(self, line: ServerConnection) -> None:
        self._open.add(line)
        try:
            async for asked in line:
                if not self.silent and isinstance(asked, bytes):
                    told = self._sign_in(asked) or await self._db.execute(asked)
                    await line.send(told)
        except ConnectionClosed:
            pass
        finally:
            self._open.discard(line)

    async def _answer_post(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """One request a connection: POST /rpc."""
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
            [length] = re.findall(r"content-length: (\d+)", head)
            asked = await reader.readexactly(int(length))
            told = self._sign_in(asked) or await self._db.execute(asked)
            status = "200 OK" if head.startswith("post /rpc ") else "404 Not Found"
            about = f"content-type: application/cbor\r\ncontent-length: {len(told)}"
            answer = f"HTTP/1.1 {status}\r\n{about}\r\nconnection: close\r\n\r\n"
            writer.write(answer.encode() + bytes(told))
            await writer.drain()
        finally:
            writer.close()

    def _sign_in(self, asked: bytes) -> bytes | None:
        """The embedded engine knows no users; a server does."""
        message: dict[str, Any] = decode(asked)
        if message.get("method") != "signin":
            return None
        [given] = message["params"]
        if (given.get("user"), given.get("pass")) == (USER, PASSWORD):
            return bytes(dumps({"id": message["id"], "result": "token"}))
        refused = {"code": -32000, "message": "There was a problem with authentication"}
        return bytes(dumps({"id": message["id"], "error": refused}))

    def hang_up(self) -> None:
        """Every connection is cut."""
        for line in list(self._open):
            self._loop.call_soon_threadsafe(line.transport.abort)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(20)
        self._loop.close()
