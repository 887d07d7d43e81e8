"""Errors as RFC 9457 problems: what is wrong, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from starlette.responses import Response

from standfast.access.quotas import TooMany
from standfast.errors import (
    Conflict,
    Denied,
    Incompatible,
    Invalid,
    NotFound,
    StandfastError,
    Unavailable,
)
from standfast.interfaces.http.answers import json_bytes
from standfast.interfaces.render import without_paths

MEDIA_TYPE = "application/problem+json"

STATUS_OF_ERROR: Mapping[type[StandfastError], int] = {
    Invalid: 400,
    Denied: 403,
    NotFound: 404,
    Conflict: 409,
    Incompatible: 500,
    Unavailable: 503,
}


class Unknown(Denied):
    """Nobody we know; the answer is 401, where another denial is 403. ``metadata`` is where a
    program reads how to ask a person for access; "" where it cannot."""

    metadata = ""


class Refused(Exception):
    """A request that gets no further, whatever it asks for. ``unread``: its body is still on
    its way."""

    def __init__(self, status: int, detail: str, *, unread: bool = False) -> None:
        super().__init__(detail)
        self.status = status
        self.unread = unread


def problem(
    status: int, detail: str, *, headers: Mapping[str, str] | None = None, **more: Any
) -> Response:
    return Response(
        json_bytes(body_of(status, detail, **more)),
        status_code=status,
        headers=dict(headers or {}),
        media_type=MEDIA_TYPE,
    )


def body_of(status: int, detail: str, **more: Any) -> dict[str, Any]:
    title = HTTPStatus(status).phrase
    return {"type": "about:blank", "title": title, "status": status, "detail": detail, **more}


def problem_of(error: StandfastError) -> Response:
    status, more = described(error)
    return problem(status, told(error), headers=_headers(error), **more)


def described(error: StandfastError) -> tuple[int, dict[str, Any]]:
    """The status, and what a client needs to raise the same error again."""
    if isinstance(error, TooMany):
        return 429, {"error": "Unavailable", "retry_after": error.wait}
    if isinstance(error, Unknown):
        return 401, {"error": "Denied"}
    kind = next((kind for kind in STATUS_OF_ERROR if isinstance(error, kind)), None)
    status = STATUS_OF_ERROR[kind] if kind else int(HTTPStatus.INTERNAL_SERVER_ERROR)
    # The public name: what a subclass is called is our own affair.
    return status, {"error": (kind or StandfastError).__name__, **_about(error)}


def told(error: StandfastError) -> str:
    """What it says, without paths of this machine."""
    if isinstance(error, Unavailable | Incompatible):
        return without_paths(str(error))
    return str(error)


def _headers(error: StandfastError) -> dict[str, str]:
    if isinstance(error, Unknown):
        # The scope is what a program should ask for first: erasing is for those who want it.
        more = f', resource_metadata="{error.metadata}", scope="read write"'
        more = more if error.metadata else ""
        return {"WWW-Authenticate": f'Bearer realm="standfast"{more}'}
    if isinstance(error, TooMany):
        return _retry_after(error.wait)
    if isinstance(error, Unavailable) and error.retry_after is not None:
        return _retry_after(error.retry_after)
    return {}


def _retry_after(seconds: float) -> dict[str, str]:
    return {"Retry-After": str(max(1, round(seconds + 0.5)))}


def _about(error: StandfastError) -> dict[str, Any]:
    if isinstance(error, Unavailable):
        return {
            "outcome_unknown": error.outcome_unknown,
            "retry_after": error.retry_after,
            "lasting": error.lasting,
        }
    if isinstance(error, Conflict):
        return {"kind": error.kind, "ids": list(error.ids)}
    return {}
