"""Words of a message, and what of a clause may not be left out."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from standfast.text.expressions import later
from standfast.text.normal import INVISIBLE
from standfast.text.words import languages, meanings, word_set

KEPT_CHARACTERS_MAX = 4000  # of texts whose words are kept for the next question
NEAR_MAX = 40  # words around those whose language is asked for

_DENSE = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff"
_TOKEN = later(rf"[{_DENSE}]|[^\W_{_DENSE}]+(?:'[^\W_{_DENSE}]+)*")
_UNSEEN = later(f"[{INVISIBLE}]")
_CURLY = str.maketrans("’ʼ‘“”„", "'''\"\"\"")
_SENTENCE_END = later(r"[.!?](?=[\s\"')\]*]|\Z)|[。！？；;]|\n")
_BOUNDARY = later(r"[,:](?=\s|\Z)|[()\[\]—–،、，：\"]|\s-+\s|\.\.")


class SaidWord(NamedTuple):
    """A word; ``start`` and ``end`` are its place in the ``readable`` text. ``closes``: a mark that
    ends a part of a sentence follows; ``ends``: the sentence ends."""

    word: str
    start: int
    end: int
    closes: bool = False
    ends: bool = False


def readable(text: str) -> str:
    """A text as its words are counted: composed characters, straight quotes, nothing unseen."""
    return _UNSEEN.sub("", unicodedata.normalize("NFC", text).translate(_CURLY))


def tokens(text: str) -> tuple[SaidWord, ...]:
    """The words of a text. Contractions are written out ("don't" is two words), and a character of
    a script without blanks is a word."""
    return _known_tokens(text) if len(text) <= KEPT_CHARACTERS_MAX else _tokens(text)


def _tokens(text: str) -> tuple[SaidWord, ...]:
    plain = readable(text)
    found = list(_TOKEN.finditer(plain))
    listed: list[SaidWord] = []
    for number, one in enumerate(found):
        stop = found[number + 1].start() if number + 1 < len(found) else len(plain)
        listed += _parts(one, plain[one.end() : stop + 1], last=stop == len(plain))
    return tuple(listed)


_known_tokens = lru_cache(maxsize=400)(_tokens)


def _parts(found: re.Match[str], behind: str, *, last: bool) -> Iterator[SaidWord]:
    """The words that one stands for; ``behind`` goes up to the first letter of the next."""
    ends = bool(_SENTENCE_END.search(behind)) and not _is_short(found[0], behind)
    closes = ends or last or bool(_BOUNDARY.search(behind))
    *parts, final = _written_out(found[0].casefold())
    for part in parts:
        yield SaidWord(part, found.start(), found.end())
    yield SaidWord(final, found.start(), found.end(), closes, ends or last)


def _is_short(word: str, behind: str) -> bool:
    """ "Dr. Lee", "J. Smith": a point behind a title or a letter ends no sentence."""
    short = word.casefold() in word_set("origin.titles", "en") or (
        len(word) == 1 and word.isupper()
    )
    return behind[:2] == ". " and short and word != "I"


def _written_out(word: str) -> list[str]:
    """ "don't" is "do not"; what may be "is", "has" or a possessive stays "'s"."""
    if "'" not in word:
        return [word]
    if whole := meanings("origin.contractions", "en").get(word):
        return whole.split()
    stem, _, ending = word.rpartition("'")
    if ending == "s":
        return [stem, "'s"]
    if word.endswith("n't"):
        return [word.removesuffix("n't"), "not"]
    verb = meanings("origin.endings", "en").get(ending)
    return [stem, verb] if stem and verb else [word]


def with_clause_ends(said: Sequence[SaidWord], ends: Iterable[int]) -> tuple[SaidWord, ...]:
    """The words of a text whose clauses are known to end at these places: nothing behind such a
    place belongs to what stands before it, unless it denies or supposes that."""
    borders = frozenset(ends)
    if not borders:
        return tuple(said)
    weighty = _words("negation", "en") | _words("condition", "en")
    return tuple(
        one._replace(closes=True)
        if one.end in borders and not (place + 1 < len(said) and said[place + 1].word in weighty)
        else one
        for place, one in enumerate(said)
    )


def places(quoted: str, text: str) -> Iterator[range]:
    """Where a text has these words one behind the other."""
    wanted = [one.word for one in tokens(quoted)]
    said = [one.word for one in tokens(text)]
    for start in range(len(said) - len(wanted) + 1) if wanted else ():
        if said[start : start + len(wanted)] == wanted:
            yield range(start, start + len(wanted))


# What denies, supposes or weakens a clause


def left_out(said: Sequence[SaidWord], kept: Sequence[int]) -> str:
    """Why the kept words mean something else without the rest of their clause; "" if they do
    not."""
    language = language_of(said[max(0, kept[0] - NEAR_MAX) : kept[-1] + NEAR_MAX])
    begin, end = _clause(said, kept[0], kept[-1], language)
    used = set(kept)
    for place in range(begin, end):
        if place not in used and (found := _changes(said, place, language)):
            return f"it leaves out {found!r}"
    start = _sentence_start(said, kept[0])
    led = said[start].word if start < begin else ""
    return f"it leaves out {led!r}" if led in _words("condition", language) else ""


def language_of(said: Sequence[SaidWord]) -> str:
    """The language whose small words a text has most of; "" if it has none of any."""
    words = {one.word for one in said}
    best, most = "", 0
    for language in languages("origin.negation"):
        if (count := len(words & _small_words(language))) > most:
            best, most = language, count
    return best


@cache
def _small_words(language: str) -> frozenset[str]:
    sections = ("subjects", "joins", "negation", "modality")
    return frozenset().union(*(_words(one, language) for one in sections))


def _words(section: str, language: str) -> frozenset[str]:
    return word_set(f"origin.{section}", language) if language else frozenset()


def _changes(said: Sequence[SaidWord], place: int, language: str) -> str:
    """The word at a place, if a clause means something else without it. "No, I live in Bonn"
    denies something else."""
    word = said[place].word
    pair = word + said[place + 1].word if place + 1 < len(said) else word
    denied = word_set("origin.negation", language)  # of all of them where none is known
    if word in denied or pair in denied:
        return "" if said[place].closes and word != "not" else word
    if word in _words("condition", language):
        return word
    return word if word in _words("modality", language) else ""


def _clause(said: Sequence[SaidWord], first: int, last: int, language: str) -> tuple[int, int]:
    """The words around these up to a mark, or to a conjunction with a subject of its own."""
    begin, end = first, last + 1
    while begin > 0 and not said[begin - 1].closes and not _opens(said, begin, language):
        begin -= 1
    joins = _words("joins", language)
    while end < len(said) and not said[end - 1].closes and said[end].word not in joins:
        end += 1
    return begin, end


def _opens(said: Sequence[SaidWord], place: int, language: str) -> bool:
    """Whether a clause with a subject of its own begins here, behind a conjunction."""
    joined = said[place - 1].word in _words("joins", language)
    return joined and said[place].word in _words("subjects", language)


def _sentence_start(said: Sequence[SaidWord], place: int) -> int:
    while place > 0 and not said[place - 1].ends:
        place -= 1
    return place
