"""From messages to lessons: the gate, then the rules, sentence by sentence. And from one standalone
statement to its claim."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache, lru_cache
from itertools import takewhile
from typing import NamedTuple

from standfast.text.analysis import stem
from standfast.text.analysis import words as words_in
from standfast.text.claims.answers import (
    answered,
    any_question_in,
    is_fragment,
    question_in,
)
from standfast.text.claims.changes import change_in
from standfast.text.claims.clauses import Speaker, clause_in, expanded, without_opening
from standfast.text.claims.corrections import (
    LOOK_BACK,
    NOBODY,
    WORDS_MAX,
    Amendment,
    Told,
    amendment_in,
    as_correction,
    as_doubt,
    says_something,
    without_strict_marks,
)
from standfast.text.claims.events import OUTCOME, may_tell_outcome
from standfast.text.claims.foreign import foreign_findings, language_of, tells_of_past
from standfast.text.claims.gate import NO_WORDS, QUESTION, gate
from standfast.text.claims.keepsakes import (
    before_remark,
    continued,
    is_covered,
    kept,
    kept_as_said,
    parts_beside,
    parts_of,
    tiding,
)
from standfast.text.claims.lessons import KEPT, Claim, Extraction, Lesson
from standfast.text.claims.permanence import (
    may_be_news,
    may_last,
    spelled,
)
from standfast.text.claims.portraits import written_out
from standfast.text.claims.referents import referent_in
from standfast.text.claims.replies import (
    may_be_kept,
    of_whom,
    questions_in,
    reply_in,
)
from standfast.text.claims.requests import (
    decision_in,
    reason_in,
    remembered,
    remembered_as_said,
    request_in,
)
from standfast.text.claims.rewrite import framed
from standfast.text.claims.sentences import SENTENCE_CHARACTERS_MAX, Sentence, plain, sentences
from standfast.text.claims.slots import finding_in
from standfast.text.claims.statements import Utterance, english_lessons, entities_in, is_unreal
from standfast.text.claims.tellings import said_apart
from standfast.text.claims.voice import own_words
from standfast.text.dates import Span, told_times
from standfast.text.normal import one_line
from standfast.text.words import alternatives, pattern, word_set
from standfast.types import Message

LESSONS_A_MESSAGE_MAX = 12
CORRECTED_WORDS_MAX = 16
TIDING_SENTENCES_MAX = 4
HEARD_CHARACTERS = 1000  # of what somebody else said last
UNREAD_SENTENCES_MAX = 8
ASIDE_WORDS_MAX = 60
TOLD_MAX = 4  # statements that are read together with what may correct one of them
NOTHING = "nothing to learn"

_NAMELESS = frozenset(("user", "human", "the user", "me"))


class _Question(NamedTuple):
    """What a message asks: at its end, and anywhere; and what it says."""

    by: str = ""
    last: str = ""
    anywhere: str = ""
    message: str = ""
    heard: str = ""

    @property
    def all(self) -> str:
        return questions_in(self.heard)


_OWN = re.compile(r"\b(?:my|our) [a-z]", re.IGNORECASE)


def _question_of(message: Message) -> _Question:
    if message.role not in ("user", "assistant"):
        return _Question()
    by = message.author if message.role == "user" else f"\0{message.role}"
    last = question_in(message.text)
    anywhere = last or any_question_in(message.text)
    return _Question(by, last, anywhere, message.id, message.text[-HEARD_CHARACTERS:])


def _in_sentences(message: Message) -> Message:
    """What somebody tells of themselves in fragments, as the statements that they make."""
    if message.role != "user":
        return message
    written = written_out(message.text, _said(message).speaker.name)
    return message if written == message.text else replace(message, text=written)


class TurnReading:
    """Messages read one after the other: what each teaches, and what was told so far."""

    def __init__(self, earlier: Sequence[Message] = ()) -> None:
        """``earlier`` is what was said before them: nothing is learned from it again, but
        corrections may be about it."""
        self._told: dict[str, list[Told]] = {}
        self._last: dict[str, str] = {}  # the last message of each author
        self._lessons: list[Lesson] = []
        self._tidings: list[Lesson] = []
        self._unread: list[tuple[str, Lesson]] = []
        self._moments: list[Lesson] = []
        self._asides: list[Lesson] = []
        self._barred: list[tuple[str, str, Lesson]] = []
        self._skipped: dict[str, str] = {}
        self._read_so = NOBODY
        self._mentioned: dict[str, str] = {}  # by each author, last: something about theirs
        self._replies: set[str] = set()  # messages behind which somebody else had said something
        self._before = _Question()
        self._asked = _Question()  # by somebody else, just before the message that is read
        for said in map(_in_sentences, earlier[-LOOK_BACK:]):
            message = self._with_question(said)
            if message.role == "user" and self._is_heard(message):
                found = self._read(message)
                if message is said:
                    self._reply(message, found)

    def told_before(self, message: Message) -> list[str]:
        """What its author told last, which a short message may correct."""
        if message.role != "user" or len(message.text.split()) > WORDS_MAX:
            return []
        told = [one.text for one in self._told.get(message.author, ())]
        return list(dict.fromkeys(told[-TOLD_MAX:]))

    def read(self, said: Message, read_so: Mapping[str, bool] = NOBODY) -> None:
        """``read_so``: as ``amendment_in`` takes it."""
        self._read_so = read_so
        said = _in_sentences(said)
        message = self._with_question(said)
        reason = "" if self._is_heard(message) else gate(message).skip
        if not reason:
            found = self._lessons_of(message)
            if message is not said:  # the question has a part in what it says
                found = [replace(one, asked=(self._asked.message,)) for one in found]
            else:
                found += self._reply(message, found)
            self._lessons += found
            self._tell_besides(message, found, answers=message is said)
            reason = "" if found else NOTHING
        elif message.role == "user" and reason == QUESTION:
            self._asides += _aside(message)
            self._barred += _barred(message, (), ())
        if reason:
            self._skipped[message.id] = reason

    def _tell_besides(self, message: Message, found: Sequence[Lesson], *, answers: bool) -> None:
        """What else a message says. ``answers``: to a question that may have been asked."""
        asked = self._asked if answers else _Question()
        untaught = _untaught(message, found)
        tidings = _tidings(message, found)
        unread = _unread(untaught, message, asked)
        moments = [] if asked.last else _moments(untaught, _said(message))
        self._tidings += tidings
        self._unread += unread
        self._moments += moments
        if not (asked.last or found or tidings or unread or moments):
            self._asides += _aside(message)
        if not asked.last and not any(one.corrects for one in found):
            self._barred += _barred(message, found, [text for text, _ in unread])

    def _with_question(self, message: Message) -> Message:
        """A short answer as the statement that it makes; anything else as it was said."""
        before, self._before = self._before, _question_of(message)
        self._asked = _Question()
        if message.role == "user" and _OWN.search(message.text):
            self._mentioned[message.author] = message.text[-HEARD_CHARACTERS:]
        if message.role != "user" or before.by == self._before.by:
            return message
        self._asked = before
        if says_something(before.heard):
            self._replies.add(message.id)
        told = self._told.get(message.author)
        said = answered(before.last, message.text, told[-1].text if told else "")
        return replace(message, text=said) if said else message

    def _is_heard(self, message: Message) -> bool:
        """A number alone teaches nothing, unless it corrects one; nor does a question, unless
        something is told before it."""
        reason = gate(message).skip
        if reason == QUESTION and message.role == "user":
            return any(not one.question for one in said_apart(_own_text(message)))
        may_mean = self._told.get(message.author) or self._asked.all
        return not reason or (reason == NO_WORDS and bool(may_mean))

    def _reply(self, message: Message, found: Sequence[Lesson]) -> list[Lesson]:
        """A few words that answer a question about how things are, with the question. They may be
        corrected like a sentence."""
        questions = self._asked.all
        if not questions or any(one.corrects for one in found):
            return []
        said = _said(message)
        untaught = takewhile(
            lambda one: not _sentence_lessons(one, said),
            said_apart(_own_text(message)),
        )
        words = reply_in(questions, list(untaught))
        if not words:
            return []
        of = of_whom(questions, self._mentioned.get(message.author, ""))
        lesson = asked_and_said(words, questions, said, self._asked.message, of)
        told = self._told.setdefault(message.author, [])
        told[:] = [one for one in told if one.message != message.id or one.text not in words]
        told.append(Told(words, (lesson,), message.id))
        return [lesson]

    def _lessons_of(self, message: Message) -> list[Lesson]:
        if message.role == "assistant":
            return _reported(message)
        if message.role != "user":
            return []
        return _unique(self._read(message))[:LESSONS_A_MESSAGE_MAX]

    def _read(self, message: Message) -> list[Lesson]:
        told = self._told.setdefault(message.author, [])
        previous = self._last.get(message.author, "")
        lessons = _read(message, told, previous, self._asked, self._read_so)
        self._last[message.author] = message.id
        return lessons

    def _replying(self, lesson: Lesson) -> Lesson:
        if lesson.corrects or self._replies.isdisjoint(lesson.messages):
            return lesson
        return replace(lesson, replies=True)

    @property
    def found(self) -> Extraction:
        return Extraction(
            lessons=tuple(map(self._replying, self._lessons)),
            tidings=tuple(map(self._replying, self._tidings)),
            unread=tuple((text, self._replying(one)) for text, one in self._unread),
            moments=tuple(map(self._replying, self._moments)),
            asides=tuple(map(self._replying, self._asides)),
            barred=tuple((part, all_, self._replying(one)) for part, all_, one in self._barred),
            skipped=dict(self._skipped),
        )


def extract(messages: Sequence[Message], *, earlier: Sequence[Message] = ()) -> Extraction:
    """What the messages say that is worth keeping, all at once; see ``Reading``."""
    reading = TurnReading(earlier)
    for message in messages:
        reading.read(message)
    return reading.found


def _unique(lessons: Sequence[Lesson]) -> list[Lesson]:
    found: dict[str, Lesson] = {}
    # "The user's name is Ann" says more than "The user is Ann".
    named = {one.text.replace("'s name is ", " is ", 1) for one in lessons if "'s name" in one.text}
    for lesson in lessons:
        if not _SAYS_NOTHING.fullmatch(lesson.text) and lesson.text not in named:
            found.setdefault(lesson.text.casefold(), lesson)
    return list(found.values())


_SAYS_NOTHING = re.compile(r"(\w.{0,60}) is (?:called )?\1\.", re.IGNORECASE)  # "Mara is Mara."


def _said(message: Message) -> Utterance:
    return Utterance(_speaker(message.author), message.at, message.id)


@lru_cache(maxsize=200)
def _speaker(author: str) -> Speaker:
    name = one_line(author)[:60]
    return Speaker("" if name.casefold() in _NAMELESS else name)


def _own_text(message: Message) -> str:
    """What a person said in a message in their own words; "" if nobody did."""
    return plain(own_words(message.text)) if message.role == "user" else ""


def _read(
    message: Message,
    told: list[Told],
    previous: str,
    question: _Question,
    read_so: Mapping[str, bool],
) -> list[Lesson]:
    """The lessons of one user's message; each sentence joins what they told before."""
    own = own_words(message.text)
    text = plain(own)
    if _whole_task().match(text):
        return []
    said = _said(message)
    lessons: list[Lesson] = _introduction(text, said)
    amendment = amendment_in(
        plain(own, marked=True) if told and _LISTED.match(own) else text,
        told,
        previous=previous,
        read=lambda part: _stated(Sentence(part, False, False), said),
        asked=question.anywhere,
        heard=question.heard,
        read_so=read_so,
    )
    if amendment is not None:
        found = _amended(amendment, text, said)
        told.append(Told(amendment.text or amendment.told.text, tuple(found), message.id))
        return [*lessons, *found]
    before, last = "", []
    for sentence in said_apart(text):
        found = _sentence_lessons(sentence, said)
        if not found and before and (found := continued(before, sentence, said)):
            lessons = [one for one in lessons if one not in last or not _is_only_kept(one)]
        named = not sentence.question or referent_in(sentence.text)
        before, last = sentence.text if named else "", found
        lessons += found
        if found or _may_be_corrected(sentence):
            lasting = found or _unread_lessons(
                sentence, said
            )  # which may be learned by its meaning
            told.append(Told(sentence.text, tuple(lasting), message.id))
    return lessons


