"""The HTTP server. For now it answers ``/health``; the verbs follow."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from recollect.errors import Invalid, RecollectError
from recollect.memory import AsyncMemory
from recollect.wiring import read_settings

LOOPBACK = ("127.0.0.1", "localhost", "::1")


def build_app(
    store: str | None = None, *, profile: str | None = None, embedder: str | None = None
) -> Starlette:
    """The application; the store is opened when it starts and closed when it ends."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with await AsyncMemory.open(store, profile=profile, embedder=embedder) as memory:
            app.state.memory = memory
            yield

    # A page in a browser must not reach a loopback server through a name of its own.
    hosts = Middleware(TrustedHostMiddleware, allowed_hosts=[*LOOPBACK, "[::1]"])
    return Starlette(routes=[Route("/health", health)], middleware=[hosts], lifespan=lifespan)


async def health(request: Request) -> JSONResponse:
    """Ok only if the store really answers."""
    memory: AsyncMemory = request.app.state.memory
    try:
        await memory.get(["health"])
    except RecollectError as error:
        return JSONResponse({"status": "unavailable", "detail": str(error)}, status_code=503)
    return JSONResponse({"status": "ok"})


def serve(
    *,
    store: str | None,
    profile: str | None,
    embedder: str | None,
    host: str | None,
    port: int | None,
) -> None:
    """Run until told to stop. Without keys only this machine may connect."""
    settings = read_settings(profile=profile, host=host, port=None if port is None else str(port))
    if settings.host not in LOOPBACK:
        raise Invalid(
            f"host {settings.host!r} is not loopback, and this version has no keys yet; "
            "use 127.0.0.1"
        )
    app = build_app(store, profile=profile, embedder=embedder)
    uvicorn.run(app, host=settings.host, port=settings.port, log_level="info")
