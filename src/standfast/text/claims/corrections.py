"""Corrections: "no, it's Smyth", "not Berlin but Hamburg", "*Storm", "typo: Pixel".

A correction says only what is new. What it corrects is found in what the same person said before:
the last sentence in which the new words have a place. That sentence is said again with the new
words in it. Where no place is found, nothing is written over: the correction is kept as it was
said, and what it may be about is put in doubt.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import NamedTuple

from standfast.text.analysis import stem, words
from standfast.text.claims.clauses import reading
from standfast.text.claims.lessons import Lesson
from standfast.text.claims.places import placed
from standfast.text.normal import fold
from standfast.text.words import cues, languages, pattern, screened, word_set
from standfast.text.words.sieve import Screened

LOOK_BACK = 8
WORDS_MAX = 32
UNMARKED_WORDS_MAX = 10
BARE_WORDS_MAX = 5
LEAD_WORDS_MAX = 4
HEARD_WORDS = 3  # beside those of a nod: with fewer nothing is said

_TITLE = r"(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bSt)(?<!\bProf)"  # no end of a sentence
_SENTENCE = re.compile(rf"{_TITLE}[.!?;。！？；]+(?:\s+|\Z)|\n+|(?<=\w)\?\s")
_SEGMENT = re.compile(rf",\s+|，|\s[-–—]+\s|—|{_TITLE}[.!?;。！？；]+(?:\s+|\Z)|\n+|:\s+|：")
_DENIED = re.compile(r"(?:not|nicht|kein|pas|no|non|ni)\b", re.IGNORECASE)
_EDGES = " \t.,;:!?\"'()*~«»“”„。，！？、"


class Told(NamedTuple):
    """A sentence that the same person said before, what it taught, and in which message."""

    text: str
    lessons: tuple[Lesson, ...]
    message: str = ""


class Fix(NamedTuple):
    """New words, and the old ones if they are said. ``sure``: it is marked as a correction.
    ``name``: they are a name and nothing else."""

    new: str
    old: str = ""
    sure: bool = True
    name: bool = False


class Amendment(NamedTuple):
    """``text`` is the sentence said again, empty if the correction could not be placed;
    ``restated``: it was said again in full by the speaker."""

    text: str
    told: Told
    restated: bool = False


Reads = Callable[[str], Sequence[Lesson]]
NOBODY: Mapping[str, bool] = {}  # has read what was told together with it


def amendment_in(
    text: str,
    told: Sequence[Told],
    *,
    previous: str,
    read: Reads,
    asked: str = "",
    heard: str = "",
    read_so: Mapping[str, bool] = NOBODY,
) -> Amendment | None:
    """What a message corrects; None if it is no correction of anything that was told. Without a
    mark only what follows directly on the statement corrects it, and only in a few words.
    ``heard`` is what somebody else said just before, ``asked`` what they asked: that is answered
    first, and what was heard of what was told is meant before anything else. ``read_so``: by what
    was told, whether somebody who read both is sure that it is corrected, or that it is not."""
    if not told or len(text.split()) > WORDS_MAX or len(text) > 300:
        return None
    recent = list(reversed(told[-LOOK_BACK:]))
    if pattern("corrections.this_time").search(text):
        return None  # "make it 60 for tonight"
    if (asked and _answers(text, asked, recent)) or (heard and _replies(text, heard, recent)):
        return None
    if heard:
        recent.sort(key=lambda one: -_shared(heard, one.text))
    recent = [one for one in recent if read_so.get(one.text, True)]
    marked, rest = without_marks(text)
    just_said = [one for one in recent if one.message == previous]
    meant = [one for one in just_said if read_so.get(one.text)]
    if meant and not marked:
        return _read_as_correction(text, rest, meant, read)
    if (
        not marked
        and len(text.split()) > UNMARKED_WORDS_MAX
        and not _is_called(text)
        and not cues("corrections.hint").search(text)
    ):
        return None
    again = _said_again(rest, recent if marked else just_said, read, marked=marked)
    if again is not None:
        return again
    for fix in _fixes(text, rest, marked):
        if _DENIED.match(fix.new):
            continue  # what it is not is no value
        if just_said and _is_said(fix, just_said[0].text):
            return None
        # "My dog's name is Max, not Rex" is said whole: no words to put into another sentence.
        lessons = read(fix.new) if pattern("corrections.clause").match(fix.new) else ()
        for before in recent if fix.sure or fix.old else just_said:
            if lessons:
                if fold(fix.old) in fold(before.text) and _same_subject(lessons, before):
                    return Amendment(fix.new, before, restated=True)
                continue
            found = placed(before.text, fix.new, fix.old, sure=fix.sure, name=fix.name)
            if found and fold(found) != fold(before.text):
                return Amendment(found, before)
    return Amendment("", just_said[0]) if marked and just_said and len(rest) > 1 else None


def _read_as_correction(text: str, rest: str, meant: Sequence[Told], read: Reads) -> Amendment:
    """Somebody is sure that it corrects these. Words that have one place there are put in it; of
    all others nobody knows what they stand for."""
    again = _said_again(rest, meant, read, marked=True)
    if again is not None:
        return again
    for fix in _fixes(text, rest, True):
        if _DENIED.match(fix.new) or not (fix.old or _is_bare(fix.new)):
            continue
        for before in meant:
            found = placed(before.text, fix.new, fix.old, sure=False, name=True)
            if found and fold(found) != fold(before.text):
                return Amendment(found, before)
    return Amendment("", meant[0])


def _is_called(text: str) -> bool:
    """ "Slovenia! And I always mix those up": a value, called out before a comment."""
    first = text.partition("!")[0]
    return len(first.split()) <= 2 and len(first) < len(text) and _is_bare(first.strip(_EDGES))


def _answers(text: str, asked: str, recent: Sequence[Told]) -> bool:
    """ "Labrador" to "What breed is he?" is no other name for the dog, nor is "no, Labrador". What
    was told and is asked again ("Leeds?") may be mended by it, as by what surely is a correction.
    """
    if pattern("corrections.surely").match(text) or any(_repeats(asked, one) for one in recent):
        return False
    swapped = [fold(fix.old) for fix in _fixes(text, text, False) if fix.old.strip("?") == fix.old]
    return not any(old and old in fold(one.text) for old in swapped for one in recent)


def _replies(text: str, heard: str, recent: Sequence[Told]) -> bool:
    """ "Not Theo, his friend" to "So Theo has an allergy" corrects who said that, and so do a few
    words behind something that has nothing to do with what was told."""
    olds = [fold(fix.old) for fix in _fixes(text, text, False) if fix.old.strip("?") == fix.old]
    theirs = fold(heard)
    said = [old for old in olds if old and _is_word(old, theirs)]
    if said:
        return not any(
            _is_word(old, fold(one.text)) and _shared(heard, one.text, but=old)
            for old in said
            for one in recent
        )
    if any(_is_word(old, fold(one.text)) for old in olds if old for one in recent):
        return False
    strange = says_something(heard) and not any(_shared(heard, one.text) for one in recent)
    return strange and not pattern("corrections.surely").match(text)


def says_something(heard: str) -> bool:
    """Whether somebody did more than nod: "Nice, noted!"."""
    return len(_content(heard) - _nods()) >= HEARD_WORDS


@cache
def _nods() -> frozenset[str]:
    return frozenset(stem(word) for word in word_set("replies.nods"))


def _is_word(part: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(part)}(?!\w)", text) is not None


def _shared(heard: str, told: str, but: str = "") -> int:
    """How many words of what was told were heard again."""
    return len((_content(heard) & _content(told)) - _content(but))


@lru_cache(maxsize=200)  # what was heard is compared with each of what was told
def _content(text: str) -> frozenset[str]:
    plainly = _THOUSANDS.sub("", text) if "," in text else text
    return frozenset(map(stem, words(plainly))) - word_set("search.stop_words")


_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")


def _repeats(asked: str, told: Told) -> bool:
    """Whether a question has only words that were told."""
    ours, theirs = ({stem(word) for word in words(text)} for text in (asked, told.text))
    ours -= word_set("search.stop_words") | word_set("corrections.asks_again")
    return bool(ours) and ours <= theirs and not cues("corrections.asks_more").search(asked)


def _is_said(fix: Fix, before: str) -> bool:
    """ "Not Rome, Hamburg" behind "I moved to Hamburg": nothing is to be mended there."""
    old, new = fold(fix.old), fold(fix.new)
    return bool(old) and not old.startswith("?") and new in fold(before) and old not in fold(before)


@lru_cache(maxsize=200)
def without_marks(text: str) -> tuple[bool, str]:
    """Whether a text is marked as a correction, and its words without the marks."""
    rest, marked = text.strip(), False
    starred = re.match(
        r"\A\s*(?:\*\s?(?P<a>[^*\n]{1,80}?)(?=[.!?,]|\Z)|(?P<b>[^*\n]{1,60})\*)", rest
    )
    if starred:
        tail = rest[starred.end() :].lstrip("*")
        return True, f"{(starred['a'] or starred['b']).strip()}{tail}"
    for _ in range(5):
        found = pattern("corrections.mark").match(rest)
        if found is None or found.end() >= len(rest):
            break
        rest, marked = rest[found.end() :].lstrip(_EDGES), True
    if ":" in rest and (found := pattern("corrections.lead").match(rest)):
        rest, marked = rest[found.end() :].lstrip(_EDGES), True
    if marked and (said := _explained(rest)):
        rest = said
    if cues("corrections.trailing").search(rest):
        rest, marked = pattern("corrections.trailing").sub("", rest).strip(), True
    return marked, rest


def _explained(rest: str) -> str:
    """ "force of habit: they/them": the value behind a few words that say why; else ""."""
    why, colon, value = rest.partition(": ")
    few = len(why.split()) <= LEAD_WORDS_MAX and not pattern("corrections.clause").match(value)
    return value if colon and few and _is_bare(value.strip(_EDGES)) else ""


def without_strict_marks(text: str) -> tuple[bool, str]:
    """The same for a sentence among others, where only what is surely a mark counts."""
    marked = False
    for _ in range(3):
        found = pattern("corrections.strict").match(text)
        if found is None or found.end() >= len(text):
            break
        text, marked = text[found.end() :], True
    return marked, text


def _said_again(
    rest: str, recent: Sequence[Told], read: Reads, *, marked: bool
) -> Amendment | None:
    """ "I wear L" after "I wear size M": the same said again with another value."""
    parts = [rest, *_SENTENCE.split(rest)[1:], *(_SEGMENT.split(rest)[1:] if marked else ())]
    for part in parts:
        part = (part or "").strip(_EDGES)
        if not pattern("corrections.clause").match(part) or (
            not marked and part == rest.strip(_EDGES)
        ):
            continue
        lessons = read(part)
        for before in recent:
            if lessons and _same_frame(part, lessons, before):
                return Amendment(part, before, restated=True)
    return None


def _same_frame(part: str, lessons: Sequence[Lesson], before: Told) -> bool:
    slots = {(one.claim.subject, one.claim.slot) for one in lessons if one.claim}
    known = {(one.claim.subject, one.claim.slot) for one in before.lessons if one.claim}
    if slots & known:
        return True
    ours, theirs = ({stem(word) for word in words(text)} for text in (part, before.text))
    same = ours & theirs
    said = same - word_set("search.stop_words")  # "I'm coeliac" does not say "I'm Priya" again
    return bool(said) and len(same) >= 0.5 * min(len(ours), len(theirs))


def _same_subject(lessons: Sequence[Lesson], before: Told) -> bool:
    ours, theirs = (
        {one.claim.subject for one in some if one.claim} for some in (lessons, before.lessons)
    )
    return bool(ours & theirs) or not (ours and theirs)


@lru_cache(maxsize=200)  # asked what it answers, what it replies to, and what it corrects
def _fixes(text: str, rest: str, marked: bool) -> tuple[Fix, ...]:
    found = _fixes_in(_joined(text), _joined(rest), marked)
    return tuple(fix._replace(new=_parted(fix.new), old=_parted(fix.old)) for fix in found)


# "8:40", "1,200" and "3.5" are one word each: their marks end no part of a sentence.
_JOINTS = {".": "ꞏ", ":": "ː", ",": "ʼ"}
_JOINT = re.compile(r"(?<=\d)[.:,](?=\d)")
_PARTED = re.compile(r"(?<=\d)[ꞏːʼ](?=\d)")


def _joined(text: str) -> str:
    return _JOINT.sub(lambda found: _JOINTS[found[0]], text)


def _parted(text: str) -> str:
    return _PARTED.sub(lambda found: next(k for k, v in _JOINTS.items() if v == found[0]), text)


def _fixes_in(text: str, rest: str, marked: bool) -> Iterator[Fix]:
    whole = " ".join(rest.split())
    yield from _said_first(whole)
    sources = dict.fromkeys((whole, " ".join(text.split())))
    for form in _both_values():
        for source in sources:
            if found := form.search(source):
                groups = found.groupdict()
                new = next(
                    (groups[name] for name in ("new", "new2", "new3") if groups.get(name)), ""
                )
                old = next(
                    (groups[name] for name in ("old", "old2", "old3") if groups.get(name)), ""
                )
                yield from (Fix(one, _bare(old)) for one in _values(new) if _names(one))
    sentences = [part.strip() for part in _SENTENCE.split(rest) if part.strip(_EDGES)]
    sure = (
        marked
        or bool(cues("corrections.reason").search(rest))
        or bool(cues("corrections.spelled").search(rest))
    )
    for part in sentences:
        found = pattern("corrections.it_is").match(part)
        if found and not sure and _ADDS.match(part):
            continue  # "she's called Meena" says more of her
        if found is None and sure:
            found = pattern("corrections.i_am").match(part)
        if found:
            clause = part[found.end() :]
            yield from (Fix(one, sure=sure) for one in _values(clause) if _names(one))
    own = pattern("corrections.clause").match(rest) or _ADDS.match(rest)
    if sentences and (marked or not own):
        yield from _bare_fixes(sentences, rest, marked)


_ADDS = re.compile(
    r"(?:(?:s?he|they)(?:'s|'re| is| are)|s?hes|theyre) (?![\d])(?!(?:in|at|on|from) )\S+ \S",
    re.IGNORECASE,
)


def _said_first(whole: str) -> Iterator[Fix]:
    """ "Blackbird, not Bluebird, I'm tired": what comes behind is a comment."""
    for form in _ways("and_not"):
        found = form.match(whole)
        if found and _is_bare(found["new"]) and _names(found["new"]):
            yield from (Fix(one, _bare(found["old"])) for one in _values(found["new"]))


@cache
def _both_values() -> tuple[Screened, ...]:
    """The ways to say what is right and what was wrong."""
    ways = ("swap", "not_but", "said_meant", "wrong", "forget", "and_not")
    return tuple(form for way in ways for form in _ways(way))


@cache
def _ways(way: str) -> tuple[Screened, ...]:
    section = f"corrections.{way}"
    return tuple(screened(section, language) for language in languages(section))


def _bare_fixes(sentences: Sequence[str], rest: str, marked: bool) -> Iterator[Fix]:
    first = sentences[0]
    spelled = bool(
        cues("corrections.spelled").search(rest)
        or (len(sentences) > 1 and cues("corrections.reason").search(rest))
    )
    segments = [part.strip(_EDGES) for part in _SEGMENT.split(rest) if part and part.strip(_EDGES)]
    stated = bool(segments) and not marked and cues("corrections.finite").search(segments[0])
    behind = segments[1] if len(segments) > 1 else ""
    named = _names(behind.partition(" ")[0]) and not pattern("corrections.clause").match(behind)
    if named and len(segments[0].split()) <= BARE_WORDS_MAX and not stated:
        # "Delft - Leiden was my master's": the old value comes second, with what it is really.
        yield Fix(_bare(segments[0]), f"?{behind.split()[0]}", sure=marked)
    for value in _values(first):
        bare = _is_bare(value)
        if cues("corrections.finite").search(value) or _is_told_of_somebody(value):
            continue  # a statement of its own has no place in another
        if marked or spelled or bare:
            yield Fix(value, sure=(marked or spelled) and (bare or len(value.split()) <= 3))
        if bare and not marked and value[:1].isupper() and len(rest.split()) <= 2:
            yield Fix(value, sure=False, name=True)
    if marked:
        for part in sentences[1:]:
            yield from (Fix(one) for one in _values(part) if _is_bare(one))


def _is_told_of_somebody(value: str) -> bool:
    """ "Arjen lives in Rotterdam" is no other name for him."""
    found = _WHO_DID.match(value)
    return found is not None and bool(reading(found[1], "third", "past"))


_WHO_DID = re.compile(r"(?:[A-ZÀ-Ý][\w'.-]* ){1,3}([a-z]+) \S")


def _is_bare(value: str) -> bool:
    """Whether some words are a value and nothing else: no verb, no comment."""
    short = len(value.split()) <= BARE_WORDS_MAX
    return short and not pattern("corrections.not_bare").search(value)


def _values(text: str) -> list[str]:
    """The new words, without what is only said about them; the longer reading first."""
    text = screened("corrections.spelled").sub("", text)
    text = screened("corrections.comment").sub("", text)
    parts = [part for part in _SEGMENT.split(text) if part and part.strip(_EDGES)]
    if not parts:
        return []
    readings = [_bare(parts[0])]
    few = len(parts) > 1 and max(len(part.split()) for part in parts[:2]) <= 2
    if few and not parts[1][:1].islower():  # "Leeds, UK"; not "1.4, checked"
        readings.insert(0, _bare(text))
    return [one for one in dict.fromkeys(readings) if one and len(one.split()) <= 9]


def _names(value: str) -> bool:
    return bool(pattern("corrections.no_value").sub("", value).strip(_EDGES))


def _bare(text: str) -> str:
    text = text.strip(_EDGES)
    for _ in range(3):
        shorter = pattern("corrections.filler").sub("", text).strip(_EDGES)
        if shorter == text:
            break
        text = shorter
    return text


def as_correction(lessons: Sequence[Lesson], told: Told | None = None) -> list[Lesson]:
    """The lessons, marked as corrections of what is known."""
    texts = {lesson.text for lesson in lessons}
    known = told.lessons if told else ()
    amends = tuple(one.text for one in known if one.text not in texts)
    before = {one.text for one in known}
    return [
        replace(
            lesson,
            about=told.message if told else "",
            corrects=True,
            amends=amends,
            confidence=max(lesson.confidence, 0.9 if lesson.claim else 0.7),
            importance=max(lesson.importance, 0.8),
        )
        for lesson in lessons
        if lesson.text not in before
    ]


def as_doubt(lesson: Lesson, told: Told) -> Lesson:
    """A correction that found no place: what it may be about is in doubt."""
    doubts = tuple(one.text for one in told.lessons)
    return replace(lesson, about=told.message, doubts=doubts, confidence=0.5)
