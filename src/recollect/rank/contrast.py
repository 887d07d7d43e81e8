"""Near misses: a statement with the words of the question that speaks of another thing. Pure.

"The book club meets on Thursdays" is no answer to when the chess club meets, however near it is by
words and by meaning. What tells them apart is small, and it is a kind of difference: another
identifier, number or date; another of a few that exclude each other; somebody else; another word
beside the same one. Where the question only asks whether something is so, another value is the
answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

from recollect.rank.nearness import is_near
from recollect.text.analysis import WORDS_KEPT, is_stop_word
from recollect.text.compare import opposite_words
from recollect.text.compare.parts import canonical, identifiers, read
from recollect.text.normal import fold
from recollect.text.words import groups, meanings, word_set, words

READ_MAX = 600  # characters of a statement that are looked at
GAP_MAX = 2  # words without content between two that belong together: "contact at the"
TITLE_MAX = 3  # letters of an abbreviation before a name
PART_MIN = 4  # letters of a word that is part of a longer one: Rust in rustfmt
TEXTS_KEPT = 1000

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_APART = re.compile(r"[.!?;:,()\n](?:\s|$)|[()\n]")
_ENDS = re.compile(r"[.!?\n]\s")
_YEAR = re.compile(r"(?:19|20)\d\d\Z")
_RANGE = re.compile(r"\d\s*(?:-|–|to|until|and|bis)\s*\d")


class Word(NamedTuple):
    """``meant`` is one form for all inflections; ``named``: with a capital that no beginning of
    a sentence explains; ``dated``: a day, month or season; ``owns``: it ends in 's; ``apart``
    from the word before it; ``names``: it begins what names something, or goes on with it."""

    text: str
    meant: str
    content: bool
    named: bool
    dated: bool
    owns: bool
    apart: bool
    names: bool


# Where a word stands: beside which other, what is between them, and whether it is behind that.
Beside = tuple[str, tuple[str, ...], bool]


class Read:
    """A text as it is looked at here: its words, and what else is asked for when it is."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words = tuple(_words(text))
        self.meant = frozenset([word.meant for word in self.words])

    @cached_property
    def written(self) -> str:
        """All words, each on its line."""
        return "\n".join([word.text for word in self.words])

    @cached_property
    def parts(self) -> frozenset[str]:
        """The words that may be part of a longer one."""
        return frozenset([word.text for word in self.words if len(word.text) >= PART_MIN])

    @cached_property
    def places(self) -> Mapping[Beside, Sequence[Word]]:
        """Which words stand there."""
        found: dict[Beside, list[Word]] = {}
        for left, between, right in _pairs(self.words):
            found.setdefault((left.meant, between, True), []).append(right)
            found.setdefault((right.meant, between, False), []).append(left)
        return found

    @cached_property
    def identifiers(self) -> frozenset[str]:
        return identifiers(self.text)

    @cached_property
    def numbers(self) -> bool:
        return any(word.text.isdigit() for word in self.words)

    @cached_property
    def ranges(self) -> bool:
        return _RANGE.search(self.text) is not None


class Apart(NamedTuple):
    """A word of the question and what the statement has in its place."""

    asked: Word
    told: str

    def __str__(self) -> str:
        return f"{self.asked.text}, not {self.told}"


def misses(question: str, texts: Sequence[str]) -> list[str]:
    """For each statement what tells it apart from what the question is about; "" if nothing."""
    asked = looked_at(question)
    if not asked.words:
        return [""] * len(texts)
    told = [looked_at(text) for text in texts]
    return [_why(asked, one, told) if one.words else "" for one in told]


def second_hops(question: str, first: Sequence[str], others: Sequence[str]) -> list[str]:
    """For each of the others the name by which it goes on where the first hits end: they name
    somebody whom the question does not, and leave a word of it open that stands beside that
    name. "Where does Tom's sister live?": Clara is his sister, and Clara lives in Porto."""
    asked, there = looked_at(question), [looked_at(text) for text in first]
    open_ = [
        one for one in asked.words if one.content and not any(_holds(told, one) for told in there)
    ]
    names = {one.meant for told in there for one in _named(told)} - asked.meant
    if not open_ or not names:
        return [""] * len(others)
    return [_bridge(told, open_, names) for told in map(looked_at, others)]


def _bridge(told: Read, open_: Sequence[Word], names: Set[str]) -> str:
    shared = [one.text for one in _named(told) if one.meant in names]
    return shared[0] if shared and any(_holds(told, one) for one in open_) else ""


