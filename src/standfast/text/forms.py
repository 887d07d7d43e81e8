"""Forms of one word: Katzen and Katze, больнице and больница, Krakowie and Kraków. Pure.

Nobody says in which language a single word is. So two words are forms of one where the stems of
any language of their script agree, and enough of their beginning does.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from standfast.text.analysis import stemmer
from standfast.text.normal import fold

# Snowball's algorithms by the script they are for, as Unicode names it.
LANGUAGES = {
    "LATIN": (
        "german", "french", "spanish", "italian", "portuguese", "dutch", "swedish", "norwegian",
        "danish", "finnish", "hungarian", "polish", "czech", "romanian", "turkish", "indonesian",
        "catalan", "lithuanian", "estonian",
    ),
    "CYRILLIC": ("russian", "serbian"),
    "GREEK": ("greek",),
    "ARABIC": ("arabic", "persian"),
    "DEVANAGARI": ("hindi", "nepali"),
    "TAMIL": ("tamil",),
    "ARMENIAN": ("armenian",),
}  # fmt: skip
SAME_MIN = 3  # letters at the beginning
SAME_SHARE = 0.6  # of the shorter word
PART_MIN = 5  # letters of a word that is part of a longer one: Versicherung in Autoversicherung


def same_word(word: str, other: str) -> bool:
    """Are these forms of one word, or is the first the last part of a compound?"""
    first, second = _bare(word), _bare(other)
    if len(first) >= PART_MIN and second != first and second.endswith(first):
        return True
    same = _same_letters(first, second)
    if same < SAME_MIN or same < SAME_SHARE * min(len(first), len(second)):
        return False
    return first == second or bool(set(_stems(first)) & set(_stems(second)))


def _bare(word: str) -> str:
    """Without what hangs on a name behind an apostrophe: Istanbul'da."""
    head, _, _ = word.replace("\u2019", "'").partition("'")
    return head or word


def _same_letters(first: str, second: str) -> int:
    count = 0
    for one, other in zip(fold(first), fold(second), strict=False):
        if one != other:
            break
        count += 1
    return count


@lru_cache(maxsize=20_000)
def _stems(word: str) -> Sequence[tuple[str, str]]:
    """With the language, so that stems of two languages are never the same."""
    languages = LANGUAGES.get(_script(word), ())
    return [(name, fold(stemmer(name).stemWord(word))) for name in languages]


def _script(word: str) -> str:
    return unicodedata.name(word[0], "").partition(" ")[0] if word else ""