def _is_only_kept(lesson: Lesson) -> bool:
    """Whether a lesson is worth nothing beside another that has all its words."""
    return KEPT in lesson.tags and lesson.claim is None and not change_in(lesson.text).kind


_LISTED = re.compile(r"(?=.*\*)|\s*\d{1,4}[.)]\s", re.DOTALL)  # a value, and no list: "43. Sorry."


def _tidings(message: Message, found: Sequence[Lesson]) -> list[Lesson]:
    """What a message says beside its lessons and may change something: all of it at once where
    it taught nothing, so that "it" is told."""
    text = _own_text(message)
    if not text or _whole_task().match(text):
        return []
    apart = said_apart(text)
    told = [one for one in apart if not one.question]
    if len(told) > TIDING_SENTENCES_MAX:
        return []
    said = _said(message)
    stated = text if len(told) == len(apart) else ". ".join(one.text for one in told)
    whole = "" if found else stated.strip(" .!")
    parts = [whole] if whole else [one.text for one in told if _tells_more(one.text, found)]
    return [lesson for part in parts if (lesson := tiding(part, said))]


def _untaught(message: Message, found: Sequence[Lesson]) -> list[Sentence]:
    """The sentences of a person's message that no rule reads, and parts of the others."""
    text = _own_text(message)
    if not text or _whole_task().match(text) or any(one.corrects for one in found):
        return []
    told = said_apart(text)
    if len(told) > UNREAD_SENTENCES_MAX:
        return []
    said = _said(message)
    untaught: list[Sentence] = []
    for one in told:
        lessons = _sentence_lessons(one, said)
        untaught += parts_beside(one, lessons, said) if lessons else [one]
    return [
        one
        for one in untaught
        if not _is_within(one.text, found) and not _CORRECTED.fullmatch(one.text)
    ]


