"""A language is a data file: what the rules of ``text`` know of words, cues and patterns.

One file for each language, named by its code (``de.toml``); ``sections.toml`` says which sections
there are and what each holds. Adding a language is adding a file. Most rules look at the words of
all languages at once; a section that only one language has is that language's own.

Nothing is read before the first question, and every answer is kept. A file that does not fit
raises Invalid, which names the file and the section.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from standfast.errors import Invalid
from standfast.text.expressions import later

FOLDER: Traversable = files(__package__)  # a test may set another one before the first question
SECTIONS = "sections.toml"

# What a section holds, by the word that sections.toml has for it.
_SHAPES = {
    "words": "words between blanks, or a list of phrases",
    "counted": "words in rising order; a number sets the count, / joins equals",
    "table": "a table: meaning = words",
    "parts": "a table: name = a part of a pattern",
    "groups": "lines of words that belong together",
    "pattern": "a regular expression",
    "anycase": "a regular expression for letters of any case",
    "pairs": "a list of [slot, pattern]",
}
_HEADER = later(r"\[([a-z_]+)(?:\.[a-z_]+)?\][ \t]*(?:#.*)?$", re.MULTILINE)
_PLACE = later(r"<([a-z_]+\.[a-z_]+)>")
_LINE_BREAK = later(r"\n\s*")


@cache
def _texts() -> Mapping[str, Mapping[str, str]]:
    """Language -> group -> its part of the file, not read yet; the languages in their order."""
    found = {
        path.name.removesuffix(".toml"): _cut(path)
        for path in FOLDER.iterdir()
        if path.name.endswith(".toml") and path.name != SECTIONS
    }
    return {code: found[code] for code in sorted(found, key=lambda code: _order(code, found[code]))}


def _cut(path: Traversable) -> Mapping[str, str]:
    """Who redacts a password does not wait for the verbs of English: a group is read when it is
    asked for. What stands before the first one has no name."""
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise Invalid(f"{path.name} is no UTF-8: {error.reason}") from None
    found, name, start = {"": ""}, "", 0
    for header in _headers(text):
        found[name] += text[start : header.start()]
        name, start = header[1], header.start()
        found.setdefault(name, "")
    found[name] += text[start:]
    return found


def _headers(text: str) -> Iterator[re.Match[str]]:
    """Lines that begin a group. Looking for brackets first takes a quarter of the time."""
    place = 0
    while place >= 0:
        if header := _HEADER.match(text, place):
            yield header
        place = text.find("\n[", place) + 1 or -1


def _parsed(text: str, file: str) -> dict[str, Any]:
    import tomllib  # here, because importing standfast must stay cheap

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Invalid(f"{file} is no TOML: {error}") from None


def _order(code: str, parts: Mapping[str, str]) -> tuple[int, str]:
    """Of two languages that a text may be in, the one that comes first wins."""
    head = _parsed(parts[""], f"{code}.toml")
    unknown = sorted((head.keys() - {"name", "order"}) | (parts.keys() - _groups() - {""}))
    if unknown:
        raise Invalid(f"{code}.toml: there is no section {unknown[0]!r}; see {SECTIONS}")
    order = head.get("order", 100)
    if not isinstance(order, int):
        raise Invalid(f"{code}.toml: order must be a number")
    return order, code


@cache
def _shape_texts() -> Mapping[str, str]:
    return _cut(FOLDER.joinpath(SECTIONS))


def _groups() -> frozenset[str]:
    return frozenset(_shape_texts())


@cache
def _shapes(group: str) -> Mapping[str, str]:
    """Name of a section of the group -> its shape."""
    shapes: Mapping[str, str] = _parsed(_shape_texts()[group], SECTIONS)[group]
    return shapes


def _shape(section: str) -> str:
    group, _, name = section.partition(".")
    return _shapes(group)[name]


@cache
def _group(group: str) -> Mapping[str, Mapping[str, Any]]:
    """Language -> name -> value, for the languages that have the group."""
    return {
        code: _checked(code, group, _parsed(parts[group], f"{code}.toml"))
        for code, parts in _texts().items()
        if group in parts
    }


def _checked(code: str, group: str, parsed: Mapping[str, Any]) -> Mapping[str, Any]:
    for other in sorted(parsed.keys() - {group}):
        raise Invalid(f"{code}.toml: write [{other}] without blanks, at the beginning of its line")
    values: Mapping[str, Any] = parsed[group]
    for name, value in values.items():
        shape = _shapes(group).get(name)
        if shape is None:
            raise Invalid(f"{code}.toml: there is no section '{group}.{name}'; see {SECTIONS}")
        if not _has_shape(shape, value):
            raise Invalid(f"{code}.toml: {group}.{name} must be {_SHAPES[shape]}")
    return values


def _has_shape(shape: str, value: Any) -> bool:
    if shape == "words":
        return isinstance(value, str) or _is_list_of_texts(value)
    if shape == "table":
        return isinstance(value, dict) and all(_has_shape("words", one) for one in value.values())
    if shape == "parts":
        return isinstance(value, dict) and all(isinstance(one, str) for one in value.values())
    if shape == "pairs":
        is_list = isinstance(value, list)
        return is_list and all(_is_list_of_texts(pair) and len(pair) == 2 for pair in value)
    return isinstance(value, str)


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def check() -> None:
    """Read every file to its end and compile every pattern; Invalid if one does not fit."""
    for group in sorted(_groups() - {""}):
        for code, values in _group(group).items():
            for name in values:
                if _shapes(group)[name] in ("pattern", "anycase"):
                    pattern(f"{group}.{name}", code)


def compiled() -> Iterator[object]:
    """Every section that is a pattern as one, one after the other: for who has time for it. Those
    with named groups are one for each language."""
    for group in sorted(_groups() - {""}):
        for name, shape in _shapes(group).items():
            if shape in ("pattern", "anycase"):
                section = f"{group}.{name}"
                yield (patterns if "(?P<" in alternatives(section) else pattern)(section)


def _values(section: str, language: str = "") -> Mapping[str, Any]:
    """Language -> value of a section, of the languages that have it."""
    group, _, name = section.partition(".")
    _shapes(group)[name]  # a section that nobody may have is a mistake of the caller
    found = {code: values[name] for code, values in _group(group).items() if name in values}
    if not language:
        return found
    return {language: found[language]} if language in found else {}


def _split(value: str | list[str]) -> list[str]:
    return value.split() if isinstance(value, str) else value


@cache
def languages(section: str) -> tuple[str, ...]:
    """The languages that have a section, in their order."""
    return tuple(_values(section))


@cache
def words(section: str, language: str = "") -> tuple[str, ...]:
    """The words of a section, each once: of all languages, or of one."""
    listed = (word for value in _values(section, language).values() for word in _split(value))
    return tuple(dict.fromkeys(listed))


@cache
def word_set(section: str, language: str = "") -> frozenset[str]:
    return frozenset(words(section, language))


@cache
def meanings(section: str, language: str = "") -> Mapping[str, str]:
    """Word -> what it means, of a table; where two languages disagree, the first is right."""
    found: dict[str, str] = {}
    for table in _values(section, language).values():
        for meaning, listed in table.items():
            for word in _split(listed):
                found.setdefault(word, meaning)
    return found


@cache
def counted(section: str, language: str = "") -> Mapping[str, int]:
    """Word -> its number."""
    found: dict[str, int] = {}
    for value in _values(section, language).values():
        number = 0
        for word in value.split():
            if word.lstrip("-").isdigit():
                number = int(word)
                continue
            for one in word.split("/"):
                found.setdefault(one, number)
            number += 1
    return found


@cache
def groups(section: str) -> tuple[tuple[str, ...], ...]:
    """The lines of a section, each as its words."""
    lines = (line for value in _values(section).values() for line in value.splitlines())
    return tuple(tuple(line.split()) for line in lines if line.strip())


@cache
def firsts(section: str) -> Mapping[str, str]:
    """Word -> the first word of its line."""
    return {word: line[0] for line in groups(section) for word in line}


def any_of(listed: Iterable[str]) -> str:
    """Words as alternatives of a regular expression, the longest first."""
    return "|".join(sorted(map(re.escape, listed), key=len, reverse=True))


@cache
def alternatives(section: str, language: str = "") -> str:
    """A section of any shape as what may stand between the parentheses of a regular expression.
    In a pattern, line breaks are for the reader only, and ``<section>`` stands for another
    section of the same language."""
    shape = _shape(section)
    if shape == "words":
        return any_of(words(section, language))
    if shape == "counted":
        return any_of(counted(section, language))
    if shape == "table":
        return any_of(meanings(section, language))
    return "|".join(_filled(value, code) for code, value in _values(section, language).items())


def _filled(pattern: str, language: str) -> str:
    joined = _LINE_BREAK.sub("", pattern)
    return _PLACE.sub(lambda place: alternatives(place[1], language), joined)


@cache
def pattern(section: str, language: str = "") -> re.Pattern[str]:
    """A section as one compiled regular expression; it never matches if nobody has it."""
    flags = re.IGNORECASE if _shape(section) == "anycase" else 0
    try:
        return re.compile(alternatives(section, language) or r"(?!)", flags)
    except re.error as error:
        file = f"{language}.toml" if language else "the language files"
        raise Invalid(f"{file}: {section} is no regular expression: {error}") from None


@cache
def patterns(section: str) -> tuple[re.Pattern[str], ...]:
    """The same, but one for each language: for patterns with named groups."""
    return tuple(pattern(section, code) for code in languages(section))


def parts(section: str, language: str) -> Mapping[str, str]:
    """Names and the parts of patterns that they stand for."""
    return {
        name: _LINE_BREAK.sub("", part)
        for value in _values(section, language).values()
        for name, part in value.items()
    }


def pairs(section: str, language: str) -> Iterator[tuple[str, str]]:
    """Slots and their patterns in the order in which they are tried."""
    for value in _values(section, language).values():
        yield from ((slot, _filled(pattern, language)) for slot, pattern in value)
