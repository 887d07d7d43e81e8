"""The server itself: is it well, and how busy is it?"""

from __future__ import annotations

from typing import Any, Literal

from fastapi import Request
from starlette.responses import PlainTextResponse, Response

from standfast import __version__
from standfast.errors import Denied, StandfastError
from standfast.interfaces.http.answers import answer
from standfast.interfaces.http.callers import Door
from standfast.interfaces.http.metrics import Metrics, domain_lines, learning_lines
from standfast.interfaces.http.openapi import about
from standfast.interfaces.http.problems import told
from standfast.interfaces.http.routes.calls import Asking, router_of
from standfast.interfaces.http.shapes import object_of
from standfast.memory.health import Health, in_force, unread_in

router = router_of("server", strict=False)

DUE_MAX = 1000
METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_Health = object_of(
    "Health",
    status=Literal["ok", "degraded", "unavailable"],
    stuck=int,
    unread=int,
    kept_as_said=int,
    learning=str,
)
_Unwell = object_of(
    "Unwell",
    status=Literal["unavailable"],
    stuck=int,
    store=Literal["unreachable", "slow"],
    since=str,
    why=str,
)
_UNWELL_SAID = {
    "status": "unavailable",
    "stuck": 0,
    "store": "unreachable",
    "since": "2026-05-03T12:30:15+00:00",
    "why": "",
}
_UNWELL = about(_Unwell, _UNWELL_SAID, status=503)["responses"]
_Server = object_of(
    "Server",
    version=str,
    store=str,
    erasure=str,
    profile=str,
    embedder=str,
    learning=str,
    space=str,
    reembedding=str,
    models=dict[str, str],
    settings=dict[str, Any],
)
_SERVER_SAID = {
    "version": __version__,
    "store": "sqlite",
    "erasure": "nothing",
    "profile": "default",
    "embedder": "minilm/384",
    "learning": "on",
    "space": "minilm/384",
    "reembedding": "",
    "models": {"summarize": "openai:gpt-4o-mini"},
    "settings": {"rate": 6000},
}
_TEXT = {
    "description": "Prometheus text",
    "content": {"text/plain": {"schema": {"type": "string"}}},
}


@router.get(
    "/health",
    **about(
        _Health,
        {"status": "ok", "stuck": 0, "unread": 0, "kept_as_said": 0, "learning": "on"},
        responses={503: _UNWELL[503]},
    ),
)
async def health(request: Request) -> Response:
    """Does the store answer, was the last write taken, is any work stuck? Needs no key and tells
    no more; with a key that was used here within the hour, also why the store is away."""
    looking: Health = request.app.state.health
    door: Door = request.app.state.door
    try:
        status, stuck = await looking.look()
    except StandfastError as error:
        why = told(error) if door.has_let_in(request) else ""
        said = {"status": "unavailable", "stuck": 0, **looking.away(error), "why": why}
        return answer(said, 503)
    await door.note(request)
    counted = {"stuck": stuck, "unread": looking.unread, "kept_as_said": looking.kept_as_said}
    return answer({"status": status, **counted, "learning": looking.learning})


@router.get("/v1/server", **about(_Server, _SERVER_SAID))
async def server(request: Request, caller: Asking) -> Response:
    """What this server is and which settings are in force. Needs a key with the right `admin` for
    every scope; secrets are not among them."""
    if not caller.is_master:
        raise Denied("the server belongs to all: this needs an admin key for every scope")
    await caller.engine.space()  # another process may move the store
    return answer(in_force(caller.memory, request.app.state.settings, request.app.version))


@router.get("/metrics", response_class=PlainTextResponse, responses={200: _TEXT})
async def metrics(request: Request, caller: Asking) -> Response:
    """Counters for Prometheus: of all requests, and of the key's own scopes what upkeep has still
    to do, what is stuck and what models cost today."""
    caller.engine.allow("read")
    counted: Metrics = request.app.state.metrics
    due = await caller.memory.due(limit=DUE_MAX)
    today = caller.engine.now().date().isoformat()
    spent = await caller.memory.usage(day=today, limit=DUE_MAX)
    learned = learning_lines(caller.memory.engine.kept_as_said) if caller.is_master else ()
    unread = await unread_in(caller.memory)
    lines = [*counted.lines(), *domain_lines(due, spent.items, unread), *learned, ""]
    return PlainTextResponse("\n".join(lines), media_type=METRICS_TYPE)
