"""Who asks: the memory as the caller may use it. Tools never name anybody else.

Over HTTP it is the holder of the key, anew with every request; over stdio whoever started the
process. An argument of a tool may only narrow it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from recollect.errors import Invalid
from recollect.scopes import make_scope

if TYPE_CHECKING:
    from recollect.memory import AsyncMemory  # loaded behind the first answer: see stdio


class Asker(Protocol):
    """Whoever may use a memory."""

    @property
    def memory(self) -> AsyncMemory: ...

    @property
    def actor(self) -> str:
        """For the journal."""
        ...

    async def before_write(self) -> None:
        """Counts a write; raises if there were too many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCaller:
    """Somebody for whom nothing is counted."""

    memory: AsyncMemory
    actor: str

    async def before_write(self) -> None:
        return


S = TypeVar("S")

_asker: ContextVar[Asker] = ContextVar("recollect_mcp_asker")


@contextmanager
def asked_by(asker: Asker) -> Iterator[None]:
    """Inside of it ``current`` is this one."""
    token = _asker.set(asker)
    try:
        yield
    finally:
        _asker.reset(token)


def current() -> Asker:
    return _asker.get()


def scope_for(project: str | None, scope: S | None) -> S | str | None:
    """Where a tool is to look or to write: a project of the caller, a scope, or (None) the
    caller's own."""
    if project is None:
        return scope
    if scope is not None:
        raise Invalid("give a project or a scope, not both")
    return _project_scope(current().memory._engine.bound, project)


def _project_scope(bound: tuple[str, ...], project: str) -> str:
    named = make_scope(("project", project))
    for own in bound:
        if own == named or own.endswith(f":{named}"):
            return own  # the caller is bound to that very project
    return f"{bound[0]}:{named}" if bound else named
