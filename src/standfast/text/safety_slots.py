"""Safety slots: allergy, medicine, dose, diagnosis, access need and emergency contact.

Which of them a text names. What somebody says about them is read elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib import resources
from typing import Any

from standfast.text.normal import fold
from standfast.text.words import pattern
from standfast.types import TRUST_OF_SOURCE, Durability, Kind

LanguageWords = Mapping[str, Sequence[str]]

# These write no blanks between words, or join endings to them.
_UNSPACED = ("zh", "ja", "ko")
_NAMED_MAX = 4000  # characters of a text
_NEAR_WORDS = 4
_PARTS = re.compile(r"[,;:.!?()\u3001\u3002\uff0c\uff1b]")


@lru_cache(maxsize=1024)
def safety_slots(text: str) -> frozenset[str]:
    """The names of the slots, such as ``allergy``; empty for most texts."""
    folded = _folded(text[:_NAMED_MAX])
    return frozenset(slot for slot, words in _patterns().items() if words.search(folded))


def durability_for(text: str, kind: Kind, trust: int, usual: Durability) -> Durability:
    """Core for what must not be overlooked about a person if a person said it; else the usual
    one."""
    said = kind == "semantic" and trust >= TRUST_OF_SOURCE["user"]
    return "core" if said and safety_slots(text) else usual


def denies_slot(text: str) -> bool:
    """Whether a negation stands beside a word of a slot, in the same part of a sentence, and
    forbids nothing."""
    if _prohibition().search(_folded(text[:_NAMED_MAX])):
        return False
    for part in _PARTS.split(text[:_NAMED_MAX]):
        for found in pattern("changes.denied").finditer(part):
            before = part[: found.start()].split()[-_NEAR_WORDS:]
            behind = part[found.end() :].split()[:_NEAR_WORDS]
            if safety_slots(" ".join(before)) or safety_slots(" ".join(behind)):
                return True
    return False


@cache
def slot_words() -> Mapping[str, LanguageWords]:
    """The words of each slot by language, as the data file has them."""
    slots: Mapping[str, LanguageWords] = _data()["slots"]
    return slots


@cache
def _data() -> dict[str, Any]:
    import tomllib  # here, because importing standfast must stay cheap

    file = resources.files(__package__) / "safety_slots.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))


@cache
def _patterns() -> Mapping[str, re.Pattern[str]]:
    return {
        slot: re.compile("|".join(_expressions(languages)))
        for slot, languages in slot_words().items()
    }


@cache
def _prohibition() -> re.Pattern[str]:
    return re.compile("|".join(_expressions(_data()["prohibition"])))


def _expressions(languages: LanguageWords) -> Iterator[str]:
    spaced = {word for code, words in languages.items() if code not in _UNSPACED for word in words}
    yield rf"\b(?:{'|'.join(sorted(map(_expression, spaced)))})\b"
    for code in _UNSPACED:
        yield from map(_expression, languages.get(code, ()))


def _expression(word: str) -> str:
    return re.escape(_folded(word)).replace(r"\*", r"\w*").replace(r"\ ", r"\s+")


def _folded(text: str) -> str:
    return fold(text)
