"""``needs``: a verb says which right it takes, and nobody without it gets further."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    ParamSpec,
    Protocol,
    TypeVar,
    cast,
    get_args,
    get_type_hints,
)

from standfast.errors import Denied, Invalid
from standfast.types import Right
from standfast.types.arguments import misfit

if TYPE_CHECKING:  # signatures are read before anything is opened
    from standfast.engine import Engine


# What an agent may do without anybody opting in to more.
AGENT_RIGHTS: tuple[Right, ...] = ("erase", "read", "write")


def rights_in(text: str, where: str) -> tuple[Right, ...]:
    """Rights with blanks or commas between them; Invalid if one is none."""
    named = text.replace(",", " ").split()
    wrong = [name for name in named if name not in get_args(Right)]
    if wrong:
        raise Invalid(f"{where}: {wrong[0]!r} is no right; there are {', '.join(get_args(Right))}")
    return cast("tuple[Right, ...]", tuple(named))


# Whoever uses one of these leaves a line of its own: what is written leaves one in its commit.
_LOOKED_AT: tuple[Right, ...] = ("read", "export", "import", "admin")


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
            engine = self._engine
            engine.callers.waiting += 1
            try:
                engine.allow(right)
                with span(method.__name__):
                    found = await hinted(self, *args, **kwargs)
            except Denied:
                if engine.audit is not None:
                    engine.audit.note(engine, "refused", method.__name__, scopes=engine.bound)
                raise
            finally:
                engine.callers.waiting -= 1
            if engine.audit is not None and right in _LOOKED_AT:
                engine.audit.seen(engine, right, method.__name__, kwargs.get("scope"), found)
            return found

        checked.right = right  # type: ignore[attr-defined]
        return checked

    return guarded


_NOTHING = nullcontext()


def span(verb: str) -> AbstractContextManager[Any]:
    """For OpenTelemetry: one span for each verb, named after it, with nothing of what was asked.
    Only where the program around has loaded it; whoever traces nothing pays one look."""
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return _NOTHING
    opened: AbstractContextManager[Any] = trace.get_tracer("standfast").start_as_current_span(
        f"standfast.{verb}"
    )
    return opened


def hinting(
    method: Callable[P, Awaitable[R]],
) -> Callable[P, Coroutine[Any, Any, R]]:
    """The same asynchronous function; whoever misspells a keyword is told which one there is, and
    whoever gives something of another kind than an argument takes is told that: Invalid."""

    @wraps(method)
    async def called(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            work = method(*args, **kwargs)  # nothing but binding: what it does is awaited below
        except TypeError as error:
            raise TypeError(f"{error}{_meant(method, kwargs)}") from None
        try:
            return await work
        except (TypeError, AttributeError, ValueError):
            # Looked at only now: what is right pays nothing for it.
            if wrong := _misshapen(method, args, kwargs):
                raise Invalid(wrong) from None
            raise

    return called


def _misshapen(method: Callable[..., Any], args: Sequence[Any], given: Mapping[str, Any]) -> str:
    """Which argument is of no kind that it may be; "" if all are."""
    bound = inspect.signature(method).bind(*args, **given)
    return misfit(get_type_hints(method, include_extras=True), bound.arguments)


def _meant(method: Callable[..., Any], given: Mapping[str, object]) -> str:
    from difflib import get_close_matches

    known = [name for name in inspect.signature(method).parameters if name not in ("self", "cls")]
    for name in given:
        if name not in known and (near := get_close_matches(name, known, 1, 0.5)):
            return f". Did you mean {near[0]!r}?"
    return ""
