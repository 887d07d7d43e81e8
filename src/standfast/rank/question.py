"""What a question says about its answer besides its words: who said it, and when."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import cache, lru_cache
from typing import NamedTuple

from standfast.text.analysis import asks
from standfast.text.dates import time_spans
from standfast.text.normal import fold
from standfast.text.words import any_of, counted, pattern

_SENTENCE = re.compile(r"[^?？]*[?？]+|[^?？]+$")

# An event is often told later: after a day within a week, after longer times within a month.
TOLD_WITHIN = {"day": timedelta(days=7), "weekend": timedelta(days=7), "week": timedelta(days=14)}
TOLD_LATER = timedelta(days=31)
MONTHS_MAX = timedelta(days=93)  # a time that is known by the names of its months
NEAR = 50  # characters around the name of a month that say which one it is
READ_MAX = 2000  # characters of a turn that are looked at


class Period(NamedTuple):
    """When what is asked for may have been said; ``phrase`` says where that comes from. ``over``
    is when it had happened: it may be told at any time after that."""

    start: datetime
    end: datetime
    phrase: str
    over: datetime

    def is_told(self, text: str, at: datetime) -> bool:
        """Does a text said at ``at`` speak of this time, by the name of its month?"""
        form = _months(self.start, self.over)
        named = form.search(text, 0, READ_MAX) if form and at >= self.start else None
        if named is None:
            return False
        near = text[max(named.start() - NEAR, 0) : named.end() + NEAR]
        return any(
            span.start < self.over and self.start < span.end
            for span in time_spans(near, at)
            if span.end - span.start <= TOLD_LATER  # "this year" says nothing
        )


def asks_for_the_assistant(text: str) -> bool:
    """Is it about what the assistant itself once said?"""
    return pattern("questions.of_assistant").search(text) is not None


def asks_for_help(text: str) -> bool:
    """Does it want advice or work, so that what the person wishes in general counts?"""
    if pattern("questions.of_request").search(text) is None:
        return False
    remembers = pattern("questions.of_past").search(text) is not None
    return not (remembers or asks_for_the_assistant(text) or asks_for_several(text))


@lru_cache(maxsize=64)
def asks_for_several(text: str) -> bool:
    """Is it about all of something, how many there are, or the order they came in?"""
    return pattern("questions.of_several").search(text) is not None


def is_wish(text: str) -> bool:
    """A standing instruction or a preference, in the words of whoever has it?"""
    return pattern("questions.wishes").search(text, 0, READ_MAX) is not None


@lru_cache(maxsize=64)  # a few people say all of the candidates
def names(text: str, author: str) -> bool:
    """Does the question name this author?"""
    return re.search(rf"\b{re.escape(fold(author))}\b", fold(text)) is not None


def parts(text: str, most: int) -> tuple[str, ...]:
    """Several questions in one, each by itself; () for a single one or more than ``most``.
    What follows the last question mark is no question and is left out."""
    found = [one.strip() for one in _SENTENCE.findall(text)]
    asked = [one for one in found if asks(one) and any(map(str.isalnum, one))]
    return tuple(asked) if 1 < len(asked) <= most else ()


def periods(text: str, now: datetime) -> tuple[Period, ...]:
    """The times that a question asked at ``now`` names, up to when they may have been told."""
    found = []
    for span in time_spans(text, now):
        told = span.end + TOLD_WITHIN.get(span.precision, TOLD_LATER)
        start = datetime.min.replace(tzinfo=now.tzinfo) if _ends(span.relation) else span.start
        end = now if span.relation in ("since", "after") else told
        found.append(Period(start, end, span.phrase, span.end))
    return tuple(found)


@lru_cache(maxsize=64)
def _months(start: datetime, over: datetime) -> re.Pattern[str] | None:
    """The names of a few months in any language; None of a long time."""
    if over - start > MONTHS_MAX:
        return None
    days = range(0, max((over - start).days, 1), 7)
    there = [start + timedelta(days=day) for day in days] + [over - timedelta(seconds=1)]
    return _named_months(frozenset(one.month for one in there))


@cache
def _named_months(months: frozenset[int]) -> re.Pattern[str]:
    named = [word for word, number in counted("dates.months").items() if number in months]
    return re.compile(rf"\b(?:{any_of(named)})\b")


def _ends(relation: str) -> bool:
    return relation in ("before", "until", "by")
