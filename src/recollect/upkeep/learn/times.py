"""When a fact holds: what a model says about it, checked against the messages. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

from recollect.text.dates import Span, time_spans
from recollect.types import Message

YEAR_MIN = 1900
YEARS_AHEAD_MAX = 50
SLACK = timedelta(days=1)  # a day of another zone

_DATE = re.compile(r"(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?(?:T[\d:.Z+-]*)?\Z")

Times = tuple[datetime | None, datetime | None]


def times_of(when: str, messages: Sequence[Message]) -> tuple[Times, str]:
    """From when until when, in UTC, and a note if the model's dates were not taken. Where the
    messages name times that the rules understand, a date must be one of those."""
    last = messages[-1].at
    first, slash, second = when.strip().partition("/")
    spans = [span for message in messages for span in time_spans(message.text, message.at)]
    begin, end = _period(first, last), _period(second, last) if slash else None
    since, until = begin and begin[0], end and end[1]
    wrong = any(one and not _named(one, spans) for one in (begin, end)) if spans else False
    if (first and not begin) or (second.strip() and not end) or wrong:
        return _of_rules(spans), f"the date {when[:40]!r} is not what the messages say"
    if since and until and until <= since:
        until = None
    return (_utc(since), _utc(until)), ""


def _of_rules(spans: Sequence[Span]) -> Times:
    return (_utc(spans[0].start), None) if len(spans) == 1 else (None, None)


def _period(text: str, at: datetime) -> tuple[datetime, datetime] | None:
    """The day, month or year that is named, in the zone of the message."""
    found = _DATE.match(text.strip())
    if not found:
        return None
    year, month, day = (int(part) if part else 0 for part in found.groups())
    if not YEAR_MIN <= year <= at.year + YEARS_AHEAD_MAX:
        return None
    try:
        start = datetime(year, month or 1, day or 1, tzinfo=at.tzinfo)
    except ValueError:
        return None
    if day:
        return start, start + timedelta(days=1)
    if month:
        return start, datetime(year + month // 12, month % 12 + 1, 1, tzinfo=at.tzinfo)
    return start, start.replace(year=year + 1)


def _named(period: tuple[datetime, datetime], spans: Iterable[Span]) -> bool:
    begin, end = period
    return any(span.start - SLACK < end and begin < span.end + SLACK for span in spans)


def _utc(moment: datetime | None) -> datetime | None:
    return moment.astimezone(UTC) if moment else None
