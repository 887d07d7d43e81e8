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

from standfast.rank.nearness import is_near
from standfast.text.analysis import WORDS_KEPT, is_stop_word, languages_of
from standfast.text.compare import opposite_words
from standfast.text.compare.parts import canonical, identifiers, read, stems_of
from standfast.text.normal import fold
from standfast.text.words import groups, meanings, word_set, words

READ_MAX = 600  # characters of a statement that are looked at
GAP_MAX = 2  # words without content between two that belong together: "contact at the"
TITLE_MAX = 3  # letters of an abbreviation before a name
STEM_ENDS = 3  # letters at the end of a stem that may be none of its word: die of dying
PART_MIN = 4  # letters of a word that is part of a longer one: Rust in rustfmt
TEXTS_KEPT = 1000
QUESTIONS_KEPT = 64

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
# Of a byte of plain text: its small letter or digit, or a blank.
_SMALL = bytes(ord(one.lower()) if one.isalnum() else 32 for one in map(chr, range(128))).ljust(256)
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
    """A text as it is looked at here. Most statements are told from a question by a few of their
    words: a word is read where it stands, when it is asked for."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.texts = _texts(text)  # of its words, in order
        self.written = "\n".join(["", *self.texts, ""])  # each on its line
        self._words: dict[int, Word] = {}  # that were asked for

    @cached_property
    def _edges(self) -> Sequence[int]:
        return _edges(self.text)

    def word(self, place: int) -> Word:
        word = self._words.get(place)
        if word is None:
            word = self._words[place] = _word_in(self.text, self._edges, place)
        return word

    @cached_property
    def named(self) -> Sequence[int]:
        """Where something is named; never at the beginning."""
        begins = [self.text[start] for start in self._edges[::2]]
        capitals = [place for place, letter in enumerate(begins) if letter.isupper()]
        return [place for place in capitals if self.word(place).named]

    @cached_property
    def meant(self) -> frozenset[str]:
        return frozenset(map(canonical, self.texts))

    def means(self, meant: str) -> bool:
        """Has it a word that is meant so? Mostly nothing in it even begins like one."""
        begins = any(map(self.written.__contains__, _beginnings(meant)))
        return begins and bool(self.places(meant))

    def places(self, meant: str) -> Sequence[int]:
        """Where words are meant so."""
        written, found = self.written, []
        for begun in _beginnings(meant):
            start = written.find(begun)
            while start >= 0:
                place = written.count("\n", 0, start)
                if canonical(self.texts[place]) == meant:
                    found.append(place)
                start = written.find(begun, start + 1)
        return sorted(frozenset(found)) if len(found) > 1 else found

    def at(self, place: Beside) -> Iterator[Word]:
        """Which words stand there."""
        meant, between, behind = place
        for number in self.places(meant):
            other = number + (len(between) + 1) * (1 if behind else -1)
            first, last = (number, other) if behind else (other, number)
            is_there = first >= 0 and last < len(self.texts)
            if is_there and between == (*self.texts[first + 1 : last],) and self._pair(first, last):
                yield self.word(other)

    def _pair(self, first: int, last: int) -> bool:
        """Are these two words with content, and none between them; and nothing apart?"""
        read = [self.word(one) for one in range(first, last + 1)]
        content = [one.content for one in read]
        ends = content[0] and content[-1] and not any(content[1:-1])
        return ends and not any(one.apart for one in read[1:])

    @cached_property
    def identifiers(self) -> frozenset[str]:
        return identifiers(self.text)

    @cached_property
    def languages(self) -> tuple[str, ...]:
        return languages_of(self.text, self.texts)

    @cached_property
    def ranges(self) -> bool:
        return _RANGE.search(self.text) is not None


class ReadQuestion:
    """A question, and what can tell a statement apart from it: most questions name nobody and no
    number, and then no statement is looked at for that."""

    def __init__(self, text: str) -> None:
        self.text = text
        edges = _edges(text)
        self.words = tuple([_word_in(text, edges, place) for place in range(len(edges) // 2)])
        self.texts = [one.text for one in self.words]
        self.languages = languages_of(text, self.texts)
        self.meant = frozenset([one.meant for one in self.words])
        self.content = [one for one in self.words if one.content]
        # Does it only ask whether something is so?
        self.whether = bool(self.texts) and self.texts[0] in word_set("search.auxiliaries")
        self.numbers = any(map(str.isdigit, self.texts))
        self.identifiers = identifiers(text)
        # Words that others exclude, and those.
        kinds = _kinds()
        self.kinds = [(one, kinds[one.meant]) for one in self.content if one.meant in kinds]
        self.subjects, self.behind = self._who() if self._names_somebody() else ([], [])
        # Which words stand where, and their texts.
        beside: dict[Beside, list[Word]] = {}
        for left, between, right in _pairs(self.words):
            beside.setdefault((left.meant, between, True), []).append(right)
            beside.setdefault((right.meant, between, False), []).append(left)
        self.beside = [(place, ours, [one.text for one in ours]) for place, ours in beside.items()]

    def _names_somebody(self) -> bool:
        return any(one.named or one.owns for one in self.words)

    def _who(self) -> tuple[list[tuple[Word, Word]], list[tuple[str, Word]]]:
        """Who is asked about, by name, or somebody of theirs, with the word before; and
        prepositions with the names behind them."""
        named_by, pairs = word_set("search.before_names"), list(pairwise(self.words))
        subjects = [
            (before, word)
            for before, word in pairs
            if word.content and (_is_subject(before, word) or _is_kin(before, word))
        ]
        named = [(before, word) for before, word in pairs if word.named]
        return subjects, [(one.text, word) for one, word in named if one.text in named_by]


class Apart(NamedTuple):
    """A word of the question and what the statement has in its place."""

    asked: Word
    told: str

    def __str__(self) -> str:
        return f"{self.asked.text}, not {self.told}"


def misses(question: str, texts: Sequence[str]) -> list[str]:
    """For each statement what tells it apart from what the question is about; "" if nothing."""
    asked = asked_about(question)
    if not asked.words:
        return [""] * len(texts)
    told = [looked_at(text) for text in texts]
    return [
        _why(asked, one, told) if one.texts and _is_comparable(asked, one) else "" for one in told
    ]


def _is_comparable(asked: ReadQuestion, told: Read) -> bool:
    """Are both in one language? In another one words differ, and so do the forms of a name; where
    nothing says which language it is, the script does. A note in plain letters may be too short to
    tell."""
    if asked.languages and told.languages and not told.text.isascii():
        return not frozenset(asked.languages).isdisjoint(told.languages)
    return round(latin_share(asked.text)) == round(latin_share(told.text))


def second_hops(question: str, first: Sequence[str], others: Sequence[str]) -> list[str]:
    """For each of the others the name by which it goes on where the first hits end: they name
    somebody whom the question does not, and leave a word of it open that stands beside that
    name. "Where does Tom's sister live?": Clara is his sister, and Clara lives in Porto."""
    asked, there = asked_about(question), [looked_at(text) for text in first]
    open_: Sequence[Word] = asked.content
    for told in there:
        open_ = _missing(open_, told)
    named = {one.meant for told in there for one in _named(told)} if open_ else frozenset()
    names = named - asked.meant
    if not names:
        return [""] * len(others)
    return [_bridge(told, open_, names) for told in map(looked_at, others)]


def latin_share(text: str) -> float:
    """Of its letters."""
    if text.isascii():
        return 1.0
    letters = [letter for letter in fold(text) if letter.isalpha()]
    return sum(letter.isascii() for letter in letters) / len(letters) if letters else 1.0


def _bridge(told: Read, open_: Sequence[Word], names: Set[str]) -> str:
    if not any(map(told.means, names)) or len(_missing(open_, told)) == len(open_):
        return ""
    return next((one.text for one in _named(told) if one.meant in names), "")


def _named(told: Read) -> list[Word]:
    """With the first word, which may be a name: what is shared with another is hardly chance."""
    named = [told.word(place) for place in told.named]
    first = [told.word(0)] if told.texts else []
    return [*(one for one in first if one.content), *named]


def _why(asked: ReadQuestion, told: Read, all_told: Sequence[Read]) -> str:
    for apart in _told_apart(asked, told):
        known = any(one.means(apart.asked.meant) for one in all_told)
        if known or not _is_slip(apart.asked, told):
            return str(apart)
    return ""


def _is_slip(word: Word, told: Read) -> bool:
    """Is it perhaps only misspelled, or another form? A name has no forms."""
    return any(is_near(word.text, one, forms=not word.named) for one in told.texts)


def _told_apart(asked: ReadQuestion, told: Read) -> Iterator[Apart]:
    missing = _missing(asked.content, told)
    if missing and asked.subjects:
        yield from _of_somebody_else(asked, told, missing)
    if missing and asked.behind:
        yield from _of_another_place(asked, told, missing)
    if asked.whether:
        return
    if asked.numbers or asked.identifiers:
        yield from _other_number(asked, told)
    if missing:
        if asked.kinds:
            yield from _other_of_a_kind(asked, told, missing)
        yield from _other_beside(asked, told, missing)


def _missing(wanted: Sequence[Word], told: Read) -> list[Word]:
    """Those that it does not hold: as a word, as a part of one, or one as a part of them."""
    written = told.written
    apart = [one for one in wanted if f"\n{one.text}\n" not in written]
    missing = [one for one in apart if not told.means(one.meant)]
    long = "\n".join([one.text for one in missing if len(one.text) >= PART_MIN])
    if not long:
        return missing
    parts = [one for one in told.texts if one in long and len(one) >= PART_MIN]
    return [
        one
        for one in missing
        if len(one.text) < PART_MIN
        or not (one.text in written or (parts and any(part in one.text for part in parts)))
    ]


def _is_subject(before: Word, word: Word) -> bool:
    """Is it named, and asked about?"""
    told = word.owns or before.meant in _kin() or before.text in _before_subjects()
    return word.named and told


def _is_kin(before: Word, word: Word) -> bool:
    """Somebody's sister."""
    return before.owns and word.meant in _kin()


