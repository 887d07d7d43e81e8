"""Words that are nearly the same: begun and not finished, misspelled, or in another form. Pure.

An index knows words by their hash, so nearness is looked for among the candidates of a search,
and only for the few words of a short query that none of them holds.
"""

from __future__ import annotations

from collections.abc import Sequence

from standfast.text.analysis import is_stop_word, stem, words
from standfast.text.forms import same_word

QUERY_WORDS_MAX = 3
FOREIGN_WORDS_MAX = 6  # of a query without an English word that holds a sentence together
BEGUN_LENGTH_MIN = 4  # of a word that is only begun
# From so many letters on, so many mistakes: below, another word is as likely as a mistake.
SLIPS = ((8, 2), (6, 1))
SLIPS_MOST = max(slips for _, slips in SLIPS)
MOVED_LENGTH_MIN = 5  # a letter too many, too few or in the wrong place


def uncertain_words(query: str) -> list[str]:
    """The words of a short query that name something; none of a longer one: there the other words
    find it. In another language than English there is more to a word than its stem."""
    found = list(words(query))
    named = [word for word in found if not is_stop_word(word)]
    most = QUERY_WORDS_MAX if len(named) < len(found) else FOREIGN_WORDS_MAX
    return named if 0 < len(named) <= most else []


def is_english(query: str) -> bool:
    """Do English words hold it together? Then a word in it is no form of a foreign one: the
    endings of some language make "back" of "backend"."""
    found = list(words(query))
    return 2 * sum(map(is_stop_word, found)) >= len(found) > 0


def held_nearly(query: Sequence[str], texts: Sequence[str], *, forms: bool = True) -> list[float]:
    """For each text the share of the query's words that it holds nearly, where at least one of
    those is held exactly by none of the texts; else 0. ``forms``: also other forms of a word."""
    found = [frozenset(words(text)) for text in texts]
    # Texts have most of their words in common: each word is looked at once.
    stems = {word: stem(word) for word in frozenset().union(*found)}
    there = frozenset(stems.values())
    missing = [word for word in query if stem(word) not in there]
    close = [
        frozenset(other for other in stems if is_near(word, other, forms=forms)) for word in missing
    ]
    if not any(close):
        return [0.0] * len(texts)
    shares = []
    for one in found:
        near = sum(not one.isdisjoint(others) for others in close)
        exact = {stems[word] for word in one} if near else frozenset()
        held = near + sum(stem(word) in exact for word in query)
        shares.append(held / len(query) if near else 0.0)
    return shares


def is_near(word: str, other: str, *, forms: bool = True) -> bool:
    """Is ``word`` perhaps meant to be ``other``, or another form of it? Digits are never a slip."""
    if not forms and abs(len(word) - len(other)) > SLIPS_MOST and not other.startswith(word):
        return False  # what most words are is seen at once
    letters = (word + other).replace("'", "").replace("\u2019", "")
    if word == other or not letters.isalpha():
        return False
    if len(word) >= BEGUN_LENGTH_MIN and other.startswith(word):
        return True
    if forms and same_word(word, other):
        return True
    most = next((slips for length, slips in SLIPS if len(word) >= length), 0)
    if most:
        return _slips(word, other, most) <= most
    moved = len(word) >= MOVED_LENGTH_MIN and not _one_replaced(word, other)
    return moved and _slips(word, other, 1) <= 1


def _one_replaced(word: str, other: str) -> bool:
    return len(word) == len(other) and sum(a != b for a, b in zip(word, other, strict=True)) == 1


def _slips(word: str, other: str, most: int) -> int:
    """Letters added, left out, replaced or swapped with the next; more than ``most`` is not
    counted exactly."""
    if abs(len(word) - len(other)) > most:
        return most + 1
    ours, theirs = set(word), set(other)
    if max(len(ours - theirs), len(theirs - ours)) > most:  # each is at least one slip
        return most + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(word, start=1):
        oldest, before, row = before, row, [i]
        for j, their in enumerate(other, start=1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != their))
            if i > 1 < j and letter == other[j - 2] and word[i - 2] == their:
                cost = min(cost, oldest[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]
