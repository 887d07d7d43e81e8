"""Origin of a learned text: for every word a message and a position, or one named edit. Pure.

A stored statement says what somebody said, not what could be put together from it. Its words stand
in one sentence of one message, in that order; what differs is an edit of a closed list: person,
tense, a resolved pronoun, words of the question that it answers, a resolved date, and the frame
that names the speaker. A quotation stands in one message as it was said. What denies, supposes or
weakens a clause stays with it. A text that breaks any of this has a ``fault``, and its message is
kept as it was said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from standfast.text.expressions import later
from standfast.text.normal import one_line
from standfast.text.origin.composition import (
    Clauses,
    Composition,
    Run,
    TimeSpan,
    dates_in,
    joined,
    sentences,
    speaker_of,
)
from standfast.text.origin.words import (
    SaidWord,
    left_out,
    places,
    readable,
    tokens,
    with_clause_ends,
)
from standfast.types import Message
from standfast.types.frozen import frozen

MISQUOTED = "it quotes what nobody said"
WHOLE_MAX = 300  # characters of one line: of a longer message the sentence is kept whole

_FRAME = later(
    r'(?P<who>[^":\n]{1,80}?)(?:, asked "(?P<asked>[^"]*)",?)?(?: asks)?: "(?P<said>.*?)"'
    r'(?P<dates> \([^"]*\))?',
    re.DOTALL,
)
_HELP = later(r" ?\[(?P<subject>[^\[\]]{1,160})\] ?")
_DATE_NOTE = later(r"(?P<phrase>[^;]+): (?P<date>[^:;]+)")
_QUOTATION = later(r'"([^"]+)"')
_MARKS = "%°+#*'.!?…。！？€$£¥"  # may belong to the word before them


@frozen
class Origin:
    """Where the words of a text come from; or a ``fault``, and then nothing else."""

    runs: tuple[Run, ...] = ()
    fault: str = ""

    def as_data(self) -> list[str]:
        """How a record's ``data`` carries it."""
        return [str(run) for run in self.runs]


def trace(
    text: str,
    cited: Sequence[Message],
    asked: Sequence[Message] = (),
    before: Sequence[Message] = (),
    *,
    clauses: Clauses = (),
) -> Origin:
    """Where the words of a text come from. ``cited`` are the messages that say it, ``asked`` those
    whose question they answer, ``before`` what was said earlier, which may name whom a pronoun
    means. Messages count in the order ``asked``, ``cited``. ``clauses``: where a reader says that
    the clauses of the cited message stand."""
    messages = (*asked, *cited, *before)
    framed = _FRAME.fullmatch(text)
    found = Origin(fault="no message says it")
    for number in range(len(asked), len(asked) + len(cited)):
        said = with_clause_ends(tokens(messages[number].text), (end for _, end in clauses))
        if framed is None:
            found = _composed(text, messages, number, said, clauses)
        else:
            found = _framed(framed, messages, number, len(asked), said, clauses)
        if not found.fault:
            break
    return found


def _composed(
    text: str,
    messages: Sequence[Message],
    number: int,
    words_said: Sequence[SaidWord],
    clauses: Clauses,
) -> Origin:
    if any(
        next(places(part, messages[number].text), None) is None for part in _QUOTATION.findall(text)
    ):
        return Origin(fault=MISQUOTED)
    runs, fault = Composition(text, messages, number, words_said, clauses).runs()
    return Origin(fault=fault) if fault else Origin(runs=joined(runs))


def _framed(
    framed: re.Match[str],
    messages: Sequence[Message],
    number: int,
    asked: int,
    words_said: Sequence[SaidWord],
    clauses: Clauses,
) -> Origin:
    """A quotation with who said it, the question that it answers, help in brackets, and the dates
    that it means."""
    message = messages[number]
    if framed["who"] != speaker_of(message):
        return Origin(fault="it names another speaker")
    parts = _HELP.split(framed["said"])
    if next(places(framed["said"], message.text), None) is not None:
        parts = [framed["said"]]  # the brackets are the speaker's own
    fault = MISQUOTED
    for place in places(" ".join(parts[::2]), message.text):
        fault = left_out(words_said, place)
        if not fault:
            break
    if fault:
        return Origin(fault=fault)
    runs = [
        *_head(framed, messages, asked),
        *_quotation(parts, place, messages, number, asked),
        *_notes(framed, messages, number, clauses),
    ]
    whole = [one for one in runs if one is not None]
    lacks = len(whole) < len(runs)
    return Origin(fault="its note says what nobody said") if lacks else Origin(runs=tuple(whole))