def _of_somebody_else(asked: ReadQuestion, told: Read, missing: Sequence[Word]) -> Iterator[Apart]:
    """Who is asked about is named and is not in the statement, which names another; or it is of
    somebody, where somebody of theirs is asked about."""
    if told.texts[0] in word_set("search.speakers"):
        return
    for before, word in asked.subjects:
        if word not in missing:
            continue
        if _is_subject(before, word):
            for other in _others_named(asked, told):
                yield Apart(word, other.text)
                break
        if _is_kin(before, word) and told.means(before.meant):
            yield Apart(word, before.text)


def _others_named(asked: ReadQuestion, told: Read) -> Iterator[Word]:
    """Names that only the statement has; its first word may be one."""
    for one in map(told.word, told.named):
        if one.meant not in asked.meant:
            yield one
    first = told.word(0)
    if first.content and first.meant not in asked.meant:
        yield first


def _of_another_place(asked: ReadQuestion, told: Read, missing: Sequence[Word]) -> Iterator[Apart]:
    """Behind the same preposition stands another name: to Bornholm, not to Gotland."""
    ours = [(behind, word) for behind, word in asked.behind if word in missing]
    named_by = word_set("search.before_names")
    theirs = {
        told.texts[place - 1]: told.texts[place]
        for place in (told.named if ours else ())
        if told.texts[place - 1] in named_by and told.word(place).meant not in asked.meant
    }
    for behind, word in ours:
        if behind in theirs:
            yield Apart(word, theirs[behind])


