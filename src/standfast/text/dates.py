"""Time expressions, resolved against the moment they were said.

"Last Friday" in a message of a Monday is the Friday before it, in the zone of that message.
Where a phrase leaves the year or the week open ("in March", "on Friday"), the tense of its clause
decides between the one behind and the one ahead: what is or will be comes, what was is over. What
comes every year has no date, and where nothing tells the tense it is ``unsure``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache, lru_cache
from itertools import chain
from typing import Literal

from standfast.text.expressions import later
from standfast.text.words import (
    alternatives,
    any_of,
    counted,
    meanings,
    pattern,
    patterns,
    word_set,
    words,
)
from standfast.types.frozen import frozen

CHARACTERS_MAX = 8000

Precision = Literal["day", "weekend", "week", "month", "season", "year"]


@frozen
class Span:
    """A stretch of time that a phrase names: ``start`` belongs to it, ``end`` does not.

    ``explicit_year``: the phrase itself says the year. ``relation`` says how the phrase uses the
    time: "since", "until", "before", "after", "by" or "" (in it). ``relative``: the phrase means
    another time on another day. ``about``: the speaker rounded. ``part``: it is only the
    beginning, the middle or the end of the month. ``unsure``: nothing tells whether it is behind
    or ahead. ``begins`` is the place of the phrase in the text.
    """

    start: datetime
    end: datetime
    phrase: str
    explicit_year: bool = False
    relation: str = ""
    relative: bool = False
    about: bool = False
    precision: Precision = "day"
    part: str = ""
    unsure: bool = False
    begins: int = 0

    @property
    def is_range(self) -> bool:
        """Whether it names its first and its last day."""
        return self.precision == "day" and self.end - self.start > timedelta(days=1)

    def written(self) -> str:
        """The same time in words that mean it on every day."""
        word = {"": "in", "by": "by"}.get(self.relation, self.relation)
        first, last = self.start.date(), (self.end - timedelta(days=1)).date()
        if self.is_range and not self.relation:
            return f"from {first} to {last}"
        if self.precision in ("day", "week", "weekend"):
            named = str(last if self.is_range and self.relation in ("until", "by") else first)
            if self.precision != "day":
                named = f"the {self.precision} of {named}"
            word = {"in": "on"}.get(word, word) if self.precision != "week" else word
        elif self.precision == "month":
            named = f"{_english(counted('dates.months', 'en'), self.start.month)} {self.start.year}"
        elif self.precision == "season":
            named = (
                f"{_english(_numbers('dates.seasons', 'en'), self.start.month)} {self.start.year}"
            )
        else:
            named = str(self.start.year)
        if self.part:
            named = f"the {self.part} of {named}"
            word = {"in": "in" if self.part == "middle" else "at"}.get(word, word)
        if self.about and not self.relation:
            return f"around {named}"
        return f"{word} {named}"


def _english(names: Mapping[str, int], number: int) -> str:
    """The first name that English has for a number."""
    return next(name for name, value in names.items() if value == number)


@cache
def _numbers(section: str, language: str = "") -> Mapping[str, int]:
    """A table of words whose meanings are numbers."""
    return {word: int(meaning) for word, meaning in meanings(section, language).items()}


def time_spans(text: str, at: datetime) -> tuple[Span, ...]:
    """The times named in a text said at ``at``, in its zone and in the order of the text. Times
    that cannot be resolved are left out, and so is all after ``CHARACTERS_MAX``."""
    return _time_spans(text[:CHARACTERS_MAX], at, str(at))


def told_times(text: str, at: datetime) -> tuple[Span, ...]:
    """The same, without those of which nothing tells whether they are behind or ahead: a
    statement is rather kept without a date than with a wrong one."""
    return tuple(span for span in time_spans(text, at) if not span.unsure)


@lru_cache(maxsize=500)
def _time_spans(text: str, at: datetime, _at: str) -> tuple[Span, ...]:
    """Asked again for every part of a lesson. Equal moments of two zones are of two days."""
    if not _may_name_one(text):
        return ()
    found = [span for read in _readers() for span in read(text, at)]
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


Tense = Literal["past", "ahead", "yearly", ""]
_CLAUSE_END = later(r"[,.;:!?\n]|\b(?:but|so|because|and (?:I|we|then))\b")


def _tense(found: re.Match[str], text: str) -> Tense:
    """Whether what a phrase dates is behind or ahead, by the clause that it stands in, and by
    the whole text where that says nothing."""
    start = max((end.end() for end in _CLAUSE_END.finditer(text, 0, found.start())), default=0)
    after = _CLAUSE_END.search(text, found.end())
    return _tense_of(text[start : after.start() if after else None]) or _tense_of(text)


@lru_cache(maxsize=256)
def _tense_of(text: str) -> Tense:
    for tense, sections in _TENSES.items():
        if any(pattern(f"dates.{section}").search(text) for section in sections):
            return tense
    return "ahead" if any(pattern(f"dates.{one}").search(text) for one in _NOW) else ""


# In this order: "is going to" has "is" in it, "we usually went" has "went".
_TENSES: Mapping[Tense, tuple[str, ...]] = {
    "yearly": ("yearly",),
    "ahead": ("future",),
    "past": ("past",),
}
_NOW = ("present", "event")  # what is now, or takes place, and has a date without a year, comes


def _is_past(text: str) -> bool:
    return _tense_of(text) == "past"


def _relation(found: re.Match[str]) -> str:
    word = found.groupdict().get("rel")
    relation = meanings("dates.relations").get(word.lower(), "in") if word else "in"
    return "" if relation == "in" else relation


def _days(start: datetime, days: int) -> tuple[datetime, datetime]:
    return start, start + timedelta(days=days)


def _month(at: datetime, year: int, month: int, months: int = 1) -> tuple[datetime, datetime]:
    """The months that begin with a month, which may be counted past December."""
    first, last = year * 12 + month - 1, year * 12 + month - 1 + months
    start = _midnight(at).replace(year=first // 12, month=first % 12 + 1, day=1)
    return start, start.replace(year=last // 12, month=last % 12 + 1)


_Reader = Callable[[re.Match[str], str, datetime], Span | None]
_SpanReader = Callable[[str, datetime], Iterable[Span]]


def _safely(read: _Reader, form: str, flags: int = 0) -> _SpanReader:
    """A reader of all the places that match; a date that does not exist is no date, nor is one of
    words that are in the tables only as long as nobody minds case ("laſt week")."""
    compiled = later(form, flags)

    def reader(text: str, at: datetime) -> Iterator[Span]:
        for found in compiled.finditer(text):
            try:
                span = read(found, text, at)
            except (ValueError, OverflowError, KeyError):
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


def _a_date(found: re.Match[str], text: str, at: datetime) -> Span | None:
    said = found["m"]
    month = int(said) if said.isdigit() else _month_number(said, found[0])
    if month is None:
        return None
    day = int(found["d"])
    first = int(found.groupdict().get("first") or day)
    year = int(found["y"]) if found["y"] else _year_of(found, month, day, text, at)
    if year is None or first > day:
        return None
    last = _midnight(at).replace(year=year, month=month, day=day)
    bounds = last.replace(day=first), last + timedelta(days=1)
    return _span(bounds, "day", explicit_year=bool(found["y"]), relative=not found["y"])


def _year_of(found: re.Match[str], month: int, day: int, text: str, at: datetime) -> int | None:
    """The year that a date without one means: this one, where nothing tells another."""
    if told := _told_year(found, at):
        return told
    tense = _tense(found, text)
    if tense == "yearly":
        return None
    if (month, day) > (at.month, at.day):
        # "They gave me until 15 April": what lasts so long is not over.
        return at.year - (tense == "past" and _relation(found) not in ("until", "by"))
    return at.year + (tense == "ahead" and (month, day) < (at.month, at.day))


def _told_year(found: re.Match[str], at: datetime) -> int | None:
    """Of "19 June next year"."""
    shift = found.groupdict().get("shift")
    return at.year + _numbers("dates.shifts")[shift.lower()] if shift else None


def _month_number(word: str, phrase: str) -> int | None:
    """English months are capitalised: "may" and "march" are verbs, too."""
    months = counted("dates.months")
    if word in months:
        return months[word]
    alone = word.capitalize() if word.islower() or word.isupper() else word
    if alone in word_set("dates.short_months") and len(phrase.split()) < 3:
        return None
    return months.get(alone, months.get(word.lower()))


def _a_slashed_date(found: re.Match[str], _: str, at: datetime) -> Span | None:
    """Day and month only where one of them can be nothing else."""
    first, second = int(found["a"]), int(found["b"])
    if first <= 12 and second <= 12 and first != second:
        return None
    day, month = (first, second) if first > 12 else (second, first)
    start = _midnight(at).replace(year=int(found["y"]), month=month, day=day)
    return _span(_days(start, 1), "day", explicit_year=True)


def _a_month(found: re.Match[str], text: str, at: datetime) -> Span | None:
    if not (found["rel"] or found["y"] or found["shift"] or found["part"]):
        return None
    month = counted("dates.months").get(found["m"])
    if month is None and found["m"].lower() not in word_set("dates.months_in_capitals"):
        month = _month_number(found["m"], "two more words")
    if month is None:
        return None
    if found["y"]:
        bounds = _month(at, int(found["y"]), month)
        span: Span | None = _span(bounds, "month", explicit_year=True)
    elif told := _told_year(found, at):
        span = _span(_month(at, told, month), "month", relative=True)
    else:
        span = _open_month(found, month, text, at)
    return _part_of(span, found["part"] or "") if span else None


# The days of a month that people mean by its beginning, middle and end.
_PARTS: Mapping[str, tuple[int, int]] = {
    "beginning_of": (1, 8), "middle_of": (11, 21), "end_of": (24, 0)
}  # fmt: skip


def _part_of(span: Span, said: str) -> Span:
    """ "The end of January" is no day of its beginning."""
    for section, (first, last) in _PARTS.items():
        if said.strip().lower() in word_set(f"dates.{section}"):
            end = span.start.replace(day=last) if last else span.end
            named = section.removesuffix("_of")
            return replace(span, start=span.start.replace(day=first), end=end, part=named)
    return span


def _day_of_month(found: re.Match[str], text: str, at: datetime) -> Span | None:
    """ "On the 31st": of this month, or of the one before or after it that has such a day."""
    day, today = int(found["d"]), _midnight(at)
    if not 1 <= day <= 31:
        return None
    tense = _tense(found, text)
    step = -1 if tense == "past" else 1
    for away in range(12):
        start, end = _month(at, at.year, at.month + step * away)
        if day > (end - start).days:
            continue
        there = start + timedelta(days=day - 1)
        if (there <= today) if step < 0 else (there >= today):
            return replace(_span(_days(there, 1), "day", relative=True), unsure=not tense)
    return None


def _beyond(found: re.Match[str], _: str, at: datetime) -> Span | None:
    """ "The week before last"."""
    last = found["far"].lower() in word_set("dates.before_last")
    return _shift_unit(at, -2 if last else 2, _unit(found["what"]))


def _open_month(found: re.Match[str], month: int, text: str, at: datetime) -> Span | None:
    """A month whose year is open."""
    relation, tense = _relation(found), _tense(found, text)
    if tense == "yearly" and relation not in ("since", "until", "by"):
        return None
    if relation in ("until", "by"):
        tense = "ahead"
    if relation == "since":
        tense = "past"
    year = at.year + (month < at.month) if tense == "ahead" else at.year - (month > at.month)
    span = _span(_month(at, year, month), "month", relative=True)
    return replace(span, unsure=not tense)


def _a_year(found: re.Match[str], _: str, at: datetime) -> Span:
    return _span(_month(at, int(found["y"]), 1, 12), "year", explicit_year=True)


def _a_named_day(found: re.Match[str], text: str, at: datetime) -> Span | None:
    before = text[max(0, found.start() - 12) : found.start()].lower()
    if pattern("dates.not_a_day").search(before + found[0]):
        return None
    word = re.sub(r"\s+", " ", found[0].lower())
    start = _midnight(at) + timedelta(days=_numbers("dates.days_away")[word])
    return _span(_days(start, 1), "day", relative=True)


def _count(word: str) -> int:
    word = word.lower()
    for article in words("dates.before_number"):
        word = word.removeprefix(f"{article} ").strip()
    return int(word) if word.isdigit() else counted("dates.numbers")[word]


def _unit(word: str) -> str:
    word = word.lower()
    return meanings("dates.units").get(word) or meanings("dates.units_after").get(word, "")


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
    span = _away(at, -_count(word), _unit(unit))
    vague = word_set("dates.vague_numbers").intersection(word.lower().split())
    return replace(span, about=True) if span and vague else span


def _ahead(found: re.Match[str], text: str, at: datetime) -> Span | None:
    """ "In two weeks": ahead, unless somebody tells how long it took them."""
    if _is_past(text):
        return None
    word, unit = found["n"] or found["n2"], found["unit"] or found["unit2"]
    return _away(at, _count(word), _unit(unit))


def _lasting(found: re.Match[str], text: str, at: datetime) -> Span | None:
    """ "For five years" is a beginning only after "have" or "has"."""
    if not pattern("dates.lasting_tense").search(text):
        return None
    span = _away(at, -_count(found["n"]), _unit(found["unit"]))
    return replace(span, relation="since") if span else None


def end_of_stay(text: str, at: datetime) -> datetime | None:
    """Until when a text says that something holds from now on: "for two weeks". None of what is
    over, or has lasted so long."""
    text = text[:CHARACTERS_MAX]
    if pattern("dates.lasting_tense").search(text) or _is_past(text):
        return None
    for form in patterns("dates.lasting"):
        for found in form.finditer(text):
            number, unit = _count(found["n"]), _unit(found["unit"])
            if unit in ("day", "week"):
                days = number * (7 if unit == "week" else 1)
                return _midnight(at) + timedelta(days=days + 1)
            if span := _away(at, number, unit):
                return span.end
    return None


def _shifted(found: re.Match[str], _: str, at: datetime) -> Span | None:
    word, what = found["s"].lower(), found["what"].lower()
    if word in word_set("dates.until_now") and _unit(what) != "weekend":
        return None  # "in the past month" lasts until now
    shift = {**_numbers("dates.shifts"), **_numbers("dates.shifts_after")}[word]
    return _shift(at, shift, what)


def _shift(at: datetime, shift: int, what: str) -> Span | None:
    if what in counted("dates.weekdays"):
        start = _weekday(_midnight(at), counted("dates.weekdays")[what], shift)
        return _span(_days(start, 1), "day", relative=True)
    if unit := _unit(what):
        return _shift_unit(at, shift, unit)
    if what in _numbers("dates.seasons"):
        return _season(at, shift, _numbers("dates.seasons")[what])
    months = counted("dates.months")
    named = months.get(what.capitalize(), months.get(what))
    return None if named is None else _named_month(at, shift, named)


def _shift_unit(at: datetime, shift: int, unit: str) -> Span | None:
    today = _midnight(at)
    monday = today - timedelta(days=today.weekday())
    if unit == "week":
        return _span(_days(monday + timedelta(weeks=shift), 7), "week", relative=True)
    if unit == "weekend":
        saturday = monday + timedelta(days=5, weeks=shift)
        return _span(_days(saturday, 2), "weekend", relative=True)
    if unit == "month":
        return _span(_month(at, at.year, at.month + shift), "month", relative=True)
    if unit == "year":
        return _span(_month(at, at.year + shift, 1, 12), "year", relative=True)
    return None


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
    relation, tense = _relation(found), _tense(found, text)
    past = relation == "since" or (not relation and tense == "past")
    day = counted("dates.weekdays")[found["day"].lower()]
    start = _weekday(_midnight(at), day, -1 if past else 1)
    span = _span(_days(start, 1), "day", relative=True)
    return replace(span, unsure=not tense and not relation)


def _dense_day(found: re.Match[str], text: str, at: datetime) -> Span | None:
    if found["d"]:
        return _a_date(found, text, at)
    if found["y2"] and not found["m2"]:
        return _span(_month(at, int(found["y2"]), 1, 12), "year", explicit_year=True)
    month = int(found["m2"] or found["m3"])
    if not 1 <= month <= 12:
        return None
    if not found["y2"]:
        return _open_month(found, month, text, at)
    return _span(_month(at, int(found["y2"]), month), "month", explicit_year=True)


def _dense_shifted(found: re.Match[str], _: str, at: datetime) -> Span | None:
    shift = _numbers("dates.shifts")[found["y"] or found["s"]]
    if found["y"]:
        return _shift_unit(at, shift, "year")
    if not found["day"]:
        return _shift_unit(at, shift, _unit(found["what"]))
    today = _midnight(at)
    monday = today - timedelta(days=today.weekday()) + timedelta(weeks=shift)
    day = counted("dates.dense_weekdays")[found["day"]]
    return _span(_days(monday + timedelta(days=day), 1), "day", relative=True)


def _dense_away(found: re.Match[str], _: str, at: datetime) -> Span | None:
    said = found["n"]
    number = int(said) if said.isdigit() else counted("dates.numbers").get(said)
    if number is None:
        return None
    return _away(at, -number if found["ago"] else number, _unit(found["unit"]))


# How times are written. Every pattern has the words of all languages in it.

_CJK = "\u3400-\u9fff"


def _spaced(listed: Iterable[str]) -> str:
    """Of these words those that stand between blanks, as alternatives."""
    return any_of(word for word in listed if word[0] < "\u3000")


def _optional(section: str) -> str:
    """One of these words and a blank, or nothing."""
    found = alternatives(section)
    return f"(?:(?:{found}) )?" if found else ""


_NUMBER, _ASCII_NUMBER = later(rf"\d|[{_CJK}]"), later("[0-9]")  # the second is sooner made
_WORDS = later(r"\w+")


def _may_name_one(text: str) -> bool:
    """Without a number, or any of these words, a text names no time."""
    lowered = text.lower()
    single, several = _cues()
    return (
        (_ASCII_NUMBER if text.isascii() else _NUMBER).search(text) is not None
        or not single.isdisjoint(_WORDS.findall(lowered))
        or any(cue in lowered for cue in several)
    )


@cache
def _cues() -> tuple[frozenset[str], Sequence[str]]:
    """Those of one word, and those of several."""
    named = [*counted("dates.weekdays"), *counted("dates.months")]
    tables = [meanings(f"dates.{name}") for name in ("seasons", "days_away", "units")]
    listed = {word.lower() for word in (*named, *chain.from_iterable(tables))}
    single = frozenset(word for word in listed if _WORDS.fullmatch(word))
    return single, sorted(listed - single)


@cache
def _readers() -> tuple[_SpanReader, ...]:
    """In this order: of two that find the same phrase, the first counts."""
    named = _spaced(_numbers("dates.days_away"))
    return (
        *(_numeric(_safely(read, form, re.IGNORECASE)) for read, form in _numeric_forms()),
        *(_safely(read, form, re.IGNORECASE) for read, form in _calendar_forms()),
        _safely(_a_named_day, rf"(?<!\w)(?:{named})(?!\w)", re.IGNORECASE),
        *(_safely(read, form, re.IGNORECASE) for read, form in _relative_forms()),
        *(_safely(_dense_day, form.pattern) for form in patterns("dates.dense_day")),
        _safely(_a_named_day, _dense_names()),
        *(_safely(_dense_shifted, form.pattern) for form in patterns("dates.dense_shifted")),
        *(_safely(_dense_away, form.pattern) for form in patterns("dates.dense_away")),
    )


def _dense_names() -> str:
    return any_of(word for word in _numbers("dates.days_away") if word[0] >= "\u3000") or "(?!)"


def _before() -> str:
    return rf"(?:\b(?P<rel>{alternatives('dates.relations')})\s)?"


_JOINED_NUMBERS = later(r"\d[-./]\d")


def _numeric(read: _SpanReader) -> _SpanReader:
    """Of texts that have numbers with a mark between them, as each of ``_numeric_forms`` has."""
    return lambda text, at: read(text, at) if _JOINED_NUMBERS.search(text) else ()


def _numeric_forms() -> Iterator[tuple[_Reader, str]]:
    """Days by their numbers alone."""
    before = _before()
    yield _a_date, rf"{before}\b(?P<y>\d{{4}})-(?P<m>\d\d)-(?P<d>\d\d)(?!\d)"
    yield _a_date, rf"{before}\b(?P<d>\d\d?)\.(?P<m>\d\d?)\.(?P<y>\d{{4}})?(?![\d.])"
    yield _a_slashed_date, rf"{before}\b(?P<a>\d\d?)/(?P<b>\d\d?)/(?P<y>\d{{4}})(?!\d)"


def _calendar_forms() -> Iterator[tuple[_Reader, str]]:
    """Days, months and years by their names."""
    before, month = _before(), alternatives("dates.months")
    the, of, of_year = (_optional(f"dates.{name}") for name in ("the", "of", "of_year"))
    endings = alternatives("dates.day_endings")
    years = any_of(word for word, unit in meanings("dates.units").items() if unit == "year")
    shifted = rf"(?: (?P<shift>{_spaced(meanings('dates.shifts'))}) (?:{years})\b)?"
    to = rf"(?:{endings})? ?[-–] ?"
    yield (
        _a_date,
        rf"{before}{the}\b(?:(?P<first>\d\d?){to})?(?P<d>\d\d?)(?:{endings}|\.)? {of}"
        rf"(?P<m>{month})\b\.?(?:,? {of_year}(?P<y>\d{{4}})\b|{shifted})",
    )
    yield (
        _a_date,
        rf"{before}\b(?P<m>{month})\.? {the}(?:(?P<first>\d\d?){to})?(?P<d>\d\d?)(?:{endings})?\b"
        rf"(?:,? (?P<y>\d{{4}})\b|{shifted})",
    )
    listed = [word for name in _PARTS for word in words(f"dates.{name}")]
    part = rf"(?:\b(?P<part>{any_of(listed)})[ -])?"
    yield _a_month, rf"{before}{part}\b(?P<m>{month})\b(?:,? {of}(?P<y>\d{{4}})\b|{shifted})"
    not_years = alternatives("dates.not_years")
    yield (
        _a_year,
        rf"\b(?P<rel>{alternatives('dates.before_year')}) (?P<y>(?:19|20)\d\d)\b"
        rf"(?![-/.:]\d|\s*(?:%|€|\$|{not_years}))",
    )


def _relative_forms() -> Iterator[tuple[_Reader, str]]:
    """Times that are counted from today."""
    before, unit = _before(), _spaced(meanings("dates.units"))
    number = _spaced(counted("dates.numbers"))
    count = rf"(?:\d{{1,3}}|{_optional('dates.before_number')}(?:{number}))"
    about, about_ahead = _optional("dates.about"), _optional("dates.about_ahead")
    told = {name: alternatives(f"dates.{name}") for name in _AROUND}
    yield (
        _ago,
        rf"\b{about}(?P<n>{count})(?: of)? (?P<unit>{unit}) (?:{told['ago_after']})\b"
        rf"|\b(?:{told['ago_before']}) {about}(?P<n2>{count}) (?P<unit2>{unit})\b",
    )
    yield (
        _ahead,
        rf"\b(?:{told['ahead_before']}) {about_ahead}(?P<n>{count})(?: of)? (?P<unit>{unit})\b"
        rf"(?! (?:{told['not_ahead']}))"
        rf"|\b(?P<n2>{count}) (?P<unit2>{unit}) (?:{told['ahead_after']})\b",
    )
    for lasting in patterns("dates.lasting"):
        yield _lasting, lasting.pattern
    for alone in patterns("dates.day_of_month"):
        yield _day_of_month, alone.pattern
    far = any_of([*words("dates.before_last"), *words("dates.after_next")])
    yield _beyond, rf"{before}{_optional('dates.articles')}(?P<what>{unit}) (?P<far>{far})\b"
    day, season = alternatives("dates.weekdays"), alternatives("dates.seasons")
    shift, after = _spaced(meanings("dates.shifts")), alternatives("dates.shifts_after")
    yield (
        _shifted,
        rf"{before}\b{_optional('dates.articles')}(?P<s>{shift}) "
        rf"(?P<what>{unit}|{day}|{alternatives('dates.months')}|{season})\b(?! of )",
    )
    yield (
        _shifted,
        rf"\b(?:{told['articles_after']})?(?P<what>{unit}|{told['units_after']}|{day}|{season})"
        rf" (?P<s>{after})\b",
    )
    yield (
        _on_day,
        rf"\b(?P<rel>{told['before_weekday']}) {_optional('dates.the')}(?P<day>{day})\b"
        rf"(?!s| (?:{told['times_of_day']})\b)",
    )


_AROUND = (
    "ago_before ago_after ahead_before ahead_after not_ahead articles_after before_weekday"
    " times_of_day units_after"
).split()
