"""The server itself: is it well, and how busy is it?"""

from __future__ import annotations

from typing import Literal

from fastapi import Request
from starlette.responses import PlainTextResponse, Response

from recollect.errors import RecollectError
from recollect.interfaces.http.answers import answer
from recollect.interfaces.http.metrics import Metrics, domain_lines
from recollect.interfaces.http.openapi import about
from recollect.interfaces.http.routes.calls import Asking, router_of
from recollect.interfaces.http.shapes import object_of
from recollect.memory.health import Health

router = router_of("server", strict=False)

DUE_MAX = 1000
METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_Health = object_of("Health", status=Literal["ok", "degraded", "unavailable"], stuck=int)
_UNWELL = about(_Health, {"status": "unavailable", "stuck": 0}, status=503)["responses"]
_TEXT = {
    "description": "Prometheus text",
    "content": {"text/plain": {"schema": {"type": "string"}}},
}


@router.get(
    "/health", **about(_Health, {"status": "ok", "stuck": 0}, responses={503: _UNWELL[503]})
)
async def health(request: Request) -> Response:
    """Does the store answer, was the last write taken, is any work stuck? Needs no key and tells
    no more."""
    looking: Health = request.app.state.health
    try:
        status, stuck = await looking.look()
    except RecollectError:
        return answer({"status": "unavailable", "stuck": 0}, 503)
    return answer({"status": status, "stuck": stuck})


@router.get("/metrics", response_class=PlainTextResponse, responses={200: _TEXT})
async def metrics(request: Request, caller: Asking) -> Response:
    """Counters for Prometheus: of all requests, and of the key's own scopes what upkeep has still
    to do, what is stuck and what models cost today."""
    caller.engine.allow("read")
    counted: Metrics = request.app.state.metrics
    due = await caller.memory.due(limit=DUE_MAX)
    today = caller.engine.now().date().isoformat()
    spent = await caller.memory.usage(day=today, limit=DUE_MAX)
    lines = [*counted.lines(), *domain_lines(due, spent.items), ""]
    return PlainTextResponse("\n".join(lines), media_type=METRICS_TYPE)
