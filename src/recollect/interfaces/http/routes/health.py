"""The server itself: is it well, and how busy is it?"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Literal

from fastapi import APIRouter, Request
from starlette.responses import PlainTextResponse, Response

from recollect.engine import Engine, active_space
from recollect.errors import RecollectError
from recollect.interfaces.http.answers import answer
from recollect.interfaces.http.metrics import Metrics
from recollect.interfaces.http.openapi import about
from recollect.interfaces.http.routes.calls import Asking
from recollect.interfaces.http.shapes import object_of
from recollect.verbs.lists.upkeep import list_stuck

router = APIRouter(tags=["server"])

LOOK_SECONDS = 30.0
STUCK_MAX = 1000
METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_Health = object_of("Health", status=Literal["ok", "degraded", "unavailable"], stuck=int)
_UNWELL = about(_Health, {"status": "unavailable", "stuck": 0}, status=503)["responses"]
_TEXT = {
    "description": "Prometheus text",
    "content": {"text/plain": {"schema": {"type": "string"}}},
}


class Health:
    """Looks at stuck work now and then, not for every request: anybody may ask."""

    def __init__(self, engine: Engine, clock: Callable[[], float] = time.monotonic) -> None:
        self._engine = engine
        self._clock = clock
        self._stuck = 0
        self._looked = float("-inf")
        self._looking = asyncio.Lock()

    async def look(self) -> tuple[str, int]:
        """The status, and how much work is stuck. RecollectError if the store does not answer."""
        now = self._engine.now()
        await active_space(self._engine.store, now)
        async with self._looking:
            if self._clock() - self._looked >= LOOK_SECONDS:
                self._stuck = len(await list_stuck(self._engine, None, STUCK_MAX))
                self._looked = self._clock()
        unwell = self._stuck or self._engine.disk.trouble
        return ("degraded" if unwell else "ok"), self._stuck


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
    """Counters for Prometheus."""
    caller.engine.allow("read")
    counted: Metrics = request.app.state.metrics
    return PlainTextResponse("\n".join([*counted.lines(), ""]), media_type=METRICS_TYPE)