def _named(told: Read) -> list[Word]:
    """With the first word, which may be a name: what is shared with another is hardly chance."""
    return [one for one in told.words if one.named or (one is told.words[0] and one.content)]


def _why(asked: Read, told: Read, all_told: Sequence[Read]) -> str:
    for apart in _told_apart(asked, told):
        known = any(apart.asked.meant in one.meant for one in all_told)
        if known or not _is_slip(apart.asked, told):
            return str(apart)
    return ""


def _is_slip(word: Word, told: Read) -> bool:
    """Is it perhaps only misspelled, or another form? A name has no forms."""
    return any(is_near(word.text, one.text, forms=not word.named) for one in told.words)


def _told_apart(asked: Read, told: Read) -> Iterator[Apart]:
    missing = [one for one in asked.words if one.content and not _holds(told, one)]
    if missing:
        yield from _of_somebody_else(asked, told, missing)
        yield from _of_another_place(asked, told, missing)
    if asked.words[0].text in word_set("search.auxiliaries"):
        return
    yield from _other_number(asked, told)
    if missing:
        yield from _other_of_a_kind(asked, told, missing)
        yield from _other_beside(asked, told, missing)


def _holds(told: Read, word: Word) -> bool:
    """Itself, as a part of another word or the other way round."""
    if word.meant in told.meant:
        return True
    if len(word.text) < PART_MIN:
        return False
    return word.text in told.written or not told.parts.isdisjoint(_parts_of(word.text))


@lru_cache(maxsize=WORDS_KEPT)
def _parts_of(word: str) -> frozenset[str]:
    """All that a word may have as a part."""
    ends = range(PART_MIN, len(word) + 1)
    return frozenset([word[start:end] for end in ends for start in range(end - PART_MIN + 1)])


def _of_somebody_else(asked: Read, told: Read, missing: Sequence[Word]) -> Iterator[Apart]:
    """Who is asked about is named and is not in the statement, which names another; or it is of
    somebody, where somebody of theirs is asked about."""
    if told.words[0].text in word_set("search.speakers"):
        return
    for before, word in pairwise(asked.words):
        if word not in missing:
            continue
        subject = word.owns or before.meant in _kin() or before.text in _before_subjects()
        if subject and word.named:
            for other in _others_named(asked, told):
                yield Apart(word, other.text)
                break
        if before.owns and word.meant in _kin() and before.meant in told.meant:
            yield Apart(word, before.text)


def _others_named(asked: Read, told: Read) -> Iterator[Word]:
    """Names that only the statement has; its first word may be one."""
    for one in told.words:
        if one.named and one.meant not in asked.meant:
            yield one
    if told.words[0].content and told.words[0].meant not in asked.meant:
        yield told.words[0]


def _of_another_place(asked: Read, told: Read, missing: Sequence[Word]) -> Iterator[Apart]:
    """Behind the same preposition stands another name: to Bornholm, not to Gotland."""
    named_by = word_set("search.before_names")
    ours = [
        (before.text, word)
        for before, word in pairwise(asked.words)
        if word.named and before.text in named_by and word in missing
    ]
    theirs = {
        before.text: word.text
        for before, word in (pairwise(told.words) if ours else ())
        if word.named and before.text in named_by and word.meant not in asked.meant
    }
    for behind, word in ours:
        if behind in theirs:
            yield Apart(word, theirs[behind])


def _other_number(asked: Read, told: Read) -> Iterator[Apart]:
    """Another identifier or year, or another number behind the same word."""
    ours = asked.identifiers
    theirs = told.identifiers if ours else ours
    if theirs and not ours & theirs:
        yield Apart(asked.words[0]._replace(text=min(ours)), min(theirs))
    if not asked.numbers or told.ranges:
        return
    for place, found in asked.places.items():
        numbers = [one for one in found if one.text.isdigit()] if place[2] else ()
        others = [one.text for one in told.places.get(place, ()) if one.text.isdigit()]
        if numbers and others and not any(one.text in others for one in numbers):
            yield Apart(numbers[0], others[0])
    years = [one for one in asked.words if _YEAR.match(one.text)]
    others = [one.text for one in told.words if _YEAR.match(one.text)]
    if years and others and not any(one.text in others for one in years) and not _spans(told):
        yield Apart(years[0], others[0])


def _spans(told: Read) -> bool:
    """ "Since 2019" is of all years after it."""
    return any(one.text in word_set("search.spans") for one in told.words)


