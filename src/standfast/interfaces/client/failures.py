"""What a server says is wrong, as the error that a local memory would raise."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from standfast.errors import (
    Conflict,
    Denied,
    Incompatible,
    Invalid,
    NotFound,
    StandfastError,
    Unavailable,
)

_BY_NAME: Mapping[str, type[StandfastError]] = {
    kind.__name__: kind
    for kind in (StandfastError, Invalid, NotFound, Denied, Conflict, Unavailable, Incompatible)
}
_BY_STATUS: Mapping[int, type[StandfastError]] = {
    401: Denied,
    403: Denied,
    404: NotFound,
    408: Unavailable,
    409: Conflict,
    429: Unavailable,
}


def error_of(status: int, body: bytes, headers: Mapping[str, str]) -> StandfastError:
    """The error that an answer with this status stands for."""
    try:
        problem = json.loads(body)
    except (ValueError, RecursionError):
        problem = None
    if not isinstance(problem, dict) or "detail" not in problem:
        return _foreign(status)
    wait = headers.get("retry-after", "")
    told = {"retry_after": float(wait)} if wait.isdigit() else {}
    return error_of_problem({**told, **problem, "status": status})


def error_of_problem(problem: Mapping[str, Any]) -> StandfastError:
    status, said = int(problem.get("status", 500)), str(problem.get("detail", ""))
    usual = Unavailable if status >= 500 else Invalid
    kind = _BY_NAME.get(str(problem.get("error")), _BY_STATUS.get(status, usual))
    if kind is Unavailable:
        wait = problem.get("retry_after")
        return Unavailable(
            said,
            outcome_unknown=bool(problem.get("outcome_unknown")),
            retry_after=float(wait) if isinstance(wait, int | float) else None,
            lasting=bool(problem.get("lasting")),
        )
    if kind is Conflict:
        ids = tuple(map(str, problem.get("ids") or ()))
        return Conflict(said, kind=str(problem.get("kind") or ""), ids=ids)
    return kind(said)


def _foreign(status: int) -> StandfastError:
    """Not in our words: something stands between us and the server, or it is another one."""
    kind = Unavailable if status >= 500 else _BY_STATUS.get(status, Incompatible)
    return kind(f"the answer is {status} and not standfast's; is this the right address?")