def _other_number(asked: ReadQuestion, told: Read) -> Iterator[Apart]:
    """Another identifier or year, or another number behind the same word."""
    ours = asked.identifiers
    theirs = told.identifiers if ours else ours
    if theirs and not ours & theirs:
        yield Apart(asked.words[0]._replace(text=min(ours)), min(theirs))
    if not asked.numbers or told.ranges:
        return
    for place, found, _ in asked.beside:
        numbers = [one for one in found if one.text.isdigit()] if place[2] else ()
        others = [one.text for one in told.at(place) if one.text.isdigit()] if numbers else ()
        if numbers and others and not any(one.text in others for one in numbers):
            yield Apart(numbers[0], others[0])
    years = [one for one in asked.words if _YEAR.match(one.text)]
    others = [one for one in told.texts if _YEAR.match(one)] if years else ()
    if years and others and not any(one.text in others for one in years) and not _spans(told):
        yield Apart(years[0], others[0])


def _spans(told: Read) -> bool:
    """ "Since 2019" is of all years after it."""
    return not word_set("search.spans").isdisjoint(told.texts)


def _other_of_a_kind(asked: ReadQuestion, told: Read, missing: Sequence[Word]) -> Iterator[Apart]:
    """A brother and no sister, the right one and not the left."""
    for word, kinds in asked.kinds:
        for others in kinds if word in missing else ():
            theirs = (others & told.meant) - asked.meant
            if theirs and not (word.dated and _spans(told)):
                yield Apart(word, min(theirs))


