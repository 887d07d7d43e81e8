"""What things are set to: any thing, in so many words."""

from __future__ import annotations

import time

import pytest

from standfast.lifecycle.merge.claims.values import leaves_alone, sets_anew

# known, the thing, another value of it
THINGS = [
    ("My username is foxy42.", "username", "redfox"),
    ("My locker number is 118.", "locker number", "204"),
    ("My favourite cheese is brie.", "favourite cheese", "gouda"),
    ("Our team name is Falcons.", "team name", "Otters"),
    ("My budget for the trip is 2000 dollars.", "budget", "2500 dollars"),
    ("My ringtone is a bell.", "ringtone", "a harp"),
    ("My exam date is on 2026-06-04.", "exam date", "18 June"),
    ("My dentist is Dr. Abel.", "dentist", "Dr. Zorn"),
]
FORMS = [
    "I changed my {thing} to {value}",
    "They've changed the {thing} to {value}.",
    "The {thing} has been changed to {value}",
    "The new {thing} is {value}",
    "My {thing} is {value} now",
    "My {thing} is now {value}!",
    "Let's make the {thing} {value}",
    "Please note that the {thing} is {value} from now on",
    "I've switched my {thing} to {value}",
    "As of this week the {thing} is {value}",
    "I updated my {thing}: {value}",
    "Going forward the {thing} will be {value}",
    "Can you change my {thing} to {value}",
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("known", "thing", "value"), THINGS)
def test_X6_any_thing_gets_another_value(known: str, thing: str, value: str, form: str) -> None:
    text = form.format(thing=thing, value=value)
    assert sets_anew(text, known)
    assert not leaves_alone(text, known)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("known", "thing", "value"), THINGS)
def test_X6_another_thing_is_left_alone(known: str, thing: str, value: str, form: str) -> None:
    text = form.format(thing=f"{thing} holder", value=value)
    assert not sets_anew(text, known)
    assert not sets_anew(form.format(thing="garden", value=value), known)


@pytest.mark.parametrize(
    ("known", "text"),
    [
        ("My tutor is Professor Lin.", "Professor Lin has been replaced by Dr. Osei."),
        ("My cat's name is Felix.", "My cat is called Nala now."),
        ("My cat is called Felix.", "My cat's name is Nala now."),
        ("Our host is Anna Berg.", "Carl took over from Anna."),
        ("My laptop is a ThinkPad.", "I swapped the ThinkPad for a MacBook."),
    ],
)
def test_X6_what_something_took_the_place_of_is_over(known: str, text: str) -> None:
    assert sets_anew(text, known)


@pytest.mark.parametrize(
    ("known", "text"),
    [
        ("My phone is a Pixel 7.", "My phone is broken now."),
        ("My phone is a Pixel 7.", "My phone is on the table now."),
        ("My phone is a Pixel 7.", "I switched my phone to silent."),
        ("My phone is a Pixel 7.", "My new phone case is red."),
        ("My car is a Skoda.", "I moved my car to the garage."),
        ("My boss is Karen.", "My boss is on holiday now."),
        ("My dog is a beagle.", "My dog is a bit sick now."),
        ("My hair is brown.", "My hair is a mess now."),
        ("My favourite cheese is brie.", "My new favourite song is Yellow."),
        ("My meeting with Dana is on 2026-03-13.", "I moved my meeting with Paul to Monday."),
        ("My budget is 2000 dollars.", "The budget for the party is 300 dollars now."),
        ("My friend is Ann.", "My new friend is Bob."),
    ],
)
def test_X6_what_is_no_value_of_it_leaves_it_alone(known: str, text: str) -> None:
    assert leaves_alone(text, known)
    assert not sets_anew(text, known)


@pytest.mark.parametrize(
    ("known", "text"),
    [
        ("My locker is 118.", "My locker is 118 now."),
        ("My home is Leeds.", "My home is now Leeds near the canal."),
        ("I like tea.", "I changed my locker to 204."),
        ("My locker is 118.", "I like tea."),
    ],
)
def test_what_says_the_same_or_has_no_value_is_neither(known: str, text: str) -> None:
    assert not sets_anew(text, known)
    assert not leaves_alone(text, known)


@pytest.mark.parametrize(
    "shape", ["my " * 5_000, "!" * 20_000, "my a is " * 5_000, "make the " * 50]
)
def test_hostile_text_is_read_at_once(shape: str) -> None:
    began = time.process_time()
    for text in (shape, f"My locker is {shape}", shape[:199]):
        sets_anew(text, "My locker is 118.")
        leaves_alone(text, "My locker is 118.")
    assert time.process_time() - began < 0.5
