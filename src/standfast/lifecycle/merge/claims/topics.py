"""Words by which two statements are found to be about the same: people, things, values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from standfast.text.analysis import stem
from standfast.text.normal import fold
from standfast.text.words import any_of, languages, meanings, parts, word_set, words


@cache
def generic_stems() -> frozenset[str]:
    """Too common to say what a statement is about."""
    return frozenset(map(stem, words("topics.generic")))


@cache
def kin_in() -> re.Pattern[str]:
    """Whose statement it is about: "My sister ...", "Dad ..."."""
    return re.compile(
        r"\W*(?:(?:my|our|the|a|some|the user's|their|[A-Z]\w+'s|meine?[rnms]?|unsere?[rnms]?"
        r"|mon|ma|mes|notre|nos|mis?|nuestr[oa]s?) (?:(?!is\b|are\b|was\b)[\w-]+ ){0,2}?)?"
        rf"(?P<kin>{any_of(words('topics.people'))})(?!\w)",
        re.IGNORECASE,
    )


def kin_named(word: str) -> str:
    """One name for one person: mum, mom and mother."""
    return meanings("topics.kin").get(fold(word), fold(word))


@cache
def people_words() -> frozenset[str]:
    return (
        frozenset(word.casefold() for word in words("topics.people"))
        | meanings("topics.kin").keys()
    )


def values_in(text: str) -> Iterator[tuple[str, str]]:
    """Values of which a statement has one where another has another, each with its kind."""
    for kind in _forms_of_values():
        for found in _value(kind).finditer(text):
            yield kind, _same_value(kind, fold(found[0]).strip(" .,:;"))


def _same_value(kind: str, value: str) -> str:
    """ "Fridays" are a Friday too."""
    return value.removesuffix("s") if kind == "day" and value.endswith("days") else value


@cache
def _forms_of_values() -> Mapping[str, str]:
    forms: dict[str, list[str]] = {}
    for language in languages("topics.values"):
        for kind, form in parts("topics.values", language).items():
            forms.setdefault(kind, []).append(form)
    return {kind: "|".join(listed) for kind, listed in forms.items()}


@cache
def _value(kind: str) -> re.Pattern[str]:
    return re.compile(_forms_of_values()[kind], re.IGNORECASE)


@cache
def states_of(field: str) -> frozenset[str]:
    """The stems of states of a field that exclude each other."""
    return frozenset(stem(word) for word in _grouped("topics.states").get(field, ()))


@cache
def kinds_of_things() -> Mapping[str, frozenset[str]]:
    return {
        kind: frozenset(listed) | frozenset(map(stem, listed))
        for kind, listed in _grouped("topics.things").items()
    }


@cache
def _grouped(section: str) -> Mapping[str, frozenset[str]]:
    groups: dict[str, set[str]] = {}
    for word, meaning in meanings(section).items():
        groups.setdefault(meaning, set()).add(word)
    return {meaning: frozenset(listed) for meaning, listed in groups.items()}


def is_single(fields: frozenset[str]) -> bool:
    """Whether one of the fields has one state at a time."""
    return bool(fields & word_set("fields.single"))


RATIO_MAX = 2.5  # between two values of one thing


def are_near(value: str, other: str) -> bool:
    """Whether two numbers may be values of one thing."""
    ours, theirs = _number(value), _number(other)
    return ours > 0 and theirs > 0 and max(ours, theirs) / min(ours, theirs) <= RATIO_MAX


def _number(value: str) -> float:
    """0 for what is none."""
    if value in _IN_WORDS:
        return float(_IN_WORDS.index(value))
    try:
        return float(value.replace(",", "").rstrip(".km"))
    except ValueError:
        return 0.0


_IN_WORDS = "none one two three four five six seven eight nine ten eleven twelve".split()
