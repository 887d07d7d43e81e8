"""The routes of the verbs, made from their signatures: each reads a request, calls one verb and
answers."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Header
from starlette.responses import Response

from standfast.errors import NotFound
from standfast.interfaces.answers import LIST_NAMES, QUESTIONS, kind_of
from standfast.interfaces.caller import Caller
from standfast.interfaces.http import models
from standfast.interfaces.http.answers import (
    answer_beside,
    etag_of,
    length_of,
    matches,
)
from standfast.interfaces.http.examples import example_of
from standfast.interfaces.http.openapi import about
from standfast.interfaces.http.routes.calls import Asking, CallWriting, VerbRoute, may, router_of
from standfast.interfaces.http.shapes import object_of, page_of, shape_of
from standfast.interfaces.render import as_json
from standfast.memory.arguments import VerbSpec, verb_spec
from standfast.memory.beside import beside
from standfast.types import Message, Packet, Record
from standfast.types.pages import Page

# In the order of the documentation.
TOPICS = {
    "writing": (
        "observe", "remember", "confirm", "set_state", "end", "note", "relate", "save_procedure",
        "procedure_used", "set_policy",
    ),
    "reading": ("recall", "context", "find_procedures", "get", "history", "why_not"),
    "correcting": (
        "edit", "pin", "dispute", "forget", "revoke", "archive", "undo", "review", "resolve",
    ),
    "listing": (
        "records", "relations", "sessions", "messages", "summaries", "pending", "changes", "usage",
        "due", "stats", "scopes", "policies",
    ),
}  # fmt: skip
SHAPE_NAMES = {"history": "Entries", "usage": "UsagePage"}

Endpoint = Callable[..., Any]


def verb_routes(topic: str) -> APIRouter:
    router = router_of(topic, "/v1", route_class=VerbRoute)
    for verb in TOPICS[topic]:
        spec = verb_spec(verb)
        method = "GET" if spec.right == "read" and verb not in QUESTIONS else "POST"
        router.add_api_route(
            f"/{verb}", _endpoint(spec, method), methods=[method], **_described(spec)
        )
        for extra in (one for one in EXTRA if one[0] == verb):
            _, path, endpoint, options = extra
            router.add_api_route(path, endpoint, methods=["GET"], **options)
    return router


def _described(spec: VerbSpec) -> dict[str, Any]:
    """The shape of a verb's answer, and an example."""
    how, kind = kind_of(spec.answers)
    if how == "page":
        name = SHAPE_NAMES.get(spec.name, f"{kind.__name__}Page")
        said = as_json(Page(items=(), next="bGF0ZXI"))
        return about(page_of(name, kind), {**said, "items": [example_of(kind)]})
    if how == "list":
        member = LIST_NAMES[spec.name]
        name = SHAPE_NAMES.get(spec.name, "Review" if member == "items" else member.capitalize())
        return about(object_of(name, **{member: spec.answers}), {member: [example_of(kind)]})
    return about(shape_of(kind), example_of(kind))


def _endpoint(spec: VerbSpec, method: str) -> Endpoint:
    if spec.name == "confirm":
        made, takes = _confirm, {"asked": models.Confirm, "writing": may(spec.right)}
    elif method == "GET":
        return _documented(_listing(spec), spec, models.query_parameters(spec.name))
    elif spec.right == "read":
        made, takes = _asking(spec), {"asked": models.body_of(spec.name), "caller": Asking}
    else:
        body = models.body_of(spec.name)
        made, takes = _writing(spec), {"asked": body, "writing": may(spec.right)}
    return _documented(made, spec, [_parameter(*one) for one in takes.items()], asking=False)


def _documented(
    made: Endpoint, spec: VerbSpec, parameters: list[inspect.Parameter], *, asking: bool = True
) -> Endpoint:
    """An endpoint with what the framework reads to describe it."""
    needs = "" if spec.right in ("read", "write") else f" Needs the right `{spec.right}`."
    made.__name__ = spec.name
    made.__doc__ = spec.said.partition("\n\n")[0] + needs
    who = [_parameter("caller", Asking)] if asking else []
    made.__signature__ = inspect.Signature([*parameters, *who])  # type: ignore[attr-defined]
    return made


def _parameter(name: str, hint: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=hint)


def _writing(spec: VerbSpec) -> Endpoint:
    async def endpoint(asked: models.RequestBody, writing: CallWriting) -> Response:
        given = writing.given(asked)
        return await writing.once(lambda memory: getattr(memory, spec.name)(**given))

    return endpoint


def _asking(spec: VerbSpec) -> Endpoint:
    async def endpoint(asked: models.RequestBody, caller: Caller) -> Response:
        found = await getattr(caller.memory, spec.name)(**asked.given())
        headers = {"ETag": await _etag(found)} if isinstance(found, Packet) else {}
        return await answer_beside(_wrapped(spec, found), headers=headers)

    return endpoint


def _listing(spec: VerbSpec) -> Endpoint:
    async def endpoint(caller: Caller, **said: Any) -> Response:
        found = await getattr(caller.memory, spec.name)(**said)
        return await answer_beside(_wrapped(spec, found))

    return endpoint


async def _etag(packet: Packet) -> str:
    return await beside(length_of(packet), partial(etag_of, packet))


def _wrapped(spec: VerbSpec, found: Any) -> Any:
    return {LIST_NAMES[spec.name]: found} if spec.name in LIST_NAMES else found


async def _confirm(asked: Any, writing: CallWriting) -> Response:
    now = writing.caller.memory.engine.now()
    pending = tuple(
        Message(id=m.id, scope=m.scope, session=m.session, role="user", text="", at=now)
        for m in asked.pending
    )
    packet = Packet(text="", stable_text="", tokens=0, counter="", hash="", pending=pending)
    return await writing.once(lambda memory: memory.confirm(packet))


# The same in another form


async def _get_context(caller: Caller, if_none_match: str | None = None, **said: Any) -> Response:
    packet = await caller.memory.context(**said)
    headers = {"ETag": await _etag(packet), "Cache-Control": "private, no-cache"}
    if if_none_match is not None and matches(if_none_match, headers["ETag"]):
        return Response(status_code=304, headers=headers)
    return await answer_beside(packet, headers=headers)


def _described_get_context() -> Endpoint:
    tag = Annotated[str | None, Header(alias="If-None-Match")]
    parameters = [
        *models.query_parameters("context"),
        _parameter("if_none_match", tag).replace(default=None),
    ]
    made = _documented(_get_context, verb_spec("context"), parameters)
    made.__name__ = "get_context"
    made.__doc__ = "The same packet; 304 if it says the same as the one that `If-None-Match` names."
    return made


async def get_record(id: str, caller: Asking) -> Response:
    """One record by id."""
    found = await caller.memory.get([id])
    if not found:
        raise NotFound(f"there is no record {id!r}")
    return await answer_beside(found[0])


_ETAG = {"ETag": {"schema": {"type": "string"}, "description": "the same while it says the same"}}
_SAME = {304: {"description": "It says the same as the one you have", "headers": _ETAG}}
# Behind which verb, where, what, and how it is described.
EXTRA: tuple[tuple[str, str, Endpoint, dict[str, Any]], ...] = (
    (
        "context",
        "/context",
        _described_get_context(),
        about(shape_of(Packet), example_of(Packet), responses=_SAME),
    ),
    ("get", "/records/{id}", get_record, about(shape_of(Record), example_of(Record))),
)