def _other_of_a_kind(asked: Read, told: Read, missing: Sequence[Word]) -> Iterator[Apart]:
    """A brother and no sister, the right one and not the left."""
    for word in missing:
        for others in _kinds().get(word.meant, ()):
            theirs = (others & told.meant) - asked.meant
            if theirs and not (word.dated and _spans(told)):
                yield Apart(word, min(theirs))


def _other_beside(asked: Read, told: Read, missing: Sequence[Word]) -> Iterator[Apart]:
    """Beside the same word another one, and all else is as in the question: the chess club, not
    the book club. Only where both name something, as far as can be seen: there are many verbs
    for the same."""
    if not _is_one_run(asked, missing):
        return
    for place, ours in asked.places.items():
        if place[0] not in told.meant:
            continue
        theirs = [one for one in told.places.get(place, ()) if one.meant not in asked.meant]
        for word in ours if theirs else ():
            both = missing[0].names and theirs[0].names and _tells_which(*place)
            if word in missing and (both or _is_opposite(word, asked, told)):
                yield Apart(word, theirs[0].text)


def _is_opposite(word: Word, asked: Read, told: Read) -> bool:
    return any(word.text == one for one, _ in opposite_words(read(asked.text), read(told.text)))


def _is_one_run(asked: Read, missing: Sequence[Word]) -> bool:
    places = [number for number, one in enumerate(asked.words) if one in missing]
    return places[-1] - places[0] < len(places)


def _tells_which(beside: str, between: Sequence[str], behind: bool) -> bool:
    """What stands before a word, or behind it with a preposition, says which one is meant; and
    so does what is the best or the next."""
    return not behind or bool(between) or _chooses(beside)


def looked_at(text: str) -> Read:
    """A text as it is looked at here, read once."""
    return _read_once(text[:READ_MAX])


@lru_cache(maxsize=TEXTS_KEPT)
def _read_once(text: str) -> Read:
    return Read(text)


def _words(text: str) -> Iterator[Word]:
    end, first, names, before = 0, True, True, ""
    for match in _WORD.finditer(text):
        written, apart = match.group(), False
        start = match.start()
        if start != end + 1 or text[end] != " ":
            gap = text[end:start]
            title = before[:1].isupper() and len(before) <= TITLE_MAX  # Mr. and Dr.
            first = first or (_ENDS.search(gap) is not None and not title)
            apart = _APART.search(gap) is not None
        word, names = _word(written, first, names, apart)
        yield word
        end, first, before = match.end(), False, written


@lru_cache(maxsize=WORDS_KEPT)
def _word(written: str, first: bool, names: bool, apart: bool) -> tuple[Word, bool]:
    """A word where it stands: at the beginning of a sentence, where something is named, apart from
    the one before it; and whether behind it something is named."""
    folded = fold(written).replace("’", "'")
    bare, _, ending = folded.partition("'")
    content = not (is_stop_word(folded.replace("'", "")) or bare in _empty())
    dated = bare in meanings("compare.dates")
    named = content and not dated and written[0].isupper() and not first
    word = Word(
        text=bare,
        meant=canonical(bare),
        content=content,
        named=named,
        dated=dated,
        owns=ending == "s",
        apart=apart,
        names=names or named,
    )
    # Behind "the", "my" or "at" a thing is named; behind a subject or a thing there is a verb.
    speaks = bare in word_set("search.speakers")
    return word, not speaks and (not content or _chooses(bare))


def _pairs(found: Sequence[Word]) -> Iterator[tuple[Word, tuple[str, ...], Word]]:
    """Each word with content and the next one, and what stands between them."""
    last: Word | None = None
    between: tuple[str, ...] = ()
    for word in found:
        if word.apart:
            last = None
        if not word.content:
            between = (*between, word.text)
            continue
        if last is not None and len(between) <= GAP_MAX:
            yield last, between, word
        last, between = word, ()


@cache
def _empty() -> frozenset[str]:
    return word_set("compare.function_words") | word_set("search.asked_by")


@cache
def _before_subjects() -> frozenset[str]:
    """Behind these stands who or what is asked about: "does Ann", "how much Ramipril"."""
    return word_set("search.auxiliaries") | word_set("search.asked_by")


@cache
def _kinds() -> Mapping[str, Sequence[frozenset[str]]]:
    """A word, and those that exclude it."""
    found: dict[str, list[frozenset[str]]] = {}
    for line in groups("search.kinds"):
        kind = frozenset(map(canonical, line))
        for one in kind:
            found.setdefault(one, []).append(kind - {one})
    return found


def _chooses(word: str) -> bool:
    return word in word_set("search.choosing")


@cache
def _kin() -> frozenset[str]:
    return frozenset(canonical(one) for one in words("search.kin"))
