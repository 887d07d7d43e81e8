"""Statements put into the third person: each word found in one sentence, or named as an edit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from standfast.text.dates import told_times
from standfast.text.expressions import later
from standfast.text.normal import one_line
from standfast.text.origin.words import SaidWord, left_out, readable, tokens
from standfast.text.words import meanings, word_set
from standfast.types import Message

ENGLISH = "en"  # the only language whose sentences are put into the third person
WORDS_MAX = 60
PRONOUN_WORDS_MAX = 6
SENTENCE_WORDS_MAX = 150  # of a message: nothing is made of a longer one
STEPS_MAX = 1000  # of the search in one sentence

_HAVING = later(r"\b(?:i|we) (?:just )?(?:have|own)(?: got)? an? ")
_NAMELESS = frozenset(("", "user", "human", "the user", "me"))


Clauses = tuple[tuple[int, int], ...]  # characters of a message


class Run(NamedTuple):
    """``words`` words of a text from the words ``first`` to ``last`` of a message, which is named
    by its number in the lineage (-1: none), by an ``edit`` ("": as they were said)."""

    edit: str
    words: int
    message: int = -1
    first: int = -1
    last: int = -1

    def __str__(self) -> str:
        place = f"{self.message}:{self.first}-{self.last}" if self.message >= 0 else ""
        return " ".join(filter(None, (f"{self.edit} {self.words}" if self.edit else "", place)))


def speaker_of(message: Message) -> str:
    """How a text names who said a message."""
    if message.role == "assistant":
        return "The assistant"
    name = one_line(message.author)[:60]
    return "The user" if name.casefold() in _NAMELESS else name


class _Step(NamedTuple):
    """A run, and the words of the sentence that it stands for."""

    run: Run
    places: range = range(0)


class TimeSpan(NamedTuple):
    """The words of a message that name a time, and the same time in absolute words. ``relative``:
    on another day they mean another one."""

    first: int
    last: int
    phrase: str
    written: str
    relative: bool


@lru_cache(maxsize=100)
def dates_in(message: Message, clauses: Clauses = ()) -> tuple[TimeSpan, ...]:
    """The times that a message names, read by itself, sentence by sentence and clause by clause:
    what stands around a date may say which one is meant."""
    said, plain = tokens(message.text), readable(message.text)
    found: dict[tuple[int, str], TimeSpan] = {}
    stretches = [*(_stretch(said, *one) for one in sentences(said)), *clauses]
    for begin, end in [(0, len(plain)), *stretches]:
        for span in told_times(plain[begin:end], message.at):
            start = plain.find(span.phrase, begin)
            stop = start + len(span.phrase)
            inside = [place for place, one in enumerate(said) if start <= one.start < stop]
            if inside:
                named = TimeSpan(
                    inside[0], inside[-1], span.phrase.strip(" .,"), span.written(), span.relative
                )
                found.setdefault((named.first, named.written), named)
    return tuple(found.values())


def _stretch(said: Sequence[SaidWord], first: int, stop: int) -> tuple[int, int]:
    return said[first].start, said[stop - 1].end


def sentences(said: Sequence[SaidWord]) -> Iterator[tuple[int, int]]:
    """The first word of each sentence, and the one behind its last."""
    start = 0
    for place, token in enumerate(said):
        if token.ends:
            yield start, place + 1
            start = place + 1


class Composition:
    """The search for the words of one statement in one message."""

    def __init__(
        self,
        text: str,
        messages: Sequence[Message],
        number: int,
        said: Sequence[SaidWord],
        clauses: Clauses = (),
    ) -> None:
        """``said``: the words of the message with this number; ``clauses``: where its clauses
        stand."""
        self._text = [one.word for one in tokens(text)]
        self._messages, self._number = messages, number
        self._said = said
        self._speaker = tuple(one.word for one in tokens(speaker_of(messages[number])))
        self._dates = [
            (one.first, one.last, tuple(token.word for token in tokens(one.written)))
            for one in dates_in(messages[number], clauses)
        ]
        self._dead: set[tuple[int, int]] = set()  # where the search cannot go on

    def runs(self) -> tuple[tuple[Run, ...], str]:
        """The runs of the text, or why there are none."""
        fault = "its words were not said in that order"
        if not 0 < len(self._text) <= WORDS_MAX:
            return (), fault
        for start, stop in sentences(self._said):
            if stop - start > SENTENCE_WORDS_MAX:
                continue
            self._dead.clear()
            steps = self._search(0, start - 1, start, stop)
            if steps is None:
                continue
            kept = [place for step in steps for place in step.places]
            fault = left_out(self._said, kept) if kept else fault
            if not fault:
                return tuple(step.run for step in steps), ""
        return (), fault

    def _search(self, at: int, last: int, start: int, stop: int) -> list[_Step] | None:
        """A way to find the text from ``at`` on behind the word ``last`` of the sentence; None if
        there is none."""
        if at == len(self._text):
            ends = last >= start and self._may_end(last)
            return [] if ends else None
        if (at, last) in self._dead or len(self._dead) > STEPS_MAX:
            return None
        for step in self._next(at, last, start, stop):
            place = step.places[-1] if step.places else last
            rest = self._search(at + step.run.words, place, start, stop)
            if rest is not None:
                return [step, *rest]
        self._dead.add((at, last))
        return None

    def _next(self, at: int, last: int, start: int, stop: int) -> Iterator[_Step]:
        for place in range(last + 1, stop):
            for run, end in self._matches(at, place):
                if self._may_skip(last, place, start):
                    yield _Step(run, range(place, end + 1))
        rest = tuple(self._text[at:])
        for first, end, written in self._dates:
            if start <= first < stop and rest == written:
                run = Run("date", len(rest), self._number, first, end)
                yield _Step(run)

    def _may_skip(self, last: int, place: int, start: int) -> bool:
        """Whether the words between two words may be left out: words that say nothing, what stands
        between two marks, and what a conjunction joins to the same subject."""
        said = self._said
        between = [one.word for one in said[last + 1 : place]]
        if last < start:
            return not between or said[place - 1].word not in word_set("origin.holders", ENGLISH)
        if not between or word_set("origin.fillers", ENGLISH).issuperset(between):
            return True
        return said[place - 1].closes or between[-1] in word_set("origin.lists", ENGLISH)

    def _may_end(self, last: int) -> bool:
        """Nothing that belongs to the last word is cut off."""
        said, fillers = self._said, word_set("origin.fillers", ENGLISH)
        if said[last].closes:
            return True
        if said[last].word in fillers | word_set("origin.joins", ENGLISH):
            return False
        behind = said[last + 1].word
        return behind in word_set("origin.joins", ENGLISH) or behind in fillers

    def _matches(self, at: int, place: int) -> Iterator[tuple[Run, int]]:
        """The ways in which the text goes on with what stands at a place of the message, and the
        last word of that."""
        said, wanted, number = self._said[place].word, self._text[at], self._number
        if said == wanted:
            yield Run("", 1, number, place, place), place
        elif _agrees(said, wanted):
            yield Run("tense", 1, number, place, place), place
        for form in self._third_person(said):
            if self._goes_on(at, form):
                yield Run("person", len(form), number, place, place), place
        for first, last, written in self._dates:
            for form in (written, written[1:]) if first == place else ():
                if form and self._goes_on(at, form):
                    yield Run("date", len(form), number, place, last), last
        if said in word_set("origin.pronouns", ENGLISH):
            own = said in word_set("origin.possessive", ENGLISH)
            for run in self._resolved(at, place, own=own):
                yield run, place

    def _goes_on(self, at: int, form: Sequence[str]) -> bool:
        return tuple(self._text[at : at + len(form)]) == tuple(form)

    def _third_person(self, said: str) -> Iterator[tuple[str, ...]]:
        """What a word in the first person becomes where somebody else tells it."""
        if form := meanings("origin.third_person", ENGLISH).get(said):
            own = form in word_set("origin.possessive", ENGLISH)
            yield (*self._speaker, "'s") if own else self._speaker
            yield (form,)
            if said == "our":
                yield ("the",)

    def _resolved(self, at: int, place: int, *, own: bool) -> Iterator[Run]:
        """Whom or what a pronoun means: words that the same person said before it, one behind the
        other, here or in an earlier message."""
        for count in range(min(PRONOUN_WORDS_MAX, len(self._text) - at), 0, -1):
            name = tuple(self._text[at : at + count])
            if (own and name[-1] != "'s") or name in (self._speaker, (*self._speaker, "'s")):
                continue
            for number, said in self._earlier(place):
                if found := self._named(name[:-1] if own else name, said):
                    yield Run("pronoun", count, number, found[0], found[-1])
                    break

    def _earlier(self, place: int) -> Iterator[tuple[int, Sequence[SaidWord]]]:
        yield self._number, self._said[:place]
        author = self._messages[self._number].author
        for number in range(self._number + 1, len(self._messages)):
            if self._messages[number].author == author:
                yield number, tokens(self._messages[number].text)

    def _named(self, name: tuple[str, ...], said: Sequence[SaidWord]) -> range:
        """Where somebody or something was named so."""
        listed = [
            (place, part)
            for place, one in enumerate(said)
            for part in next(iter(self._third_person(one.word)), (one.word,))
        ]
        for start in range(len(listed) - len(name) + 1) if name else ():
            part = listed[start : start + len(name)]
            if tuple(word for _, word in part) == name:
                return range(part[0][0], part[-1][0] + 1)
        return self._owned(name, [one.word for one in said])

    def _owned(self, name: tuple[str, ...], said: Sequence[str]) -> range:
        """ "I have a daughter" names the speaker's daughter."""
        own = (*self._speaker, "'s")
        thing = " ".join(name[len(own) :]) if name[: len(own)] == own else ""
        text = " ".join(said)
        for found in _HAVING.finditer(text) if thing else ():
            if f"{text} ".startswith(f"{thing} ", found.end()):
                first = text.count(" ", 0, found.end())
                return range(first, first + len(name) - len(own))
        return range(0)


def _agrees(said: str, wanted: str) -> bool:
    """The same verb with another person: "live" and "lives"."""
    if wanted in meanings("origin.agreement", ENGLISH).get(said, "").split():
        return True
    if not said.isascii() or len(said) < 2:
        return False
    third = said + "s"
    if said.endswith(("s", "x", "z", "ch", "sh", "o")):
        third = said + "es"
    elif said.endswith("y") and said[-2] not in "aeiou":
        third = said[:-1] + "ies"
    return wanted == third


def joined(runs: Sequence[Run]) -> tuple[Run, ...]:
    """Words that stand one behind the other as one run."""
    found: list[Run] = []
    for run in runs:
        before = found[-1] if found else None
        if (
            before
            and not run.edit
            and not before.edit
            and (run.message, run.first) == (before.message, before.last + 1)
        ):
            found[-1] = before._replace(words=before.words + run.words, last=run.last)
        else:
            found.append(run)
    return tuple(found)
