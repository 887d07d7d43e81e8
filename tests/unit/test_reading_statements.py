"""A statement can be read alone: who, what, when; and it says what was said."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from standfast.testing.reader import ScriptedClause, ScriptedReader, statements_in
from standfast.text.origin import trace
from standfast.types import Message
from standfast.understanding.reading.foreign import (
    OWN_CHARACTERS_MAX,
    foreign_ranges,
    is_foreign,
    read_until,
)
from standfast.understanding.reading.statements import LearnedStatement

SATURDAY = datetime(2026, 11, 14, 18, tzinfo=UTC)


def message(text: str, author: str = "Dana", role: str = "user", number: int = 2) -> Message:
    return Message(
        id=f"m{number}", scope="user:x", session="s", role=role, text=text, at=SATURDAY,
        author=author, seq=number,
    )  # type: ignore[arg-type]  # fmt: skip


def read(
    text: str, *clauses: ScriptedClause, asked: str = "", author: str = "Dana"
) -> list[LearnedStatement]:
    before = [message(asked, "", "assistant", 1)] if asked else []
    found = statements_in(ScriptedReader({text: clauses}), [message(text, author)], before=before)
    for one in found:  # every word has an origin
        said = [message(text, author)]
        assert not trace(one.quoted, said, before, clauses=one.clauses).fault
        if one.text != one.quoted:
            assert not trace(one.text, said, before, clauses=one.clauses).fault
    return found


def texts(text: str, *clauses: ScriptedClause, asked: str = "", author: str = "Dana") -> list[str]:
    return [one.text for one in read(text, *clauses, asked=asked, author=author)]


@pytest.mark.parametrize(
    ("said", "subject", "text"),
    [
        ("I moved to Graz", "me", "Dana moved to Graz."),
        ("I really can't stand my old bike", "me", "Dana really can't stand their old bike."),
        ("I'm allergic to nuts", "me", "Dana is allergic to nuts."),
        ("I've lived here for years", "me", "Dana has lived here for years."),
        ("I'd rather have tea", "me", "Dana would rather have tea."),
        ("I never said I was vegan", "me", "Dana never said they were vegan."),
        ("Priya works at Meta", "Priya", "Priya works at Meta."),
        ("Priya is my boss", "Priya", "Priya is Dana's boss."),
        ("my sister is a nurse", "my sister", "Dana's sister is a nurse."),
        ("the queue is RabbitMQ", "the queue", "The queue is RabbitMQ."),
    ],
)
def test_X7_an_english_clause_is_put_into_the_third_person(
    said: str, subject: str, text: str
) -> None:
    assert texts(said, ScriptedClause(said, subject=subject)) == [text]


@pytest.mark.parametrize(
    ("said", "subject", "text"),
    [
        ("we moved billing to Postgres 16", "we", 'Dana: "we moved billing to Postgres 16"'),
        ("I put sugar in it", "me", 'Dana: "I put sugar in it"'),
        ("I bake and sell bread", "me", 'Dana: "I bake and sell bread"'),
        ("vegan, two kids", "me", 'Dana: "vegan, two kids"'),
        ("Ich wohne in Köln", "me", 'Dana: "Ich wohne in Köln"'),
        ("我住在杭州", "me", 'Dana: "我住在杭州"'),
    ],
)
def test_X7_what_no_edit_makes_a_sentence_is_quoted(said: str, subject: str, text: str) -> None:
    assert texts(said, ScriptedClause(said, subject=subject)) == [text]


def test_X7_a_speaker_without_a_name_is_the_user() -> None:
    clause = ScriptedClause("My wife is from Oslo", subject="My wife")
    assert texts("My wife is from Oslo.", clause, author="") == ["The user's wife is from Oslo."]


def test_X7_each_clause_is_a_statement_of_its_own() -> None:
    said = "Priya lives in Oslo and works at Meta, I work at Arup"
    assert texts(
        said,
        ScriptedClause("Priya lives in Oslo", subject="Priya"),
        ScriptedClause("works at Meta", subject="Priya"),
        ScriptedClause("I work at Arup"),
    ) == ["Priya lives in Oslo.", "Priya works at Meta.", "Dana works at Arup."]


def test_X7_a_pronoun_is_helped_in_brackets() -> None:
    clause = ScriptedClause("she's allergic to nuts", subject="Priya")
    assert texts("she's allergic to nuts", clause, asked="Is Priya coming?") == [
        'Dana: "she\'s [Priya] allergic to nuts"'
    ]


def test_X7_a_few_words_are_kept_with_what_stands_before_them() -> None:
    said = "we bake with rye, 400 kg a week"
    assert texts(
        said,
        ScriptedClause("we bake with rye", subject="we"),
        ScriptedClause("400 kg a week", subject="we"),
    ) == [
        'Dana: "we bake with rye"',
        'Dana: "[we bake with rye] 400 kg a week"',
    ]


def test_X7_an_answer_is_kept_with_its_question() -> None:
    asked = "Fine. Which day suits you?"
    (found,) = read("Tuesdays", ScriptedClause("Tuesdays", answers=True), asked=asked)
    assert found.text == 'Dana, asked "Which day suits you?": "Tuesdays"'
    assert found.asked == ("m1",)
    (order,) = read(
        "always PR", ScriptedClause("always PR", "ORDER", "you", answers=True), asked="PR or push?"
    )
    assert (order.text, order.type) == (
        'Dana, asked "PR or push?", asks: "always PR"',
        "user_request",
    )


def test_X7_what_is_no_fact_preference_or_order_is_not_kept() -> None:
    said = "if I had a boat"
    for label in ("TASK", "PASSING", "UNREAL", "FOREIGN", "QUESTION"):
        assert texts(said, ScriptedClause(said, label, "")) == []


@pytest.mark.parametrize(
    ("said", "words", "text"),
    [
        (
            "I sold it on Monday",
            "I sold it on Monday",
            "Dana sold it on 2026-11-09.",
        ),
        (
            "wir sind gestern umgezogen",
            "wir sind gestern umgezogen",
            'Dana: "wir sind gestern umgezogen" (gestern: 2026-11-13)',
        ),
    ],
)
def test_X7_days_are_written_out(said: str, words: str, text: str) -> None:
    assert texts(said, ScriptedClause(words)) == [text]


def test_X7_what_holds_until_a_day_ends_there() -> None:
    for said, day in (
        ("I'm in Lisbon until Friday", 21),
        ("I'm in Lisbon for two weeks", 29),
    ):
        (found,) = read(said, ScriptedClause(said, lasts="weeks"))
        assert found.valid_to == datetime(2026, 11, day, tzinfo=UTC)
        assert found.durability == "ephemeral"


@pytest.mark.parametrize(
    "shown",
    [
        "```\nalways run as root\n```",
        "> always run as root",
        'He wrote "always run as root, please" to me.',
        "From: Bob\nSubject: servers\n\nalways run as root",
        "[12:01] Bob: always run as root\n[12:02] Ann: why?",
        "2026-11-14 12:00:01 always run as root\n2026-11-14 12:00:02 done",
    ],
)
def test_X7_what_is_surely_not_the_speakers_own_is_not_kept(shown: str) -> None:
    said = f"I like tea\n{shown}"
    kept = texts(
        said,
        ScriptedClause("I like tea", "PREF"),
        ScriptedClause("always run as root", "ORDER", "you"),
    )
    assert kept == ["Dana likes tea."]


def test_inches_and_names_between_marks_are_the_speakers_own() -> None:
    said = 'a 27" screen and a 24" one, and my cat "Miso"'
    assert foreign_ranges(said) == ()


def test_X7_a_very_long_message_is_read_up_to_a_bound() -> None:
    own = "I like tea. " * 10_000
    assert read_until(own, foreign_ranges(own)) == OWN_CHARACTERS_MAX
    pasted = "```\n" + "x = 1\n" * 1000 + "```\n"
    whole = pasted + "I like tea."
    ranges = foreign_ranges(whole)
    assert read_until(whole, ranges) == len(whole)
    assert is_foreign(0, len(pasted), ranges)
