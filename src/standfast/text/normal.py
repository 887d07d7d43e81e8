"""One normaliser: what counts as the same letters, for every purpose that there is.

``fold`` is for searching, ``caseless`` for keys and values, ``normalise`` for exact duplicates. And
``plain_copy`` is what an eye reads, without the characters that only deceive a search: invisible
characters are gone, full-width letters and digits of any script are ASCII, and letters that only
look Latin are Latin where they stand in one word with real ones.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from standfast.text.expressions import later

INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_NEITHER_SEEN = later(f"[\u0300-\u036f{INVISIBLE}]")  # accents that stand by themselves too
_DASHES = later("[\u2010-\u2015\u2212]")
_FOREIGN_DIGIT = later(r"(?![0-9])\d")
_ACCENT = "[\u0300-\u036f\u0591-\u05c7\u064b-\u0652\u0670]"
_ACCENTS = later(_ACCENT)
# The breve of й and ў is part of the letter: Russian endings are told by it.
_BREVE = "\u0306"
_LOOSE_ACCENTS = later(f"(?<![\u0438\u0443]){_BREVE}|(?!{_BREVE}){_ACCENT}")
# Letters that Unicode does not take apart. Without the key, people write the plain one.
_PLAIN = {"ł": "l", "ø": "o", "đ": "d", "ð": "d", "ı": "i", "æ": "ae", "œ": "oe"}
_UNPLAIN = later(f"[{''.join(_PLAIN)}]")
_TRAILING = " .,;:!…。．，、；：！"
_APOSTROPHES = str.maketrans("’ʼ", "''")

_LOOK = {
    "а": "a", "е": "e", "о": "o", "р": "p", "с": "c", "у": "y", "х": "x", "і": "i", "ї": "i",
    "ј": "j", "ѕ": "s", "һ": "h", "ԁ": "d", "ԛ": "q", "ԝ": "w", "ӏ": "l", "к": "k", "г": "r",
    "ո": "n", "ս": "u", "օ": "o", "ѵ": "v", "т": "t", "м": "m", "н": "h", "в": "b", "п": "n",
    "А": "A", "В": "B", "Е": "E", "З": "3", "І": "I", "Ј": "J", "К": "K", "М": "M", "Н": "H",
    "О": "O", "Р": "P", "С": "C", "Ѕ": "S", "Т": "T", "У": "Y", "Х": "X", "Ԁ": "D", "Ԍ": "G",
    "α": "a", "ο": "o", "ν": "v", "ρ": "p", "ι": "i", "κ": "k", "τ": "t", "υ": "u", "χ": "x",
    "ε": "e", "γ": "y", "η": "n", "ω": "w", "σ": "o", "Α": "A", "Β": "B", "Ε": "E", "Ζ": "Z",
    "Η": "H", "Ι": "I", "Κ": "K", "Μ": "M", "Ν": "N", "Ο": "O", "Ρ": "P", "Τ": "T", "Υ": "Y",
    "Χ": "X", "ɡ": "g", "ɑ": "a", "ⅼ": "l", "ɩ": "i", "ʏ": "y", "ᴀ": "a", "ᴇ": "e",
    "ᴏ": "o", "ɪ": "i", "ꜱ": "s", "ʀ": "r", "ᴛ": "t", "ɴ": "n", "ᴘ": "p", "ᴜ": "u", "ᴍ": "m",
    "ᴅ": "d", "ᴡ": "w", "ᴄ": "c", "ɢ": "g", "ʜ": "h", "ʟ": "l", "ᴠ": "v", "ʙ": "b", "ᴋ": "k",
}  # fmt: skip
_LOOKALIKES = "".join(_LOOK)
_TO_LATIN = str.maketrans(_LOOK)
_MIXED = later(f"[A-Za-z][{_LOOKALIKES}]|[{_LOOKALIKES}][A-Za-z]")
_WORD = later(r"\w+")
_FOLDABLE = later(f"[A-Za-z0-9_{_LOOKALIKES}]+")


def fold(text: str) -> str:
    """For searching: compatibility forms and case folded, accents gone: "Straße Café Łódź" ->
    "strasse cafe lodz". The terms of every index were made with it."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFD", compatible(text).casefold())
    accents = _LOOSE_ACCENTS if _BREVE in decomposed else _ACCENTS  # the second is faster
    bare = _UNPLAIN.sub(_plain_letter, accents.sub("", decomposed))
    return unicodedata.normalize("NFC", bare)


def _plain_letter(match: re.Match[str]) -> str:
    return _PLAIN[match.group()]


def compatible(text: str) -> str:
    """Full-width letters, ligatures and the like as the ordinary ones."""
    return unicodedata.normalize("NFKC", text)


def caseless(text: str) -> str:
    """Lower case, one blank between words, letters composed: equal for NFC and NFD."""
    return one_line(unicodedata.normalize("NFC", text).casefold())


def one_line(text: str) -> str:
    """One blank wherever there were blanks, tabs or line breaks."""
    return " ".join(text.split())


def normalise(text: str) -> str:
    """For exact duplicates: compatibility forms and case folded, blanks collapsed, closing
    punctuation dropped. A closing question mark stays: a question is not the statement."""
    return one_line(compatible(compatible(text).casefold())).rstrip(_TRAILING)


def straight(text: str) -> str:
    """One kind of apostrophe."""
    return text.translate(_APOSTROPHES)


def plain_copy(text: str) -> tuple[str, Sequence[int] | None]:
    """The text to search in, and for each of its characters the place it came from (None: the
    same place)."""
    if text.isascii():
        return text, None
    if not _needs_folding(text):
        return lookalikes_folded(_DASHES.sub("-", text)), None
    characters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        plain = character if character.isascii() else _plain_character(character)
        characters.append(plain)
        places.extend([place] * len(plain))
    return lookalikes_folded("".join(characters)), places


def _needs_folding(text: str) -> bool:
    return (
        _NEITHER_SEEN.search(text) is not None
        or _FOREIGN_DIGIT.search(text) is not None
        or not unicodedata.is_normalized("NFKC", text)
    )


@lru_cache(maxsize=4096)
def _plain_character(character: str) -> str:
    if _NEITHER_SEEN.match(character):
        return ""
    number = unicodedata.decimal(character, None)
    if number is not None:
        return str(number)
    return _DASHES.sub("-", _NEITHER_SEEN.sub("", unicodedata.normalize("NFKC", character)))


def lookalikes_folded(text: str) -> str:
    """Latin letters for their doubles in words that have both; other words are what they are,
    in whatever script. Keeps every character's place."""
    return _WORD.sub(_latin, text) if _MIXED.search(text) else text


def _latin(match: re.Match[str]) -> str:
    word = match.group()
    foldable = _MIXED.search(word) and _FOLDABLE.fullmatch(word)
    return word.translate(_TO_LATIN) if foldable else word
