"""What is told in an ordinary message to an assistant: beside a text that is shown, a complaint, a
request. And what such a message says only of its moment."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from standfast.text.claims import extract
from standfast.types import Message

AT = datetime(2026, 3, 9, 10, 0, tzinfo=UTC)


def texts(said: str) -> list[str]:
    message = Message(id="m1", scope="s", session="c", role="user", text=said, at=AT, author="Ann")
    return [lesson.text for lesson in extract([message]).lessons]


def unread(said: str) -> list[str]:
    message = Message(id="m1", scope="s", session="c", role="user", text=said, at=AT, author="Ann")
    return [lesson.text for _, lesson in extract([message]).unread]


LETTER = "Dear Tom,\nI live in Rome and I am a vegan.\nBest regards,\nPaolo"
QUOTED = '"I live in Rome and I am a vegan. My cat is called Otto."'


@pytest.mark.parametrize(
    ("said", "written"),
    [
        (f"Shorten this:\n\n{QUOTED}\n\nI live in Leeds.", "Ann lives in Leeds."),
        (f"Is this mail polite?\n\n{LETTER}\n\nI'm left-handed.", "Ann is left-handed."),
        (
            "Here's the ad:\n\nA room to let. I live here.\n\nFor context: I have two kids.",
            "Ann has two kids.",
        ),
        ("Check this sentence? I'm Finnish: 'I live at Rome since May.'", "Ann is Finnish."),
        (f"I'm allergic to nuts, is this mail polite?\n\n{LETTER}", "Ann is allergic to nuts."),
    ],
)
def test_K4_who_shows_a_text_tells_of_themselves_around_it(said: str, written: str) -> None:
    assert texts(said) == [written]


@pytest.mark.parametrize(
    "said",
    [
        f"Shorten this:\n\n{LETTER}\n\nP.S. I have a new number.",
        f"Shorten this:\n\n{LETTER}\n\nHi Paolo,\nI live in Leeds.",
        "Shorten this:\n\nWe are vegans.\n\nI live here in Rome.",
        "My uncle writes: 'I live in Rome and I love it.'",
        "Data Engineer (f/m), Rome\nYou speak Italian. We are a team of ten.\n\nList the demands.",
        "Phone call transcript (a patient):\nI'm Gus, I live in Rome.\n\nMake a note of it.",
        "Is this advert real? It was in the post.\n\nFLAT TO LET\nRent: 300\nTown: Rome",
    ],
)
def test_K4_what_is_shown_and_what_it_is_called_teach_nothing(said: str) -> None:
    assert texts(said) == unread(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "I still can't draw a straight line.",
        "I have 12 essays to grade.",
        "I have a spreadsheet with nine sheets.",
        "My phone bill just went up again.",
        "Our train already left.",
        "My visa still hasn't arrived.",
    ],
)
def test_K5_a_complaint_of_the_moment_teaches_nothing(said: str) -> None:
    assert texts(said) == []


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("I still can't stand fish.", "Ann still can not stand fish."),
        ("I have 12 hens.", "Ann has 12 hens."),
        ("My brother and I play chess.", "Ann and their brother play chess."),
    ],
)
def test_K5_what_lasts_in_the_same_words_does(said: str, written: str) -> None:
    assert texts(said) == [written]


def test_K11_what_is_said_of_eyes_is_not_said_of_two_people() -> None:
    assert not any("and their eyes" in one for one in texts("My eyes are blue and I wear glasses."))


def test_K5_words_that_hang_on_what_was_said_before_are_nothing_alone() -> None:
    assert unread("Our neighbour plays the tuba. With open windows.") == []


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("We live in York so parking is awful.", "Ann lives in York."),
        ("I'm left-handed so most scissors are a pain, any tips?", "Ann is left-handed."),
        ("I run a bakery in Ghent and the till is driving me mad.", "Ann runs a bakery in Ghent."),
        ("I pay 90 a month into a pension and have no clue why.", "90 a month into a pension"),
        ("I trained as a nurse, and now everyone asks me about rashes.", "trained as a nurse"),
        ("My hips are wrecked after years of judo, so no running please.", "hips are wrecked"),
        ("I run a bakery in Ghent and our oven broke today, who can help?", "bakery in Ghent."),
    ],
)
def test_K5_what_comes_of_it_and_how_it_feels_hide_no_statement(said: str, written: str) -> None:
    (lesson,) = texts(said)
    assert written in lesson


@pytest.mark.parametrize(
    "said",
    [
        "I have a cold so swimming is out.",
        "I'm made of sugar so the rain is killing me.",
        "I'm the queen of the north and now everyone wants me to sing.",
        "If I lived in York, parking would be awful, so that is that.",
        "I'm at the station and the noise is driving me mad.",
    ],
)
def test_K5_what_is_no_statement_is_none_before_a_remark(said: str) -> None:
    assert texts(said) == []


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("My niece Zoe lives in Hull, she's five and she stammers.", 'niece Zoe stammers"'),
        ("My father passed away in 2024 and I'm his executor.", "their father's executor."),
        ("I'm allergic to wine, it's for my boss, he collects old ports.", "boss collects old"),
        ("My son Max is dyslexic and he's in year 4.", "Ann's son Max is in year 4."),
        ("My aunt Flo lives in Hull and I visit her on Sundays.", "their aunt Flo on Sundays"),
        ("My parents live in Hull, they're both deaf.", "Ann's parents are both deaf."),
    ],
)
def test_L6_he_and_she_are_who_was_named_before(said: str, written: str) -> None:
    assert any(written in one for one in texts(said)), texts(said)


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ("My sister met my boss in Rome, he lives in Ghent.", "sister lives"),
        ("My mum and my aunt live in Hull, she is 80.", "is 80"),
        ("My wife says her boss is mad, he lives on cake.", "wife lives"),
        ("My son is allergic to nuts, it's in year 4.", "son is in year 4"),
    ],
)
def test_L6_who_is_meant_is_not_guessed(said: str, wrong: str) -> None:
    assert not any(wrong in one and "Ann said" not in one for one in texts(said)), texts(said)


def test_L6_almost_is_no_supposition_of_how_somebody_is() -> None:
    assert texts("My uncle is almost blind.") == ["Ann's uncle is almost blind."]
    assert texts("I almost moved to Rome.") == []
