"""A real server on a real port, and clients with the keys of different people."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from fastapi import FastAPI

from standfast.access import keys
from standfast.engine import Engine
from standfast.interfaces.http import build_app
from standfast.interfaces.http.serve import server_config
from standfast.memory import AsyncMemory
from standfast.types import ALL_RIGHTS

ALL = tuple(sorted(ALL_RIGHTS))
OWN = tuple(right for right in ALL if right not in ("admin", "audit"))


@dataclass
class Served:
    """A running server. Its engine is reached on its own loop, as ``run`` does."""

    app: FastAPI
    address: str
    loop: asyncio.AbstractEventLoop
    keys: dict[str, str] = field(default_factory=dict)

    @property
    def engine(self) -> Engine:
        memory: AsyncMemory = self.app.state.memory
        return memory._engine

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    def run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(30)

    def key(self, name: str, *scopes: str, rights: tuple[str, ...] = ("read", "write")) -> str:
        """Make a key of this name."""
        made = keys.create_key(self.engine, name=name, scopes=scopes, rights=rights)
        self.keys[name] = self.run(made)[1]
        return self.keys[name]

    def client(self, name: str | None = None, **options: Any) -> httpx2.Client:
        headers = {"Authorization": f"Bearer {self.keys[name]}"} if name else {}
        headers |= options.pop("headers", {})
        return httpx2.Client(base_url=self.address, headers=headers, timeout=30, **options)


@contextmanager
def served(app: FastAPI, connections: int = 1000) -> Iterator[Served]:
    """Run an application in a thread until the block ends."""
    server = uvicorn.Server(server_config(app, connections))
    server.config.port = 0
    started = threading.Event()
    loops: list[asyncio.AbstractEventLoop] = []

    async def main() -> None:
        loops.append(asyncio.get_running_loop())
        await server.serve()

    async def startup(**options: Any) -> None:
        await uvicorn.Server.startup(server, **options)
        started.set()

    server.startup = startup  # type: ignore[method-assign]
    thread = threading.Thread(target=lambda: asyncio.run(main()), daemon=True)
    thread.start()
    assert started.wait(30), "the server did not start"
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield Served(app, f"http://127.0.0.1:{port}", loops[0])
    finally:
        server.should_exit = True
        thread.join(30)
        assert not thread.is_alive(), "the server did not end"


ServeApp = Callable[..., Served]


@pytest.fixture
def serve_app(tmp_path: Path) -> Iterator[ServeApp]:
    """Servers with options of their own, all stopped at the end."""
    from contextlib import ExitStack

    with ExitStack() as stack:

        def start(store: str | None = None, **options: Any) -> Served:
            options.setdefault("embedder", "hashing")
            connections = options.pop("connections", 1000)
            app = build_app(store or str(tmp_path / "memory.db"), **options)
            return stack.enter_context(served(app, connections))

        yield start


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server for all tests of a file: an admin, two users, one who may only read."""
    store = tmp_path_factory.mktemp("server") / "memory.db"
    with served(build_app(str(store), embedder="hashing")) as running:
        running.key("admin", rights=ALL)
        running.key("ann", "user:ann", rights=OWN)
        running.key("bob", "user:bob", rights=OWN)
        running.key("reader", "user:ann", rights=("read",))
        yield running


@pytest.fixture(scope="module")
def admin(server: Served) -> Iterator[httpx2.Client]:
    with server.client("admin") as client:
        yield client


@pytest.fixture(scope="module")
def ann(server: Served) -> Iterator[httpx2.Client]:
    with server.client("ann") as client:
        yield client


@pytest.fixture(scope="module")
def bob(server: Served) -> Iterator[httpx2.Client]:
    with server.client("bob") as client:
        yield client
