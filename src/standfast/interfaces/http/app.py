"""The HTTP application: the verbs under ``/v1``, agtOS's routes, MCP, health and metrics."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route

from standfast import __version__
from standfast.access.quotas import FLUSH_SECONDS
from standfast.access.rights import rights_in
from standfast.access.tokens import tokens_from
from standfast.errors import Invalid, StandfastError, Unavailable
from standfast.interfaces.console import console_files, console_routes
from standfast.interfaces.http.addresses import Proxies, networks
from standfast.interfaces.http.annex import Annex
from standfast.interfaces.http.anonymous import LOGIN, Visitors
from standfast.interfaces.http.bodies import Bodies, BodyLimits
from standfast.interfaces.http.callers import MCP_PATH, Door, Entrance
from standfast.interfaces.http.fairness import Fair, FairShares, Threshold
from standfast.interfaces.http.guards import App, Guard, Receive, Scope, Send
from standfast.interfaces.http.idempotency import Running
from standfast.interfaces.http.logs import AccessLog
from standfast.interfaces.http.long_work import Jobs
from standfast.interfaces.http.mcp import mcp_route
from standfast.interfaces.http.metrics import Metrics
from standfast.interfaces.http.openapi import describe
from standfast.interfaces.http.problems import problem, problem_of
from standfast.interfaces.http.routes import TAGS, all_routes, oauth
from standfast.interfaces.http.routes.calls import ShortWay
from standfast.interfaces.http.routes.streams import Streams
from standfast.interfaces.http.secret_files import SWEEP_SECONDS, delete_expired
from standfast.memory import AsyncMemory
from standfast.memory.health import Health
from standfast.memory.rehearsal import Rehearsal
from standfast.settings import Settings
from standfast.types import Right
from standfast.types.arguments import StorePath
from standfast.wiring import audit_with, read_settings

OPEN_PATHS = ("/health", "/openapi.json", LOGIN)
STREAMED = ("/v1/import",)

# An ASGI application for as long as the context lasts; ``callers.caller_of(scope)`` is who asks.
Mounted = Callable[[Iterable[Right], str], AbstractAsyncContextManager[App]]


def build_app(
    store: StorePath | None = None,
    *,
    profile: str | None = None,
    embedder: str | None = None,
    memory: AsyncMemory | None = None,
    settings: Settings | None = None,
    mcp: Mounted | None = mcp_route,
    limits: BodyLimits | None = None,
    annex: Annex | None = None,
    rehearsal: Rehearsal | None = None,
    file: Path | None = None,
) -> FastAPI:
    """The application. The store is opened when it starts and closed when it ends, unless an
    open ``memory`` is handed in: whoever opened it closes it. ``mcp`` is at ``/mcp``, behind
    the same checks as every route. ``annex`` answers large requests; others come behind the
    ``rehearsal``. ``file`` is the store's, for the doctor."""
    chosen = settings or read_settings(profile=profile)
    branch = McpBranch()
    for_tools = rights_in(chosen.mcp_rights, "STANDFAST_MCP_RIGHTS")

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            opened = memory
            if opened is None:
                opened = await AsyncMemory.open(store, profile=profile, embedder=embedder)
                await stack.enter_async_context(opened)
            await stack.enter_async_context(_running(app, opened, chosen))
            shares: FairShares = app.state.shares
            if rehearsal is not None:
                await stack.enter_async_context(rehearsal.running())
                shares.rehearsal = rehearsal
            if annex is not None:
                running = annex.running(opened, shares.turns.company)
                shares.annex = await stack.enter_async_context(running)
            if mcp is not None:
                branch.app = await stack.enter_async_context(mcp(for_tools, chosen.profile))
            yield

    app = FastAPI(
        title="standfast",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,  # they would load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        openapi_tags=[{"name": name, "description": said} for name, said in TAGS.items()],
    )
    app.router.routes += [*all_routes(), *console_routes()]
    app.state.metrics = Metrics()
    app.state.settings, app.state.file = chosen, file
    app.state.visitors = Visitors()
    app.state.public_url = checked_address(chosen.public_url)
    if mcp is not None:
        app.router.routes += [Route(path, branch) for path in (MCP_PATH, f"{MCP_PATH}/")]
    _add_layers(app, chosen, limits or BodyLimits(body_bytes=chosen.body_mb << 20))
    _add_handlers(app)
    describe(app, OPEN_PATHS)
    return app