_CORRECTED = re.compile(r"not \w+(?: \w+)?, \w+(?: \w+)?", re.IGNORECASE)  # what was right before


def _unread(
    untaught: Sequence[Sentence], message: Message, question: _Question
) -> list[tuple[str, Lesson]]:
    """As they were said; a few words that answer a question with it, which alone says what they
    mean."""
    said, asked = _said(message), question.last
    unread = [
        (one.text, lesson)
        for one in untaught
        for lesson in _unread_lessons(one, said, answers=bool(asked))
    ]
    if not asked or not unread:
        return unread
    words = unread[0][0]
    first = said_apart(_own_text(message))[0].text
    if words == first and is_fragment(words):
        answer = asked_and_said(words, asked, said, question.message)
        unread[:1] = [(f"{asked} {words}", answer)] if may_be_kept(asked) else []
    return unread


def asked_and_said(words: str, asked: str, said: Utterance, message: str, of: str = "") -> Lesson:
    """A few words that only say something with their question, asked in another message, perhaps
    of somebody whom the speaker had told of."""
    lesson, plainly = kept_as_said(words, said), asked.replace('"', "'")
    whom = f" of {said.speaker.written}'s {of}" if of else ""
    whom = whom.replace(" of The user", " of the user")
    return replace(lesson, text=f'{lesson.text} (asked{whom}: "{plainly}")', asked=(message,))


