"""Long lists of cues, searched quickly.

A pattern of hundreds of alternatives tries each of them at each place of a text. Most texts have
the letters of none. A sieve takes the pattern apart, knows for each alternative some letters that
a text must have for it to match, and searches only for those alternatives whose letters are there.
What it finds is what the whole pattern would find: the leftmost place, and there the alternative
that stands first. Nothing is compiled before a text asks for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from operator import add

from standfast.text.expressions import later

# Letters outside of ASCII that a pattern for any case takes for one of ASCII.
_FOLDED = later("[\u0130\u0131\u017f\u212a]")
_LOOKAROUND = ("(?=", "(?!", "(?<=", "(?<!")
_GROUP = later(r"\((?:\?(?:P<\w+>|[a-z]*(?:-[a-z]+)?:)|(?!\?))")
_KEY = later("[a-z0-9' \u00e0-\u00f6\u00f8-\u00ff\u3400-\u9fff-]")
_PIECE = later(
    "[A-Za-z0-9' \u3400-\u9fff-]{2,}(?![?*+{])"
    r"|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{[^}]*\}|.",
    re.DOTALL,
)
_MARKS = "\\[{("  # with which an atom of several characters begins that is no letters
_WHOLE_GROUP = later(r"(?:\\b|\(\?<!\\w\))?\(\?:")
KEY_LEAST = 2  # bytes; one letter of ASCII is in nearly every text
USUAL_LETTERS = "zqxjkvbpygfwmuclhdrnioaset "  # the rarest first; others are rarer still
_GRAM = 4  # letters: a text is taken apart into these once, not looked through for every key
_TEXTS_KEPT, _SHORT = 32, 2000  # characters
_FEW_KEYS = 8  # so few are sooner looked for one by one


class _Alternatives:
    """Alternatives of patterns, and which of them a text may hold at all."""

    def __init__(self, parts: Iterable[str], flags: int) -> None:
        self._parts = tuple(parts)
        self._flags = flags
        self._forms: dict[int, re.Pattern[str]] = {}
        self._always: list[int] = []
        # A short key, or the rarest letters of a longer one -> the keys, each with its places.
        self._keys: dict[str, list[tuple[str, list[int]]]] = {}
        by_key: dict[str, list[int]] = {}
        for place, part in enumerate(self._parts):
            keys = keys_of(part)
            if not keys:
                self._always.append(place)
            for key in keys:
                by_key.setdefault(key, []).append(place)
        for key, places in by_key.items():
            rarest = key if len(key) < _GRAM else _rarest(key)
            self._keys.setdefault(rarest, []).append((key, places))
        self._grams = frozenset(self._keys)
        self._few = tuple(by_key) if len(by_key) <= _FEW_KEYS else ()

    def places(self, text: str) -> list[int]:
        """In ascending order. The text has none of the letters of ``_FOLDED``."""
        lowered, grams = _letters(text)
        found = self._grams & grams
        if not found:
            return self._always
        places = set(self._always)
        for gram in found:
            for key, listed in self._keys[gram]:
                if len(key) <= _GRAM or key in lowered:
                    places.update(listed)
        return sorted(places)

    def may_be_in(self, text: str) -> bool:
        """Whether a text has the letters of any of them."""
        if self._always or _is_folded(text):
            return True
        if self._few:
            lowered = text.lower()
            return any(key in lowered for key in self._few)
        lowered, grams = _letters(text)
        return any(
            len(key) <= _GRAM or key in lowered
            for gram in self._grams & grams
            for key, _ in self._keys[gram]
        )

    def search(self, place: int, text: str) -> re.Match[str] | None:
        form = self._forms.get(place)
        if form is None:
            form = self._forms[place] = re.compile(self._parts[place], self._flags)
        return form.search(text)


def _rarest(key: str) -> str:
    """The letters of a key, as many as a gram has, that the fewest texts have."""
    known = [USUAL_LETTERS.find(letter) for letter in key]
    sums = [sum(known[at : at + _GRAM]) for at in range(len(key) - _GRAM + 1)]
    at = sums.index(min(sums))
    return key[at : at + _GRAM]


def _letters(text: str) -> tuple[str, frozenset[str]]:
    """A text in lower case, and all of two, three and four letters that stand together in it; of
    those that are not plain also each by itself. It goes through several sieves, one behind the
    other; of long ones few are kept, for they take much room."""
    return (_letters_of if len(text) <= _SHORT else _letters_of_long)(text)


def _taken_apart(text: str) -> tuple[str, frozenset[str]]:
    lowered = text.lower()
    twos = list(map(add, lowered, lowered[1:]))
    grams = {*twos, *map(add, twos, lowered[2:]), *map(add, twos, twos[2:])}
    if not lowered.isascii():
        grams.update(lowered)
    return lowered, frozenset(grams)


_letters_of = lru_cache(maxsize=_TEXTS_KEPT)(_taken_apart)
_letters_of_long = lru_cache(maxsize=2)(_taken_apart)


class Sieve:
    """One regular expression without groups that anybody asks for."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        parts = (one for part in split(pattern) for one in _distributed(part))
        self._alternatives = _Alternatives(parts, flags)
        self._whole = (pattern, flags)

    def search(self, text: str) -> re.Match[str] | None:
        """As the whole pattern does."""
        if _is_folded(text):
            return _compiled(*self._whole).search(text)
        best: re.Match[str] | None = None
        for place in self._alternatives.places(text):
            found = self._alternatives.search(place, text)
            if found and (best is None or found.start() < best.start()):
                best = found
        return best


