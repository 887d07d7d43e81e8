"""English verbs: the form that goes with "she", where it is the only one possible."""

from __future__ import annotations

from functools import cache

from standfast.text.words import groups, word_set

# Forms of the first person -> those of the third. What goes with both stands there as it is.
_AUXILIARIES = {
    "am": "is", "have": "has", "do": "does", "don't": "doesn't", "haven't": "hasn't",
    **{
        one: one
        for one in """was wasn't did didn't had hadn't can can't cannot could couldn't will won't
        would wouldn't should shouldn't must mustn't may might""".split()
    },
}  # fmt: skip
_BEING = frozenset("is are was were has does isn't aren't weren't hasn't doesn't i'm i'd".split())
# Base and past are one form: nothing tells which of them it is.
_UNSURE = frozenset(
    """put set cut read let hit cost quit shut hurt bet beat split spread cast rid bid burst
    shed wed are is be being been i'm not""".split()
)
_ENDS_IN_ED = frozenset("need feed speed bleed breed seed exceed succeed proceed shred wed".split())


def third_person(verb: str) -> str:
    """The form of a verb that goes with "she"; "" where the word is no verb, or may be two."""
    word = verb.casefold()
    if word in _AUXILIARIES:
        return _AUXILIARIES[word]
    if word in _UNSURE:
        return ""
    if word in _pasts() and word not in bases():
        return word
    if word.endswith("ed") and len(word) > 4 and word not in _ENDS_IN_ED:
        return word
    return _with_s(word) if word in bases() else _already_third(word)


def is_base(word: str) -> bool:
    return word.casefold() in bases() or word.casefold() in ("have", "do", "am")


def is_finite(word: str) -> bool:
    """Whether a word may be the verb of a sentence."""
    word = word.casefold()
    known = word in _BEING or word.endswith(("'s", "'re", "'ve", "'ll"))
    return known or word in _UNSURE or bool(third_person(word))


def _already_third(word: str) -> str:
    stems = (word[:-1], word[:-2], f"{word[:-3]}y")
    known = word.endswith("s") and any(_with_s(one) == word for one in stems if one in bases())
    return word if known or word in ("has", "does") else ""


def _with_s(word: str) -> str:
    if word.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{word}es"
    if word.endswith("y") and word[-2:-1] not in tuple("aeiou"):
        return f"{word[:-1]}ies"
    return f"{word}s"


@cache
def bases() -> frozenset[str]:
    irregular = {line[0] for line in _irregular()}
    return frozenset({*word_set("verbs.regular"), *irregular} - _UNSURE - {"be"})


@cache
def _pasts() -> frozenset[str]:
    return frozenset(line[1] for line in _irregular())


@cache
def _irregular() -> tuple[tuple[str, ...], ...]:
    return groups("verbs.irregular")