def _moments(untaught: Sequence[Sentence], said: Utterance) -> list[Lesson]:
    return [
        kept_as_said(one.text, said)
        for one in untaught
        if not one.question
        and not is_unreal(one.text)
        and may_be_news(one.text)
        and not may_last(one.text)
    ]


def _aside(message: Message) -> list[Lesson]:
    """All of a short message, where it is a person's own and no task to do with a text."""
    text = _own_text(message).strip()
    if not text or _whole_task().match(text) or len(text.split()) > ASIDE_WORDS_MAX:
        return []
    return [] if language_of(text) else [kept_as_said(text, _said(message))]


def _barred(
    message: Message, found: Sequence[Lesson], unread: Sequence[str]
) -> list[tuple[str, str, Lesson]]:
    """What a message tells of its speaker in parts that some rule takes for a question, a task, or
    something that passes: "As I'm colour-blind could you describe this?" """
    text = _own_text(message)
    said, told = _said(message), said_apart(text)
    if len(told) > UNREAD_SENTENCES_MAX or language_of(text):
        return []
    parts = [(part, one.text) for one in told for part in _told_parts(one)]
    known = {stem(word) for lesson in found for word in words_in(lesson.text)}
    return [
        (part, whole, kept_as_said(part, said))
        for part, whole in parts
        if _OF_SELF.search(part)
        and not is_unreal(part)
        and PART_WORDS_MIN <= len(part.split()) <= CORRECTED_WORDS_MAX
        and not any(part in one for one in unread)
        and not is_covered(part, known, said.at)
    ]


