"""One tokeniser and one BM25 for every store, in any script.

``words`` are what a text is searched by, ``pieces`` what it is compared by: there, numbers and
marks count and digits are no part of a word.

Words are case-folded, stripped of accents and stemmed: by the language of a script that is mostly
one language's, else as English. Beside that they have further names: their stem in the language
that a text in Latin letters is in, by its function words and letters, and the word with its
accents. Emoji and signs are words. Scripts that are written without blanks (Chinese, Japanese,
Thai, ...) and Korean, whose particles stick to the word, become characters and bigrams, so "北京"
is found inside "我住在北京市"; bigrams and trigrams where a character is only a letter (Thai).
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from standfast.text.expressions import later
from standfast.text.normal import compatible, fold
from standfast.text.words import languages, word_set
from standfast.text.words import words as listed

if TYPE_CHECKING:
    import Stemmer

# A store keeps this number beside its index and rebuilds the index when it differs.
ANALYSER_VERSION = 5

# Marks a further name of a word: its stem in another language than English, or the word with its
# accents. No word begins so.
STEM = "~"
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
_KANA = later("[\u3041-\u30ff\u31f0-\u31ff]")
# Vowel signs of Indic scripts are marks, not letters, yet part of the word.
_MARKS = "\u0900-\u0dff"
_TOKEN = later(
    rf"(?P<dense>[{_DENSE}]+)"
    rf"|(?P<word>(?:[^\W_{_DENSE}]|[{_MARKS}])+(?:['\u2019](?:[^\W_{_DENSE}])+)*)"
)
_WORD = later(rf"[^\W_{_DENSE}]+")
_LETTER = "(?:[^\\W\\d_]|[\u0300-\u036f\u0900-\u0dff])"
_PIECE = later(
    rf"(?P<dense>[{_DENSE}]+)"
    r"|(?P<number>(?<!\w)[-\u2212]?\d+(?:[.,]\d+)*|\d+(?:[.,]\d+)*)"
    rf"|(?P<word>{_LETTER}+(?:'{_LETTER}+)*)"
    r"|(?P<mark>[$€£¥₽₹₩%‰°<>=≤≥≠±×÷^+#])"
    r"|(?P<comma>[,;])"
    r"|(?P<stop>[.!?]+)"
)
# Emoji and signs: each is a word by itself.
_SYMBOL = later("[\u2190-\u2bff\u20a0-\u20cf\u00a7\U0001f000-\U0001faff]")
_ASCII_TOKEN = later(r"[a-z0-9]+(?:'[a-z0-9]+)*")
# Every byte as what it is in such a token, a blank elsewhere: a quarter of the time of the form.
_ASCII_LETTERS = bytes(
    ord(letter.lower()) if letter.isascii() and (letter.isalnum() or letter == "'") else ord(" ")
    for letter in map(chr, range(256))
)


# Which language a text is in, as far as small words tell.
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

# Letters and marks that these languages have and English has not.
_LETTERS = {
    "de": "äöüß", "fr": "àâæçéèêëîïôœùûü", "es": "áéíñóúü¿¡", "it": "àèéìòù",
    "pt": "àáâãçéêíóôõú", "nl": "ëï", "sv": "åäö", "nb": "åæø", "fi": "äö",
    "hu": "áéíóöőúüű", "pl": "ąćęłńóśźż", "cs": "áčďéěíňóřšťúůýž", "tr": "çğıöşü",
}  # fmt: skip
# A text without one of these has no accent, and no mark of another language than English.
_ACCENTED = later("[\u00a1\u00bf-\u024f\u0300-\u052f\u1e00-\u1fff]")
_DOUBLED = later(r"(\w)\1")
# What Snowball leaves: the past of a verb, a small one of its kind, the grades of Finnish.
_ENDINGS = {
    "de": (later("t$"),),
    "nl": (later("[td]$"),),
    "es": (later("it$"),),
    "pl": (later("e?k$"),),
    "pt": (later("[aoil]$"),),
    "fi": (later("[aeiouy]+$"), later("(?:ks|[kstp])$")),
}


def words(text: str) -> Iterator[str]:
    """Folded words and dense runs, before stemming and splitting."""
    if text.isascii():
        return iter(_ascii_words(text))
    folded = fold(text[:ANALYSED_CHARACTERS_MAX])
    if folded.isascii():
        return iter(_ASCII_TOKEN.findall(folded))
    return (match.group() for match in _TOKEN.finditer(folded))


def _ascii_words(text: str) -> list[str]:
    """What ``_ASCII_TOKEN`` finds in a text of such letters."""
    found = text[:ANALYSED_CHARACTERS_MAX].encode().translate(_ASCII_LETTERS).decode().split()
    if "'" in text:
        return [
            word for one in found for word in (_ASCII_TOKEN.findall(one) if "'" in one else (one,))
        ]
    return found


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
        found.extend(_ngrams(word) if is_dense(word[0]) else (stem(word),))
    return [*found, *symbols(text)]


def _ngrams(run: str) -> list[str]:
    """Overlapping pieces of a run that is written without blanks. A single kana says nothing."""
    if len(run) == 1:
        return [run]
    if _is_dense_letter(run[0]):
        return [run[i : i + size] for size in (2, 3) for i in range(len(run) - size + 1)]
    return [*_KANA.sub("", run), *map("".join, pairwise(run))]


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
    """What a record is found by: its text, and who said it; and behind the words their further
    names. A question is marked as one; no query looks for the mark."""
    unstemmed, found = document_words(text, author)
    return [*map(stem, unstemmed), *found]


def document_words(text: str, author: str) -> tuple[list[str], list[str]]:
    """The same as words whose stems are terms, as of most texts, and the terms behind them."""
    plain_letters = not author and text.isascii()
    written = _ascii_words(text) if plain_letters else list(words(text))
    found: list[str] = []
    if not plain_letters:
        whole = f"{author}\n{text}" if author else text
        found = terms(whole)
        found = found if whole.isascii() else [stem_by_script(term) for term in found]
    if asks(text):
        found.append(QUESTION)
    if _has_language_stems(text, written):
        found += [STEM + one for stems in _stems_of(text, written) for one in stems]
    if not text.isascii():
        found += [STEM + word for _, word in diacritics(text)]
    return written if plain_letters else [], found


def _has_language_stems(text: str, written: Sequence[str]) -> bool:
    """English has none; nor has a note in plain letters that nothing tells the language of."""
    if not text.isascii():
        return languages_of(text, written) != (ENGLISH,)
    if _small_elsewhere().isdisjoint(written[:READ_WORDS_MAX]):
        return False
    return languages_of(text, written) not in ((), (ENGLISH,))


def _stems_of(text: str, found: Sequence[str]) -> list[list[str]]:
    if text.isascii():
        return language_stems(text, found, found)
    written = compatible(text[:ANALYSED_CHARACTERS_MAX]).casefold()
    marked = [match.group() for match in _TOKEN.finditer(written)]
    return language_stems(text, found, marked if len(marked) == len(found) else found)


def diacritics(text: str) -> list[tuple[str, str]]:
    """Words that folding takes an accent from, folded and as they are written: who writes the
    accent finds first who wrote it too."""
    if not _ACCENTED.search(text):
        return []
    written = compatible(text[:ANALYSED_CHARACTERS_MAX]).casefold()
    found = [(_folded(word), word) for word in _WORD.findall(written) if not word.isascii()]
    return [(folded, word) for folded, word in found if folded != word]


_folded = lru_cache(maxsize=WORDS_KEPT)(fold)


def length_of(found: Sequence[str]) -> int:
    """How many words a record has, of its ``document_terms``, behind which their further names
    stand."""
    if not found or not found[-1].startswith(STEM):
        return len(found)
    return len([one for one in found if not one.startswith(STEM)])


@lru_cache(maxsize=64)  # a question is looked at several times, and then never again
def query_terms(text: str) -> tuple[str, ...]:
    """What a query looks for: each term once, without stop words unless it has only those."""
    found: dict[str, None] = {}
    kept: dict[str, None] = {}
    stop_words = word_set("search.query_stop_words")
    written = list(words(text))
    foreign = [code for code in languages_of(text, written) if code != ENGLISH]
    for word in written:
        # Of plain letters it is one term, and its script has no other stem.
        single = (
            {stem(word): None}
            if word.isascii()
            else dict.fromkeys(map(stem_by_script, terms(word)))
        )
        found.update(single)
        bare = word.replace("\u2019", "").replace("'", "")
        if bare not in stop_words and not is_small(word, foreign):
            kept.update(single)
    if not text.isascii():
        kept.update(dict.fromkeys(symbols(text)))
    return tuple(kept or found)


@lru_cache(maxsize=64)
def search_terms(text: str) -> tuple[str, ...]:
    """What an index is asked for: the query's terms, and behind each its further names."""
    kept = query_terms(text)
    found = list(words(text))
    further: dict[str, list[str]] = {}
    for word, stems in zip(found, _stems_of(text, found), strict=False):  # English has no stems
        further.setdefault(stem_by_script(stem(word)), []).extend(stems)
    for word, written in diacritics(text):
        further.setdefault(stem_by_script(stem(word)), []).append(written)
    return tuple(
        dict.fromkeys(
            name for term in kept for name in (term, *(STEM + one for one in further.get(term, ())))
        )
    )


