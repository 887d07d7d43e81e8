"""Where new words belong in a sentence that was said: what they stand instead of.

A value takes the place of one of its kind: a number that of a number, a day that of a day, a word
that of one that is written like it, a phrase that of one that shares a word with it. Only what is
marked as a correction may also take the place of a name, or of what the sentence ends with.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from standfast.text.normal import fold
from standfast.text.words import word_set

ALIKE = 0.6
SHARED_MIN = 3  # letters of a word by which a place is found
END_WORDS_MAX = 4  # of what takes the place of what a sentence ends with

_WORD = re.compile(r"[\w$€£#@+](?:[\w.:'’&@/%+-]|(?<=\d),(?=\d))*[\w%+]|[\w$€£%]")
_NUMBER = re.compile(r"[$€£]?\d[\d.,]*(?:st|nd|rd|th|k|m|%|s|h|am|pm|kg|er)?")
_DENSE = re.compile("[\u3400-\u9fff]")


def _is(kind: str, word: str) -> bool:
    """Whether a folded word is of a kind: a link, an article, no value by itself."""
    return word in word_set(f"places.{kind}")


class _Token(NamedTuple):
    text: str
    start: int
    end: int

    @property
    def folded(self) -> str:
        return fold(self.text).strip(".'’")

    def is_a(self, kind: str) -> bool:
        return _is(kind, self.folded)

    @property
    def kind(self) -> str:
        word = self.folded
        if re.fullmatch(r"\d{1,2}[:.]\d\d(?:am|pm)?", word):
            return "time"
        if _NUMBER.fullmatch(word) or _is("numbers", word):
            return "number"
        if re.search(r"\d", word):
            return "code"
        if _is("days", word):
            return "day"
        if _is("months", word) and self.text[:1].isupper():
            return "month"
        if _is("units", word):
            return "unit"
        return ""


_Way = Callable[[Sequence[_Token], Sequence[_Token]], tuple[int, int] | None]


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
        plain = fold(old).strip(".,")
        named = len(old) > 1 and not _is("stop", plain) and old[:1].isalnum()
        return _instead(sentence, new, old) if named and not _is_in(new, sentence) else ""
    if old:
        return _instead(sentence, new, old)
    ways: list[_Way] = [_by_kind, _by_shared, _by_spelling]
    if sure:
        ways += [_by_link, _by_name]
        ways += [_at_end] if _is_value(ours) else []
    elif name:
        ways.append(_by_last_name)
    theirs = _tokens(sentence)
    if any(one.is_a("no_end") for one in ours):
        return ""  # somebody says something, and gives no value
    for way in ways:
        found = way(ours, theirs)
        if found is not None and (way not in _ANY or _fits(ours, theirs[found[0] : found[1]])):
            return _written(sentence, theirs, new, ours, *found)
    return ""


def _is_value(ours: Sequence[_Token]) -> bool:
    """Whether some words can be what a sentence ends with: no remark, nothing with a verb."""
    few = len(ours) <= END_WORDS_MAX and not ours[-1].is_a("stop")
    return few and not ours[0].is_a("begins_none")


def _tokens(text: str) -> list[_Token]:
    return [_Token(found[0], found.start(), found.end()) for found in _WORD.finditer(text)]


def _is_in(words: str, sentence: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(fold(words))}(?!\w)", fold(sentence)) is not None


def _instead(sentence: str, new: str, old: str) -> str:
    for words in dict.fromkeys((old, _without_article(old), old.split()[-1])):
        apart = rf"(?<!\w)(?<!\d[.:,]){re.escape(words)}(?!\w)(?![.:,]\d)"
        found = re.search(apart, sentence, re.IGNORECASE)
        if found and len(found[0]) <= 0.7 * len(sentence):
            if words != old:
                new = _without_article(new)
            before, after = sentence[: found.start()], sentence[found.end() :]
            return f"{before}{_spliced(before, new)}{_behind(new, after)}"
    return ""


def _behind(new: str, after: str) -> str:
    """Without the word that the new ones end with: "Spanish teacher" for "Portuguese" in "my
    Portuguese teacher"."""
    last, following = new.split()[-1], after.split()[:1]
    again = " " in new and following and fold(following[0]).strip(".,!?") == fold(last)
    return after.lstrip()[len(last) :] if again else after


def _without_article(words: str) -> str:
    first, _, rest = words.partition(" ")
    return rest if rest and _is("articles", first.casefold()) else words


def _spliced(before: str, new: str) -> str:
    """Without the article or the "in" that stands before the place already."""
    last = before.split()[-1].casefold() if before.split() else ""
    first, _, rest = new.partition(" ")
    if rest and first.casefold() == last:
        return rest
    if rest and _is("articles", first.casefold()) and _is("articles", last):
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
    if start and theirs[start - 1].is_a("articles") and _is("articles", first):
        before = sentence[: theirs[start - 1].start]
    return f"{before}{_spliced(before, new)}{_behind(new, after)}"


