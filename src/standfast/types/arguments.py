"""What verbs take: a name for each type of argument, with what must hold of it.

The signatures of the verbs are written in these names, and every interface is made from the
signatures: what the server refuses, what the command line offers and what a tool's schema says is
read here. The verbs themselves check what they need, whoever calls them.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import UnionType
from typing import IO, Annotated, Any, Literal, Union, get_args, get_origin

from standfast.types.frozen import frozen

NAME_LENGTH_MAX = 512
LIMIT_MAX = 1000
TAGS_MAX = 64
# In one request to a server.
IDS_MAX = 1000
MESSAGES_MAX = 1000
SCOPES_MAX = 100
STEPS_MAX = 200
STATEMENTS_MAX = 1000


@frozen(kw_only=False)
class Between:
    """How large a number may be, or how long a text or a list."""

    least: float
    most: float


@frozen(kw_only=False)
class Like:
    """How a text is written."""

    pattern: str


When = datetime | str | int | float
Name = Annotated[str, Between(1, NAME_LENGTH_MAX)]
Label = Annotated[str, Between(0, NAME_LENGTH_MAX)]
Actor = Annotated[str, Between(0, 200)]
Scope = Annotated[str, Between(0, 4096)]
Scopes = Scope | Annotated[Iterable[Scope], Between(1, SCOPES_MAX)]
Limit = Annotated[int, Between(1, LIMIT_MAX)]
Share = Annotated[float, Between(0, 1)]
Ids = Annotated[Sequence[Name], Between(0, IDS_MAX)]
Tags = Annotated[Iterable[Name], Between(0, TAGS_MAX)]
Names = Annotated[Iterable[Name], Between(0, TAGS_MAX)]
Steps = Annotated[Iterable[str], Between(0, STEPS_MAX)]
Cursor = Annotated[str, Between(0, 4000)]
Day = Annotated[str, Like(r"^\d{4}-\d{2}-\d{2}$")]
Json = Mapping[str, Any]
Filter = Mapping[str, Any] | str  # see ``standfast.index.conditions``; as text, it is JSON
MessageInput = str | Mapping[str, Any]
MessageInputs = Annotated[Iterable[MessageInput], Between(0, MESSAGES_MAX)]
StatementInput = str | Mapping[str, Any]
StatementInputs = Annotated[Iterable[StatementInput], Between(0, STATEMENTS_MAX)]
StorePath = str | os.PathLike[str]
FileTarget = str | os.PathLike[str] | IO[bytes]  # where an export goes
FileSource = str | os.PathLike[str] | IO[bytes]  # where an import comes from


# Whether a value is of a kind that an argument takes


def misfit(hints: Mapping[str, Any], given: Mapping[str, Any]) -> str:
    """Which of these is of no kind that it may be; "" if all are."""
    for name, value in given.items():
        if name in hints and not _fits(value, hints[name]):
            taken = " or ".join(dict.fromkeys(_kinds(hints[name])))
            told = _A_KIND.get(type(value), type(value).__name__)
            return f"{name} takes {taken}, not {told if told != taken else f'{told} of such'}"
    return ""


_A_KIND = {
    str: "text", int: "a number", float: "a number", bool: "true or false", bytes: "bytes",
    list: "a list", tuple: "a list", set: "a set", dict: "an object", type(None): "nothing",
}  # fmt: skip


def _kinds(hint: Any) -> Iterator[str]:
    for one in _choices(hint):
        if one is not type(None):
            of_which = get_origin(one) or one
            many = of_which in (Iterable, Sequence, Collection)
            yield "a list" if many else _A_KIND.get(of_which, getattr(of_which, "__name__", "more"))


def _choices(hint: Any) -> tuple[Any, ...]:
    if get_origin(hint) is Literal:
        return (str,)
    if get_origin(hint) is Annotated:
        return _choices(get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        return tuple(part for one in get_args(hint) for part in _choices(one))
    return (hint,)


def _fits(value: Any, hint: Any) -> bool:
    return any(_is_a(value, one) for one in _choices(hint))


def _is_a(value: Any, kind: Any) -> bool:
    of_which = get_origin(kind) or kind
    if kind is Any or not isinstance(of_which, type):
        return True
    if of_which is float:
        return isinstance(value, int | float)
    if not isinstance(value, of_which):
        return False
    many = of_which in (list, tuple, set, Iterable, Sequence, Collection)
    inside = [part for part in get_args(kind) if part is not ...][:1] if many else []
    # What may be looked at once only is left alone, and so is a text, which is not many texts.
    return (
        not inside
        or not isinstance(value, Collection)
        or all(_fits(one, inside[0]) for one in value)
    )
