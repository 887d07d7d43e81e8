"""``needs``: a verb says which right it takes, and nobody without it gets further."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar

from recollect.types import Right

if TYPE_CHECKING:  # signatures are read before anything is opened
    from recollect.engine import Engine


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
        hinted = hinting(method)

        @wraps(method)
        async def checked(self: H, /, *args: P.args, **kwargs: P.kwargs) -> R:
            self._engine.allow(right)
            return await hinted(self, *args, **kwargs)

        checked.right = right  # type: ignore[attr-defined]
        return checked

    return guarded


def hinting(
    method: Callable[P, Awaitable[R]],
) -> Callable[P, Coroutine[Any, Any, R]]:
    """The same asynchronous function; whoever misspells a keyword is told which one there is."""

    @wraps(method)
    async def called(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            work = method(*args, **kwargs)  # nothing but binding: what it does is awaited below
        except TypeError as error:
            raise TypeError(f"{error}{_meant(method, kwargs)}") from None
        return await work

    return called


def _meant(method: Callable[..., Any], given: Mapping[str, object]) -> str:
    from difflib import get_close_matches

    known = [name for name in inspect.signature(method).parameters if name not in ("self", "cls")]
    for name in given:
        if name not in known and (near := get_close_matches(name, known, 1, 0.5)):
            return f". Did you mean {near[0]!r}?"
    return ""
