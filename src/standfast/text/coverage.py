"""Containment of content words: does one text say every word that another one does? Pure.

A word counts by its stem, function words do not count, and a negation counts as one word however
it is written. Scripts without blanks are compared by overlapping pairs of characters. An unknown
word is a content word: whatever cannot be matched counts as not covered.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache

from standfast.text.analysis import (
    ANALYSED_CHARACTERS_MAX,
    is_dense,
    is_small,
    languages_of,
    stem,
    stem_by_script,
    symbols,
    words,
)
from standfast.text.expressions import later
from standfast.text.words import any_of, word_set

CACHED_LENGTH_MAX = 2000
NEGATION = "not"
# "not", "cannot", "don't", and "dont" as it is often typed.
_NEGATION = later(
    r"(?:can)?not\Z|\w+n['\u2019]t\Z"
    r"|(?:do|does|did|is|was|were|are|ca|wo|has|have|had|could|would|should)nt\Z"
)
_CLITIC = later(r"['\u2019](?:s|m|d|re|ve|ll)\Z")


def covers(shown: Iterable[str], text: str) -> bool:
    """Do the shown texts contain every content word of the text?"""
    if len(text) > ANALYSED_CHARACTERS_MAX:  # the end of it is not analysed
        return False
    left = content_words(text)
    for one in shown:
        if not left:
            break
        left -= all_words(one)
    return not left


def content_words(text: str) -> frozenset[str]:
    """The stems of a text's content words."""
    return _read(text)[0]


def all_words(text: str) -> frozenset[str]:
    """The same with its function words: which words those are depends on the language that the
    whole text seems to be in, and so may differ between a text and a part of it."""
    return _read(text)[1]


def _read(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Short texts are kept: each is compared several times."""
    return _read_once(text) if len(text) <= CACHED_LENGTH_MAX else _stems_of(text)


@lru_cache(maxsize=1000)
def _read_once(text: str) -> tuple[frozenset[str], frozenset[str]]:
    return _stems_of(text)


def _stems_of(text: str) -> tuple[frozenset[str], frozenset[str]]:
    written = list(words(text))
    codes = languages_of(text, written)
    content: set[str] = set(symbols(text))
    empty: set[str] = set()
    for word in written:
        if is_dense(word[0]):
            content.update(_pairs(word))
            continue
        bare = _CLITIC.sub("", word)
        found = NEGATION if _NEGATION.match(word) else stem_by_script(stem(bare))
        (empty if _is_function_word(bare, codes) else content).add(found)
    return frozenset(content), frozenset(content | empty)


def _is_function_word(word: str, codes: tuple[str, ...]) -> bool:
    """Some of the small words that tell a language negate; they are content."""
    if _NEGATION.match(word) or word in word_set("compare.negators"):
        return False
    if word in word_set("search.common_negators"):
        return False
    return word in word_set("search.query_stop_words") or is_small(word, codes)


def _pairs(run: str) -> Iterator[str]:
    """The overlapping pairs of characters between function words, of a single one itself."""
    for part in _dense_function_words().split(run):
        size = min(2, len(part)) or 1
        yield from (part[at : at + size] for at in range(len(part) - size + 1))


@cache
def _dense_function_words() -> re.Pattern[str]:
    return re.compile(any_of(word_set("compare.dense_function_words")))
