"""Real servers for tests: uvicorn in a thread, with whatever the test injects.

``served`` starts one of its own. ``Switchboard`` is one for many tests, behind which each has an
application of its own; that takes a tenth of a second.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, contextmanager
from typing import Any, TypeVar

import uvicorn

from standfast.access import keys
from standfast.engine import Engine
from standfast.interfaces.http.app import build_app
from standfast.interfaces.http.bodies import BodyLimits
from standfast.interfaces.http.serve import server_config
from standfast.memory import AsyncMemory
from standfast.types import ALL_RIGHTS

T = TypeVar("T")
PATIENCE_SECONDS = 60


def listening(port: int = 0) -> socket.socket:
    """On a free port, or again on one that was. Of TCP and nothing else: only then asyncio sends
    small packets at once."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen()
    return listener


class Served:
    """A server that is running. ``memory`` is its own; use it through ``run`` only."""

    def __init__(
        self, store: str, options: dict[str, Any], app: dict[str, Any], port: int = 0
    ) -> None:
        self._listener = listening(port)
        self._loop = asyncio.new_event_loop()
        self._options = options
        self._store = store
        self._app = app
        self._ready = threading.Event()
        self._error: BaseException | None = None
        self._server: uvicorn.Server | None = None
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.memory: AsyncMemory
        self._thread = threading.Thread(target=self._main, name="served", daemon=True)

    def start(self) -> None:
        self._thread.start()
        assert self._ready.wait(PATIENCE_SECONDS), "the server does not start"
        if self._error is not None:
            raise self._error

    def stop(self) -> None:
        if self._server is not None:
            self._server.should_exit = True
            streams = self.app.state.streams
            self._loop.call_soon_threadsafe(streams.stop)  # else it waits for who listens
        self._thread.join(PATIENCE_SECONDS)
        assert not self._thread.is_alive(), "the server does not stop"

    def run(self, work: Callable[[Engine], Coroutine[Any, Any, T]]) -> T:
        """Do something with the server's own engine, on its loop."""
        future = asyncio.run_coroutine_threadsafe(work(self.memory._engine), self._loop)
        return future.result(PATIENCE_SECONDS)

    def key(self, *scopes: str, rights: Any = ALL_RIGHTS) -> str:
        """A new key's secret; without scopes it reaches all of them."""
        return self.run(lambda engine: keys.create_key(engine, scopes=scopes, rights=rights))[1]

    def _main(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        try:
            self.memory = await AsyncMemory.open(self._store, **self._options)
        except BaseException as error:
            self._error = error
            self._listener.close()
            self._ready.set()
            return
        async with self.memory:
            self.app = build_app(memory=self.memory, **self._app)
            self._server = _Quiet(server_config(self.app), self._ready)
            await self._server.serve(sockets=[self._listener])


class _Quiet(uvicorn.Server):
    """In a thread there are no signals to catch."""

    def __init__(self, config: uvicorn.Config, ready: threading.Event) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextmanager
def served(
    store: str = "dict:", *, app: dict[str, Any] | None = None, port: int = 0, **options: Any
) -> Iterator[Served]:
    """``options`` are those of ``Memory.open``, ``app`` those of ``build_app``."""
    options = {"embedder": "hashing", "background": False, **options}
    server = Served(store, options, app or {}, port)
    server.start()
    try:
        yield server
    finally:
        server.stop()


class Switchboard:
    """One uvicorn; the first part of a path says whose application is asked."""

    def __init__(self) -> None:
        self._listener = listening()
        self._apps: dict[str, Booth] = {}
        self._free: list[Booth] = []
        self.loop = asyncio.new_event_loop()
        config = uvicorn.Config(self, lifespan="off", log_level="warning", access_log=False)
        ready = threading.Event()
        self._server = _Quiet(config, ready)
        self._thread = threading.Thread(target=self._main, name="switchboard", daemon=True)
        self._thread.start()
        assert ready.wait(PATIENCE_SECONDS), "the server does not start"

    def _main(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self.loop) as runner:
            runner.run(self._server.serve(sockets=[self._listener]))

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        _, name, rest = scope["path"].split("/", 2)
        inner = {**scope, "path": f"/{rest}", "raw_path": f"/{rest}".encode()}
        await self._apps[name].app(inner, receive, send)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(PATIENCE_SECONDS)

    def plug(self, store: str, **options: Any) -> Plugged:
        """A server on this store; ``options`` are those of ``Memory.open``."""
        return self.run(self._plug(store, options))

    async def _plug(self, store: str, options: dict[str, Any]) -> Plugged:
        memory = await AsyncMemory.open(store, **options)
        booth = self._free.pop() if self._free else self._booth(memory)
        await booth.begin(memory)
        return Plugged(self, booth)

    def _booth(self, memory: AsyncMemory) -> Booth:
        name = str(len(self._apps))
        port = self._listener.getsockname()[1]
        self._apps[name] = Booth(memory, f"http://127.0.0.1:{port}/{name}")
        return self._apps[name]

    async def unplug(self, booth: Booth) -> None:
        await booth.end()
        self._free.append(booth)

    def close(self) -> None:
        self._server.should_exit = True
        self._thread.join(PATIENCE_SECONDS)


class Booth:
    """An application that serves one memory after the other: making one takes its time."""

    def __init__(self, memory: AsyncMemory, url: str) -> None:
        self.memory = AsyncMemory(memory._engine)
        self.app = build_app(memory=self.memory, mcp=None, limits=BodyLimits(body_bytes=64 << 20))
        self.url = url
        self._stack = AsyncExitStack()

    async def begin(self, memory: AsyncMemory) -> None:
        self.memory._engine = memory._engine
        await self._stack.enter_async_context(memory)
        await self._stack.enter_async_context(self.app.router.lifespan_context(self.app))

    async def end(self) -> None:
        await self._stack.aclose()


class Plugged:
    """A server that a test has for itself."""

    def __init__(self, board: Switchboard, booth: Booth) -> None:
        self._board = board
        self._booth = booth
        self.url = booth.url

    @property
    def engine(self) -> Engine:
        """The server's own; to be used on the loop of its switchboard."""
        return self._booth.memory._engine

    def key(self, *scopes: str, rights: Any = ALL_RIGHTS) -> str:
        """A new key's secret; without scopes it reaches all of them."""
        made = keys.create_key(self.engine, scopes=scopes, rights=rights)
        return self._board.run(made)[1]

    def unplug(self) -> None:
        self._board.run(self._board.unplug(self._booth))
