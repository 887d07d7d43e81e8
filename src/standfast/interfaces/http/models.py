"""What requests may say: bodies and query strings, made from the signatures of the verbs."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from datetime import datetime
from types import new_class
from typing import Annotated, Any, Union, get_origin

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field, PlainValidator, WithJsonSchema

from standfast.interfaces.http.examples import REQUESTS
from standfast.memory.arguments import Argument, bare, element_of, members, verb_spec
from standfast.types import Holder, Right
from standfast.types.arguments import MESSAGES_MAX, SCOPES_MAX, Between, Like, Name, Scope, When


def _is_text(value: Any) -> str:
    """Any text: half a surrogate pair in it is repaired where it is stored, not refused."""
    if not isinstance(value, str):
        raise ValueError("must be text")
    return value


Text = Annotated[str, PlainValidator(_is_text), WithJsonSchema({"type": "string"})]

# What a verb takes and a request does not say by that name.
ELSEWHERE = {
    ("confirm", "packet"): "only its pending messages count: the body has them",
    ("export_to", "path"): "the lines are fetched from the work's file",
    ("import_from", "path"): "the lines are the request's body",
    ("export_to", "progress"): "the work itself tells it",
    ("import_from", "progress"): "the work itself tells it",
    ("reembed", "progress"): "the work itself tells it",
}


class RequestBody(BaseModel):
    """Unknown names are refused, and "5" is no number."""

    model_config = ConfigDict(extra="forbid", strict=True)

    def given(self) -> dict[str, Any]:
        """What was said; the rest is the verb's own default."""
        return {name: getattr(self, name) for name in self.model_fields_set}


def body_of(verb: str) -> type[RequestBody]:
    """The body that a request for a verb has."""
    name = "".join(part.capitalize() for part in verb.split("_"))
    taken = [one for one in verb_spec(verb).arguments if (verb, one.name) not in ELSEWHERE]
    return _model(
        {"Context": "ContextBody", "ExportTo": "Export"}.get(name, name),
        {one.name: json_type(one.hint) for one in taken},
        {one.name: _field(one) for one in taken},
    )


def _model(name: str, hints: dict[str, Any], fields: dict[str, Any]) -> type[RequestBody]:
    config = ConfigDict(json_schema_extra={"examples": [REQUESTS[name]]})
    namespace = {"__module__": __name__, "__annotations__": hints, "model_config": config, **fields}
    return new_class(name, (RequestBody,), exec_body=lambda body: body.update(namespace))


def _field(argument: Argument) -> Any:
    if argument.required:
        return Field(description=argument.said)
    return Field(_json_default(argument.default), description=argument.said)


def _json_default(default: Any) -> Any:
    return list(default) if isinstance(default, tuple) else default


def query_parameters(verb: str) -> list[inspect.Parameter]:
    """The same arguments in an address."""
    return [
        inspect.Parameter(
            one.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=one.default,
            annotation=Annotated[json_type(one.hint, words=True), Query(description=one.said)],
        )
        for one in verb_spec(verb).arguments
        if (verb, one.name) not in ELSEWHERE
    ]


def json_type(hint: Any, *, words: bool = False) -> Any:
    """The type of an argument as JSON has it; ``words``: as an address has it, where a time is
    text, and of one or several there are several."""
    inner, rules = bare(hint)
    parts = [one for one in members(inner) if one is not datetime]
    if words:
        parts = _in_words(parts)
    if len(parts) > 1:
        return Union[tuple(json_type(one, words=words) for one in parts)]  # noqa: UP007
    if parts != [inner]:
        return json_type(parts[0], words=words)
    if inner is str and not rules:
        return Text
    element = element_of(inner)
    made = inner if element is None else list[json_type(element, words=words)]  # type: ignore[misc]
    if get_origin(inner) is Mapping:
        made = dict[str, Any]
    for rule in rules:
        made = Annotated[made, _rule(inner, rule)]
    return made


def _in_words(parts: list[Any]) -> list[Any]:
    if {*members(When)} - {datetime} <= {*parts}:
        parts = [one for one in parts if one not in (int, float)]
    if str in parts:  # what is written as JSON elsewhere
        parts = [one for one in parts if get_origin(one) is not Mapping]
    several = [one for one in parts if element_of(bare(one)[0]) is not None]
    return [one for one in parts if one is type(None) or not several or one in several]


def _rule(kind: Any, rule: Any) -> Any:
    if isinstance(rule, Like):
        return Field(pattern=rule.pattern)
    assert isinstance(rule, Between)
    if kind in (int, float):
        return Field(ge=rule.least, le=rule.most)
    return Field(min_length=int(rule.least) or None, max_length=int(rule.most))


# What no verb takes.


class PendingMessage(BaseModel):
    """A message as the packet had it; the rest of it may be left out."""

    model_config = ConfigDict(extra="ignore", strict=True)
    id: json_type(Name)  # type: ignore[valid-type]
    scope: json_type(Scope)  # type: ignore[valid-type]
    session: json_type(Name) = "~pending"  # type: ignore[valid-type]


Confirm = _model(
    "Confirm",
    {"pending": Annotated[list[PendingMessage], Field(max_length=MESSAGES_MAX)]},
    {"pending": Field(description="of a packet")},
)
CreateKey = _model(
    "CreateKey",
    {
        "name": Annotated[str, Field(max_length=200)],
        "scopes": Annotated[list[json_type(Scope)], Field(max_length=SCOPES_MAX)],  # type: ignore[misc]
        "rights": list[Right],
        "expires_at": json_type(When | None),
        "holder": Holder,
        "addresses": Annotated[list[str], Field(max_length=20)],
    },
    {
        "name": "",
        "scopes": [],
        "rights": ["read", "write"],
        "expires_at": None,
        "holder": "person",
        "addresses": [],
    },
)
RotateKey = _model(
    "RotateKey", {"overlap_hours": Annotated[float, Field(ge=0, le=2160)]}, {"overlap_hours": 24.0}
)
AddWebhook = _model(
    "AddWebhook",
    {
        "url": Annotated[str, Field(min_length=1, max_length=2_000)],
        "scope": json_type(Scope | None),
        "text": bool,
    },
    {"scope": None, "text": False},
)
MapDevice = _model("MapDevice", {"device": json_type(Name), "scope": json_type(Scope)}, {})
Login = _model("Login", {"code": Annotated[str, Field(min_length=1, max_length=200)]}, {})
