"""Servers in processes of their own, for a client that measures them.

``python -m bench.serving standfast|single|framework|hollow|bare|echo FILE`` reads what it needs as
JSON from its standard input, writes one line of JSON when it is ready, and serves until it is
ended.
"""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

from bench.texts import DIMENSIONS, Chunk, Question

WARM_UP = 5

Ready = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Running:
    """``port`` to ask at, ``key`` to ask with, and what was measured before it served."""

    pid: int
    port: int
    key: str
    in_process: tuple[float, ...]


@contextmanager
def running(
    kind: str, database: Path | str, asked: dict[str, Any] | None = None
) -> Iterator[Running]:
    """A server in a new process until the block ends. ``database``: a file, or an address."""
    place = str(database.resolve()) if isinstance(database, Path) else database
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.serving", kind, place],
        cwd=Path(__file__).resolve().parents[1],  # where the package bench is
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(asked or {}))
        process.stdin.close()
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(f"the {kind} server did not start")
        told = json.loads(line)
        seconds = tuple(told.get("in_process", ()))
        yield Running(process.pid, told["port"], told.get("key", ""), seconds)
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()


def asking(scope: str, questions: list[Question], rounds: int) -> dict[str, Any]:
    """What the standfast server is told: questions to answer, each so often, before it serves."""
    return {
        "scope": scope,
        "rounds": rounds,
        "questions": [(question.text, question.vector.hex()) for question in questions],
    }


async def serve_standfast(database: str, asked: dict[str, Any], listener: socket.socket) -> None:
    from bench.filling import GivenVectors
    from standfast.access import keys
    from standfast.interfaces.http import build_app
    from standfast.interfaces.http.serve import Server, server_config
    from standfast.memory import AsyncMemory
    from standfast.settings import Settings
    from standfast.stores.sqlite import SqliteStore

    questions = [Question(text, bytes.fromhex(v)) for text, v in asked.get("questions", ())]
    embedder: Any = GivenVectors.of(questions) if questions else "hashing"
    async with await AsyncMemory.open(database, embedder=embedder) as memory:
        if "group_max" in asked:
            await memory._engine.store.close()
            memory._engine.store = await SqliteStore.open(database, group_max=asked["group_max"])
        seconds = await _asked_in_process(memory, asked)
        _, secret = await keys.create_key(memory._engine, rights=("read", "write", "admin"))
        app = build_app(memory=memory, settings=Settings(rate=0), mcp=None)
        ready = {"key": secret, "in_process": seconds}
        server = Server(server_config(app), app, lambda: _tell(listener, ready))
        await server.serve(sockets=[listener])


async def serve_hollow(database: str, asked: dict[str, Any], listener: socket.socket) -> None:
    """All of standfast's server around a verb that does nothing."""
    from standfast.memory import AsyncMemory
    from standfast.types import Receipt, ReceiptItem

    done = Receipt(items=(ReceiptItem(id="0" * 36, status="stored", record="0" * 32),))

    @wraps(AsyncMemory.observe)  # the route is made from its signature
    async def observe(*_: Any, **__: Any) -> Receipt:
        return done

    AsyncMemory.observe = observe  # type: ignore[method-assign]
    await serve_standfast(database, asked, listener)


async def serve_framework(database: str, asked: dict[str, Any], listener: socket.socket) -> None:
    """The same server with every request taken apart by FastAPI."""
    from fastapi.routing import APIRoute

    from standfast.interfaces.http.routes.calls import VerbRoute

    VerbRoute.get_route_handler = APIRoute.get_route_handler  # type: ignore[method-assign]
    await serve_standfast(database, asked, listener)


async def _asked_in_process(memory: Any, asked: dict[str, Any]) -> list[float]:
    from bench.filling import NOW

    questions = [text for text, _ in asked.get("questions", ())]
    seconds = []
    for text in questions[:WARM_UP]:
        await memory.recall(text, scope=asked["scope"], now=NOW)
    for _ in range(asked.get("rounds", 0)):
        for text in questions:
            began = time.perf_counter()
            await memory.recall(text, scope=asked["scope"], now=NOW)
            seconds.append(time.perf_counter() - began)
    return seconds


async def serve_bare(database: str, _: dict[str, Any], listener: socket.socket) -> None:
    """What one would write first: each request a transaction of its own, in a worker thread."""
    import numpy as np
    from fastapi import FastAPI

    from bench.baselines import BareFile

    file, lock, count = BareFile(Path(database)), threading.Lock(), iter(range(1 << 40))
    vector = np.zeros((1, DIMENSIONS), dtype="<f4")
    app = FastAPI()

    @app.post("/v1/observe")
    def observe(asked: dict[str, Any]) -> dict[str, str]:
        text = asked["messages"][0]["content"]
        with lock:
            file.add(next(count), Chunk([text], vector))
        return {"status": "stored"}

    await _serve(app, listener)
    file.close()


async def serve_echo(_: str, __: dict[str, Any], listener: socket.socket) -> None:
    from fastapi import FastAPI

    app = FastAPI()

    @app.post("/v1/observe")
    async def observe(asked: dict[str, Any]) -> dict[str, Any]:
        return asked

    await _serve(app, listener)


def _tell(listener: socket.socket, ready: Ready) -> None:
    print(json.dumps({**ready, "port": listener.getsockname()[1]}), flush=True)


async def _serve(app: Any, listener: socket.socket) -> None:
    import uvicorn

    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False))
    startup = server.startup

    async def tell(sockets: list[socket.socket] | None = None) -> None:
        await startup(sockets)
        _tell(listener, {})

    server.startup = tell  # type: ignore[method-assign]
    await server.serve(sockets=[listener])


KINDS: dict[str, Callable[[str, dict[str, Any], socket.socket], Awaitable[None]]] = {
    "standfast": serve_standfast,
    "single": lambda file, asked, port: serve_standfast(file, {**asked, "group_max": 1}, port),
    "framework": serve_framework,
    "hollow": serve_hollow,
    "bare": serve_bare,
    "echo": serve_echo,
}


def main() -> None:
    kind, database = sys.argv[1:]
    asked = json.load(sys.stdin)
    # With the protocol named, asyncio sends small answers at once; else each takes 40 ms.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(512)

        async def serve() -> None:
            await KINDS[kind](database, asked, listener)

        asyncio.run(serve())


if __name__ == "__main__":
    main()