def _head(framed: re.Match[str], messages: Sequence[Message], asked: int) -> Iterator[Run | None]:
    """What stands before the quotation. None where nobody said it."""
    start, text = 0, framed.string
    if framed["asked"]:
        yield Run("frame", len(tokens(text[: framed.start("asked")])))
        yield _found(framed["asked"], messages, range(asked), "question")
        start = framed.end("asked")
    if count := len(tokens(text[start : framed.start("said")])):
        yield Run("frame", count)


def _quotation(
    parts: Sequence[str], place: range, messages: Sequence[Message], number: int, asked: int
) -> Iterator[Run | None]:
    """The words that were said, and between them the help."""
    first = place[0]
    for at, part in enumerate(parts):
        if at % 2:
            yield _found(part, messages, [number, *range(asked)], "pronoun")
        elif count := len(tokens(part)):
            yield Run("", count, number, first, first + count - 1)
            first += count


def _notes(
    framed: re.Match[str], messages: Sequence[Message], number: int, clauses: Clauses
) -> Iterator[Run | None]:
    for note in _DATE_NOTE.finditer((framed["dates"] or "").strip(" ()")):
        date = next(filter(_says(note), dates_in(messages[number], clauses)), None)
        count = len(tokens(note[0]))
        yield date and Run("date", count, number, date.first, date.last)


def _says(note: re.Match[str]) -> Callable[[TimeSpan], bool]:
    phrase = readable(note["phrase"]).strip(" .,").casefold()
    return lambda span: span.phrase.casefold() == phrase and span.written.endswith(note["date"])


def _found(
    words: str, messages: Sequence[Message], numbers: Iterable[int], edit: str
) -> Run | None:
    """Where one of these messages has the words."""
    for number in numbers:
        for place in places(words, messages[number].text):
            return Run(edit, len(place), number, place[0], place[-1])
    return None


def paraphrase(text: str, cited: Sequence[Message]) -> Origin:
    """The origin of a text by a writer that may put statements into its own words, a language
    model: what it quotes was said so."""
    for quoted in _QUOTATION.findall(readable(text)):
        said = (next(places(quoted, one.text), None) for one in cited)
        if len(tokens(quoted)) > 1 and not any(said):
            return Origin(fault=MISQUOTED)
    return Origin(runs=(Run("paraphrase", len(tokens(text))),))


def as_said(message: Message, text: str) -> str:
    """The message that a text was to be made of, in its speaker's words, with the dates that it
    means; of a long one the sentence that has the most words of the text."""
    quoted = _quoted(_as_far(readable(message.text).strip(), text))
    if not tokens(quoted):
        return ""
    return f'{speaker_of(message)}: "{quoted}"{_dated(replace(message, text=quoted))}'


def _as_far(whole: str, wanted: str) -> str:
    """A text, or the sentence of a long one that has the most words of another text."""
    short = len(whole) <= WHOLE_MAX and "\n" not in whole
    return whole if short else _nearest(whole, wanted)


def as_quoted(text: str, messages: Sequence[Message]) -> str:
    """The text with its quotation exactly as one of the messages has it: its case, and the marks
    at its end."""
    framed = _FRAME.fullmatch(text)
    words = tokens(framed["said"]) if framed else ()
    if framed is None or not words:
        return text
    for message in messages:
        plain, said = readable(message.text), tokens(message.text)
        for place in places(framed["said"], message.text):
            begin, end = said[place[0]].start, said[place[-1]].end
            lead = framed["said"][: words[0].start]
            begin -= len(lead) if plain[:begin].endswith(lead) else 0
            while end < len(plain) and plain[end] in _MARKS:
                end += 1
            exact = _quoted(plain[begin:end])
            return text[: framed.start("said")] + exact + text[framed.end("said") :]
    return text


def _quoted(text: str) -> str:
    return one_line(text).replace('"', "'")


def _nearest(text: str, wanted: str) -> str:
    """The sentence that has the most words of another text; of equals the last."""
    said, words = tokens(text), {one.word for one in tokens(wanted)}
    if not said:
        return ""
    first, stop = max(
        sentences(said),
        key=lambda one: (len(words & {token.word for token in said[one[0] : one[1]]}), one[0]),
    )
    end = said[stop].start if stop < len(said) else len(text)
    return text[said[first].start : end].strip()


def _dated(message: Message) -> str:
    notes = [
        f"{one.phrase}: {one.written.removeprefix('on ').removeprefix('in ')}"
        for one in dates_in(message)
        if one.relative
    ]
    return f" ({'; '.join(dict.fromkeys(notes))})" if notes else ""
