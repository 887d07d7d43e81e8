"""Names, numbers and identifiers of two statements: are they about two things? Pure and closed.

What a statement means is for others to judge. But "server b" is not server a, "example.org" is
not example.com, and no likeness of two sentences makes them so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from standfast.text.analysis import is_stop_word
from standfast.text.compare.parts import canonical, identifiers, read
from standfast.text.normal import fold
from standfast.text.words import word_set

READ_MAX = 600  # characters of a statement that are looked at
_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_LABEL = re.compile(r"[^\W\d_]|\d{1,4}")


def other_names(text: str, other: str) -> str:
    """Why two statements do not say the same, whoever finds them alike: each has a name, a number
    or an identifier that the other does not; "" if that is not so."""
    ours, theirs = _named(text), _named(other)
    only, lacking = ours - _words(other), theirs - _words(text)
    return f"{min(only)} against {min(lacking)}" if only and lacking else ""


def holds_names(text: str, other: str) -> bool:
    """Whether a statement has all names, numbers and identifiers of another."""
    return _named(other) <= _words(text)


def other_thing(text: str, other: str) -> str:
    """Why two statements are about two things: their labels differ ("server a is down", "server b
    is up"), or the identifiers that they begin with, or a name only in its accents."""
    ours, theirs = dict(_labels(text)), dict(_labels(other))
    for word in ours.keys() & theirs.keys():
        if ours[word] != theirs[word]:
            return f"{word} {ours[word]} against {word} {theirs[word]}"
    first, second = _begins(text), _begins(other)
    if first and second and first != second:
        return f"{first} against {second}"
    return _spelled(text, other)


def _named(text: str) -> frozenset[str]:
    parts = read(text[:READ_MAX])
    return parts.names | parts.numbers | parts.identifiers


def _words(text: str) -> frozenset[str]:
    parts = read(text[:READ_MAX])
    plain = {canonical(fold(one)) for one in _WORD.findall(text[:READ_MAX])}
    return frozenset(plain) | parts.content_set | parts.numbers | parts.identifiers | parts.names


def _labels(text: str) -> Iterator[tuple[str, str]]:
    """Single letters and numbers behind a noun with something said behind them: at its end a
    statement has a value."""
    words = _WORD.findall(text[:READ_MAX])
    for before, label, behind in zip(words, words[1:], words[2:], strict=False):
        if not _LABEL.fullmatch(label) or is_stop_word(fold(before)) or before.isdigit():
            continue
        if (
            (label.isalpha() and fold(label) not in ("a", "i"))
            or fold(behind) in word_set("search.auxiliaries")
            or (label == "a" and _is_verb(behind))
        ):
            yield canonical(fold(before)), fold(label)


def _is_verb(word: str) -> bool:
    return fold(word) in word_set("search.auxiliaries")


def _begins(text: str) -> str:
    """The identifier that is the first or the second word."""
    start = " ".join(text[:READ_MAX].split()[:2])
    return min(identifiers(start), default="")


def _spelled(text: str, other: str) -> str:
    """A name that differs in its accents only may be the same person, or another."""
    first, second = read(text[:READ_MAX]), read(other[:READ_MAX])
    for bare in sorted(first.capitals & second.capitals):
        ours, theirs = first.diacritics.get(bare, bare), second.diacritics.get(bare, bare)
        if ours != theirs:
            return f"{ours} against {theirs}"
    return ""
