"""Where new words belong in a sentence that was said: what they stand instead of.

A value takes the place of one of its kind: a number that of a number, a day that of a day, a word
that of one that is written like it, a phrase that of one that shares a word with it. Only what is
marked as a correction may also take the place of a name, or of what the sentence ends with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from recollect.text.analysis import fold

ALIKE = 0.6

_WORD = re.compile(r"[\w$€£#@+][\w.:'’&@/%+-]*[\w%+]|[\w$€£%]")
_DENSE = re.compile("[\u3400-\u9fff]")
_NUMBERS = frozenset(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred"
    " first second third fourth fifth sixth seventh eighth ninth tenth once twice thrice half"
    " zwei drei vier fünf sechs sieben acht neun zehn elf zwölf ersten zweiten dritten vierten fünften"
    " sechsten deux trois quatre cinq six sept huit neuf dix onze douze dos tres cuatro cinco seis siete"
    " ocho nueve diez once doce primero segundo tercero cuarto quinto sexto premier deuxième troisième"
    " quatrième".split()
)
_DAYS = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays"
    " fridays saturdays sundays montag dienstag mittwoch donnerstag freitag samstag sonntag lundi mardi"
    " mercredi jeudi vendredi samedi dimanche lunes martes miércoles jueves viernes sábado domingo"
    " tomorrow today tonight morgen heute demain mañana hoy".split()
)
_MONTHS = frozenset(
    "january february march april may june july august september october november december januar"
    " februar märz mai juni juli oktober dezember janvier février mars avril juin juillet août septembre"
    " octobre novembre décembre enero febrero marzo abril mayo junio julio agosto septiembre octubre"
    " noviembre diciembre".split()
)
_UNITS = frozenset("km/h mph kg lbs pounds kilos miles km metres meters feet hours minutes days weeks months years euros dollars am pm".split())
_LINKS = frozenset(
    "in at on with from to for of by near under im am in an bei mit aus nach à au aux en chez de du dans a"
    " al con desde para".split()
)
_ARTICLES = frozenset(
    "a an the my our his her their some der die das den dem ein eine einen einem le la les un une el los"
    " las una mon ma mi".split()
)
_STOP = (
    _LINKS
    | _ARTICLES
    | frozenset(
        "is are was were am be been i we my our it he she they and or not no but one only just that this"
        " so very ist sind bin und est sont et suis es son y soy the called named have has".split()
    )
)
_ENDS_BEFORE = frozenset(
    "is are was were am be called named a an the my our in at on with from to for of by prefer like love"
    " play plays drive drives speak speaks use uses ist sind heißt heisst bin aus in im bei est suis"
    " s'appelle à chez au es soy llama en de".split()
)


class _Token(NamedTuple):
    text: str
    start: int
    end: int

    @property
    def folded(self) -> str:
        return fold(self.text).strip(".'’")

    @property
    def kind(self) -> str:
        word = self.folded
        if re.fullmatch(r"\d{1,2}[:.]\d\d(?:am|pm)?", word):
            return "time"
        if re.fullmatch(r"[$€£]?\d[\d.,]*(?:st|nd|rd|th|k|m|%|s|h|am|pm|kg|er)?", word) or word in _NUMBERS:
            return "number"
        if re.search(r"\d", word):
            return "code"
        if word in _DAYS:
            return "day"
        if word in _MONTHS and (self.text[:1].isupper() or word not in ("may", "march", "mars", "mai")):
            return "month"
        if word in _UNITS:
            return "unit"
        return ""


def placed(sentence: str, new: str, old: str = "", *, sure: bool, name: bool = False) -> str:
    """The sentence with the new words in their place; "" if they have none. ``old`` may begin
    with "?": then the words count only if the sentence has them."""
    if _DENSE.search(sentence) and _DENSE.search(new + old):
        return _placed_dense(sentence, new, old)
    ours = _tokens(new)
    if not ours or not _tokens(sentence):
        return ""
    if old.startswith("?"):
        old = old[1:]
        named = len(old) > 1 and fold(old).strip(".,") not in _STOP and old[:1].isalnum()
        return _instead(sentence, new, old) if named and not _is_in(new, sentence) else ""
    if old:
        return _instead(sentence, new, old)
    ways = [_by_kind, _by_shared, _by_spelling]
    if sure:
        ways += [_by_link, _by_name, _at_end]
    elif name:
        ways.append(_by_last_name)
    theirs = _tokens(sentence)
    for way in ways:
        found = way(ours, theirs)
        if found is not None:
            return _written(sentence, theirs, new, ours, *found)
    return ""


def _tokens(text: str) -> list[_Token]:
    return [_Token(found[0], found.start(), found.end()) for found in _WORD.finditer(text)]


def _is_in(words: str, sentence: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(fold(words))}(?!\w)", fold(sentence)) is not None


def _instead(sentence: str, new: str, old: str) -> str:
    for words in dict.fromkeys((old, _without_article(old), old.split()[-1])):
        found = re.search(rf"(?<!\w){re.escape(words)}(?!\w)", sentence, re.IGNORECASE)
        if found and len(found[0]) <= 0.7 * len(sentence):
            if words != old:
                new = _without_article(new)
            before, after = sentence[: found.start()], sentence[found.end() :]
            return f"{before}{_spliced(before, new)}{after}"
    return ""


def _without_article(words: str) -> str:
    first, _, rest = words.partition(" ")
    return rest if rest and first.casefold() in _ARTICLES else words


def _spliced(before: str, new: str) -> str:
    """Without the article or the "in" that stands before the place already."""
    last = before.split()[-1].casefold() if before.split() else ""
    first, _, rest = new.partition(" ")
    if rest and first.casefold() == last:
        return rest
    if rest and first.casefold() in _ARTICLES and last in _ARTICLES:
        return rest
    return new


def _written(
    sentence: str, theirs: Sequence[_Token], new: str, ours: Sequence[_Token], start: int, end: int
) -> str:
    start, end = max(start, 0), min(end, len(theirs))
    if start >= end or fold(new) == fold(sentence[theirs[start].start : theirs[end - 1].end]):
        return ""
    before, after = sentence[: theirs[start].start], sentence[theirs[end - 1].end :]
    first = ours[0].folded
    if start and theirs[start - 1].folded in _ARTICLES and first in _ARTICLES:
        before = sentence[: theirs[start - 1].start]
    return f"{before}{_spliced(before, new)}{after}"


def _by_kind(ours: Sequence[_Token], theirs: Sequence[_Token]) -> tuple[int, int] | None:
    """A number for a number, a day for a day."""
    core = [one for one in ours if one.folded not in _STOP]
    if not core or not any(one.kind for one in core):
        return None
    kinds = {one.kind for one in core if one.kind}
    places = [at for at, one in enumerate(theirs) if one.kind in kinds]
    if not places and kinds & {"number", "code", "time"}:
        places = [at for at, one in enumerate(theirs) if one.kind in ("number", "code", "time")]
    others = [one for one in core if not one.kind]
    if others or not places:
        return None
    if len(core) > 1 and len(places) > 1:
        return _stretch(places, ours)
    at = places[-1] if len(places) == 1 else _closest(core[0], theirs, places)
    start = at - (1 if len(ours) > 1 and at and theirs[at - 1].folded == ours[0].folded else 0)
    return start, at + 1


def _stretch(places: Sequence[int], ours: Sequence[_Token]) -> tuple[int, int]:
    """ "3 October" for "13 October": neighbours of the same kinds."""
    end = places[-1] + 1
    return max(places[0], end - len(ours)), end


def _closest(word: _Token, theirs: Sequence[_Token], places: Sequence[int]) -> int:
    return max(places, key=lambda at: (_likeness(word.folded, theirs[at].folded), at))


def _by_shared(ours: Sequence[_Token], theirs: Sequence[_Token]) -> tuple[int, int] | None:
    """ "Maple Avenue" for "Maple Street"."""
    for index, word in enumerate(ours):
        if word.folded in _STOP:
            continue
        for at, other in enumerate(theirs):
            if other.folded != word.folded or at == 0:
                continue
            start, end = at - index, at - index + len(ours)
            if start < 1:
                continue
            if 0 < len(theirs) - end <= 2 and end > at + 1:
                end = len(theirs)
            if len(ours) == 1:
                return None
            return start, min(end, len(theirs))
    return None


def _likeness(word: str, other: str) -> float:
    return SequenceMatcher(None, word, other).ratio()


def _by_spelling(ours: Sequence[_Token], theirs: Sequence[_Token]) -> tuple[int, int] | None:
    """ "Pixel" for "Pixle"."""
    core = [one for one in ours if one.folded not in _STOP]
    if not core or len(core) > 3:
        return None
    words = " ".join(one.folded for one in core)
    best, place = 0.0, None
    for size in {len(core), 1, len(core) + 1}:
        for start in range(len(theirs) - size + 1):
            window = theirs[start : start + size]
            if all(one.folded in _STOP for one in window):
                continue
            if window[0].folded in _STOP or window[-1].folded in _STOP:
                continue
            ratio = _likeness(words, " ".join(one.folded for one in window))
            if best < ratio < 1:
                best, place = ratio, (start, start + size)
    return place if best >= ALIKE and len(words) > 2 else None


def _by_link(ours: Sequence[_Token], theirs: Sequence[_Token]) -> tuple[int, int] | None:
    """ "with Mrs. Finch" for "with our neighbour Mr. Dunn"."""
    link = ours[0].folded
    if link not in _LINKS or len(ours) < 2:
        return None
    places = [at for at, one in enumerate(theirs) if one.folded == link and at]
    if not places:
        return None
    start = places[-1]
    end = next(
        (at for at in range(start + 1, len(theirs)) if theirs[at].folded in _LINKS), len(theirs)
    )
    return start, end


def _by_name(ours: Sequence[_Token], theirs: Sequence[_Token]) -> tuple[int, int] | None:
    """A name for the last name."""
    core = [one for one in ours if one.folded not in _ARTICLES]
    if not core or not core[0].text[:1].isupper():
        return None
    names = [
        at for at, one in enumerate(theirs) if at and one.text[:1].isupper() and one.text != "I"
    ]
    if not names:
        return None
    end = names[-1]
    start = end
    while start - 1 in names:
        start -= 1
    return start, end + 1


def _by_last_name(ours: Sequence[_Token], theirs: Sequence[_Token]) -> tuple[int, int] | None:
    """A name alone, for the name that the sentence ends with."""
    found = _by_name(ours, theirs)
    return found if found and found[1] == len(theirs) else None


def _at_end(_: Sequence[_Token], theirs: Sequence[_Token]) -> tuple[int, int] | None:
    """What the sentence ends with."""
    for at in range(len(theirs) - 2, 0, -1):
        if theirs[at].folded in _ENDS_BEFORE:
            return at + 1, len(theirs)
    return (len(theirs) - 1, len(theirs)) if len(theirs) > 2 else None


# Chinese


def _placed_dense(sentence: str, new: str, old: str) -> str:
    if old and not old.startswith("?"):
        return sentence.replace(old, new, 1) if old in sentence else ""
    found = re.search(r"\d+", new)
    if found and (number := re.search(r"\d+", sentence)):
        return sentence[: number.start()] + found[0] + sentence[number.end() :]
    best = max(_windows(sentence, len(new)), key=lambda place: _agrees(sentence, place, new), default=None)
    if best is None or _agrees(sentence, best, new) == 0:
        return ""
    return sentence[: best[0]] + new + sentence[best[1] :]


def _windows(sentence: str, size: int) -> Iterator[tuple[int, int]]:
    yield from ((at, at + size) for at in range(len(sentence) - size + 1))


def _agrees(sentence: str, place: tuple[int, int], new: str) -> int:
    return sum(ours == theirs for ours, theirs in zip(new, sentence[place[0] : place[1]], strict=True))