def weights(terms: Sequence[str], documents: int, containing: Sequence[int]) -> list[float]:
    """What each of ``search_terms`` weighs. Of a word and its further names, those that nothing
    holds take no part, if something holds another: it is one word."""
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
    return stemmed(word)


def stemmed(word: str) -> str:
    """The same for who keeps what comes of it."""
    if not word.isalnum():  # an apostrophe, perhaps
        word = word.replace("\u2019", "'").removesuffix("'s").replace("'", "")
    return stemmer("english").stemWord(word[:TERM_LENGTH_MAX]) if len(word) > 2 else word


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


# A guess of the language may be wrong: stems are looked for beside the words themselves, never in
# their place.


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
    read = found[:READ_WORDS_MAX]
    plain_letters = text.isascii()
    if plain_letters and _small_elsewhere().isdisjoint(read):
        # Each small word speaks for English: nothing can have more.
        return () if word_set("search.stop_words").isdisjoint(read) else (ENGLISH,)
    table = _small_words()
    small = [table[word] for word in read if word in table]
    if plain_letters and small.count((ENGLISH,)) >= sum([codes[0] != ENGLISH for codes in small]):
        return (ENGLISH,)  # what speaks for both decides nothing: no other can have more
    votes = Counter(chain.from_iterable(small))
    if not plain_letters and _ACCENTED.search(text):
        letters = frozenset(compatible(text).lower())
        votes.update({code: len(letters.intersection(own)) for code, own in _LETTERS.items()})
    most = max(votes.values(), default=0)
    if not most:
        return ()
    if votes[ENGLISH] == most:
        return (ENGLISH,)
    return tuple(code for code in STEMMED if votes[code] == most)[:ALIKE_MAX]


