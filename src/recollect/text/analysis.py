"""One tokeniser and one BM25 for every store, in any script.

``words`` are what a text is searched by, ``pieces`` what it is compared by: there, numbers and
marks count and digits are no part of a word.

Words are case-folded, stripped of accents and stemmed: by the language of a script that is mostly
one language's, else as English, and beside that in the Latin language that the text is in (see
``language``). Emoji and signs are words. Scripts that are written
without blanks (Chinese, Japanese, Thai, ...) and Korean, whose particles stick to the word,
become overlapping pieces, so "北京" is found inside "我住在北京市": one and two characters
long where a character says much, two and three where it is only a letter (Thai).
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache

from recollect.text.language import (
    ENGLISH,
    is_small,
    language_stems,
    languages_of,
    stemmer,
)
from recollect.text.normal import compatible, fold
from recollect.text.words import word_set

# A store keeps this number beside its index and rebuilds the index when it differs.
ANALYSER_VERSION = 4

STEM = "~"  # marks a stem of another language than English; no word begins so
QUESTION = "?"  # marks a text that asks; not a word, so no text can hold it by itself

# Longer texts are stored whole but only their beginning is searchable by word.
ANALYSED_CHARACTERS_MAX = 200_000
TERM_LENGTH_MAX = 64
# Analysed words that are kept: those that come again. Imported numbers have no end of others.
WORDS_KEPT = 20_000

K1 = 1.2
B = 0.6  # less than the usual 0.75: among chat messages the longer one says more

_DENSE_LETTERS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
_DENSE = _DENSE_LETTERS + (
    "\u1100-\u11ff\u3131-\u318e\uac00-\ud7ff"  # Hangul
    "\u3041-\u30ff\u31f0-\u31ff\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # kana, Han
    "\U00020000-\U0003ffff"
)
# Vowel signs of Indic scripts are marks, not letters, yet part of the word.
_MARKS = "\u0900-\u0dff"
_TOKEN = re.compile(
    rf"(?P<dense>[{_DENSE}]+)"
    rf"|(?P<word>(?:[^\W_{_DENSE}]|[{_MARKS}])+(?:['\u2019](?:[^\W_{_DENSE}])+)*)"
)
_LETTER = "(?:[^\\W\\d_]|[\u0300-\u036f\u0900-\u0dff])"
_PIECE = re.compile(
    rf"(?P<dense>[{_DENSE}]+)"
    r"|(?P<number>(?<!\w)[-\u2212]?\d+(?:[.,]\d+)*|\d+(?:[.,]\d+)*)"
    rf"|(?P<word>{_LETTER}+(?:'{_LETTER}+)*)"
    r"|(?P<mark>[$€£¥₽₹₩%‰°<>=≤≥≠±×÷^+#])"
    r"|(?P<comma>[,;])"
    r"|(?P<stop>[.!?]+)"
)
# Emoji and signs: each is a word by itself.
_SYMBOL = re.compile("[\u2190-\u2bff\u20a0-\u20cf\u00a7\U0001f000-\U0001faff]")
_ASCII_TOKEN = re.compile(r"[a-z0-9]+(?:'[a-z0-9]+)*")


def words(text: str) -> Iterator[str]:
    """Folded words and dense runs, before stemming and splitting."""
    folded = fold(text[:ANALYSED_CHARACTERS_MAX])
    if folded.isascii():
        return iter(_ASCII_TOKEN.findall(folded))
    return (match.group() for match in _TOKEN.finditer(folded))


def pieces(text: str) -> Iterator[re.Match[str]]:
    """Dense runs, numbers, words, marks, commas and stops as they are written; ``lastgroup`` says
    which."""
    return _PIECE.finditer(text)


def terms(text: str) -> list[str]:
    """What a text is indexed under, repeats included."""
    if text.isascii():
        return [stem(word) for word in words(text)]
    found: list[str] = []
    for word in words(text):
        if not _is_dense(word[0]):
            found.append(stem(word))
            continue
        short = 2 if _is_dense_letter(word[0]) else 1
        for size in (min(short, len(word)), short + 1):
            found.extend(word[i : i + size] for i in range(len(word) - size + 1))
    return [*found, *symbols(text)]


def symbols(text: str) -> list[str]:
    """Emoji and signs, each by itself; what only changes their colour is left out."""
    return _SYMBOL.findall(text[:ANALYSED_CHARACTERS_MAX])


def is_stop_word(word: str) -> bool:
    """A word that names no topic."""
    return word in word_set("search.stop_words")


def asks(text: str) -> bool:
    """Does a turn end as a question?"""
    return text.rstrip().endswith(("?", "\uff1f"))


def document_terms(text: str, author: str) -> list[str]:
    """What a record is found by: its text, and who said it; and behind the words the stems of the
    language that they are in. A question is marked as one; no query looks for the mark."""
    whole = f"{author}\n{text}" if author else text
    found = terms(whole)
    found = found if whole.isascii() else [stem_by_script(term) for term in found]
    if asks(text):
        found.append(QUESTION)
    written = list(words(text))
    if not text.isascii() or languages_of(text, written):  # a note in plain letters says nothing
        found += [STEM + one for stems in _stems_of(text, written) for one in stems]
    return found


def _stems_of(text: str, found: Sequence[str]) -> list[list[str]]:
    if text.isascii():
        return language_stems(text, found, found)
    written = compatible(text[:ANALYSED_CHARACTERS_MAX]).casefold()
    marked = [match.group() for match in _TOKEN.finditer(written)]
    return language_stems(text, found, marked if len(marked) == len(found) else found)


def length_of(found: Sequence[str]) -> int:
    """How many words a record has, of its ``document_terms``: stems are further names of them."""
    return sum(not one.startswith(STEM) for one in found)


@lru_cache(maxsize=64)  # a question is looked at several times, and then never again
def query_terms(text: str) -> tuple[str, ...]:
    """What a query looks for: each term once, without stop words unless it has only those."""
    found: dict[str, None] = {}
    kept: dict[str, None] = {}
    stop_words = word_set("search.query_stop_words")
    written = list(words(text))
    foreign = [code for code in languages_of(text, written) if code != ENGLISH]
    for word in written:
        single = dict.fromkeys(map(stem_by_script, terms(word)))
        found.update(single)
        bare = word.replace("\u2019", "").replace("'", "")
        if bare not in stop_words and not is_small(word, foreign):
            kept.update(single)
    if not text.isascii():
        kept.update(dict.fromkeys(symbols(text)))
    return tuple(kept or found)


@lru_cache(maxsize=64)
def search_terms(text: str) -> tuple[str, ...]:
    """What an index is asked for: the query's terms, and behind each its stems."""
    kept = query_terms(text)
    found = list(words(text))
    stems = _stems_of(text, found)
    if not stems:
        return kept
    further = {
        stem_by_script(stem(word)): of_word for word, of_word in zip(found, stems, strict=True)
    }
    return tuple(
        dict.fromkeys(
            name for term in kept for name in (term, *(STEM + one for one in further.get(term, ())))
        )
    )


