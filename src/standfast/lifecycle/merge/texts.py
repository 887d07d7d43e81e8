"""What two texts say to each other where no claim was read: does one say the opposite of the
other, or the same and more? Both questions are answered with yes only if nothing but that sets
the texts apart; English is read best, other languages are rather told to be different."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from standfast.text.analysis import stem, words
from standfast.text.compare import each_difference, opposite_words
from standfast.text.compare.parts import TextParts, canonical, read
from standfast.text.words import counted, word_set

EXTRA_WORDS_MAX = 8
INSERTED_WORDS_MAX = 2

_SHARP = frozenset(("number", "negation", "opposite"))
_FOLLOWS = frozenset(("content", "dense", "order"))  # differ wherever a sharp one does
_CHANGES_IT = frozenset(
    ("question", "negation", "modality", "opposite", "place", "person", "tense", "redaction")
)
_SECOND_SENTENCE = re.compile(r"[.!?;:。！？；][\s\"')]+\S|[。！？；]\S|\n\s*\S")


def clash(text: str, other: str) -> str:
    """Why two texts cannot both be true; "" unless all they say is the same but for one number,
    one negation or one opposite."""
    a, b = read(text), read(other)
    if _are_far_apart(a, b) or a.question or b.question:
        return ""
    found: dict[str, str] = {}
    for kind, reason in each_difference(text, other):
        found[kind] = reason
        if kind not in _FOLLOWS and (kind not in _SHARP or len(found.keys() & _SHARP) > 1):
            return ""  # whatever else there is
    sharp = found.keys() & _SHARP
    if not sharp:
        return ""
    (kind,) = sharp
    if kind == "negation":
        return found[kind] if _same_but_for_negation(a, b) and "order" not in found else ""
    if kind == "number":
        return found[kind] if _same_but_for_amount(text, other, a, b) else ""
    return found[kind] if _same_but_for_opposite(a, b) else ""


def _are_far_apart(a: TextParts, b: TextParts) -> bool:
    """More than a word of each is not in the other. Most known texts are, and this is seen much
    sooner than every single difference."""
    return len((a.content_set ^ b.content_set) - a.numbers - b.numbers) > 2


def _same_but_for_negation(a: TextParts, b: TextParts) -> bool:
    if abs(len(a.negated) - len(b.negated)) != 1 or a.content_set != b.content_set:
        return False
    negators = word_set("compare.dense_negators")
    return _without(a.dense, negators) == _without(b.dense, negators)


def _same_but_for_amount(text: str, other: str, a: TextParts, b: TextParts) -> bool:
    """Two amounts of the same thing. What is told of the past may have happened twice."""
    if any(one.past_verbs or one.word_set & word_set("compare.past_auxiliaries") for one in (a, b)):
        return False
    only_a, only_b = a.numbers - b.numbers, b.numbers - a.numbers
    if not only_a or not only_b or _is_label(text, only_a) or _is_label(other, only_b):
        return False
    plain_a = [word for word in a.content if word not in a.numbers]
    plain_b = [word for word in b.content if word not in b.numbers]
    numerals = word_set("compare.dense_numerals")
    return plain_a == plain_b and _without(a.dense, numerals) == _without(b.dense, numerals)


def _is_label(text: str, numbers: frozenset[str]) -> bool:
    values = {**counted("compare.numbers", "en"), **counted("compare.tens", "en")}
    spelled = {word for word, value in values.items() if str(value) in numbers}
    before = ""
    for word in words(text):
        if word in numbers or word in spelled:
            return not (
                before in word_set("compare.function_words")
                or before in word_set("compare.measuring")
            )
        before = word
    return False


def _same_but_for_opposite(a: TextParts, b: TextParts) -> bool:
    for word, against in opposite_words(a, b):
        if {word, against} & word_set("compare.people"):
            continue
        ours, theirs = canonical(word), canonical(against)
        rest_a = [one for one in a.content if one != ours]
        rest_b = [one for one in b.content if one != theirs]
        if ours not in a.content or theirs not in b.content or rest_a != rest_b:
            continue
        is_said_of_it = a.content[-1] == ours and b.content[-1] == theirs
        if is_said_of_it or {stem(word), stem(against)} <= _stances():
            return a.dense == b.dense
    return False


@cache
def _stances() -> frozenset[str]:
    return frozenset(map(stem, word_set("compare.stances")))


def _without(dense: str, parts: frozenset[str]) -> str:
    for part in sorted(parts, key=len, reverse=True):
        dense = dense.replace(part, "")
    fillers = word_set("compare.dense_fillers")
    return "".join(character for character in dense if character not in fillers)


def adds_words(text: str, known: str) -> bool:
    """Does the text have words with a meaning that the known one has not?"""
    return not read(text).content_set - read(known).content_set <= word_set("compare.fillers")


def is_hedged(text: str, known: str) -> bool:
    """Does the text add something that changes what the known one says, or a second statement?"""
    return bool(read(text).word_set & word_set("compare.hedges") - read(known).word_set)


def says_more(text: str, known: str) -> bool:
    """Does the text hold everything that the known one says, about the same, and more?"""
    new, old = read(text), read(known)
    if not old.content_set <= new.content_set or _SECOND_SENTENCE.search(text):
        return False
    if any(kind in _CHANGES_IT for kind, _ in each_difference(text, known)):
        return False
    if new.question or new.dense != old.dense or is_hedged(text, known):
        return False
    return _holds(new, old) and _goes_on(text, new, old)


def _holds(new: TextParts, old: TextParts) -> bool:
    return (
        old.identifiers <= new.identifiers
        and old.numbers <= new.numbers
        and old.dates <= new.dates
        and old.quotations <= new.quotations
        and old.symbols <= new.symbols
        and old.persons <= new.persons
        and old.names <= new.names | new.content_set
    )


def _goes_on(text: str, new: TextParts, old: TextParts) -> bool:
    """All of the old words in their order, hardly anything between them, more behind them."""
    places = _places(new.content, old.content)
    if len(old.content) < 2 or len(places) < len(old.content):
        return False
    first, last = places[0], places[-1]
    taken = frozenset(places)
    inserted = [word for at, word in enumerate(new.content[:last]) if at not in taken]
    inserted = inserted[first:]
    added, fillers = (*inserted, *new.content[last + 1 :]), word_set("compare.fillers")
    more = [word for word in added if word not in fillers]
    return (
        0 < len(more) + len(new.identifiers - old.identifiers) <= EXTRA_WORDS_MAX
        and set(new.content[:first]) <= new.dates
        and not set(inserted) & new.names
        and _fits_around(text, new.content[last], inserted)
    )


def _fits_around(text: str, last: str, inserted: Sequence[str]) -> bool:
    """A new word inside what was said may only describe its last word: "a bamboo flute", and
    neither "the tape on the box" for the box nor "eats a cut onion" for cutting one. And the
    last word must not become part of another name for something: "the guitar" is no "guitar
    shop"."""
    said = list(words(text))
    stems = [canonical(word) for word in said]
    if last not in stems:  # a number or a date
        return not inserted
    end = len(stems) - 1 - stems[::-1].index(last)
    follower = "".join(said[end + 1 : end + 2]).lstrip("0123456789")
    described = stems[max(0, end - len(inserted)) : end] == list(inserted)
    return (
        (described or not inserted)
        and len(inserted) <= INSERTED_WORDS_MAX
        and (not follower or follower in _linking() or follower.endswith(("ed", "ing", "ly")))
    )


@cache
def _linking() -> frozenset[str]:
    """Words that begin another part of a sentence."""
    names = ("function_words", "prepositions", "strong_prepositions")
    return frozenset().union(*(word_set(f"compare.{name}") for name in names))


def _places(content: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Where the wanted words stand, one behind the other, as far as they do: one walk over the
    content, however often a word comes again."""
    found: list[int] = []
    left = enumerate(content)
    for word in wanted:
        at = next((at for at, one in left if one == word), None)
        if at is None:
            return found
        found.append(at)
    return found
