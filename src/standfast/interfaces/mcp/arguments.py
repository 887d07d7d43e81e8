"""Arguments of tools, made from what a verb takes; and those that several tools share."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from functools import wraps
from typing import Annotated, Any, Union, get_origin

from pydantic import Field
from pydantic.fields import FieldInfo

from standfast.memory.arguments import REQUIRED, Argument, bare, element_of, members, verb_spec
from standfast.types.arguments import Between
from standfast.types.frozen import frozen

ISO = "ISO 8601, such as 2026-05-03 or 2026-05-03T10:00:00+02:00"
UNTOLD: Any = object()

Project = Annotated[
    str | None,
    Field(description="Id of a project of yours, such as its repository's name. Only narrows."),
]
Scope = Annotated[
    str | None,
    Field(
        description='A scope below your own, such as "user:ann:project:web". Leave it out unless '
        "the user names one; nobody else's can be reached."
    ),
]
Scopes = Annotated[
    str | list[str] | None,
    Field(description="One or several scopes to look in; leave it out to look in all of yours."),
]

# What no tool takes from a verb, and why.
NEVER = {
    "scope": "beside `project`, the same for every tool",
    "actor": "who is connected, not what a model says",
    "now": "a model asks now",
}


@frozen
class Wording:
    """How a model is told of an argument, where it is not told as everybody is."""

    name: str = ""
    hint: Any = UNTOLD
    default: Any = UNTOLD
    said: str = ""


@frozen
class FromVerb:
    """What a tool made of a verb's arguments."""

    left_out: Mapping[str, str]
    told: Mapping[str, Wording]


Tool = Callable[..., Awaitable[Any]]


def from_verb(
    verb: str,
    *,
    left_out: Mapping[str, str] | None = None,
    told: Mapping[str, Wording] | None = None,
) -> Callable[[Tool], Tool]:
    """A tool that takes what a verb takes, but what is ``left_out``, each for a reason. Its
    ``**said`` is what was said, by the verb's own names."""
    words, without = told or {}, {**NEVER, **(left_out or {})}
    taken = [one for one in verb_spec(verb).arguments if one.name not in without]
    parameters = [_parameter(one, words.get(one.name, Wording())) for one in taken]
    names = {made.name: one.name for made, one in zip(parameters, taken, strict=True)}

    def made(tool: Tool) -> Tool:
        @wraps(tool)
        async def called(**given: Any) -> Any:
            own = {name: value for name, value in given.items() if name not in names}
            said = {
                names[name]: value
                for name, value in given.items()
                if name in names and value is not None
            }
            return await tool(**own, **said)

        signature = inspect.signature(tool, eval_str=True)
        kept = [
            one.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for one in signature.parameters.values()
            if one.kind is not one.VAR_KEYWORD and one.name not in names
        ]
        ordered = sorted((*parameters, *kept), key=lambda one: one.default is not REQUIRED)
        called.__signature__ = signature.replace(parameters=ordered)  # type: ignore[attr-defined]
        called.from_verbs = {  # type: ignore[attr-defined]
            **getattr(tool, "from_verbs", {}),
            verb: FromVerb(left_out=without, told=words),
        }
        return called

    return made


def _parameter(argument: Argument, told: Wording) -> inspect.Parameter:
    hint = _json_type(argument.hint if told.hint is UNTOLD else told.hint)
    default = argument.default if told.default is UNTOLD else told.default
    if default == () or default is None:
        hint, default = hint | None, None
    said = told.said or argument.said
    if datetime in members(argument.hint):
        said = f"{said}; {ISO}"
    return inspect.Parameter(
        told.name or argument.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[hint, Field(description=said)],
    )


def _json_type(hint: Any) -> Any:
    """As a model writes it: times are text, and whatever is a list is one."""
    inner, rules = bare(hint)
    parts = [one for one in members(inner) if one is not type(None)]
    if datetime in parts:
        return str
    if len(parts) > 1 or parts != [inner]:
        return Union[tuple(map(_json_type, parts))]  # noqa: UP007
    element = element_of(inner)
    made = inner if element is None else list[_json_type(element)]  # type: ignore[misc]
    if get_origin(inner) is Mapping:
        made = dict[str, Any]
    for rule in rules:
        if isinstance(rule, Between) and inner in (int, float):
            rule = Field(ge=rule.least, le=rule.most)
        if isinstance(rule, FieldInfo):
            made = Annotated[made, rule]
    return made