class Screened:
    """One regular expression with all that it can do, of which texts are kept away that have the
    letters of none of its alternatives."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self._alternatives = _Alternatives(split(pattern), flags)
        self._whole = (pattern, flags)

    @property
    def form(self) -> re.Pattern[str]:
        return _compiled(*self._whole)

    def search(self, text: str) -> re.Match[str] | None:
        return self.form.search(text) if self._alternatives.may_be_in(text) else None

    def match(self, text: str) -> re.Match[str] | None:
        return self.form.match(text) if self._alternatives.may_be_in(text) else None

    def sub(self, by: str | Callable[[re.Match[str]], str], text: str) -> str:
        return self.form.sub(by, text) if self._alternatives.may_be_in(text) else text

    def finditer(self, text: str) -> Iterable[re.Match[str]]:
        return self.form.finditer(text) if self._alternatives.may_be_in(text) else ()


class Sieves:
    """Several of them at once, each with a name."""

    def __init__(self, patterns: Mapping[str, str], flags: int = 0) -> None:
        named = [
            (name, one)
            for name, pattern in patterns.items()
            for part in split(pattern)
            for one in _distributed(part)
        ]
        self._names = [name for name, _ in named]
        self._alternatives = _Alternatives((one for _, one in named), flags)
        self._wholes = {name: (pattern, flags) for name, pattern in patterns.items()}

    def found(self, text: str) -> frozenset[str]:
        """The names of those that a search finds in the text."""
        if _is_folded(text):
            wholes = self._wholes.items()
            return frozenset(name for name, whole in wholes if _compiled(*whole).search(text))
        names: set[str] = set()
        for place in self._alternatives.places(text):
            name = self._names[place]
            if name not in names and self._alternatives.search(place, text):
                names.add(name)
        return frozenset(names)


def _is_folded(text: str) -> bool:
    return not text.isascii() and _FOLDED.search(text) is not None


@cache
def _compiled(pattern: str, flags: int) -> re.Pattern[str]:
    return re.compile(pattern, flags)


def split(pattern: str) -> list[str]:
    """The alternatives of a pattern, as they stand beside each other."""
    parts, start = [], 0
    for place, atom in _atoms(pattern):
        if atom == "|":
            parts.append(pattern[start:place])
            start = place + 1
    return [*parts, pattern[start:]]


def _atoms(pattern: str) -> Iterator[tuple[int, str]]:
    """What a pattern consists of at its top: groups, classes and escapes are one atom each, and
    so are several letters behind each other of which none is repeated."""
    place = start = depth = 0
    for piece in _PIECE.findall(pattern):
        if not depth:
            start = place
        place += len(piece)
        depth += (piece == "(") - (piece == ")")
        if not depth:
            yield start, pattern[start:place]


def _distributed(part: str) -> list[str]:
    """``\\b(?:a|b)c`` as ``\\bac`` and ``\\bbc``: each has letters of its own."""
    opening = _WHOLE_GROUP.match(part)
    if opening is None:
        return [part]
    start = opening.end() - 3
    end = start + len(next(_atoms(part[start:]))[1])
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
        if len(atom) > 1 and atom[0] not in _MARKS:
            run += atom.lower()
            continue
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
    if opening is None:  # a mention of another group, or a condition
        return frozenset()
    found = [keys_of(part) for part in split(group[opening.end() : -1])]
    return frozenset().union(*found) if all(found) else frozenset()


def _selectivity(keys: frozenset[str]) -> tuple[int, int]:
    return min(len(key.strip()) for key in keys), -len(keys)
