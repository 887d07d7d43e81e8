"""Short answers to an assistant's questions: what they say together, and what they do not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standfast.text.claims import answers, extract, replies
from standfast.text.claims.answers import answered, any_question_in, question_in
from standfast.text.claims.replies import questions_in
from standfast.types import Message, Role

AT = datetime(2026, 3, 9, tzinfo=UTC)


def said(role: Role, text: str, number: int) -> Message:
    at = AT + timedelta(seconds=number)
    return Message(id=f"m{number}", scope="s", session="c", role=role, text=text, at=at, author="")


def learned(*talk: str) -> list[str]:
    """Of messages by turns, the assistant's first."""
    roles: tuple[Role, Role] = ("assistant", "user")
    found = extract([said(roles[at % 2], text, at) for at, text in enumerate(talk)])
    return [lesson.text for lesson in found.lessons]


@pytest.mark.parametrize(
    ("asked", "answer", "written"),
    [
        ("Where do you live?", "Leeds", "The user lives in Leeds."),
        ("Great! And where are you based?", "In Leeds", "The user lives in Leeds."),
        ("Do you have any allergies?", "Yes, peanuts", "The user is allergic to peanuts."),
        ("Any dietary restrictions?", "vegan", "The user is vegan."),
        ("What do you do for a living?", "nurse", "The user works as a nurse."),
        ("What's your name?", "Ann", "The user's name is Ann."),
        ("How old are you?", "34", "The user is 34 years old."),
        ("Do you have kids?", "two boys", "The user has two boys."),
        ("Which database do you use?", "Postgres 16", "The user uses Postgres 16."),
        ("What's your budget?", "around 2000 euros", "The user's budget is around 2000 euros."),
        ("Are you vegetarian?", "yes", "The user is vegetarian."),
        ("Do you smoke?", "no, never", "The user does not smoke."),
        ("What languages do you speak?", "Polish, German", "The user speaks Polish, German."),
        ("What's your team?", "Team {0} {x}", "The user's team is Team {0} {x}."),
    ],
)
def test_L6_an_answer_says_what_was_asked(asked: str, answer: str, written: str) -> None:
    assert learned(asked, answer) == [written]


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("Do you want me to continue?", "yes"),
        ("Which one do you prefer?", "the second"),
        ("What is your question?", "sorting in Python"),
        ("What's your password?", "hunter2"),
        ("Where do you live?", "why do you ask?"),
        ("Do you have any allergies?", "none"),
        ("How old are you?", "old enough"),
        ("Where do you live?", "not telling"),
        ("What is your name?", "I would rather not say"),
        ("Where does Tom live?", "Leeds"),
        ("I live in the cloud.", "Leeds"),
    ],
)
def test_L6_what_answers_nothing_about_somebody_is_no_answer(asked: str, answer: str) -> None:
    assert answered(question_in(asked), answer) == ""


def test_L6_only_the_question_just_before_is_answered() -> None:
    assert learned("Where do you live?", "Thanks for asking!", "Noted.", "Leeds") == []
    earlier = [said("assistant", "Do you have any allergies?", 0)]
    found = extract([said("user", "peanuts", 1)], earlier=earlier)
    assert [lesson.text for lesson in found.lessons] == ["The user is allergic to peanuts."]


@pytest.mark.parametrize(
    "shape", ["a" * 50_000, "what is your " * 5_000, "yes, " * 9_000, "?" * 40_000]
)
def test_hostile_questions_and_answers_are_read_at_once(shape: str) -> None:
    assert isinstance(answered(question_in(shape), "Leeds"), str)
    assert answered("Where do you live?", shape) in ("", f"I live in {shape}")


MARKED = st.text(alphabet="ab1 .!?\uff1f\u3002\n\"'", max_size=60)


@given(MARKED)
def test_a_question_is_found_though_only_texts_with_a_mark_are_searched(text: str) -> None:
    last = answers._LAST_QUESTION.search(text)
    assert question_in(text) == (last[0].strip(" \"'*_") if last else "")
    anywhere = answers._ANY_QUESTION.findall(text)
    assert any_question_in(text) == (anywhere[-1].strip(" \"'*_") if anywhere else "")
    asked = [one.strip(" \"'*_") for one in replies._ASKED.findall(text)]
    assert questions_in(text) == " ".join(asked)
