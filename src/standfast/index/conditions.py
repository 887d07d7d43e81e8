"""Conditions on a record's tags and data: read from what a caller wrote, and asked of a record.

``{"tags": {"all": [...], "any": [...], "none": [...]}, "data": {"all": {path: test}, ...}}``. A
test is a value, a list of which it is one, or ``{"gte": 3, "lt": 9}``. A path goes down by dots; of
a list one part is enough.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from operator import ge, gt, le, lt
from typing import Any

from standfast.errors import Invalid
from standfast.text.claim import findable_tags
from standfast.text.inputs import clean_name, clean_tags
from standfast.text.normal import fold
from standfast.types import Matching, Record

TERMS_MAX = 64
EXAMPLE = '{"tags": {"all": ["deploy"]}, "data": {"all": {"project": "web"}}}'
FIELDS = ("tags", "data")
QUANTIFIERS = ("all", "any", "none")
_COMPARED: Mapping[str, Callable[[Any, Any], Any]] = {"gt": gt, "gte": ge, "lt": lt, "lte": le}
TESTS = ("is", "in", *_COMPARED, "exists")
_NOTHING: Any = object()


def conditions_of(where: Any) -> Matching:
    """Each as (field, quantifier, terms); Invalid says what to write instead."""
    if where is None:
        return ()
    if isinstance(where, str):
        where = _parsed(where)
    found: list[tuple[str, str, tuple[Any, ...]]] = []
    for field, asked in _items(where, "where", FIELDS):
        for quantifier, terms in _items(asked, f"where.{field}", QUANTIFIERS):
            place = f"where.{field}.{quantifier}"
            read = _tags(terms, place) if field == "tags" else tuple(_tests(terms, place))
            if not read:
                raise Invalid(f"{place} is empty; leave it out, or name something")
            found.append((field, quantifier, read))
    if sum(len(terms) for _, _, terms in found) > TERMS_MAX:
        raise Invalid(f"where has more than {TERMS_MAX} conditions")
    return tuple(found)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise Invalid(f"where is no JSON; write {EXAMPLE}") from None


def _items(asked: Any, place: str, known: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    if not isinstance(asked, Mapping):
        raise Invalid(f"{place} must be a mapping, not {type(asked).__name__}: {EXAMPLE}")
    for name, value in asked.items():
        if name not in known:
            near = get_close_matches(str(name), known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"use {', '.join(known)}"
            raise Invalid(f"{place} has no {name!r}; {hint}")
        yield name, value


def _tags(terms: Any, place: str) -> tuple[str, ...]:
    if isinstance(terms, str | Mapping) or not isinstance(terms, Iterable):
        raise Invalid(f'{place} must be a list of tags, such as ["deploy"]')
    return clean_tags(terms)


def _tests(terms: Any, place: str) -> Iterator[tuple[str, str, Any]]:
    if not isinstance(terms, Mapping):
        raise Invalid(f'{place} must be a mapping of names to values, such as {{"project": "web"}}')
    for path, asked in terms.items():
        name = clean_name(path, f"a name in {place}")
        if isinstance(asked, Mapping):
            tests: Mapping[str, Any] = dict(_items(asked, f"{place}.{name}", TESTS))
        else:
            tests = {"in" if isinstance(asked, list | tuple) else "is": asked}
        if not tests:
            raise Invalid(f"{place}.{name} is empty; use {', '.join(TESTS)}")
        for test, value in tests.items():
            yield name, test, _value(value, test, f"{place}.{name}")


def _value(value: Any, test: str, place: str) -> Any:
    if test == "in":
        if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
            raise Invalid(f"{place}: `in` takes a list")
        return tuple(_value(one, "is", place) for one in value)
    if test == "exists":
        if not isinstance(value, bool):
            raise Invalid(f"{place}: `exists` is true or false")
        return value
    wanted = isinstance(value, str | int | float) or (test == "is" and value is None)
    if not wanted or value != value or (test in _COMPARED and isinstance(value, bool)):
        what = (
            "a text or a number" if test in _COMPARED else "a text, a number, true, false or null"
        )
        raise Invalid(f"{place}: `{test}` takes {what}, not {type(value).__name__}")
    return value


def match(record: Record, matching: Matching) -> bool:
    """Do all of them hold?"""
    return all(_holds(record, *condition) for condition in matching)


def of_data(matching: Matching) -> Matching:
    """Those that only a record itself can answer; an index knows tags."""
    return tuple(one for one in matching if one[0] == "data")


def _holds(record: Record, field: str, quantifier: str, terms: tuple[Any, ...]) -> bool:
    if field == "tags":
        tags = set(map(fold, findable_tags(record.tags, record.data)))
        found: Iterable[bool] = (fold(tag) in tags for tag in terms)
    else:
        found = (_passes(record.data, *term) for term in terms)
    if quantifier == "all":
        return all(found)
    return any(found) if quantifier == "any" else not any(found)


def _passes(data: Mapping[str, Any], path: str, test: str, asked: Any) -> bool:
    value = _at(data, path)
    if test == "exists":
        return (value is not _NOTHING) is asked
    if value is _NOTHING:
        return False
    parts = value if isinstance(value, list | tuple) else (value,)
    return any(_tested(part, test, asked) for part in parts)


def _at(value: Any, path: str) -> Any:
    """What stands there. A name that has a dot in it goes before two names."""
    if not isinstance(value, Mapping):
        return _NOTHING
    if path in value:
        return value[path]
    first, dot, rest = path.partition(".")
    return _at(value.get(first), rest) if dot else _NOTHING


def _tested(value: Any, test: str, asked: Any) -> bool:
    if test == "in":
        return any(_same(value, one) for one in asked)
    if test == "is":
        return _same(value, asked)
    if isinstance(value, str) != isinstance(asked, str) or isinstance(value, bool):
        return False
    if not isinstance(value, str | int | float):
        return False
    return bool(_COMPARED[test](value, asked))


def _same(value: Any, asked: Any) -> bool:
    """True is not 1."""
    return isinstance(value, bool) == isinstance(asked, bool) and bool(value == asked)
