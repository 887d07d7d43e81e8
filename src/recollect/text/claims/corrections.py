"""Corrections: "no, it's Smyth", "not Berlin, Hamburg", "I meant Tuesday".

A fragment says only what is new. What it corrects is found in what the same person said before,
and the old sentence is read again with the new word in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from functools import cache
from typing import NamedTuple

from recollect.text.claims.findings import bare
from recollect.text.claims.lessons import Lesson
from recollect.text.words import alternatives, any_of, patterns, words

LOOK_BACK = 8

_VALUE = r"[\w@.+\-'/]+(?: [\w@.+\-'/]+){0,4}?"


@cache
def _opening() -> re.Pattern[str]:
    opens = any_of([*words("corrections.openings"), *words("corrections.mild_openings")])
    return re.compile(rf"(?:{opens})\s*[,.!:;，。：-]+\s*", re.IGNORECASE)


@cache
def _explicit() -> re.Pattern[str]:
    return re.compile(rf"(?:{alternatives('corrections.openings')})\b", re.IGNORECASE)


@cache
def _fixes() -> tuple[re.Pattern[str], ...]:
    """The ways to say what is right, and perhaps what was wrong."""
    its = any_of([*words("corrections.it_is"), *words("corrections.its")])
    that_is = f"{its}|{alternatives('corrections.that_is')}"
    not_, but = alternatives("corrections.not"), alternatives("corrections.but")
    before, meant = alternatives("corrections.before_value"), alternatives("corrections.meant")
    spaced = (
        rf"(?:(?:{its}) )?(?:{not_}) (?P<old>{_VALUE})(?:,? (?:{but})|,) (?:(?:{before}) )?"
        rf"(?P<new>{_VALUE})\Z",
        rf"(?:(?:{that_is}) )?(?P<new>{_VALUE}),? (?:and )?(?:{not_}) (?P<old>{_VALUE})\Z",
        rf"(?:{meant})[:,]? ?(?P<new>{_VALUE}|[^，。]{{1,12}})(?P<old>)\Z",
    )
    not_but, *others = (re.compile(form, re.IGNORECASE) for form in spaced)
    return not_but, *patterns("corrections.not_but"), *others


@cache
def _its_new() -> re.Pattern[str]:
    return re.compile(
        rf"(?:{alternatives('corrections.it_is')}) ?(?P<new>{_VALUE})\Z", re.IGNORECASE
    )


class Fix(NamedTuple):
    """A fragment that corrects: the new words, and the old ones if it says them."""

    new: str
    old: str = ""


def opens_with_correction(text: str) -> bool:
    """Whether a sentence says that something known is wrong."""
    return bool(_opening().match(text) and _explicit().match(text))


def without_correction(text: str) -> str:
    """The sentence without "no, sorry, " before it."""
    for _ in range(3):
        found = _opening().match(text)
        if not found or found.end() >= len(text):
            break
        text = text[found.end() :]
    return text


def fix_in(text: str) -> Fix | None:
    """The correction that a fragment makes; None if it is none."""
    rest = without_correction(text).strip(" .!")
    if len(rest) > 80:
        return None
    for way in _fixes():
        if found := way.match(rest):
            return Fix(found["new"], found["old"])
    if rest != text.strip(" .!") and (found := _its_new().match(rest)):
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
    known = value.split()
    if len(known) == len(new.split()) or len(known) == 1:
        return value
    if len(new.split()) > 1:
        return value
    close = [(SequenceMatcher(None, word, new.casefold()).ratio(), word) for word in known]
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
