"""A claim with what makes a lesson of it: its type, weight and topic; and its value, cut out of the
words that follow a verb."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from standfast.text.claim import Claim
from standfast.text.normal import caseless, compatible
from standfast.text.words import (
    alternatives,
    any_of,
    counted,
    meanings,
    pattern,
    patterns,
    word_set,
)
from standfast.types import Type
from standfast.types.frozen import frozen


@frozen(kw_only=False)
class Finding:
    """A claim and what kind of lesson it makes. ``items``: the value as it was written, so that
    a list can be told apart ("tea and coffee")."""

    claim: Claim
    type: Type = "fact"
    importance: float = 0.6
    topic: str = ""
    items: str = ""


EXCLUSIVE = frozenset(
    "home origin birthplace birthday age name last-name first-name job employer diet status phone"
    " email address timezone partner called handed works-from height weight username blood-type"
    " hometown native-language port is answers-in nationality shoe-size".split()
)
IMPORTANCE: Mapping[str, float] = {
    "allergy": 0.9, "condition": 0.85, "name": 0.85, "home": 0.8, "birthday": 0.8, "job": 0.8,
    "employer": 0.8, "partner": 0.8, "diet": 0.8, "status": 0.75, "likes": 0.6, "prefers": 0.65,
    "goal": 0.6, "plan": 0.6, "pet": 0.7,
}  # fmt: skip
PREFERENCE_SLOTS = frozenset("likes prefers eats drinks diet".split())


def finding(
    subject: str, slot: str, value: str, *, negated: bool = False, items: str = ""
) -> Finding | None:
    """A finding with the usual type and weight of its slot; None without a value."""
    value = bare(value)
    if not value or not subject:
        return None
    slot = slot.replace("favorite", "favourite")
    base = slot.split(":", 1)[0]
    one_for_each = ":" in slot and base in ("favourite", "uses", "style")
    exclusive = slot in EXCLUSIVE or one_for_each or slot in word_set("clauses.single")
    kind: Type = "fact"
    if slot in PREFERENCE_SLOTS or base in ("favourite", "style"):
        kind = "preference"
    elif slot == "interest":
        kind = "interest"
    return Finding(
        claim=Claim(subject=subject, slot=slot, value=value, negated=negated, exclusive=exclusive),
        type=kind,
        importance=IMPORTANCE.get(base, 0.6),
        topic=base,
        items=items,
    )


_EDGES = " \t\n.,;:!?\"'()[]{}<>-–—…。，！？、；：「」"


def cut(tail: str) -> str:
    """The words up to where another thought begins, without times and fillers at the end."""
    found = pattern("values.boundary").search(tail)
    if found:
        tail = tail[: found.start()]
    found = pattern("values.time_from").search(tail)
    if found:
        tail = tail[: found.start()]
    for _ in range(3):
        shorter = _time().sub("", f" {tail.strip(_EDGES)}").strip()
        if shorter == tail:
            break
        tail = shorter
    return tail.strip(_EDGES)


@cache
def _time() -> re.Pattern[str]:
    """Times and fillers at the end of some words."""
    named = [month for month in counted("dates.months") if month[0].isupper()]
    months = [month for month in named if month not in word_set("values.not_months")]
    weekdays = [day.capitalize() for day in counted("dates.weekdays") if len(day) > 5]
    form = alternatives("values.time").replace("{months}", any_of(months))
    return re.compile(form.replace("{weekdays}", any_of(weekdays)))


def bare(value: str) -> str:
    """A value as claims carry it: folded, without articles and closing marks."""
    value = caseless(compatible(value)).strip(_EDGES)
    for _ in range(3):
        found = _article().match(value)
        if not found:
            break
        value = value[found.end() :].strip(_EDGES)
    impersonal = meanings("values.impersonal")
    return _personal().sub(lambda found: impersonal[found[0]], value)[:120]


@cache
def _article() -> re.Pattern[str]:
    spaced, elided = alternatives("claims.articles"), alternatives("claims.elided_articles")
    return re.compile(rf"(?:{spaced})\s+|(?:{elided})")


@cache
def _personal() -> re.Pattern[str]:
    """A value is the same, whether "I" say it or it is said of me."""
    listed = meanings("values.impersonal")
    owners = any_of(word for word in listed if word.endswith(" "))
    persons = any_of(word for word in listed if not word.endswith(" "))
    return re.compile(rf"\b(?:{owners}|(?:{persons})\b)")


def place(words: str) -> str:
    """The place at the beginning of some words; empty if it is not named."""
    words = cut(words)
    found = pattern("values.place_end").search(words)
    if found:
        words = words[: found.start()]
    words = words.strip(_EDGES)
    return words if 0 < len(words.split()) <= 5 and re.search(r"[^\W\d_a-z]", words) else ""


_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_DOTTED = re.compile(r"(\d\d?)\.(\d\d?)\.(\d{4})?")


@cache
def _day_and_month() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The day first, or the month."""
    month, endings = alternatives("dates.months"), alternatives("dates.day_endings")
    of, of_year, the = (alternatives(f"dates.{name}") for name in ("of", "of_year", "the"))
    day_first = (
        rf"(?P<d>\d\d?)(?:{endings}|\.)? (?:(?:{of}) )?(?P<m>{month})\b"
        rf"(?:,? (?:(?:{of_year}) )?(?P<y>\d{{4}}))?"
    )
    month_first = (
        rf"\b(?P<m>{month}) (?:(?:{the}) )?(?P<d>\d\d?)(?:{endings})?\b(?:,? (?P<y>\d{{4}}))?"
    )
    return re.compile(day_first, re.IGNORECASE), re.compile(month_first, re.IGNORECASE)


def birthday_in(words: str) -> str:
    """A day of the year as "05-03", with its year "1990-05-03"; empty if there is none."""
    if found := _ISO.search(words):
        return found[0]
    for dense in patterns("dates.dense_day"):
        if (found := dense.search(words)) and found["d"]:
            return _day(found["y"], int(found["m"]), found["d"])
    for form in _day_and_month():
        if found := form.search(words):
            return _day(found["y"], _number(found["m"]), found["d"])
    if found := _DOTTED.search(words):
        return _day(found[3], int(found[2]), found[1])
    return ""


def _number(month: str) -> int:
    months = counted("dates.months")
    return months.get(month.capitalize()) or months.get(month.lower()) or 0


def _day(year: str | None, month: int, day: str) -> str:
    if not (1 <= month <= 12 and 1 <= int(day) <= 31):
        return ""
    return (f"{year}-" if year else "") + f"{month:02d}-{int(day):02d}"


def is_nameable(what: str) -> bool:
    """Whether a liking is about something nameable and not about what was just said."""
    words = what.lower().split()
    if not words or len(words) > 9:
        return False
    if words[0] in word_set("values.pointing") or words[0] in word_set("values.prepositions"):
        return False
    if words[-1] in ("too", "much"):
        return False
    vague = pattern("values.open_liking").match(what) or pattern("values.pointed_at").search(what)
    return not vague
