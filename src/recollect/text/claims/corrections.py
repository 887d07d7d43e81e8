"""Corrections: "no, it's Smyth", "not Berlin, Hamburg", "I meant Tuesday".

A fragment says only what is new. What it corrects is found in what the same person said before,
and the old sentence is read again with the new word in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import NamedTuple

from recollect.text.claims.lessons import Lesson
from recollect.text.claims.slot_values import bare

LOOK_BACK = 8

_OPENING = re.compile(
    r"(?:no|nope|nein|non|sorry|oops|correction|korrektur|actually|wait|hang on|eigentlich|en fait"
    r"|en realidad"
    r"|perdón|perdona|pardon|entschuldigung|das stimmt nicht|that's wrong|that's not right"
    r"|that is wrong|that's incorrect|wrong|falsch|不对|不是|错了|更正)\s*[,.!:;，。：-]+\s*",
    re.IGNORECASE,
)
_EXPLICIT = re.compile(
    r"(?:no|nope|nein|non|sorry|oops|correction|korrektur|wait|perdón|pardon|entschuldigung"
    r"|das stimmt nicht|that's wrong|that's not right|that is wrong|that's incorrect|wrong|falsch"
    r"|不对|错了|更正|actually|eigentlich|en fait|en realidad)\b",
    re.IGNORECASE,
)
_VALUE = r"[\w@.+\-'/]+(?: [\w@.+\-'/]+){0,4}?"
_NOT_THEN_NEW = re.compile(
    rf"(?:it's |its |it is |es ist |c'est |es )?(?:not|nicht|pas|no) (?P<old>{_VALUE})(?:,? (?:but"
    rf"|sondern|mais|sino)(?: in| at)?|,) (?:it's |in |at )?(?P<new>{_VALUE})\Z"
    rf"|不是(?P<old2>[^，,]{{1,10}})[，,]?(?:而)?是(?P<new2>[^，,。]{{1,10}})\Z",
    re.IGNORECASE,
)
_NEW_NOT_OLD = re.compile(
    rf"(?:(?:it's|its|it is|that's|es ist|das ist|c'est|es|make that"
    rf"|i said) )?(?P<new>{_VALUE}),? (?:and )?"
    rf"(?:not|nicht|pas|no) (?P<old>{_VALUE})\Z",
    re.IGNORECASE,
)
_MEANT = re.compile(
    rf"(?:i (?:actually )?meant(?: to say)?|make that|i mean|ich meinte|ich meine|je voulais dire"
    rf"|quise decir|quería decir|我是说|我的意思是)"
    rf"[:,]? ?(?P<new>{_VALUE}|[^，。]{{1,12}})\Z",
    re.IGNORECASE,
)
_ITS_NEW = re.compile(rf"(?:it's|it is|es ist|c'est|es|是) ?(?P<new>{_VALUE})\Z", re.IGNORECASE)


class Fix(NamedTuple):
    """A fragment that corrects: the new words, and the old ones if it says them."""

    new: str
    old: str = ""


def opens_with_correction(text: str) -> bool:
    """Whether a sentence says that something known is wrong."""
    return bool(_OPENING.match(text) and _EXPLICIT.match(text))


def without_correction(text: str) -> str:
    """The sentence without "no, sorry, " before it."""
    for _ in range(3):
        found = _OPENING.match(text)
        if not found or found.end() >= len(text):
            break
        text = text[found.end() :]
    return text


def fix_in(text: str) -> Fix | None:
    """The correction that a fragment makes; None if it is none."""
    rest = without_correction(text).strip(" .!")
    if len(rest) > 80:
        return None
    if found := _NOT_THEN_NEW.match(rest):
        return Fix(found["new"] or found["new2"], found["old"] or found["old2"])
    if found := _NEW_NOT_OLD.match(rest):
        return Fix(found["new"], found["old"])
    if found := _MEANT.match(rest):
        return Fix(found["new"])
    if rest != text.strip(" .!") and (found := _ITS_NEW.match(rest)):
        return Fix(found["new"])
    return None


class Told(NamedTuple):
    """A sentence that the same person said before, and what it taught."""

    text: str
    lessons: tuple[Lesson, ...]


def corrected(fix: Fix, told: Sequence[Told]) -> str:
    """The latest sentence that the fix is about, with the new words in the place of the old
    ones; empty if there is none."""
    for before in reversed(told[-LOOK_BACK:]):
        for lesson in before.lessons:
            if lesson.claim is None:
                continue
            old = fix.old or _replaced_by(fix.new, before.text, lesson.claim.value)
            if not old or bare(old) == bare(fix.new):
                continue
            if fix.old and bare(fix.old) not in bare(before.text):
                continue
            place = re.search(re.escape(old), before.text, re.IGNORECASE)
            if place:
                return before.text[: place.start()] + fix.new + before.text[place.end() :]
    return ""


def _replaced_by(new: str, text: str, value: str) -> str:
    """The words of the old value that the new ones stand for."""
    words = value.split()
    if len(words) == len(new.split()) or len(words) == 1:
        return value
    if len(new.split()) > 1:
        return value
    close = [(SequenceMatcher(None, word, new.casefold()).ratio(), word) for word in words]
    ratio, word = max(close)
    return word if ratio >= 0.5 else value if value in text.casefold() else ""


def as_correction(lessons: Sequence[Lesson]) -> list[Lesson]:
    """The lessons, marked as corrections of what is known."""
    return [
        replace(
            lesson,
            corrects=True,
            confidence=max(lesson.confidence, 0.9),
            importance=max(lesson.importance, 0.8),
        )
        for lesson in lessons
    ]
