"""Whose memory a tool uses: the caller's. Tools never name anybody else.

Over HTTP it is the holder of the key, anew with every request; over stdio whoever started the
process. An argument of a tool may only narrow it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from standfast import make_scope
from standfast.errors import Invalid
from standfast.interfaces.caller import Caller

S = TypeVar("S")

_caller: ContextVar[Caller] = ContextVar("standfast_mcp_caller")


@contextmanager
def asked_by(caller: Caller) -> Iterator[None]:
    """Inside of it ``current`` is this one."""
    token = _caller.set(caller)
    try:
        yield
    finally:
        _caller.reset(token)


def current() -> Caller:
    return _caller.get()


def scope_for(project: str | None, scope: S | None) -> S | str | None:
    """Where a tool is to look or to write: a project of the caller, a scope, or (None) the
    caller's own."""
    if project is None:
        return scope
    if scope is not None:
        raise Invalid("give a project or a scope, not both")
    return _project_scope(current().engine.bound, project)


def _project_scope(bound: tuple[str, ...], project: str) -> str:
    named = make_scope(("project", project))
    for own in bound:
        if own == named or own.endswith(f":{named}"):
            return own  # the caller is bound to that very project
    if len(bound) > 1:
        raise Invalid(f"this key reaches {', '.join(bound)}: name a scope instead of a project")
    return f"{bound[0]}:{named}" if bound else named