def _told_parts(sentence: Sentence) -> list[str]:
    """The parts of a sentence that do not ask."""
    parts = parts_of(sentence.text)
    told = parts[:-1] if sentence.question else parts
    return [
        part
        for part in told
        if not _ASKING.match(part) and not pattern("lasting.asks").match(spelled(part))
    ]


_ASKING = re.compile(
    r"(?:(?:and|so|but|ok|hey|hi|now|btw)[, ]+)*(?:any|do|does|did|is|are|am|was|should|shall|can"
    r"|could|would|will|may|might|what|how|where|when|why|which|who|whose|whats|hows)\b",
    re.IGNORECASE,
)


_OF_SELF = re.compile(r"\b(?:I|I'm|I've|I'd|my|we|we're|we've|our|im|ive)\b", re.IGNORECASE)
PART_WORDS_MIN = 3


def _is_within(text: str, found: Sequence[Lesson]) -> bool:
    """Whether a lesson has all of it already, and it tells no change by itself."""
    told = text.casefold()
    return not change_in(text).kind and any(told in one.text.casefold() for one in found)


def _unread_lessons(sentence: Sentence, said: Utterance, *, answers: bool = False) -> list[Lesson]:
    """The lesson of a sentence that no rule reads, if nothing in it says that it passes."""
    if (
        sentence.question
        or is_unreal(sentence.text)
        or not may_last(sentence.text, answers=answers)
    ):
        return []
    return [kept_as_said(sentence.text, said)]


def _tells_more(text: str, found: Sequence[Lesson]) -> bool:
    """Whether a part of a sentence tells a change, and no lesson has its words."""
    known = {stem(word) for lesson in found for word in words_in(lesson.text)}
    small = word_set("search.stop_words")
    for part in pattern("statements.joined_verbs").split(text):
        new = [word for word in words_in(part) if word not in small and stem(word) not in known]
        if new and change_in(part).kind and len(new) * 2 >= len(set(words_in(part)) - small):
            return True
    return False


def _may_be_corrected(sentence: Sentence) -> bool:
    """Whether something is stated that may be said again with another value, though nothing was
    learned from it."""
    few = 2 <= len(sentence.text.split()) <= CORRECTED_WORDS_MAX or not sentence.text.isascii()
    return not sentence.question and few and not is_unreal(sentence.text)


def _amended(amendment: Amendment, text: str, said: Utterance) -> list[Lesson]:
    """The sentence said again with what is right; or the correction as it was said, and what it
    may be about in doubt."""
    if not amendment.text:
        return [as_doubt(kept_as_said(text, said), amendment.told)]
    again = Sentence(amendment.text.strip(" .!"), False, False)
    found = _stated(again, said) or [kept_as_said(again.text, said)]
    return as_correction(found, amendment.told)


@cache
def _whole_task() -> re.Pattern[str]:
    """ "Translate this: ..." What follows is nobody's statement."""
    polite, tasks = alternatives("requests.polite"), alternatives("requests.text_tasks")
    return re.compile(rf"\s*(?:(?:{polite}) )?(?:{tasks})\b[^.\n]{{0,60}}[:\n]", re.IGNORECASE)


def _introduction(text: str, said: Utterance) -> list[Lesson]:
    """ "Hi, I'm Ann": a name where no author is known."""
    found = pattern("requests.introduction").match(text)
    if found is None or said.speaker.name:
        return []
    sentence = Sentence(f"My name is {found[1]}", False, False)
    return english_lessons(sentence, said)


def _sentence_lessons(sentence: Sentence, said: Utterance) -> list[Lesson]:
    if sentence.question:
        return []
    content = remembered(sentence.text)
    if content:
        return _remembered(content, said)
    marked, rest = without_strict_marks(sentence.text)
    if marked:
        return as_correction(_stated(sentence._replace(text=rest), said))
    return _stated(sentence, said)


def _remembered(content: str, said: Utterance) -> list[Lesson]:
    stated = _stated(Sentence(content, False, False), said)
    found = [lesson for lesson in stated if KEPT not in lesson.tags]
    if not found:
        return [remembered_as_said(content, said)]
    return [replace(lesson, confidence=0.95, importance=0.9) for lesson in found]


def _stated(sentence: Sentence, said: Utterance) -> list[Lesson]:
    return list(_stated_once(sentence, said, str(said.at)))


