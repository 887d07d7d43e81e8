"""What people tell of themselves in fragments, and what only looks like it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from standfast.text.claims import extract
from standfast.types import Message

AT = datetime(2026, 3, 9, tzinfo=UTC)


def learned(text: str, author: str = "") -> list[str]:
    said = Message(id="m", scope="s", session="c", role="user", text=text, at=AT, author=author)
    return [lesson.text for lesson in extract([said]).lessons]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (
            "About me:\n- vegan\n- live in Leeds\n- two kids",
            ["The user is vegan.", "The user lives in Leeds.", "The user has two kids."],
        ),
        (
            "Hi! About me:\n* 61, widowed\n* retired postman\n\nWhat could I do on Sundays?",
            ["The user is a retired postman."],
        ),
        ("Vegan here, any recipes?", ["The user is vegan."]),
        ("Fellow Rust developer here. How do I pin it?", ["The user is a Rust developer."]),
        ("Mum of three here, need dinner ideas", ["The user is a mum of three."]),
        ("coeliac btw, what about the flour?", ["The user is coeliac."]),
        ("37, nurse, Leeds", ["The user is 37 years old.", "The user is a nurse."]),
        ("Name: Ann\nCity: Oslo", ["The user's name is Ann.", "The user lives in Oslo."]),
        ("Name: Ann / City: Oslo", ["The user's name is Ann.", "The user lives in Oslo."]),
        ("Job: paramedic\nKids: 3", ["The user works as a paramedic.", "The user has 3 kids."]),
        ("Allergies: kiwi", ["The user is allergic to kiwi."]),
        ("Me: 45F, accountant", ["The user is 45 years old.", "The user is an accountant."]),
        ("Context: bakery owner in Porto, 4 employees", ["The user has 4 employees."]),
        ("About my family:\n- wife Clara\n- dog called Rex", ["The user's wife is called Clara."]),
        ("Quick intro: Tom, 42, electrician from Cork", ["The user's name is Tom."]),
        ("Siobhan here, I'm a nurse in Cork", ["The user's name is Siobhan."]),
    ],
)
def test_fragments_about_oneself_are_read_as_sentences(text: str, facts: list[str]) -> None:
    assert set(facts) <= set(learned(text))


def test_what_has_no_known_form_is_kept_under_its_heading() -> None:
    said = learned("my setup:\n- Framework laptop\n- Fedora\n- neovim")
    assert said == ['The user said: "About my setup: Framework laptop, Fedora, neovim"']


@pytest.mark.parametrize(
    "text",
    [
        "Hungry here, what's fast?",
        "Same here!",
        "Winter here is long",
        "Server error here, any idea?",
        "Example input: 37, nurse, Leeds",
        "My character: 37, nurse, Leeds. Write her backstory.",
        "Anna, 34, nurse. What would be a good gift?",
        "62F, diabetic, on metformin. What is the likely diagnosis?",
        "Bio for my client: 42, surgeon, lives in Dallas. Make it funnier.",
        "About me:\n- passionate developer\n- team player\nCan you improve this text?",
        "Name: Lara Croft\nAge: 27\nRole: heroine\nWrite a game intro for this character.",
        "Name: Frida Holm\nEmail: frida@holm.example\nCity: Oslo",
        "Name: config.yaml\nType: file",
        "Me: hi\nHer: hello\nMe: vegan?",
        "Context: React app, 3 components, one store",
        "Shopping list:\n- eggs\n- oat milk\n- bread",
        "To do today:\n- call mum\n- pay rent\n- book dentist",
        "Two adults, one child, from Friday to Sunday",
    ],
)
def test_what_is_somebody_elses_or_at_hand_is_no_portrait(text: str) -> None:
    assert learned(text) == []


def test_a_form_with_another_name_is_somebody_elses() -> None:
    assert learned("Name: Ann\nCity: Oslo", author="Bert") == []
    assert "Ann lives in Oslo." in learned("Name: Ann Berg\nCity: Oslo", author="Ann")


@pytest.mark.parametrize(
    "text",
    [
        "Dairy makes me ill",
        "Heights make me nervous",
        "Bananas give me a stomach ache",
        "Spicy food doesn't agree with me",
        "Crowds are not my thing",
        "I'm more of a tea person",
        "Give me the mountains over the sea any day",
        "I could listen to Bach all day",
        "I have a second home in Tuscany",
        "I spend 60% of my time on code review",
        "I work at the airport",
        "Deploys go out on Thursdays now",
        "The shop is closed on Mondays",
        "From next week we open at 7:30 instead of 8",
        "Dad had a fall, he uses a walking frame now",
        "cant do seafood btw, throat swells up",
    ],
)
def test_a_passing_word_does_not_hide_what_lasts(text: str) -> None:
    assert learned(text)


@pytest.mark.parametrize(
    "text",
    [
        "My flight is delayed",
        "Our train is cancelled",
        "Nele isn't coming after all",
        "I'm 60% done with the report",
        "My phone is on 3 percent so be quick",
        "I have a second question",
        "I'm at the airport and my gate changed",
        "My car is at the garage",
        "The bakery is out of rye bread",
        "The museum was closed on Monday",
        "I can't do Tuesday, how about Wednesday?",
        "I'm vegan for the day, long story",
        "Standup is at 10 today instead of 9",
        "The new update makes me angry",
        "Just give me the short version",
    ],
)
def test_what_is_so_this_once_is_left_alone(text: str) -> None:
    assert learned(text) == []


def test_fragments_after_a_question_are_kept_without_it() -> None:
    """Nobody's question has a part in what stands by itself."""
    asked = Message(id="q", scope="s", session="c", role="assistant", text="How are you?", at=AT)
    told = Message(
        id="m", scope="s", session="c", role="user", text="Vegan here, any ideas?", at=AT
    )
    (lesson,) = extract([asked, told]).lessons
    assert (lesson.text, lesson.asked) == ("The user is vegan.", ())
