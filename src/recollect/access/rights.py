"""``needs``: a verb says which right it takes, and nobody without it gets further."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from recollect.engine import Engine
from recollect.types import Right


class Handle(Protocol):
    """Whatever has verbs."""

    _engine: Engine


H = TypeVar("H", bound=Handle)
P = ParamSpec("P")
R = TypeVar("R")


def needs(
    right: Right,
) -> Callable[
    [Callable[Concatenate[H, P], Awaitable[R]]],
    Callable[Concatenate[H, P], Coroutine[Any, Any, R]],
]:
    """A verb that only handles with this right may use."""

    def guarded(
        method: Callable[Concatenate[H, P], Awaitable[R]],
    ) -> Callable[Concatenate[H, P], Coroutine[Any, Any, R]]:
        @wraps(method)
        async def checked(self: H, /, *args: P.args, **kwargs: P.kwargs) -> R:
            self._engine.allow(right)
            return await method(self, *args, **kwargs)

        return checked

    return guarded
