"""A process beside the server's: it does what would keep the server from everybody else.

The server starts it and talks to it over its standard input and output: frames of a header in
JSON and a body. A helper either answers requests, one after the other, with the same application
as the server, or does the upkeep. It ends with its server, however that ends: nothing that it
does is lost by being cut short, because every commit is whole.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace
from typing import Any

from standfast.errors import StandfastError, Unavailable
from standfast.interfaces.http.frames import frame, read_frame

NICE = 10  # a tenth of the time that a server gets, as long as both want all of it
LOOK_SECONDS = 1.0  # whether the server is still there


def main() -> None:
    parent = os.getppid()
    _give_way()
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    into = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whoever prints must not break a frame
    with suppress(asyncio.IncompleteReadError, KeyboardInterrupt, BrokenPipeError):
        asyncio.run(_help(into))


def _give_way() -> None:
    """Where processors are scarce, those who wait for a small answer come first. A helper has a
    session of its own, and some systems share processors out by session before they look at
    processes."""
    if hasattr(os, "nice"):
        os.nice(NICE)
    with suppress(OSError), open("/proc/self/autogroup", "w") as group:
        group.write(str(NICE))


def _end_with(parent: int) -> None:
    """A busy helper sees no end of its input."""
    while os.getppid() == parent:
        time.sleep(LOOK_SECONDS)
    os._exit(1)


async def _help(into: int) -> None:
    reader = asyncio.StreamReader(limit=1 << 20)
    protocol = asyncio.StreamReaderProtocol(reader)
    await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, sys.stdin)
    told, _ = await read_frame(reader)
    with os.fdopen(into, "wb") as out:
        try:
            await _helped(told, reader, out)
        except StandfastError as error:
            out.write(frame({"trouble": str(error)}))


async def _helped(told: dict[str, Any], reader: asyncio.StreamReader, out: Any) -> None:
    from standfast.memory import AsyncMemory
    from standfast.wiring import file_of

    file = file_of(told["store"], told["profile"])
    if file is not None and not file.exists():  # it was moved: none is made in its place
        raise Unavailable(f"{file} is not there any more")
    async with await AsyncMemory.open(background=told.pop("upkeep"), **told) as memory:
        out.write(frame({"ready": True}))
        out.flush()
        if memory._upkeep is not None:
            await reader.read()  # until the server is gone
            return
        from standfast.interfaces.http.app import build_app
        from standfast.wiring import read_settings

        # The server has counted the request already; what it writes is counted here.
        settings = replace(read_settings(profile=told["profile"]), rate=0, helpers=0)
        app = build_app(memory=memory, settings=settings)
        async with app.router.lifespan_context(app):
            while True:
                header, body = await read_frame(reader)
                out.write(frame(*await _answered(app, header, body)))
                out.flush()


async def _answered(app: Any, header: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
    """What the application answers, whole."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]
    answer: dict[str, Any] = {"status": 500, "headers": []}
    parts: list[bytes] = []

    async def receive() -> Any:
        if not waiting:
            await asyncio.Event().wait()  # the server looks after who asked
        return waiting.pop()

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            answer["status"] = message["status"]
            answer["headers"] = [
                [k.decode("latin-1"), v.decode("latin-1")] for k, v in message["headers"]
            ]
        else:
            parts.append(message.get("body", b""))

    await app(scope_of(header), receive, send)
    return answer, b"".join(parts)


def scope_of(header: dict[str, Any]) -> dict[str, Any]:
    """The request as an ASGI scope."""
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "scheme": "http",
        "server": None,
        "root_path": "",
        "method": header["method"],
        "path": header["path"],
        "raw_path": header["path"].encode("utf-8", "surrogateescape"),
        "query_string": header["query"].encode("latin-1"),
        "headers": [(k.encode("latin-1"), v.encode("latin-1")) for k, v in header["headers"]],
        "client": tuple(header["client"]) if header["client"] else None,
        "state": {},
    }
