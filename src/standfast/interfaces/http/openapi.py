"""The OpenAPI page: one way to describe a route, and what all of them have in common."""

from __future__ import annotations

import asyncio
from functools import cache
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from standfast.interfaces.http.answers import json_bytes

PATH = "/openapi.json"
DESCRIPTION = """\
Memory for AI agents. Every verb of the library is `POST /v1/<verb>` with its arguments as JSON;
lists are `GET`. Errors are problems (RFC 9457) that say what to do.

A key goes into `Authorization: Bearer rck_...`; it reaches its own scopes, and an argument may only
narrow them. `X-Standfast-Device` narrows it to the user that a device belongs to.

Writes may carry an `Idempotency-Key`: sent again with the same body they answer again and change
nothing. Long work answers 202 and is looked at under `Location`.
"""

# Any request may end so, and so does one with a body.
ALWAYS = (400, 401, 403, 404, 414, 421, 429, 431, 500, 503)
WITH_BODY = (408, 409, 413, 415)
ADVICE = {
    400: "The request is wrong; `detail` says what to write instead.",
    401: "There is no key, or it is not valid any more.",
    403: "The key does not reach that far, or the page may not use this server.",
    404: "No such thing, or it belongs to somebody else.",
    408: "The body did not arrive in time.",
    409: "It changed meanwhile, or the Idempotency-Key was used for another body.",
    413: "The body is too large.",
    414: "The address is too long; the same can be sent as POST.",
    415: "The body is not JSON in UTF-8, or is compressed.",
    421: "The server does not answer to that host name.",
    429: "Too much for one key; `Retry-After` says when to come back.",
    431: "The headers are too long.",
    500: "The server failed, or its file does not fit this version.",
    503: "The store, a service or a model does not answer; try again later.",
}
PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "what is wrong and what to do"},
        "error": {"type": "string", "description": "the library's name of the error"},
    },
}


# By the name of the shape and the status: FastAPI would leave out all that is null.
_EXAMPLES: dict[tuple[str, str], Any] = {}


def about(shape: Any, said: Any, *, status: int = 200, **more: Any) -> dict[str, Any]:
    """What a route says of its answer: its shape and an example."""
    _EXAMPLES[shape.__name__, str(status)] = said
    told = {"model": shape, "description": HTTPStatus(status).phrase}
    responses = {status: told, **more.pop("responses", {})}
    return {"response_model": None, "status_code": status, "responses": responses, **more}


def describe(app: FastAPI, open_paths: tuple[str, ...]) -> None:
    """Make ``/openapi.json`` tell the whole truth."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            page = get_openapi(
                title=app.title,
                version=app.version,
                description=DESCRIPTION,
                routes=app.routes,
                tags=app.openapi_tags,
            )
            app.openapi_schema = _completed(page, open_paths)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]
    [shown] = [one for one in app.routes if isinstance(one, Route) and one.path == PATH]

    @cache
    def written() -> bytes:
        return json_bytes(app.openapi())

    async def page(request: Request) -> Response:
        """It is made once, for a quarter of a second: beside the loop. Written, too, where it does
        not say below which address it is."""
        if not request.scope.get("root_path"):
            return Response(await asyncio.to_thread(written), media_type="application/json")
        await asyncio.to_thread(app.openapi)
        answer: Response = await shown.endpoint(request)
        return answer

    app.routes[app.routes.index(shown)] = Route(PATH, page, include_in_schema=False)


def _completed(page: dict[str, Any], open_paths: tuple[str, ...]) -> dict[str, Any]:
    components = page.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):  # ours are problems
        schemas.pop(name, None)
    schemas["Problem"] = PROBLEM
    components["responses"] = {f"Problem{code}": _problem(code) for code in ADVICE}
    components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    page["security"] = [{"key": []}]
    for path, operations in page["paths"].items():
        for method, operation in operations.items():
            operation["responses"].pop("422", None)
            codes = ALWAYS if method == "get" else (*ALWAYS, *WITH_BODY)
            for code in sorted(codes):
                reference = {"$ref": f"#/components/responses/Problem{code}"}
                operation["responses"].setdefault(str(code), reference)
            _add_examples(operation["responses"])
            if path in open_paths:
                operation["security"] = []
    return page


def _add_examples(responses: dict[str, Any]) -> None:
    for code, answer in responses.items():
        content = answer.get("content", {}).get("application/json", {})
        name = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
        if (name, code) in _EXAMPLES:
            content["example"] = _EXAMPLES[name, code]


def _problem(code: int) -> dict[str, Any]:
    title = HTTPStatus(code).phrase
    said = {"type": "about:blank", "title": title, "status": code, "detail": ADVICE[code]}
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        "description": ADVICE[code],
        "content": {"application/problem+json": {"schema": schema, "example": said}},
    }
