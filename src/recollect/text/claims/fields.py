"""The fields of a life: home, work, partner, pets. What a statement is about, in one word.

Two statements of one field may replace one another where one of them says that something changed.
Some fields have one state at a time; in the others many things live side by side, and a change
concerns only what it names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache

from recollect.text.words import languages, meanings, parts
from recollect.text.words.sieve import Sieves

_DENSE = re.compile("[\u3400-\u9fff]")


FIELDS_FROM_MAX = 1000  # characters of a text


def fields_of(text: str) -> frozenset[str]:
    """The fields that the words of a text belong to."""
    return _fields_of(text[:FIELDS_FROM_MAX])


@lru_cache(maxsize=4000)
def _fields_of(text: str) -> frozenset[str]:
    return _patterns(dense=_DENSE.search(text) is not None).found(text)


@cache
def _patterns(*, dense: bool) -> Sieves:
    """Scripts without blanks have no words to stand between."""
    listed: dict[str, list[str]] = {}
    for language in languages("fields.words"):
        for name, words in parts("fields.words", language).items():
            if (_DENSE.search(words) is not None) == dense:
                listed.setdefault(name, []).append(words)
    around = "{}" if dense else r"(?<!\w)(?:{})(?!\w)"
    forms = {name: around.format("|".join(words)) for name, words in listed.items()}
    return Sieves(forms, re.IGNORECASE)


def slots_of(fields: Iterable[str]) -> tuple[str, ...]:
    """The slots of claims that belong to some fields."""
    wanted = set(fields)
    return tuple(slot for slot, field in meanings("fields.slots").items() if field in wanted)
