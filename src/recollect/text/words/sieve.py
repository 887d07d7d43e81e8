"""Long lists of cues, searched quickly.

A pattern of hundreds of alternatives tries each of them at each place of a text. Most texts have
the letters of none. A sieve takes the pattern apart, knows for each alternative some letters that
a text must have for it to match, and searches only for those alternatives whose letters are there.
What it finds is what the whole pattern would find: the leftmost place, and there the alternative
that stands first. Nothing is compiled before a text asks for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

# Letters outside of ASCII that a pattern for any case takes for one of ASCII.
_FOLDED = re.compile("[\u0130\u0131\u017f\u212a]")
_LOOKAROUND = ("(?=", "(?!", "(?<=", "(?<!")
_GROUP = re.compile(r"\((?:\?(?:P<\w+>|[a-z]*:))?")
_KEY = re.compile("[a-z0-9' \u3400-\u9fff-]")
_WHOLE_GROUP = re.compile(r"(?:\\b)?\(\?:")
KEY_LEAST = 2  # bytes; one letter of ASCII is in nearly every text


class Sieve:
    """One regular expression without groups that anybody asks for."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self._flags = flags
        self._parts = [one for part in split(pattern) for one in _distributed(part)]
        self._forms: dict[int, re.Pattern[str]] = {}
        self._whole: re.Pattern[str] | None = None
        self._pattern = pattern
        self._always: list[int] = []
        self._by_key: dict[str, list[int]] = {}
        for place, part in enumerate(self._parts):
            keys = keys_of(part)
            if not keys:
                self._always.append(place)
            for key in keys:
                self._by_key.setdefault(key, []).append(place)

    def search(self, text: str) -> re.Match[str] | None:
        """As the whole pattern does."""
        if not text.isascii() and _FOLDED.search(text):
            return self._compiled().search(text)
        lowered = text.lower()
        places = set(self._always)
        for key, listed in self._by_key.items():
            if key in lowered:
                places.update(listed)
        best: re.Match[str] | None = None
        for place in sorted(places):
            found = self._form(place).search(text)
            if found and (best is None or found.start() < best.start()):
                best = found
        return best

    def _form(self, place: int) -> re.Pattern[str]:
        form = self._forms.get(place)
        if form is None:
            form = self._forms[place] = re.compile(self._parts[place], self._flags)
        return form

    def _compiled(self) -> re.Pattern[str]:
        if self._whole is None:
            self._whole = re.compile(self._pattern, self._flags)
        return self._whole


def split(pattern: str) -> list[str]:
    """The alternatives of a pattern, as they stand beside each other."""
    parts, start = [], 0
    for place, atom in _atoms(pattern):
        if atom == "|":
            parts.append(pattern[start:place])
            start = place + 1
    return [*parts, pattern[start:]]


def _atoms(pattern: str) -> Iterator[tuple[int, str]]:
    """What a pattern consists of at its top: groups, classes and escapes are one atom each."""
    place = 0
    while place < len(pattern):
        end = _end_of(pattern, place)
        yield place, pattern[place:end]
        place = end


def _end_of(pattern: str, place: int) -> int:
    first = pattern[place]
    if first == "\\":
        return place + 2
    if first == "[":
        return _end_of_class(pattern, place)
    if first == "{":
        return pattern.index("}", place) + 1
    if first != "(":
        return place + 1
    depth, at = 0, place
    while True:
        if pattern[at] == "\\":
            at += 2
            continue
        if pattern[at] == "[":
            at = _end_of_class(pattern, at)
            continue
        depth += (pattern[at] == "(") - (pattern[at] == ")")
        at += 1
        if depth == 0:
            return at


def _end_of_class(pattern: str, place: int) -> int:
    at = place + 1 + (pattern[place + 1] == "^")
    at += pattern[at] == "]"  # the first one closes nothing
    while pattern[at] != "]":
        at += 2 if pattern[at] == "\\" else 1
    return at + 1


def _distributed(part: str) -> list[str]:
    """``\\b(?:a|b)c`` as ``\\bac`` and ``\\bbc``: each has letters of its own."""
    opening = _WHOLE_GROUP.match(part)
    if opening is None:
        return [part]
    start = opening.end() - 3
    end = _end_of(part, start)
    if part[end : end + 1] in ("?", "*", "+", "{"):
        return [part]
    before, after = part[:start], part[end:]
    return [
        one
        for inner in split(part[start + 3 : end - 1])
        for one in _distributed(f"{before}{inner}{after}")
    ]


@cache
def keys_of(part: str) -> frozenset[str]:
    """Letters of which a text must have some, in lower case, for the alternative to match; empty
    if none are known."""
    candidates: list[frozenset[str]] = []
    run = ""
    atoms = [atom for _, atom in _atoms(part)]
    for atom, following in zip(atoms, [*atoms[1:], ""], strict=True):
        optional = following[:1] in ("?", "*", "{") and following != ""
        if len(atom) == 1 and _KEY.match(atom.lower()):
            if not optional:
                run += atom.lower()
            if following[:1] not in ("?", "*", "{", "+"):
                continue
        if len(run.encode()) >= KEY_LEAST:
            candidates.append(frozenset({run}))
        run = ""
        if atom[0] == "(" and not optional and not atom.startswith(_LOOKAROUND):
            inner = _keys_of_group(atom)
            if inner:
                candidates.append(inner)
    if len(run.encode()) >= KEY_LEAST:
        candidates.append(frozenset({run}))
    return max(candidates, key=_selectivity, default=frozenset())


def _keys_of_group(group: str) -> frozenset[str]:
    """One of the keys of each of its alternatives; empty if one of them has none."""
    opening = _GROUP.match(group)
    found = [keys_of(part) for part in split(group[opening.end() if opening else 1 : -1])]
    return frozenset().union(*found) if all(found) else frozenset()


def _selectivity(keys: frozenset[str]) -> tuple[int, int]:
    return min(len(key.strip()) for key in keys), -len(keys)