def _other_beside(asked: ReadQuestion, told: Read, missing: Sequence[Word]) -> Iterator[Apart]:
    """Beside the same word another one, and all else is as in the question: the chess club, not
    the book club. Only where both name something, as far as can be seen: there are many verbs
    for the same."""
    lost = frozenset([one.text for one in missing])
    if not _is_one_run(asked, lost):
        return
    for place, ours, texts in asked.beside:
        if lost.isdisjoint(texts):
            continue
        theirs = [one for one in told.at(place) if one.meant not in asked.meant]
        for word in [one for one in ours if one.text in lost] if theirs else ():
            both = missing[0].names and theirs[0].names and _tells_which(*place)
            if both or _is_opposite(word, asked, told):
                yield Apart(word, theirs[0].text)


def _is_opposite(word: Word, asked: ReadQuestion, told: Read) -> bool:
    return any(word.text == one for one, _ in opposite_words(read(asked.text), read(told.text)))


def _is_one_run(asked: ReadQuestion, lost: Set[str]) -> bool:
    places = [at for at, one in enumerate(asked.words) if one.text in lost and one.content]
    return places[-1] - places[0] < len(places)


def _tells_which(beside: str, between: Sequence[str], behind: bool) -> bool:
    """What stands before a word, or behind it with a preposition, says which one is meant; and
    so does what is the best or the next."""
    return not behind or bool(between) or _chooses(beside)


def looked_at(text: str) -> Read:
    """A text as it is looked at here, read once."""
    return _read_once(text[:READ_MAX])


def asked_about(question: str) -> ReadQuestion:
    """The same of a question."""
    return _question_once(question[:READ_MAX])


@lru_cache(maxsize=TEXTS_KEPT)
def _read_once(text: str) -> Read:
    return Read(text)


@lru_cache(maxsize=QUESTIONS_KEPT)
def _question_once(text: str) -> ReadQuestion:
    return ReadQuestion(text)


def _texts(text: str) -> list[str]:
    """Its words, folded, each up to an apostrophe."""
    if not text.isascii():
        return [_form(written).text for written in _WORD.findall(text)]
    if "'" not in text:
        return text.encode().translate(_SMALL).decode().split()
    return [one.partition("'")[0] for one in _WORD.findall(text.lower())]


class Form(NamedTuple):
    """What a word is wherever it stands: see ``Word``. ``leads``: behind it something is named."""

    text: str
    content: bool
    dated: bool
    owns: bool
    leads: bool


@lru_cache(maxsize=WORDS_KEPT)
def _form(written: str) -> Form:
    folded = fold(written).replace("’", "'")
    bare, _, ending = folded.partition("'")
    content = not (is_stop_word(folded.replace("'", "")) or bare in _empty())
    # Behind "the", "my" or "at" a thing is named; behind a subject or a thing there is a verb.
    leads = bare not in word_set("search.speakers") and (not content or _chooses(bare))
    return Form(bare, content, bare in meanings("compare.dates"), ending == "s", leads)


def _edges(text: str) -> list[int]:
    """Where its words begin and end, one behind the other. Numbers, as many texts are kept: the
    garbage collector looks at each match, and at no number."""
    return [edge for one in _WORD.finditer(text) for edge in one.span()]


def _word_in(text: str, edges: Sequence[int], place: int) -> Word:
    """A word where it stands, behind the last one."""
    start, stop = edges[2 * place : 2 * place + 2]
    written = text[start:stop]
    begun, end = edges[2 * place - 2 : 2 * place] if place else (0, 0)
    before = text[begun:end]
    first, apart = not place, False
    if start != end + 1 or text[end] != " ":
        gap = text[end:start]
        title = before[:1].isupper() and len(before) <= TITLE_MAX  # Mr. and Dr.
        first = first or (_ENDS.search(gap) is not None and not title)
        apart = _APART.search(gap) is not None
    form = _form(written)
    named = form.content and not form.dated and written[0].isupper() and not first
    names = named or not place or _form(before).leads
    bare, content, dated, owns, _ = form
    return Word(bare, canonical(bare), content, named, dated, owns, apart, names)


@lru_cache(maxsize=WORDS_KEPT)
def _beginnings(meant: str) -> tuple[str, ...]:
    """How a line may begin whose word is meant so: as the stem does, up to the few letters in which
    it may differ. Words that say the same are listed by their stems."""
    stems = (meant, *stems_of(meant))
    return tuple(dict.fromkeys("\n" + one[: max(len(one) - STEM_ENDS, 1)] for one in stems))


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