@asynccontextmanager
async def _running(app: FastAPI, memory: AsyncMemory, settings: Settings) -> AsyncIterator[None]:
    """What lives as long as the server does."""
    app.state.memory = memory
    engine = memory.engine
    audit_with(engine, settings)
    app.state.door = Door(memory, settings, tokens_from(settings))
    app.state.shares = FairShares.of(settings)
    app.state.jobs = Jobs(memory, app.state.shares.turns.company)
    app.state.streams = Streams()
    app.state.running = Running()
    app.state.health = Health(memory)
    counting = asyncio.create_task(_counting(app.state.door))
    sweeping = asyncio.create_task(_sweeping())
    auditing = asyncio.create_task(engine.audit.run()) if engine.audit is not None else None
    try:
        yield
    finally:
        counting.cancel()
        sweeping.cancel()
        app.state.streams.stop()
        await app.state.jobs.close()
        with suppress(StandfastError):
            await app.state.door.flush()
        if auditing is not None:
            auditing.cancel()
        if engine.audit is not None:
            await engine.audit.flush()


async def _counting(door: Door) -> None:
    while True:
        await asyncio.sleep(FLUSH_SECONDS)
        with suppress(Unavailable):
            await door.flush()


async def _sweeping() -> None:
    while True:
        await asyncio.to_thread(delete_expired)
        await asyncio.sleep(SWEEP_SECONDS)


def _add_layers(app: FastAPI, settings: Settings, limits: BodyLimits) -> None:
    """The last one added is the first to see a request."""
    app.add_middleware(ShortWay, routes=app.router.routes)
    app.add_middleware(Fair)
    opened = (*OPEN_PATHS, *console_files(), *oauth.OPEN_PATHS)
    app.add_middleware(Bodies, streamed=STREAMED, forms=oauth.FORMS, opened=opened, limits=limits)
    app.add_middleware(Threshold)
    app.add_middleware(Entrance, open_paths=opened)
    hosts, origins = _listed(settings.hosts), _listed(settings.origins)
    app.add_middleware(Guard, metrics=app.state.metrics, hosts=hosts, origins=origins)
    app.add_middleware(AccessLog)
    app.add_middleware(Proxies, trusted=networks(settings.trusted_proxies))


def checked_address(url: str) -> str:
    """Without a slash behind it; Invalid if it is no address of a server."""
    parts = urlsplit(url)
    if url and (parts.scheme not in ("http", "https") or not parts.netloc or parts.query):
        raise Invalid(f"STANDFAST_PUBLIC_URL={url!r}: write https:// and the server's name")
    return url.rstrip("/")


def _listed(text: str) -> list[str]:
    return [part for part in text.replace(",", " ").split() if part]


class McpBranch:
    """Where MCP is once the server has started; with or without a slash behind it."""

    app: App | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self.app is not None, "requests come when the server has started"
        await self.app(scope, receive, send)


def _add_handlers(app: FastAPI) -> None:
    app.add_exception_handler(StandfastError, _told)
    app.add_exception_handler(RequestValidationError, _misshapen)
    app.add_exception_handler(HTTPException, _refused)


async def _told(_: Request, error: Exception) -> Response:
    assert isinstance(error, StandfastError)
    return problem_of(error)


async def _misshapen(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    wrong = [
        {"at": ".".join(map(str, one["loc"])), "said": str(one["msg"])}
        for one in error.errors()[:50]
    ]
    told = "; ".join(f"{one['at']}: {one['said']}" for one in wrong[:5])
    return problem(400, f"the request is not as described: {told}", error="Invalid", errors=wrong)


async def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    headers = error.headers or {}
    said = {
        400: "the body is no JSON in UTF-8, or a number in it has thousands of digits",
        404: "there is no such route; /openapi.json lists them",
        405: f"this route takes {headers.get('Allow', 'another method')}",
    }.get(error.status_code, str(error.detail))
    kind = {400: {"error": "Invalid"}, 404: {"error": "NotFound"}}.get(error.status_code, {})
    return problem(error.status_code, said, headers=headers, **kind)
