"""What a model said, made safe to use: JSON taken out of the text and held against its schema.

Models wrap JSON in fences, cut it off, add fields and answer with prose. Only the part of JSON
Schema that standfast's own prompts use is understood; anything else in a schema is an error, so
that no rule is silently passed over. Errors say where an answer is wrong and never quote it: it
may hold what people said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

_FENCE = re.compile(r"```[A-Za-z]*[ \t]*\r?\n(.*?)\r?\n?[ \t]*```", re.DOTALL)
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_NAME_MAX = 40

_KNOWN = frozenset(
    "type properties required additionalProperties items enum maxLength minLength maxItems "
    "minimum maximum description title".split()
)


_KINDS = {
    dict: "an object",
    list: "a list",
    str: "text",
    int: "a number",
    float: "a number",
    bool: "true or false",
    type(None): "null",
}


class MisfitError(ValueError):
    """Why an answer does not fit, in words."""


def storable(text: str) -> str:
    """Without NUL and half surrogate pairs, which no database takes."""
    return _UNSTORABLE.sub("\ufffd", text)


def read_json(text: str) -> Any:
    """The JSON value a text is, or that its only fenced block is."""
    bare = text.strip().lstrip("\ufeff")
    fenced = _FENCE.findall(bare)
    try:
        return _parsed(bare)
    except ValueError as error:
        if len(fenced) != 1:
            reason = "broken JSON" if bare[:1] in "{[" else "no JSON"
            raise MisfitError(f"the answer is {reason}") from error
    try:
        return _parsed(fenced[0].strip())
    except ValueError as error:
        raise MisfitError("the answer is broken JSON in a fence") from error


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def fit(value: Any, schema: Mapping[str, Any], where: str = "the answer") -> Any:
    """The value, with every text storable, if it fits; MisfitError names the first place where
    it does not."""
    unknown = set(schema) - _KNOWN
    if unknown:
        raise ValueError(f"the schema uses {', '.join(sorted(unknown))}, which is not understood")
    if "enum" in schema and value not in schema["enum"]:
        raise MisfitError(f"{where} must be one of {schema['enum']}")
    if "type" not in schema:
        return value
    check = _CHECKS.get(schema["type"])
    if check is None:
        raise ValueError(f"the schema has the unknown type {schema['type']!r}")
    return check(value, schema, where)


def _expect(fine: bool, value: Any, wanted: str, where: str) -> None:
    if not fine:
        raise MisfitError(f"{where} must be {wanted}, not {_KINDS.get(type(value), 'that')}")


def _object(value: Any, schema: Mapping[str, Any], where: str) -> Any:
    _expect(isinstance(value, dict), value, "an object", where)
    properties: Mapping[str, Any] = schema.get("properties", {})
    missing = [name for name in schema.get("required", ()) if name not in value]
    if missing:
        raise MisfitError(f"{where} lacks {', '.join(missing)}")
    extra = [name for name in value if name not in properties]
    if extra and schema.get("additionalProperties") is False:
        raise MisfitError(f"{where} has {len(extra)} fields more than was asked for")
    return {
        storable(name): fit(part, properties.get(name, {}), f"{where}.{name[:_NAME_MAX]}")
        for name, part in value.items()
    }


def _array(value: Any, schema: Mapping[str, Any], where: str) -> Any:
    _expect(isinstance(value, list), value, "a list", where)
    most = schema.get("maxItems")
    if most is not None and len(value) > most:
        raise MisfitError(f"{where} has {len(value)} entries, more than {most}")
    rule = schema.get("items", {})
    return [fit(part, rule, f"{where}[{index}]") for index, part in enumerate(value)]


def _string(value: Any, schema: Mapping[str, Any], where: str) -> Any:
    _expect(isinstance(value, str), value, "text", where)
    if len(value) > schema.get("maxLength", len(value)):
        raise MisfitError(f"{where} is longer than {schema['maxLength']} characters")
    if len(value.strip()) < schema.get("minLength", 0):
        raise MisfitError(f"{where} is shorter than {schema['minLength']} characters")
    return storable(value)


def _number(value: Any, schema: Mapping[str, Any], where: str) -> Any:
    fine = isinstance(value, int | float) and not isinstance(value, bool)
    _expect(fine, value, "a number", where)
    return _in_range(value, schema, where)


def _integer(value: Any, schema: Mapping[str, Any], where: str) -> Any:
    whole = isinstance(value, float) and value.is_integer()
    fine = (isinstance(value, int) and not isinstance(value, bool)) or whole
    _expect(fine, value, "a whole number", where)
    return _in_range(int(value), schema, where)


def _in_range(value: float, schema: Mapping[str, Any], where: str) -> Any:
    least, most = schema.get("minimum", value), schema.get("maximum", value)
    _expect(least <= value <= most, value, f"from {least} to {most}", where)
    return value


def _boolean(value: Any, _: Mapping[str, Any], where: str) -> Any:
    _expect(isinstance(value, bool), value, "true or false", where)
    return value


_CHECKS: Mapping[str, Callable[[Any, Mapping[str, Any], str], Any]] = {
    "object": _object,
    "array": _array,
    "string": _string,
    "number": _number,
    "integer": _integer,
    "boolean": _boolean,
}
