"""Times as people write them, for options such as ``--since``: "yesterday", "3 days ago",
"last month", "monday". A day is one of the clock on the wall. Anything else is left for the verb,
which reads ISO 8601 and says what is wrong with it."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

_AGO = re.compile(
    r"(?P<count>\d{1,6}|an?|one|two|three|four|five|six|seven|eight|nine|ten)\s*"
    r"(?P<unit>minute|min|hour|h|day|d|week|w|month|year|y)s?(?:\s+ago)?"
)
_COUNTS = {
    word: number
    for number, words in enumerate(
        ("a an one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"), 1
    )
    for word in words.split()
}
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAYS_OF = {"today": 0, "yesterday": 1, "the day before yesterday": 2, "tomorrow": -1}
_MINUTES = {"minute": 1, "min": 1, "hour": 60, "h": 60, "day": 1440, "d": 1440, "week": 10080}
_MINUTES["w"] = _MINUTES["week"]


def human_time(said: str, now: datetime | None = None) -> str:
    """The moment in ISO 8601 with its zone; what is not understood comes back as it was."""
    moment = now or datetime.now().astimezone()
    words = " ".join(said.lower().replace(",", " ").split())
    found = _day(words, moment) or _span(words, moment)
    return said if found is None else found.isoformat()


def _day(words: str, now: datetime) -> datetime | None:
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if words == "now":
        return now
    if words in _DAYS_OF:
        return today - timedelta(days=_DAYS_OF[words])
    name = words.removeprefix("last ").removeprefix("on ")
    if name in _DAYS:  # the last one that is over or has begun
        back = (today.weekday() - _DAYS.index(name)) % 7
        return today - timedelta(days=back or (7 if words.startswith("last ") else 0))
    start = {
        "week": today - timedelta(days=today.weekday()),
        "month": today.replace(day=1),
        "year": today.replace(day=1, month=1),
    }
    which, _, unit = words.partition(" ")
    if which == "this" and unit in start:
        return start[unit]
    if which == "last" and unit in start:
        return _day(f"this {unit}", start[unit] - timedelta(days=1))
    return None


def _span(words: str, now: datetime) -> datetime | None:
    found = _AGO.fullmatch(words)
    if found is None:
        return None
    count = int(found["count"]) if found["count"].isdigit() else _COUNTS[found["count"]]
    unit = found["unit"]
    try:
        if unit in _MINUTES:
            return now - timedelta(minutes=count * _MINUTES[unit])
        months = count * (1 if unit == "month" else 12)
        year, month = divmod(now.year * 12 + now.month - 1 - months, 12)
        for day in range(now.day, 27, -1):  # the 31st of a shorter month is its last day
            try:
                return now.replace(year=year, month=month + 1, day=day)
            except ValueError:
                continue
        return now.replace(year=year, month=month + 1)
    except (OverflowError, ValueError):
        return None