@lru_cache(maxsize=500)
def _stated_once(sentence: Sentence, said: Utterance, _at: str) -> Sequence[Lesson]:
    """A sentence is read when it is said and again before the ones after it. Equal moments of
    two zones are of two days."""
    request = request_in(sentence, said)
    if request is not None:
        reason = sentence._replace(text=reason_in(sentence.text))
        found = english_lessons(reason, said) if reason.text else []
        return [request, *(one for one in found if KEPT not in one.tags)]
    language = language_of(sentence.text)
    decision = decision_in(sentence, said)
    if decision is not None:
        return [decision]
    found = _foreign(sentence, said) if language else english_lessons(sentence, said)
    read = [*found, *kept(sentence, said, found)]
    if read or language:
        return read
    head = before_remark(sentence.text)
    return _stated_once(sentence._replace(text=head), said, _at) if head else []


def _foreign(sentence: Sentence, said: Utterance) -> list[Lesson]:
    lessons = []
    for finding, words in foreign_findings(sentence.text, said.speaker):
        spans = told_times(words, said.at)
        since = [span.start for span in spans if span.relation in ("since", "")]
        text = framed(words, said.speaker, spans)
        dated = since and finding.topic not in ("birthday", "likes", "age")
        lessons.append(
            Lesson(
                text=text,
                messages=(said.message,),
                type=finding.type,
                claim=finding.claim,
                confidence=0.8,
                importance=finding.importance,
                tags=(finding.topic,),
                entities=entities_in(words, None, said.speaker),
                valid_from=since[0] if dated else None,
                changed_by=_changed_by(spans, said) if dated else None,
            )
        )
    return lessons or _foreign_event(sentence, said)


def _changed_by(spans: Sequence[Span], said: Utterance) -> datetime:
    """ "Seit März" holds while it is told; "letzten Monat" had come by its end."""
    first = next(span for span in spans if span.relation in ("since", ""))
    return said.at if first.relation == "since" else min(first.end, said.at)


def _foreign_event(sentence: Sentence, said: Utterance) -> list[Lesson]:
    """What the speaker did on a day, in their own words."""
    spans = [span for span in told_times(sentence.text, said.at) if not span.relation]
    if len(spans) != 1 or spans[0].start > said.at or not tells_of_past(sentence.text):
        return []
    return [
        Lesson(
            text=framed(sentence.text, said.speaker, spans),
            messages=(said.message,),
            confidence=0.65,
            importance=0.5,
            tags=("event",),
            entities=entities_in(sentence.text, None, said.speaker),
            valid_from=spans[0].start,
            changed_by=said.at,
        )
    ]


def _reported(message: Message) -> list[Lesson]:
    """An assistant's outcomes and decisions; never anything about a person."""
    said = Utterance(Speaker("the assistant"), message.at, message.id)
    lessons: list[Lesson] = []
    text = plain(message.text)
    for sentence in sentences(text) if may_tell_outcome(text) else ():
        for lesson in english_lessons(sentence, said):
            if lesson.tags == (OUTCOME,):
                lessons.append(replace(lesson, confidence=0.4, importance=0.4, entities=()))
    return lessons[:3]


_FRAMED = re.compile(
    r"(?P<who>[^\n\":]{1,80}?) (?:said|asks|asked to remember): \"(?P<said>[^\"]+)\""
)


def claim_in(text: str, *, speaker: str = "") -> Claim | None:
    """The claim that a statement makes, said by ``speaker``; None if no rule reads it, or if the
    text says more than one sentence can. "The user" is the speaker without a name."""
    return _read_once(text, speaker) if len(text) <= SENTENCE_CHARACTERS_MAX else None


@lru_cache(maxsize=2000)
def _read_once(text: str, speaker: str) -> Claim | None:
    """A new text is compared with many known ones, again and again the same."""
    text = plain(text)
    if framed := _FRAMED.match(text):
        who = framed["who"]
        speaker, text = ("" if who == "The user" else who), framed["said"]
    found = sentences(text)
    if len(found) != 1 or found[0].question or is_unreal(found[0].text):
        return None
    return _claim(found[0].text, Speaker(speaker))


def _claim(words: str, speaker: Speaker) -> Claim | None:
    clause = clause_in(without_opening(expanded(words)), speaker, loose=True)
    finding = finding_in(clause) if clause is not None else None
    if finding is None:
        finding = next((finding for finding, _ in foreign_findings(words, speaker)), None)
    return None if finding is None else finding.claim
