"""The fields of a life: home, work, partner, pets. What a statement is about, in one word.

Two statements of one field may replace one another where one of them says that something changed.
Some fields have one state at a time; in the others many things live side by side, and a change
concerns only what it names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache

from standfast.text.words import languages, meanings, parts

_DENSE = re.compile("[\u3400-\u9fff]")


FIELDS_FROM_MAX = 1000  # characters of a text


def fields_of(text: str) -> frozenset[str]:
    """The fields that the words of a text belong to."""
    return _fields_of(text[:FIELDS_FROM_MAX])


@lru_cache(maxsize=4000)
def _fields_of(text: str) -> frozenset[str]:
    forms = _patterns("fields.words", dense=_DENSE.search(text) is not None)
    found = {name for name, form in forms.items() if form.search(text)}
    return frozenset(found | events_in(text).keys())


def events_in(text: str) -> Mapping[str, str]:
    """The fields in which a text tells a turn of a life ("got the keys to", "took early
    retirement"), and the words that tell it."""
    return _events_in(text[:FIELDS_FROM_MAX])


@lru_cache(maxsize=4000)
def _events_in(text: str) -> Mapping[str, str]:
    dense = _DENSE.search(text) is not None
    events = sorted(_patterns("fields.events", dense=dense).items())
    forms = ((name, form.search(text)) for name, form in events)
    return {name: found[0] for name, found in forms if found}


@cache
def _patterns(section: str, *, dense: bool) -> Mapping[str, re.Pattern[str]]:
    forms = _forms(section, dense=dense)
    return {name: re.compile(form, re.IGNORECASE) for name, form in forms.items()}


@cache
def _forms(section: str, *, dense: bool) -> Mapping[str, str]:
    """Scripts without blanks have no words to stand between."""
    listed: dict[str, list[str]] = {}
    for language in languages(section):
        for name, words in parts(section, language).items():
            if (_DENSE.search(words) is not None) == dense:
                listed.setdefault(name, []).append(words)
    around = "{}" if dense else r"(?<!\w)(?:{})(?!\w)"
    return {name: around.format("|".join(words)) for name, words in listed.items()}


def slots_of(fields: Iterable[str]) -> tuple[str, ...]:
    """The slots of claims that belong to some fields."""
    wanted = set(fields)
    return tuple(slot for slot, field in meanings("fields.slots").items() if field in wanted)


def style_of(text: str) -> str:
    """What of its answers an assistant is asked to mind in a text: their length, emojis, units."""
    return next((name for name, form in _styles().items() if form.search(text)), "")


@cache
def _styles() -> Mapping[str, re.Pattern[str]]:
    return {
        name: re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)
        for language in languages("requests.styles")
        for name, words in parts("requests.styles", language).items()
    }
