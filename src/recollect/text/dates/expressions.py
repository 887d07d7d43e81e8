"""Time expressions, resolved against the moment they were said.

"Last Friday" in a message of a Monday is the Friday before it, in the zone of that message.
Where a phrase leaves the year or the week open ("in March", "on Friday"), the tense of the text
decides between the one behind and the one ahead.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from recollect.text.dates.patterns import (
    AGO,
    AHEAD,
    CHINESE_AWAY,
    CHINESE_DAY,
    CHINESE_NAMED,
    CHINESE_SHIFTED,
    CUE,
    DAY_MONTH,
    DOTTED,
    FUTURE,
    ISO,
    LASTING,
    MONTH_DAY,
    MONTH_ONLY,
    NAMED_DAY,
    ON_DAY,
    PAST,
    SHIFTED,
    SHIFTED_AFTER,
    SLASHED,
    YEAR,
)
from recollect.text.dates.words import (
    DAYS_AWAY,
    MONTHS,
    NUMBERS,
    RELATIONS,
    SEASONS,
    SHIFTS,
    UNITS,
    WEEKDAYS,
)

CHARACTERS_MAX = 8000

Precision = Literal["day", "weekend", "week", "month", "season", "year"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A stretch of time that a phrase names: ``start`` belongs to it, ``end`` does not.

    ``explicit_year``: the phrase itself says the year. ``relation`` says how the phrase uses the
    time: "since", "until", "before", "after", "by" or "" (in it). ``relative``: the phrase means
    another time on another day. ``about``: the speaker rounded. ``begins`` is the place of the
    phrase in the text.
    """

    start: datetime
    end: datetime
    phrase: str
    explicit_year: bool = False
    relation: str = ""
    relative: bool = False
    about: bool = False
    precision: Precision = "day"
    begins: int = 0

    def written(self) -> str:
        """The same time in words that mean it on every day."""
        word = {"": "in", "by": "by"}.get(self.relation, self.relation)
        if self.precision in ("day", "week", "weekend"):
            named = f"{self.start.date().isoformat()}"
            if self.precision != "day":
                named = f"the {self.precision} of {named}"
            word = {"in": "on"}.get(word, word) if self.precision != "week" else word
        elif self.precision == "month":
            named = f"{_MONTH_NAMES[self.start.month - 1]} {self.start.year}"
        elif self.precision == "season":
            named = f"{_SEASON_NAMES[self.start.month]} {self.start.year}"
        else:
            named = str(self.start.year)
        if self.about and not self.relation:
            return f"around {named}"
        return f"{word} {named}"


_MONTH_NAMES = (
    "January February March April May June July August September October November December"
).split()
_SEASON_NAMES = {3: "spring", 6: "summer", 9: "autumn", 12: "winter"}


def time_spans(text: str, at: datetime) -> tuple[Span, ...]:
    """The times named in a text said at ``at``, in its zone and in the order of the text. Times
    that cannot be resolved are left out, and so is all after ``CHARACTERS_MAX``."""
    text = text[:CHARACTERS_MAX]
    if not CUE.search(text):
        return ()
    found = [span for read in _READERS for span in read(text, at)]
    found.sort(key=lambda span: (span.begins, -len(span.phrase)))
    spans: list[Span] = []
    reached = 0
    for span in found:
        if span.begins >= reached:
            spans.append(span)
            reached = span.begins + len(span.phrase)
    return tuple(spans)


def _midnight(at: datetime) -> datetime:
    return at.replace(hour=0, minute=0, second=0, microsecond=0)


def _is_past(text: str) -> bool:
    return bool(PAST.search(text)) and not FUTURE.search(text)


def _is_future(text: str) -> bool:
    return bool(FUTURE.search(text))


def _relation(found: re.Match[str]) -> str:
    word = found.groupdict().get("rel")
    relation = RELATIONS.get(word.lower(), "in") if word else "in"
    return "" if relation == "in" else relation


def _days(start: datetime, days: int) -> tuple[datetime, datetime]:
    return start, start + timedelta(days=days)


