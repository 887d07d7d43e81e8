"""Which language a text in Latin letters is in, by its small words, and the stems of it. Pure.

There is no model behind it, and a guess may be wrong: stems are looked for beside the words
themselves, never in their place. A text that no small word tells anything about, a note or a
query of a few words, may be in any language, and has the stems of all.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from recollect.text.normal import fold
from recollect.text.words import languages, word_set, words

if TYPE_CHECKING:
    import Stemmer

ENGLISH = "en"
# Snowball's algorithms by the languages of ``words``.
STEMMERS = {
    "de": "german", "fr": "french", "es": "spanish", "it": "italian", "pt": "portuguese",
    "nl": "dutch", "sv": "swedish", "nb": "norwegian", "fi": "finnish", "hu": "hungarian",
    "pl": "polish", "cs": "czech", "tr": "turkish", "id": "indonesian",
}  # fmt: skip
STEMMED = tuple(STEMMERS)
ALIKE_MAX = 3  # languages that a text may be in all the same: Norwegian and Swedish share much
UNTOLD_WORDS_MAX = 4  # of a text that nothing tells the language of
STEM_MIN = 3  # letters
READ_WORDS_MAX = 400  # nobody changes the language after that

# Letters that only these languages have, as they are written.
_LETTERS = {
    "ß": "de", "ł": "pl", "ą": "pl", "ę": "pl", "ś": "pl", "ź": "pl", "ż": "pl", "ć": "pl",
    "ř": "cs", "ě": "cs", "ů": "cs", "ñ": "es", "ã": "pt", "õ": "pt", "ő": "hu", "ű": "hu",
    "ş": "tr", "ğ": "tr", "ı": "tr", "œ": "fr", "è": "it", "ò": "it", "ø": "nb", "æ": "nb",
}  # fmt: skip
# What accents do not explain: a person without the key writes the plain letter.
_PLAIN = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe", "ð": "d"})


_DOUBLED = re.compile(r"(\w)\1")
# What Snowball leaves: the past of a verb, a small one of its kind, the grades of Finnish.
_ENDINGS = {
    "de": (re.compile("t$"),),
    "nl": (re.compile("[td]$"),),
    "es": (re.compile("it$"),),
    "pl": (re.compile("e?k$"),),
    "pt": (re.compile("[aoil]$"),),
    "fi": (re.compile("[aeiouy]+$"), re.compile("(?:ks|[kstp])$")),
}


def plain(word: str) -> str:
    """A folded word without letters that a keyboard may not have: łodz -> lodz."""
    return word if word.isascii() else word.translate(_PLAIN)


def language_stems(text: str, found: Sequence[str], marked: Sequence[str]) -> list[list[str]]:
    """For each of a text's folded words its stems in the languages that the text may be in; none
    of small words, and of no word of an English text. ``marked`` are the same words with their
    marks, which a stemmer knows endings by. A text of a few words that nothing tells
    the language of has the stems of all."""
    told = languages_of(text, found) or (STEMMED if len(found) <= UNTOLD_WORDS_MAX else ())
    if not told or told == (ENGLISH,):
        return []
    small = _small_words()
    return [
        _stems(word, its, told) if word not in small else []
        for word, its in zip(found, marked, strict=True)
    ]


def is_small(word: str, languages_: Sequence[str]) -> bool:
    """Does it only hold a sentence of one of these languages together?"""
    return any(code in languages_ for code in _small_words().get(word, ()))


def languages_of(text: str, found: Sequence[str]) -> tuple[str, ...]:
    """Those that most small words among a text's folded words speak for; () if none does."""
    table = _small_words()
    votes: Counter[str] = Counter()
    for word in found[:READ_WORDS_MAX]:
        told = table.get(word)
        if told:
            votes.update(told)
    if not text.isascii():
        votes.update(_LETTERS[letter] for letter in {*text.casefold()} & _LETTERS.keys())
    if not votes:
        return ()
    most = max(votes.values())
    if votes[ENGLISH] == most:
        return (ENGLISH,)
    return tuple(code for code in STEMMED if votes[code] == most)[:ALIKE_MAX]


@cache
def _small_words() -> Mapping[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {word: [ENGLISH] for word in word_set("search.stop_words")}
    for code in languages("search.common"):
        for word in words("search.common", code):
            found.setdefault(word, []).append(code)
    return {word: tuple(codes) for word, codes in found.items()}


@lru_cache(maxsize=20_000)
def _stems(word: str, marked: str, codes: tuple[str, ...]) -> list[str]:
    """Each once. An apostrophe parts what hangs on a name behind it (Istanbul'da) or before it
    (l'école)."""
    written = dict.fromkeys((_bare(marked), plain(_bare(word))))
    found = (
        _stem(one, code)
        for one in written
        if len(one) >= STEM_MIN and one.isalpha() and plain(fold(one)).isascii()
        for code in codes
    )
    return list(dict.fromkeys(found))


def _bare(word: str) -> str:
    head, _, tail = word.replace("\u2019", "'").partition("'")
    return head if len(head) >= STEM_MIN else tail or head


def _stem(word: str, code: str) -> str:
    """Until nothing falls off any more, as one ending may stand before another, and without what
    doubles a letter: lääkkeet and lääke."""
    of_language = stemmer(STEMMERS[code])
    before = ""
    while before != word:
        before, shorter = word, of_language.stemWord(word)
        word = shorter if len(shorter) >= STEM_MIN else word
    bare = _DOUBLED.sub(r"\1", plain(fold(word)))
    for ending in _ENDINGS.get(code, ()):
        shorter = ending.sub("", bare)
        bare = shorter if len(shorter) >= STEM_MIN else bare
    return bare.replace("d", "t") if code == "fi" else bare  # katu, kadulla


@cache
def stemmer(language: str) -> Stemmer.Stemmer:
    import Stemmer  # here, because importing recollect must stay cheap

    return Stemmer.Stemmer(language)
