"""The straight way to a verb. To find a route, its parameters and what they depend on takes the
framework longer than many a verb takes; for a well-formed request without a query string there is
nothing to find out. Everything else goes through the framework, which says what is wrong with it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, get_type_hints

from fastapi.routing import APIRoute
from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response

from recollect.interfaces.http.bodies import BODY
from recollect.interfaces.http.callers import caller_of
from recollect.interfaces.http.guards import App, Receive, Scope, Send
from recollect.interfaces.http.models import RecallBody
from recollect.interfaces.http.routes.calls import (
    KEY_HEADER,
    Asking,
    CallWriting,
    MayErase,
    MayWrite,
)
from recollect.types import Right

RIGHTS: dict[Any, Right] = {MayWrite: "write", MayErase: "erase"}


@dataclass(frozen=True, slots=True)
class Verb:
    """A route that takes a body and whoever asks, and nothing else."""

    route: APIRoute
    model: type[RecallBody]
    right: Right | None  # None: it does not write

    def asked(self, body: bytes) -> RecallBody | None:
        """None if it is misshapen."""
        try:
            return self.model.model_validate(json.loads(body))
        except (ValidationError, ValueError, RecursionError):
            return None

    async def answer(self, asked: RecallBody, request: Request) -> Response:
        caller = caller_of(request.scope)
        if self.right is None:
            found: Response = await self.route.endpoint(asked=asked, caller=caller)
        else:
            writing = CallWriting(request, caller, request.headers.get(KEY_HEADER), self.right)
            found = await self.route.endpoint(asked=asked, writing=writing)
        return found


def verbs(routes: Iterable[Any]) -> dict[str, Verb]:
    """Those of the routes that are verbs, by path."""
    found: dict[str, Verb] = {}
    for route in routes:
        if not isinstance(route, APIRoute) or route.methods != {"POST"}:
            continue
        takes = get_type_hints(route.endpoint, include_extras=True)
        takes.pop("return")
        model, who = takes.pop("asked", None), [*takes.values()]
        if model is not None and len(who) == 1 and who[0] in (Asking, MayWrite, MayErase):
            found[route.path] = Verb(route, model, RIGHTS.get(who[0]))
    return found


class Direct:
    """The innermost layer before the framework."""

    def __init__(self, app: App, *, routes: Iterable[Any]) -> None:
        self._app = app
        self._verbs = verbs(routes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        verb = self._verbs.get(scope.get("path", ""))
        if verb is None or scope["method"] != "POST" or scope["query_string"]:
            return await self._app(scope, receive, send)
        asked = verb.asked(scope[BODY])
        if asked is None:
            return await self._app(scope, receive, send)
        scope["route"] = verb.route
        response = await verb.answer(asked, Request(scope, receive, send))
        return await response(scope, receive, send)