def _month(at: datetime, year: int, month: int, months: int = 1) -> tuple[datetime, datetime]:
    """The months that begin with a month, which may be counted past December."""
    first, last = year * 12 + month - 1, year * 12 + month - 1 + months
    start = _midnight(at).replace(year=first // 12, month=first % 12 + 1, day=1)
    return start, start.replace(year=last // 12, month=last % 12 + 1)


def _safely(
    read: Callable[[re.Match[str], str, datetime], Span | None], pattern: re.Pattern[str]
) -> Callable[[str, datetime], Iterator[Span]]:
    """A reader of all the places that match; a date that does not exist is no date."""

    def reader(text: str, at: datetime) -> Iterator[Span]:
        for found in pattern.finditer(text):
            try:
                span = read(found, text, at)
            except (ValueError, OverflowError):
                continue
            if span is not None:
                relation = span.relation or _relation(found)
                yield replace(span, phrase=found[0], begins=found.start(), relation=relation)

    return reader


def _span(
    bounds: tuple[datetime, datetime],
    precision: Precision,
    *,
    explicit_year: bool = False,
    relative: bool = False,
    about: bool = False,
) -> Span:
    return Span(
        start=bounds[0],
        end=bounds[1],
        phrase="",
        precision=precision,
        explicit_year=explicit_year,
        relative=relative,
        about=about,
    )


def _year_of(month: int, day: int, text: str, at: datetime) -> int:
    """The year that a date without one means."""
    if (month, day) > (at.month, at.day):
        return at.year - 1 if _is_past(text) else at.year
    return at.year + 1 if _is_future(text) and (month, day) < (at.month, at.day) else at.year


def _a_date(found: re.Match[str], text: str, at: datetime) -> Span | None:
    said = found["m"]
    month = int(said) if said.isdigit() else _month_number(said, found[0])
    if month is None:
        return None
    day = int(found["d"])
    year = int(found["y"]) if found["y"] else _year_of(month, day, text, at)
    start = _midnight(at).replace(year=year, month=month, day=day)
    return _span(_days(start, 1), "day", explicit_year=bool(found["y"]), relative=not found["y"])


def _month_number(word: str, phrase: str) -> int | None:
    """English months are capitalised: "may" and "march" are verbs, too."""
    if word in MONTHS:
        return MONTHS[word]
    alone = word.capitalize() if word.islower() or word.isupper() else word
    if alone in ("May", "March", "Mar", "Jan", "Jun", "Dec", "Sep") and len(phrase.split()) < 3:
        return None
    return MONTHS.get(alone, MONTHS.get(word.lower()))


def _a_slashed_date(found: re.Match[str], _: str, at: datetime) -> Span | None:
    """Day and month only where one of them can be nothing else."""
    first, second = int(found["a"]), int(found["b"])
    if first <= 12 and second <= 12 and first != second:
        return None
    day, month = (first, second) if first > 12 else (second, first)
    start = _midnight(at).replace(year=int(found["y"]), month=month, day=day)
    return _span(_days(start, 1), "day", explicit_year=True)


def _a_month(found: re.Match[str], text: str, at: datetime) -> Span | None:
    if not (found["rel"] or found["y"]):
        return None
    month = MONTHS.get(found["m"])
    if month is None and found["m"].lower() not in ("may", "march", "mar", "mai", "mars"):
        month = _month_number(found["m"], "two more words")
    if month is None:
        return None
    year = int(found["y"]) if found["y"] else _year_of_month(month, text, at, _relation(found))
    return _span(
        _month(at, year, month), "month", explicit_year=bool(found["y"]), relative=not found["y"]
    )


def _year_of_month(month: int, text: str, at: datetime, relation: str) -> int:
    if relation in ("until", "by"):
        return at.year + (month < at.month)
    if relation == "since" or _is_past(text) or not _is_future(text):
        return at.year - (month > at.month)
    return at.year + (month < at.month)


def _a_year(found: re.Match[str], _: str, at: datetime) -> Span:
    return _span(_month(at, int(found["y"]), 1, 12), "year", explicit_year=True)


def _a_named_day(found: re.Match[str], text: str, at: datetime) -> Span | None:
    word = re.sub(r"\s+", " ", found[0].lower())
    before = text[max(0, found.start() - 12) : found.start()].lower()
    if word in ("morgen", "mañana") and re.search(
        r"(?:guten|am|heute|jeden|buena|la|esta|cada|por la|de la) $", before
    ):
        return None
    if found[0] == "Morgen" and before.strip():
        return None
    start = _midnight(at) + timedelta(days=DAYS_AWAY[word])
    return _span(_days(start, 1), "day", relative=True)


def _count(word: str) -> int:
    word = word.lower().removeprefix("a ").strip() or "a"
    return int(word) if word.isdigit() else NUMBERS[word]


def _away(at: datetime, count: int, unit: str) -> Span | None:
    """The time that many units away: as exact as people are when they say so."""
    today = _midnight(at)
    if unit == "hour":
        return _span(_days(_midnight(at + timedelta(hours=count)), 1), "day", relative=True)
    if unit == "day":
        return _span(_days(today + timedelta(days=count), 1), "day", relative=True)
    if unit == "weekend":
        saturday = today + timedelta(weeks=count, days=5 - today.weekday())
        return _span(_days(saturday, 2), "weekend", relative=True)
    if unit == "week":
        start = today + timedelta(weeks=count, days=-today.weekday())
        return _span(_days(start, 7), "week", relative=True, about=True)
    if unit == "month":
        return _span(_month(at, at.year, at.month + count), "month", relative=True, about=True)
    if unit == "year":
        return _span(_month(at, at.year + count, 1, 12), "year", relative=True, about=True)
    return None


def _ago(found: re.Match[str], _: str, at: datetime) -> Span | None:
    word, unit = found["n"] or found["n2"], found["unit"] or found["unit2"]
    span = _away(at, -_count(word), UNITS[unit.lower()])
    vague = "few" in word.lower()
    return replace(span, about=True) if span and vague else span


def _ahead(found: re.Match[str], text: str, at: datetime) -> Span | None:
    """ "In two weeks": ahead, unless somebody tells how long it took them."""
    if _is_past(text):
        return None
    word, unit = found["n"] or found["n2"], found["unit"] or found["unit2"]
    return _away(at, _count(word), UNITS[unit.lower()])


def _lasting(found: re.Match[str], text: str, at: datetime) -> Span | None:
    """ "For five years" is a beginning only after "have" or "has"."""
    if not re.search(r"\b(?:have|has)\b|'ve\b|'s been", text, re.IGNORECASE):
        return None
    span = _away(at, -_count(found["n"]), UNITS[found["unit"].lower()])
    return replace(span, relation="since") if span else None


def _shifted(found: re.Match[str], _: str, at: datetime) -> Span | None:
    word = found["s"].lower()
    if word == "past" and UNITS.get(found["what"].lower()) != "weekend":
        return None  # "in the past month" lasts until now
    shift = 1 if word == "que viene" else SHIFTS[word.replace("derniere", "dernière")]
    return _shift(at, shift, found["what"].lower().replace("fin de semana", "weekend"))


def _shift(at: datetime, shift: int, what: str) -> Span | None:
    today = _midnight(at)
    monday = today - timedelta(days=today.weekday())
    if what in WEEKDAYS:
        return _span(_days(_weekday(today, WEEKDAYS[what], shift), 1), "day", relative=True)
    unit = UNITS.get(what)
    if unit == "week":
        return _span(_days(monday + timedelta(weeks=shift), 7), "week", relative=True)
    if unit == "weekend":
        saturday = monday + timedelta(days=5, weeks=shift)
        return _span(_days(saturday, 2), "weekend", relative=True)
    if unit == "month":
        return _span(_month(at, at.year, at.month + shift), "month", relative=True)
    if unit == "year":
        return _span(_month(at, at.year + shift, 1, 12), "year", relative=True)
    if what in SEASONS:
        return _season(at, shift, SEASONS[what])
    named = MONTHS.get(what.capitalize(), MONTHS.get(what))
    return None if named is None else _named_month(at, shift, named)


def _weekday(today: datetime, day: int, shift: int) -> datetime:
    away = (day - today.weekday()) % 7
    if shift < 0:
        return today - timedelta(days=(-away) % 7 or 7)
    return today + timedelta(days=away or (7 if shift else 0))


def _season(at: datetime, shift: int, first: int) -> Span:
    year = at.year - (first == 12 and at.month < 3)
    if shift < 0 and (at.month >= first or year < at.year):
        year -= at.month < first + 3 or year < at.year
    elif shift < 0:
        year -= 1
    elif shift > 0 and at.month >= first:
        year += 1
    return _span(_month(at, year, first, 3), "season", relative=True)


def _named_month(at: datetime, shift: int, month: int) -> Span:
    year = at.year
    if shift < 0:
        year -= month >= at.month
    elif shift > 0:
        year += month <= at.month
    return _span(_month(at, year, month), "month", relative=True)


def _on_day(found: re.Match[str], text: str, at: datetime) -> Span | None:
    if found["day"].islower() and len(found["day"]) < 6:
        return None
    past = _is_past(text) or found["rel"].lower() in ("since", "seit")
    start = _weekday(_midnight(at), WEEKDAYS[found["day"].lower()], -1 if past else 1)
    return _span(_days(start, 1), "day", relative=True)


def _chinese_day(found: re.Match[str], text: str, at: datetime) -> Span | None:
    if found["d"]:
        return _a_date(found, text, at)
    if found["y2"] and not found["m2"]:
        return _span(_month(at, int(found["y2"]), 1, 12), "year", explicit_year=True)
    month = int(found["m2"] or found["m3"])
    if not 1 <= month <= 12:
        return None
    year = int(found["y2"]) if found["y2"] else _year_of_month(month, text, at, "")
    explicit = bool(found["y2"])
    return _span(_month(at, year, month), "month", explicit_year=explicit, relative=not explicit)


def _chinese_shifted(found: re.Match[str], _: str, at: datetime) -> Span | None:
    if found["y"]:
        return _shift(at, SHIFTS[found["y"]], "year")
    shift = SHIFTS[found["s"]]
    if found["day"]:
        today = _midnight(at)
        monday = today - timedelta(days=today.weekday()) + timedelta(weeks=shift)
        start = monday + timedelta(days="一二三四五六日天".index(found["day"]) % 7)
        return _span(_days(start, 1), "day", relative=True)
    what = {"周末": "weekend", "月": "month"}.get(found["what"], "week")
    return _shift(at, shift, what)


def _chinese_away(found: re.Match[str], _: str, at: datetime) -> Span | None:
    said = found["n"]
    number = int(said) if said.isdigit() else NUMBERS.get(said)
    if number is None:
        return None
    return _away(at, -number if "前" in found["s"] else number, UNITS[found["unit"]])


_READERS = (
    _safely(_a_date, ISO),
    _safely(_a_date, DOTTED),
    _safely(_a_slashed_date, SLASHED),
    _safely(_a_date, DAY_MONTH),
    _safely(_a_date, MONTH_DAY),
    _safely(_a_month, MONTH_ONLY),
    _safely(_a_year, YEAR),
    _safely(_a_named_day, NAMED_DAY),
    _safely(_ago, AGO),
    _safely(_ahead, AHEAD),
    _safely(_lasting, LASTING),
    _safely(_shifted, SHIFTED),
    _safely(_shifted, SHIFTED_AFTER),
    _safely(_on_day, ON_DAY),
    _safely(_chinese_day, CHINESE_DAY),
    _safely(_a_named_day, CHINESE_NAMED),
    _safely(_chinese_shifted, CHINESE_SHIFTED),
    _safely(_chinese_away, CHINESE_AWAY),
)
