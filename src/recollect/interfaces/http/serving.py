"""``recollect serve``: one process with HTTP, MCP and upkeep, that starts and ends cleanly."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import uvicorn
from fastapi import FastAPI

from recollect.errors import Invalid, Unavailable
from recollect.interfaces.http.app import build_app
from recollect.interfaces.http.protocol import Protocol
from recollect.interfaces.http.starting import check_and_admit, greeting
from recollect.memory import AsyncMemory
from recollect.settings import Settings
from recollect.wiring import read_settings

DRAIN_SECONDS = 10
CONNECTIONS_MAX = 1000
BACKLOG = 512


def serve(
    *,
    store: str | None = None,
    profile: str | None = None,
    embedder: str | None = None,
    host: str | None = None,
    port: int | None = None,
) -> None:
    """Run until told to stop. Without keys only this machine may connect."""
    settings = read_settings(profile=profile, host=host, port=None if port is None else str(port))
    with _listening(settings) as listener:
        asyncio.run(_serve(store, profile, embedder, settings, listener))


async def _serve(
    store: str | None,
    profile: str | None,
    embedder: str | None,
    settings: Settings,
    listener: socket.socket,
) -> None:
    async with await AsyncMemory.open(store, profile=profile, embedder=embedder) as memory:
        secret = await check_and_admit(memory._engine, settings.host)
        app = build_app(memory=memory, settings=settings)
        lines = list(greeting(address_of(settings.host, listener.getsockname()[1]), secret))
        server = Server(server_config(app), app, lambda: print("\n".join(lines), flush=True))
        await server.serve(sockets=[listener])


def server_config(app: FastAPI) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=Protocol,
        ws="none",
        lifespan="on",
        log_level="warning",
        access_log=False,  # a query string is what somebody looked for
        proxy_headers=False,  # nobody may say where they come from
        server_header=False,
        limit_concurrency=CONNECTIONS_MAX,
        timeout_graceful_shutdown=DRAIN_SECONDS,
    )


class Server(uvicorn.Server):
    """Says when it is ready. A first signal lets running requests end; a second ends at once."""

    def __init__(self, config: uvicorn.Config, app: FastAPI, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._fastapi = app
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and not self.should_exit:
            self._ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Unlike the inherited one it does not send itself the signal again: having ended as
        told is a success."""
        before = {sig: signal.signal(sig, self.handle_exit) for sig in _SIGNALS}
        try:
            yield
        finally:
            for sig, handler in before.items():
                signal.signal(sig, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002
        if self.should_exit:
            os._exit(128 + sig)
        self.should_exit = True
        self._fastapi.state.jobs.stop_watching()


_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def _listening(settings: Settings) -> Iterator[socket.socket]:
    """The port is taken before the store is opened: who cannot have it makes no key."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as error:
        raise Invalid(f"host {settings.host!r} is no address here: {error.strerror}") from None
    with socket.socket(family, kind, protocol) as listener:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(address)
            listener.listen(BACKLOG)
        except OSError as error:
            raise Unavailable(
                f"cannot listen on {address_of(settings.host, settings.port)}: {error.strerror}; "
                "is a server running already? Another port: --port, or RECOLLECT_PORT"
            ) from None
        yield listener


def address_of(host: str, port: int) -> str:
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{name}:{port}"
