"""Time expressions are resolved against the moment they were said, in its zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standfast.text.dates import time_spans, told_times

# A Monday.
AT = datetime(2026, 3, 9, 10, 0, tzinfo=timezone(timedelta(hours=1)))


@pytest.mark.parametrize(
    ("text", "start", "end", "written"),
    [
        ("I went yesterday", "2026-03-08", "2026-03-09", "on 2026-03-08"),
        ("last Friday I ran", "2026-03-06", "2026-03-07", "on 2026-03-06"),
        ("next Tuesday", "2026-03-10", "2026-03-11", "on 2026-03-10"),
        ("last weekend", "2026-03-07", "2026-03-09", "on the weekend of 2026-03-07"),
        ("two weeks ago", "2026-02-23", "2026-03-02", "around the week of 2026-02-23"),
        ("3 years ago", "2023-01-01", "2024-01-01", "around 2023"),
        ("in two days", "2026-03-11", "2026-03-12", "on 2026-03-11"),
        ("last month", "2026-02-01", "2026-03-01", "in February 2026"),
        ("12-19 June next year", "2027-06-12", "2027-06-20", "from 2027-06-12 to 2027-06-19"),
        ("we fly Sept 20-27", "2026-09-20", "2026-09-28", "from 2026-09-20 to 2026-09-27"),
        ("until 3rd – 5th of May", "2026-05-03", "2026-05-06", "until 2026-05-05"),
        ("on 19 June next year", "2027-06-19", "2027-06-20", "on 2027-06-19"),
        ("in September next year", "2027-09-01", "2027-10-01", "in September 2027"),
        ("last summer", "2025-06-01", "2025-09-01", "in summer 2025"),
        ("since 2019", "2019-01-01", "2020-01-01", "since 2019"),
        ("until June", "2026-06-01", "2026-07-01", "until June 2026"),
        ("they gave me until 15 July", "2026-07-15", "2026-07-16", "until 2026-07-15"),
        ("we met in August", "2025-08-01", "2025-09-01", "in August 2025"),
        ("we will meet in August", "2026-08-01", "2026-09-01", "in August 2026"),
        ("on Friday I was ill", "2026-03-06", "2026-03-07", "on 2026-03-06"),
        ("I will leave on Friday", "2026-03-13", "2026-03-14", "on 2026-03-13"),
        ("on 3 May", "2026-05-03", "2026-05-04", "on 2026-05-03"),
        ("on May 3, 1990", "1990-05-03", "1990-05-04", "on 1990-05-03"),
        ("12/25/2025", "2025-12-25", "2025-12-26", "on 2025-12-25"),
        ("gestern", "2026-03-08", "2026-03-09", "on 2026-03-08"),
        ("vor zwei Wochen", "2026-02-23", "2026-03-02", "around the week of 2026-02-23"),
        ("am 3. Mai 2024", "2024-05-03", "2024-05-04", "on 2024-05-03"),
        ("la semaine dernière", "2026-03-02", "2026-03-09", "in the week of 2026-03-02"),
        ("il y a trois jours", "2026-03-06", "2026-03-07", "on 2026-03-06"),
        ("el año pasado", "2025-01-01", "2026-01-01", "in 2025"),
        ("hace dos meses", "2026-01-01", "2026-02-01", "around January 2026"),
        ("上周五我去了", "2026-03-06", "2026-03-07", "on 2026-03-06"),
        ("三天前", "2026-03-06", "2026-03-07", "on 2026-03-06"),
        ("2020年3月5日", "2020-03-05", "2020-03-06", "on 2020-03-05"),
        ("I have lived here for 5 years", "2021-01-01", "2022-01-01", "since 2021"),
    ],
)
def test_X5_a_time_is_resolved_against_its_own_day(
    text: str, start: str, end: str, written: str
) -> None:
    (span,) = time_spans(text, AT)
    assert span.start.date().isoformat() == start
    assert span.end.date().isoformat() == end
    assert span.written() == written
    assert span.start.tzinfo is AT.tzinfo
    assert text[span.begins :].startswith(span.phrase)


@pytest.mark.parametrize(
    "text",
    [
        "you may 3 go",
        "guten Morgen",
        "por la mañana",
        "03/05/2024",
        "31.02.2024",
        "19-12 June",
        "99999 days ago",
        "version 2.0.1",
        "every Friday",
        "on Saturday mornings",
        "it cost in 2000 dollars",
    ],
)
def test_what_is_no_time_or_two_of_them_is_left_out(text: str) -> None:
    assert time_spans(text, AT) == ()


def test_X5_the_zone_of_the_message_decides_the_day() -> None:
    late = datetime(2026, 3, 9, 23, 30, tzinfo=UTC)
    there = late.astimezone(timezone(timedelta(hours=8)))
    assert time_spans("today", late)[0].start.date().isoformat() == "2026-03-09"
    assert time_spans("today", there)[0].start.date().isoformat() == "2026-03-10"


def test_an_explicit_year_is_marked() -> None:
    assert time_spans("in May 2020", AT)[0].explicit_year
    assert not time_spans("in May", AT)[0].explicit_year


def test_several_times_come_in_order() -> None:
    phrases = [span.phrase for span in time_spans("yesterday and last week", AT)]
    assert phrases == ["yesterday", "last week"]


@given(st.text(max_size=300), st.datetimes(timezones=st.timezones()))
def test_no_text_and_no_moment_breaks_it(text: str, at: datetime) -> None:
    for span in time_spans(f"{text} last week, 3 years ago or in 5 months", at):
        assert span.phrase in f"{text} last week, 3 years ago or in 5 months"


@pytest.mark.parametrize("unit", ["in ", "1 ", "1/", "May ", "last ", "a few ", "月", "on Mon"])
def test_long_texts_take_linear_time(unit: str) -> None:
    started = process_time()
    time_spans(unit * (100_000 // len(unit)), AT)
    assert process_time() - started < 2


MONTHS = (
    "January February March April May June July August September October November December".split()
)
WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MOMENTS = st.datetimes(datetime(2020, 1, 1), datetime(2035, 12, 31)).map(
    lambda at: at.replace(tzinfo=UTC)
)
AHEAD = ("My exam is in {}", "we marry in {}", "the lease runs out in {}", "I'm moving in {}")
BEHIND = ("My exam was in {}", "we married in {}", "the lease ran out in {}", "I've moved in {}")


@given(at=MOMENTS, month=st.sampled_from(MONTHS), said=st.sampled_from(AHEAD))
def test_X5_a_month_without_a_year_comes_where_the_clause_is_of_now(
    at: datetime, month: str, said: str
) -> None:
    (span,) = told_times(said.format(month), at)
    assert at < span.end
    assert span.start < at + timedelta(days=366)


@given(at=MOMENTS, month=st.sampled_from(MONTHS), said=st.sampled_from(BEHIND))
def test_X5_a_month_without_a_year_is_over_where_the_clause_is_of_the_past(
    at: datetime, month: str, said: str
) -> None:
    (span,) = told_times(said.format(month), at)
    assert span.start <= at
    assert span.start > at - timedelta(days=366)


@given(at=MOMENTS, day=st.sampled_from(WEEKDAYS))
def test_X5_a_weekday_is_the_next_or_the_last_by_its_clause(at: datetime, day: str) -> None:
    (ahead,) = told_times(f"I was ill, but the meeting is on {day}", at)
    (behind,) = told_times(f"I am fine, the meeting took place on {day}", at)
    assert timedelta() <= ahead.end - at <= timedelta(days=8)
    assert timedelta() <= at - behind.start <= timedelta(days=8)


@given(at=MOMENTS, month=st.sampled_from(MONTHS))
def test_X5_what_comes_every_year_or_may_be_behind_or_ahead_has_no_date(
    at: datetime, month: str
) -> None:
    for said in ("we usually go to Spain in {}", "my birthday is in {}", "a house full in {}"):
        assert told_times(said.format(month), at) == ()


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("rebooked, I fly on the 11th", "on 2026-03-11"),
        ("dentist on Thursday", "on 2026-03-12"),
        ("she's getting married in October", "in October 2026"),
        ("she's moved out in October", "in October 2025"),
        ("the exam's on 3 February", "on 2027-02-03"),
        ("I have exams in May", "in May 2026"),
        ("Mum died in November", "in November 2025"),
        ("Meine Prüfung ist im Mai", "in May 2026"),
        ("Wir sind im Mai umgezogen", "in May 2025"),
        ("Tengo un examen en mayo", "in May 2026"),
        ("J'ai un examen en mai", "in May 2026"),
        ("Nous avons déménagé en mai", "in May 2025"),
    ],
)
def test_X5_tense_and_construction_decide(text: str, written: str) -> None:
    (span,) = told_times(text, AT)
    assert span.written() == written