def weights(terms: Sequence[str], documents: int, containing: Sequence[int]) -> list[float]:
    """What each of ``search_terms`` weighs. Of a word and its stems, those that nothing holds
    take no part, if something holds another: it is one word."""
    found: list[float] = []
    word, held = 0, False  # where the word begins, and whether anything holds it
    for place, (term, count) in enumerate(zip(terms, containing, strict=True)):
        if not term.startswith(STEM):
            word, held = place, count > 0
            found.append(idf(documents, count))
        elif count:
            found.append(idf(documents, count))
            found[word] = found[word] if held else 0.0
        else:
            found.append(0.0)
    return found


@lru_cache(maxsize=WORDS_KEPT)
def stem(word: str) -> str:
    word = word.replace("\u2019", "'")
    word = word.removesuffix("'s")
    word = word.replace("'", "")[:TERM_LENGTH_MAX]
    return stemmer("english").stemWord(word) if len(word) > 2 else word


# Scripts that mostly one language is written in, as Unicode names them, and its stemmer.
_STEMMERS = {
    "CYRILLIC": "russian",
    "GREEK": "greek",
    "ARABIC": "arabic",
    "DEVANAGARI": "hindi",
    "TAMIL": "tamil",
    "ARMENIAN": "armenian",
}


@lru_cache(maxsize=WORDS_KEPT)
def stem_by_script(term: str) -> str:
    """больнице and больница are one term. The stem of English changed nothing there."""
    if term.isascii():
        return term
    script = unicodedata.name(term[0], "").partition(" ")[0]
    language = _STEMMERS.get(script)
    return stemmer(language).stemWord(term) if language and len(term) > 2 else term


def idf(documents: int, containing: int) -> float:
    """How much a term says; always above 0."""
    return math.log(1 + (documents - containing + 0.5) / (containing + 0.5))


def total(numbers: Iterable[float]) -> float:
    """Added one after the other: the built-in sum rounds otherwise since Python 3.12, and every
    store has to find the same."""
    result = 0.0
    for number in numbers:
        result += number
    return result


def bm25(weight: float, frequency: float, length: float, average_length: float) -> float:
    """What one term adds to a document's score; ``weight`` is the term's idf."""
    norm = K1 * (1 - B + B * length / (average_length or 1.0))
    return weight * frequency * (K1 + 1) / (frequency + norm)


@cache
def _is_dense(character: str) -> bool:
    return re.match(f"[{_DENSE}]", character) is not None


@cache
def _is_dense_letter(character: str) -> bool:
    return re.match(f"[{_DENSE_LETTERS}]", character) is not None