def _by_kind(ours: Sequence[_Token], theirs: Sequence[_Token]) -> tuple[int, int] | None:
    """A number for a number, a day for a day."""
    core = [one for one in ours if not one.is_a("stop")]
    if not core or not any(one.kind for one in core):
        return None
    kinds = {one.kind for one in core if one.kind}
    places = [at for at, one in enumerate(theirs) if one.kind in kinds]
    if not places and kinds & {"number", "code", "time"}:
        places = [at for at, one in enumerate(theirs) if one.kind in ("number", "code", "time")]
    others = [one for one in core if not one.kind]
    if others or not places:
        return None
    if (measured := _by_unit(core, theirs)) is not None:
        return measured
    if len(core) > 1 and len(places) > 1:
        return _stretch(places, ours)
    at = places[-1] if len(places) == 1 else _closest(core[0], theirs, places)
    start = at - (1 if len(ours) > 1 and at and theirs[at - 1].folded == ours[0].folded else 0)
    return start, at + 1


def _by_unit(core: Sequence[_Token], theirs: Sequence[_Token]) -> tuple[int, int] | None:
    """ "32 weeks" for "34 weeks", whatever else is counted there."""
    if [one.kind for one in core] != ["number", "unit"]:
        return None
    places = [
        at
        for at, one in enumerate(theirs)
        if at and one.folded == core[1].folded and theirs[at - 1].kind == "number"
    ]
    return (places[0] - 1, places[0] + 1) if len(places) == 1 else None


def _stretch(places: Sequence[int], ours: Sequence[_Token]) -> tuple[int, int]:
    """ "3 October" for "13 October": neighbours of the same kinds."""
    end = places[-1] + 1
    return max(places[0], end - len(ours)), end


def _closest(word: _Token, theirs: Sequence[_Token], places: Sequence[int]) -> int:
    return max(places, key=lambda at: (_likeness(word.folded, theirs[at].folded), at))


def _by_shared(ours: Sequence[_Token], theirs: Sequence[_Token]) -> tuple[int, int] | None:
    """ "Maple Avenue" for "Maple Street"."""
    for index, word in enumerate(ours):
        if word.is_a("stop") or len(word.folded) < SHARED_MIN:
            continue
        if sum(other.folded == word.folded for other in theirs) > 1:
            return None  # nobody knows which is meant
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
    core = [one for one in ours if not one.is_a("stop")]
    if not core or len(core) > 3:
        return None
    words = " ".join(one.folded for one in core)
    best, place = 0.0, None
    for size in {len(core), 1, len(core) + 1}:
        for start in range(len(theirs) - size + 1):
            window = theirs[start : start + size]
            if all(one.is_a("stop") for one in window):
                continue
            if window[0].is_a("stop") or window[-1].is_a("stop"):
                continue
            ratio = _likeness(words, " ".join(one.folded for one in window))
            if best < ratio < 1:
                best, place = ratio, (start, start + size)
    return place if best >= ALIKE and len(words) > 2 else None


def _by_link(ours: Sequence[_Token], theirs: Sequence[_Token]) -> tuple[int, int] | None:
    """ "with Mrs. Finch" for "with our neighbour Mr. Dunn"."""
    link = ours[0].folded
    if not ours[0].is_a("links") or len(ours) < 2:
        return None
    places = [at for at, one in enumerate(theirs) if one.folded == link and at]
    if not places:
        return None
    start = places[-1]
    end = next(
        (at for at in range(start + 1, len(theirs)) if theirs[at].is_a("links")), len(theirs)
    )
    return start, end


def _by_name(ours: Sequence[_Token], theirs: Sequence[_Token]) -> tuple[int, int] | None:
    """A name for the last name."""
    core = [one for one in ours if not one.is_a("articles")]
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
    """A name alone, for the name that the sentence ends with, if it has no other."""
    found = _by_name(ours, theirs)
    if found is None or found[1] != len(theirs):
        return None
    others = [one for one in theirs[1 : found[0]] if one.text[:1].isupper() and one.text != "I"]
    return None if others else found


def _at_end(_: Sequence[_Token], theirs: Sequence[_Token]) -> tuple[int, int] | None:
    """What the sentence ends with."""
    for at in range(len(theirs) - 2, 0, -1):
        if theirs[at].is_a("ends_before"):
            return at + 1, len(theirs)
    return (len(theirs) - 1, len(theirs)) if len(theirs) > 2 else None


def _fits(ours: Sequence[_Token], place: Sequence[_Token]) -> bool:
    """A number stands for no word: "60" is no other house."""
    return not any(one.kind in _COUNTS for one in ours) or any(one.kind for one in place)


_COUNTS = ("number", "time")
_ANY: tuple[_Way, ...] = (_by_link, _by_name, _at_end)  # of whatever kind


# Chinese


def _placed_dense(sentence: str, new: str, old: str) -> str:
    if old and not old.startswith("?"):
        return sentence.replace(old, new, 1) if old in sentence else ""
    found = re.search(r"\d+", new)
    if found and (number := re.search(r"\d+", sentence)):
        return sentence[: number.start()] + found[0] + sentence[number.end() :]
    places = _windows(sentence, len(new))
    best = max(places, key=lambda place: _agrees(sentence, place, new), default=None)
    if best is None or _agrees(sentence, best, new) == 0:
        return ""
    return sentence[: best[0]] + new + sentence[best[1] :]


def _windows(sentence: str, size: int) -> Iterator[tuple[int, int]]:
    yield from ((at, at + size) for at in range(len(sentence) - size + 1))


def _agrees(sentence: str, place: tuple[int, int], new: str) -> int:
    there = sentence[place[0] : place[1]]
    return sum(ours == theirs for ours, theirs in zip(new, there, strict=True))
