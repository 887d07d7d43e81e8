"""What routes get handed: who asks, and a way to write that keeps to quotas and to
``Idempotency-Key``."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Coroutine, Iterable
from typing import Annotated, Any, get_args

from fastapi import APIRouter, Depends, Header, Request
from fastapi.routing import APIRoute
from pydantic import ValidationError
from starlette.responses import Response
from starlette.routing import BaseRoute

from standfast.errors import Invalid, StandfastError
from standfast.interfaces.caller import Caller
from standfast.interfaces.http.answers import answer_beside
from standfast.interfaces.http.bodies import BODY
from standfast.interfaces.http.callers import caller_of
from standfast.interfaces.http.guards import App, Receive, Scope, Send
from standfast.interfaces.http.idempotency import once
from standfast.interfaces.http.models import RequestBody
from standfast.interfaces.http.problems import problem_of
from standfast.memory.once import Write
from standfast.types import Right
from standfast.types.frozen import frozen

Handler = Callable[[Request], Coroutine[Any, Any, Response]]
Answering = Callable[[Request], Coroutine[Any, Any, Response | None]]

KEY_HEADER = "Idempotency-Key"
DeviceHeader = Annotated[
    str | None,
    Header(
        alias="X-Standfast-Device",
        description="narrows the key to the user that this device belongs to",
    ),
]
KeyHeader = Annotated[
    str | None,
    Header(
        alias=KEY_HEADER,
        description="sent again with the same body, the first answer comes again",
    ),
]


async def who_asks(request: Request, _device: DeviceHeader = None) -> Caller:
    """The door has looked at the headers already; naming them here documents them."""
    return caller_of(request.scope)


Asking = Annotated[Caller, Depends(who_asks)]


async def no_strangers(request: Request) -> None:
    """A name that is not known is refused, in a query as in a body: who writes ``scop`` must not
    be shown every scope."""
    if not request.query_params:
        return
    route: APIRoute = request.scope["route"]
    known = [field.alias for field in route.dependant.query_params]
    for name in request.query_params:
        if name not in known:
            there = f"; there is {', '.join(known)}" if known else ""
            raise Invalid(f"{name[:80]!r} is no parameter here{there}")


def router_of(
    topic: str, prefix: str = "", *, strict: bool = True, route_class: type[APIRoute] = APIRoute
) -> APIRouter:
    """The routes of one topic. ``strict``: names that are not known are refused."""
    return APIRouter(
        prefix=prefix,
        tags=[topic],
        dependencies=[Depends(no_strangers)] if strict else [],
        route_class=route_class,
        generate_unique_id_function=lambda route: route.name,
    )


def takes(
    *more: inspect.Parameter, **hints: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """An endpoint some of whose types are made from a verb: ``hints`` by the parameter's name,
    ``more`` in the place of its ``**said``."""

    def typed(endpoint: Callable[..., Any]) -> Callable[..., Any]:
        own = inspect.signature(endpoint, eval_str=True).parameters.values()
        kept = [
            one.replace(
                annotation=hints.get(one.name, one.annotation),
                kind=inspect.Parameter.KEYWORD_ONLY,
            )
            for one in own
            if one.kind is not one.VAR_KEYWORD
        ]
        endpoint.__signature__ = inspect.Signature([*more, *kept])  # type: ignore[attr-defined]
        return endpoint

    return typed


@frozen(kw_only=False)
class CallWriting:
    """A write that was asked for."""

    request: Request
    caller: Caller
    key: str | None
    right: Right

    async def once(self, write: Write) -> Response:
        """Do it, or answer as before if the same was sent before."""
        self.caller.memory.engine.allow(self.right)
        await self.caller.before_write()
        if self.key is None:
            return await answer_beside(await write(self.caller.memory))
        return await once(self.request, self.caller, self.key, write)

    def given(self, asked: RequestBody) -> dict[str, Any]:
        """The arguments, signed by whoever asked."""
        said = asked.given()
        return {**said, "actor": self.caller.acting_for(said.get("actor", ""))}


def may(right: Right) -> Any:
    """What a route that writes is handed."""

    async def asked(request: Request, caller: Asking, key: KeyHeader = None) -> CallWriting:
        return CallWriting(request, caller, key, right)

    asked.right = right  # type: ignore[attr-defined]
    return Annotated[CallWriting, Depends(asked)]


class VerbRoute(APIRoute):
    """A route that takes a body and whoever asks needs nobody to find out for each request where
    its parameters come from. Whatever is not as described goes the framework's way, which says
    what is wrong with it."""

    answer: Answering | None = None  # what it does with a body that is as described

    def get_route_handler(self) -> Handler:
        framework = super().get_route_handler()
        takes = inspect.signature(self.endpoint).parameters
        model = takes["asked"].annotation if "asked" in takes else None
        if model is None:
            return framework
        writing = takes.get("writing")
        right = get_args(writing.annotation)[1].dependency.right if writing else None

        async def answer(request: Request) -> Response | None:
            scope = request.scope
            asked = None if scope["query_string"] else _read(model, scope[BODY])
            if asked is None:
                return None
            caller = caller_of(scope)
            who: dict[str, Any] = {"caller": caller}
            if right is not None:
                key = request.headers.get(KEY_HEADER)
                who = {"writing": CallWriting(request, caller, key, right)}
            found: Response = await self.endpoint(asked=asked, **who)
            return found

        async def handle(request: Request) -> Response:
            return await answer(request) or await framework(request)

        self.answer = answer
        return handle


class ShortWay:
    """The layer before the framework's own: a verb is found by its name, and answers. Whatever else
    is asked, or is not as described, goes the whole way."""

    def __init__(self, app: App, *, routes: Iterable[BaseRoute]) -> None:
        self._app = app
        self._verbs = {
            (method, route.path): route
            for route in routes
            if isinstance(route, VerbRoute) and route.answer is not None
            for method in route.methods or ()
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        route = self._verbs.get((scope["method"], scope["path"])) if BODY in scope else None
        # Who traces FastAPI wants to see which route it has found.
        if route is None or route.answer is None or scope.get("fastapi.telemetry") is not None:
            return await self._app(scope, receive, send)
        scope["route"] = route
        try:
            found = await route.answer(Request(scope, receive, send))
        except StandfastError as error:
            found = problem_of(error)
        if found is None:
            return await self._app(scope, receive, send)
        return await found(scope, receive, send)


def _read(model: type[RequestBody], body: bytes) -> RequestBody | None:
    """None if it is misshapen."""
    try:
        return model.model_validate(json.loads(body))
    except (ValidationError, ValueError, RecursionError):
        return None
