"""The verbs as data: what each takes and what is said of it, read from its signature and its
docstring. Interfaces are made from this."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from standfast.memory import AsyncMemory
from standfast.scopes import parse_scope as parse_scope
from standfast.text.inputs import moment as moment
from standfast.types import Right
from standfast.types.frozen import frozen

WAYS_IN_AND_OUT = ("open", "connect", "close")
REQUIRED: Any = inspect.Parameter.empty  # instead of a default

_ARGUMENT = re.compile(r"^ {4}(\w+): (.+(?:\n {8}.+)*)", re.MULTILINE)


@frozen
class Argument:
    """``said`` is its line in the docstring; ``positional``: it may be given without its name."""

    name: str
    hint: Any
    default: Any
    positional: bool
    said: str

    @property
    def required(self) -> bool:
        return self.default is REQUIRED


@frozen
class VerbSpec:
    """``said`` is the docstring without its arguments; ``answers`` is what it returns."""

    name: str
    right: Right
    said: str
    answers: Any
    arguments: tuple[Argument, ...]


def verb_names() -> list[str]:
    found = inspect.getmembers(AsyncMemory, inspect.iscoroutinefunction)
    return [name for name, _ in found if name[0] != "_" and name not in WAYS_IN_AND_OUT]


def verb_spec(name: str) -> VerbSpec:
    return _read(getattr(AsyncMemory, name))


@cache
def _read(method: Callable[..., Any]) -> VerbSpec:
    hints = get_type_hints(method, include_extras=True)
    said, _, listed = inspect.cleandoc(method.__doc__ or "").partition("\n\nArgs:\n")
    lines = {name: " ".join(line.split()) for name, line in _ARGUMENT.findall(listed)}
    parameters = list(inspect.signature(method).parameters.values())[1:]  # without self
    return VerbSpec(
        name=method.__name__,
        right=method.right,  # type: ignore[attr-defined]
        said=said.replace("``", "`"),
        answers=hints["return"],
        arguments=tuple(
            Argument(
                name=one.name,
                hint=hints[one.name],
                default=one.default,
                positional=one.kind is one.POSITIONAL_OR_KEYWORD,
                said=lines.get(one.name, "").replace("``", "`"),
            )
            for one in parameters
        ),
    )


def choices_of(hint: Any) -> tuple[str, ...]:
    """The words of a Literal; () if it is none."""
    return get_args(hint) if get_origin(hint) is Literal else ()


def bare(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """A hint without its rules, and the rules."""
    if get_origin(hint) is Annotated:
        return get_args(hint)[0], hint.__metadata__
    return hint, ()


def members(hint: Any) -> list[Any]:
    """The members of a union, each with its rules; of anything else itself."""
    if get_origin(hint) in (Union, type(int | str)):
        return [part for one in get_args(hint) for part in members(one)]
    return [hint]


def element_of(hint: Any) -> Any:
    """What a list of this type holds; None if it is no list."""
    return get_args(hint)[0] if get_origin(hint) in (Iterable, Sequence) else None
