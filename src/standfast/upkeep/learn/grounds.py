"""Does a sentence that a model wrote say only what its messages say? Pure.

Every name and every number must be found in them, and at least half of the other words that
mean something: a model may put a statement into other words, but it may not bring facts along.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cache

from standfast.text.analysis import is_stop_word, terms, words
from standfast.text.compare.parts import TextParts, canonical, read
from standfast.text.dates import time_spans
from standfast.text.normal import fold
from standfast.types import Message
from standfast.types.frozen import frozen

WORDS_FOUND_MIN = 0.5
CLAUSES_CHARACTERS_MAX = 20_000

# How a speaker without a name is called in some languages, and the words that reports begin with.
_FRAME = frozenset(
    """user nutzer nutzerin benutzer benutzerin anwender utilisateur utilisatrice usuario usuaria
    utente gebruiker anvandare kullanici пользователь користувач assistant agent says said wants
    want would prefers prefer likes like has have named called currently about person""".split()
)
_DENSE_FRAME = re.compile("用户|用戶|使用者|ユーザー|利用者|사용자(?:는|가|의)?|ผู้ใช้")
_NEGATIVE = frozenset(
    """dislike dislikes disliked hate hates hated avoid avoids avoided refuse refuses refused stop
    stops stopped quit quits without lack lacks lacked against away absent off former formerly
    allergic except only instead until gave left""".split()
)
_CLAUSE = re.compile(r"[.!?,;:。！？，；]+(?=\s|$|[^\x00-\x7f])|\n+|\bbut\b")


@frozen
class Ground:
    """What may be said: the words of messages, and names and numbers of what they lean on."""

    said: frozenset[str]  # words of the messages alone, in one form for all inflections
    said_text: str
    speakers: frozenset[str]
    words: frozenset[str]
    text: str
    numbers: frozenset[str]
    dates: frozenset[str]


def ground_of(messages: Sequence[Message], known: Iterable[str] = ()) -> Ground:
    """The words of messages and of those who said them. ``known`` texts lend names, numbers and
    dates; what is said must be in the messages all the same."""
    said = "\n".join(message.text for message in messages)
    text = "\n".join([said, *known])
    speakers = _stems("\n".join(message.author for message in messages))
    reading = read(text)
    calendar = read(" ".join(_calendar(messages)))
    return Ground(
        said=_stems(said),
        said_text=fold(said),
        speakers=speakers,
        words=_stems(text) | speakers,
        text=fold(text),
        numbers=reading.numbers | calendar.numbers,
        dates=reading.dates | calendar.dates,
    )


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(canonical, words(text)))


def _calendar(messages: Iterable[Message]) -> Iterable[str]:
    """Days that the messages speak of, the day they were said among them, written out."""
    for message in messages:
        yield _written(message.at)
        for span in time_spans(message.text, message.at):
            yield _written(span.start)
            yield _written(span.end)


def _written(day: datetime) -> str:
    return f"{day:%A}, {day.day} {day:%B} {day.year}; {day.month} {day.hour} {day.minute};"


def ungrounded(text: str, ground: Ground) -> str:
    """Why the text says more than its ground; "" if it does not."""
    reading = read(text)
    for what, missing in (
        ("number", reading.numbers - ground.numbers - {"one"}),
        ("date", reading.dates - ground.dates),
        ("name", _foreign_names(text, reading.names - reading.dates, ground)),
        ("name", {name for name in reading.identifiers if name not in ground.text}),
    ):
        if missing:
            return f"the messages do not say the {what} {min(missing)!r}"
    plain, dense = _words_of(text, ground.speakers | reading.dates)
    for pieces, found in (
        (plain, [word for word in plain if word.isdigit() or canonical(word) in ground.said]),
        (dense, [pair for pair in dense if pair in ground.said_text]),
    ):
        if len(found) < WORDS_FOUND_MIN * len(pieces):
            return f"only {len(found)} of its {len(pieces)} words are in the messages"
    return "" if plain or dense else "it says nothing"


def _foreign_names(text: str, names: Iterable[str], ground: Ground) -> set[str]:
    """Of names, the first word of the text too: "Bob lives here" begins with one."""
    first = next(iter(words(text)), "")
    named = set(names)
    if text[:1].isupper() and not is_stop_word(first):
        named.add(canonical(first))
    return {name for name in named if name not in ground.words and name not in _frame()}


@cache
def _frame() -> frozenset[str]:
    return frozenset(map(canonical, _FRAME))


def _words_of(text: str, but: frozenset[str]) -> tuple[list[str], list[str]]:
    """The words that say something about somebody; of scripts without blanks all pairs of
    characters."""
    counted = [
        word
        for word in words(_DENSE_FRAME.sub(" ", text))
        if not is_stop_word(word) and word not in _FRAME
        if word not in but and canonical(word) not in but
    ]
    dense = {word for word in counted if not word.isascii() and len(terms(word)) > 1}
    pairs = [pair for word in counted if word in dense for pair in terms(word) if len(pair) > 1]
    return [word for word in counted if word not in dense], pairs


def turned_round(text: str, messages: Iterable[Message]) -> str:
    """Why a text says the opposite of the clauses it was taken from; "" if it does not."""
    fact = read(text)
    turned = ""
    for clause in _clauses(messages):
        said = read(clause)
        if not _overlap(fact, said):
            continue
        if not (_denies(said, fact) or _denies(fact, said)):
            return ""
        turned = "its message says the opposite"
    return turned


def _overlap(fact: TextParts, said: TextParts) -> bool:
    """Is half of the fact in it?"""
    pieces = {*fact.content, *_pairs(fact.dense)}
    return len(pieces & {*said.content, *_pairs(said.dense)}) * 2 >= len(pieces)


def _pairs(dense: str) -> Iterable[str]:
    return (dense[index : index + 2] for index in range(len(dense) - 1))


def _denies(one: TextParts, other: TextParts) -> bool:
    """Does one deny what the other says plainly? "I dislike it" is not plain."""
    if not one.negated or other.negated or other.word_set & _NEGATIVE:
        return False
    return bool(other.dense) or not set(one.negated).isdisjoint(other.content)


def _clauses(messages: Iterable[Message]) -> Iterable[str]:
    for message in messages:
        yield from filter(str.strip, _CLAUSE.split(message.text[:CLAUSES_CHARACTERS_MAX]))


# Of a text that names no messages

NEAREST_MAX = 4


def nearest_to(text: str, messages: Sequence[Message]) -> list[Message]:
    """The few messages that a text may have been taken from, in their order: a long talk says
    every word somewhere."""
    wanted = _stems(text)
    order = sorted(messages, key=lambda one: -len(wanted & _stems(one.text)))
    chosen = {one.id for one in order[:NEAREST_MAX]}
    return [one for one in messages if one.id in chosen]


def speaks_of(messages: Iterable[Message], text: str) -> bool:
    """Does any of them have a word of it that means something?"""
    plain, dense = _words_of(text, frozenset())
    wanted, pairs = frozenset(map(canonical, plain)), frozenset(dense)
    return any(
        wanted & _stems(one.text) or any(pair in fold(one.text) for pair in pairs)
        for one in messages
    )