@cache
def _small_words() -> Mapping[str, tuple[str, ...]]:
    # English comes first in each.
    found: dict[str, list[str]] = {word: [ENGLISH] for word in word_set("search.stop_words")}
    for code in languages("search.common"):
        for word in listed("search.common", code):
            found.setdefault(word, []).append(code)
    return {word: tuple(codes) for word, codes in found.items()}


@cache
def _small_elsewhere() -> frozenset[str]:
    """Those that do not speak for English."""
    return frozenset(_small_words()) - word_set("search.stop_words")


@lru_cache(maxsize=WORDS_KEPT)
def _stems(word: str, marked: str, codes: tuple[str, ...]) -> list[str]:
    """Each once. An apostrophe parts what hangs on a name behind it (Istanbul'da) or before it
    (l'école)."""
    written = dict.fromkeys((_bare(marked), _bare(word)))
    found = (
        _stem(one, code)
        for one in written
        if len(one) >= STEM_MIN and one.isalpha() and fold(one).isascii()
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
    bare = _DOUBLED.sub(r"\1", fold(word))
    for ending in _ENDINGS.get(code, ()):
        shorter = ending.sub("", bare)
        bare = shorter if len(shorter) >= STEM_MIN else bare
    return bare.replace("d", "t") if code == "fi" else bare  # katu, kadulla


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
def is_dense(character: str) -> bool:
    return re.match(f"[{_DENSE}]", character) is not None


@cache
def _is_dense_letter(character: str) -> bool:
    return re.match(f"[{_DENSE_LETTERS}]", character) is not None


@cache
def stemmer(language: str) -> Stemmer.Stemmer:
    import Stemmer  # here, because importing standfast must stay cheap

    made = Stemmer.Stemmer(language)
    made.maxCacheSize = 0  # ours is before it; its own takes longer to clear than a stem to make
    return made
