"""``standfast serve``: one process with HTTP, MCP and upkeep, that starts and ends cleanly."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI

from standfast.errors import Invalid, Unavailable
from standfast.interfaces.hooks.announcement import announced
from standfast.interfaces.http.annex import Annex
from standfast.interfaces.http.app import build_app
from standfast.interfaces.http.callers import is_loopback
from standfast.interfaces.http.commands import answering
from standfast.interfaces.http.crew import Crew, Role, check_workers
from standfast.interfaces.http.first_start import (
    Keeping,
    admit,
    check,
    console_link,
    greeting,
    open_to_others,
    options_of,
)
from standfast.interfaces.http.logs import set_up
from standfast.interfaces.http.protocol import (
    ADDRESS_MAX,
    CONNECTIONS_MAX,
    REFUSED_MAX,
    Protocol,
    ServerConfig,
)
from standfast.interfaces.nearby import told
from standfast.memory import AsyncMemory
from standfast.memory.rehearsal import Rehearsal
from standfast.settings import Settings
from standfast.wiring import file_of, place_of, read_settings, shares_with_processes
from standfast.wiring.cipher import key_from
from standfast.wiring.configuration import misspelt

log = logging.getLogger(__name__)

DRAIN_SECONDS = 10
SWITCH_SECONDS = 0.001
GARBAGE_MAX = 5_000  # objects more than there were, until it is looked for
BACKLOG = 128
PORT_MAX = 65_535
# Beside what the verbs load: for what is streamed, sorted, examined and told others.
LOADED = (
    "anyio._backends._asyncio",
    "numpy.ma",
    "standfast.memory.webhooks",
    "standfast.wiring.files",
)
DESCRIPTORS_ELSE = 200  # the store, standard output, files of exports


def serve(
    *,
    store: str | None = None,
    profile: str | None = None,
    embedder: str | None = None,
    host: str | None = None,
    port: int | None = None,
    workers: int = 1,
) -> None:
    """Run until told to stop, as so many processes. Without keys only this machine may connect."""
    settings = read_settings(profile=profile, host=host, port=None if port is None else str(port))
    set_up(settings)
    for line in misspelt():
        log.warning("%s", line, extra={"action": "start"})
    address = _address(settings)
    if settings.rehearsal not in ("on", "off"):
        raise Invalid(f"STANDFAST_REHEARSAL={settings.rehearsal!r}: write on or off")
    if settings.volatile not in ("keep", "refuse"):
        raise Invalid(f"STANDFAST_VOLATILE={settings.volatile!r}: write keep or refuse")
    check_workers(workers, store, profile)
    if not is_loopback(settings.host):  # before a port is open to others that nobody may use
        asyncio.run(_check_keys(store, profile, settings))
    with _listening(settings, address) as listener:

        def run(started: Callable[[], None], *, first: bool = True) -> None:
            role = Role(workers > 1, first, started)
            asyncio.run(_serve(store, profile, embedder, settings, listener, role))

        if workers == 1:
            run(lambda: None)
        else:
            Crew(run, workers).work()


async def _check_keys(store: str | None, profile: str | None, settings: Settings) -> None:
    """Invalid if others could connect and nobody has a key that works."""
    async with await AsyncMemory.open(
        store, profile=profile, embedder="none", background=False
    ) as memory:
        if settings.admin_key or settings.admin_key_file:
            await admit(memory, settings)
        await check(memory, settings.host, Keeping(None, "", options_of(store, profile)))


async def _serve(
    store: str | None,
    profile: str | None,
    embedder: str | None,
    settings: Settings,
    listener: socket.socket,
    role: Role,
) -> None:
    annex = _annex(store, profile, embedder, settings)
    async with await AsyncMemory.open(
        store, profile=profile, embedder=embedder, background=annex is None
    ) as memory:
        memory.engine.shared = role.shared or settings.volatile == "refuse"
        file = file_of(store, profile)
        used = memory.engine.embedder
        keeping = Keeping(
            file,
            used.space if used else "",
            options_of(store, profile),
            better=memory.engine.better,
            server=place_of(store, profile),
        )
        secret = await admit(memory, settings) if role.first else ""
        rehearsal = Rehearsal(LOADED) if settings.rehearsal == "on" else None
        app = build_app(
            memory=memory, settings=settings, annex=annex, rehearsal=rehearsal, file=file
        )
        address = address_of(settings.host, listener.getsockname()[1])
        for trouble in open_to_others(file, own_folder=store is None):
            print(f"standfast: {trouble}", file=sys.stderr)
        look = await console_link(memory, address) if secret else ""
        lines = list(greeting(address, secret, keeping, look)) if role.first else []

        def ready() -> None:
            print(*lines, sep="\n", end="\n" if lines else "", flush=True)
            role.started()

        config = server_config(app, _room(), settings.connections_per_address)
        server = Server(config, app, ready)
        key = key_from(settings.key_file) if file is not None else None
        async with (
            announced(memory, address, settings.scope),
            answering(memory, file if role.first else None, told(profile, embedder), key),
        ):
            await server.serve(sockets=[listener])


def _annex(
    store: str | None, profile: str | None, embedder: str | None, settings: Settings
) -> Annex | None:
    """Processes for what is large, and for upkeep; None for a store that only this one can see,
    or where none are wanted."""
    if not settings.helpers or not shares_with_processes(store, profile):
        return None
    options = {"store": store, "profile": profile, "embedder": embedder}
    return Annex(options, settings.helpers, settings.request_seconds)


def server_config(
    app: FastAPI, connections: int = CONNECTIONS_MAX, per_address: int = ADDRESS_MAX
) -> uvicorn.Config:
    return ServerConfig(
        app,
        per_address=per_address,
        http=Protocol,
        ws="none",
        lifespan="on",
        log_level="error",  # whoever sends what is no HTTP must not fill the log
        access_log=False,  # a query string is what somebody looked for
        proxy_headers=False,  # nobody may say where they come from
        server_header=False,
        limit_concurrency=connections,
        backlog=BACKLOG,
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
        gc.collect()
        gc.freeze()  # what a server starts with stays: nobody need look through it again
        # Requests leave next to nothing that only a collection finds, and hold much for a moment.
        gc.set_threshold(GARBAGE_MAX)
        # A request must not wait the usual 5 ms whenever upkeep computes on another thread.
        sys.setswitchinterval(SWITCH_SECONDS)
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
        if jobs := getattr(self._fastapi.state, "jobs", None):  # None: it is still starting
            jobs.stop_watching()
            self._fastapi.state.streams.stop()


_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def _room() -> int:
    """As many connections as there are descriptors for. Where they are scarce, as they often are
    by default, this process asks for more: without one, no connection could even be refused."""
    try:
        import resource
    except ImportError:  # not on Windows
        return CONNECTIONS_MAX
    wanted = CONNECTIONS_MAX + REFUSED_MAX + DESCRIPTORS_ELSE
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return CONNECTIONS_MAX
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return max(1, most - REFUSED_MAX - DESCRIPTORS_ELSE)


Address = tuple[int, int, int, Any]  # family, kind, protocol, and what to bind to


def _address(settings: Settings) -> Address:
    if not 0 <= settings.port <= PORT_MAX:  # the system would take another one, and not say so
        raise Invalid(f"port {settings.port} is none; write one from 1 to {PORT_MAX}")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as error:
        raise Invalid(f"host {settings.host!r} is no address here: {error.strerror}") from None
    return family, kind, protocol, address


@contextmanager
def _listening(settings: Settings, address: Address) -> Iterator[socket.socket]:
    """The port is taken before the store is opened: who cannot have it makes no key."""
    *kind, where = address
    with socket.socket(*kind) as listener:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(where)
            listener.listen(BACKLOG)
        except OSError as error:
            raise Unavailable(
                f"cannot listen on {address_of(settings.host, settings.port)}: {error.strerror}; "
                "is a server running already? Another port: --port, or STANDFAST_PORT"
            ) from None
        yield listener


def address_of(host: str, port: int) -> str:
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{name}:{port}"
