"""Near misses: what has the words of the question and speaks of another thing."""

from __future__ import annotations

import re

import pytest

from standfast.rank.contrast import looked_at, misses, second_hops
from standfast.text.compare.parts import canonical
from standfast.text.words import FOLDER

APART = (
    ("When does the rowing club meet?", "The sewing club meets on the first Thursday."),
    ("Where is the best ramen?", "The best falafel in town is at Noor's."),
    ("what's the door code at the cottage", "door code at the studio: ask Ines"),
    ("who is the contact at Lyra", "The contact at Vega is Rosa Idris."),
    ("When does my aunt Berta arrive?", "My uncle Hugo arrives on Sunday."),
    ("what does Tilo drink", "Tila drinks nothing but rooibos."),
    ("does Tila own a kayak", "Tilo owns a kayak since spring"),
    ("what did Tilo's cousin sell", "Tilo sold his van in May"),
    ("what does the mail relay v3 listen on", "mail relay v2 listens on port 587"),
    ("who handles ticket OPS-311", "ticket OPS-310 is handled by Nils"),
    ("which queue feeds invoices.draft", "the night queue feeds invoices.final"),
    ("How many chairs did we order in 2021?", "We ordered 40 chairs in 2024."),
    ("blood pressure in October", "blood pressure was 131/84 in April"),
    ("When was the left wrist in plaster?", "The right wrist was in plaster last winter."),
    ("When did he begin fasting?", "stopped fasting after Easter"),
    ("What does the dog weigh?", "Our cat weighs 4.2 kilos."),
    ("Wann fährt der Zug nach Genf?", "Der Zug nach Basel fährt um 9:02 Uhr."),
)

ANSWERS = (
    ("When does the rowing club meet?", "The rowing club meets at the pier on Sundays."),
    ("which Postgres version does staging run", "The staging cluster runs Postgres 16.2."),
    ("until when is my licence valid", "My licence expires in March 2031."),
    ("Who approves large refunds?", "Lena handles refunds above 200 euros."),
    ("which day do we sail to Gotland", "we booked the ferry to Gotland for 12 July"),
    ("Where does Ada work?", "She works at Corvid Labs."),
    ("Is the stand-up on Friday?", "The stand-up is on Thursday."),
    ("Do we deploy with v2?", "We deploy with v3."),
    ("Which parking spot is ours, 14?", "Spots 12 to 18 are ours."),
    ("Did the rent change in 2023?", "The rent is 900 since 2021."),
    ("where is Rust formatted", "rustfmt runs in the commit hook"),
    ("What does Marjana read?", "Marijana reads crime novels."),
    ("wlan password", "The guest password is on the board. wlan"),
    ("Wer ist mein Arzt?", "Meine Hausärztin heißt Dr. Seidel."),
    ("What does Misaki study?", "美咲は京都の大学院で江戸時代の疫病史を研究している。"),
    ("How old is Paweł's son Ignacy?", "Syn Pawła, Ignaś, w październiku kończy siedem lat."),
    ("When is Misha due for the shot?", "Прививку от клещевого энцефалита Мише сделают 20 апреля."),
    ("", "Anything at all."),
    ("When?", ""),
)


@pytest.mark.parametrize(("question", "statement"), APART)
def test_X21_a_statement_of_another_thing_is_told_apart(question: str, statement: str) -> None:
    (why,) = misses(question, [statement])
    assert why


@pytest.mark.parametrize(("question", "statement"), ANSWERS)
def test_X21_what_answers_in_other_words_is_no_near_miss(question: str, statement: str) -> None:
    assert misses(question, [statement]) == [""]


def test_X21_a_name_that_is_known_is_not_the_slip_of_another() -> None:
    """Alone, Hanson may be misspelled; beside Hansen it is somebody else."""
    told = ["Hansen moved to Bergen.", "Hanson moved to Leeds."]
    assert misses("Where did Hanson move?", told[:1]) == [""]
    first, second = misses("Where did Hanson move?", told)
    assert first.startswith("hanson, not ")
    assert second == ""


HOPS = (
    ("Where does Tom's sister live?", "Clara is Tom's sister.", "Clara lives in Porto.", True),
    ("What is our landlord's phone number?", "Our landlord is Mr. Feld.",
     "The phone number of Mr. Feld is 0341 5566.", True),
    ("When does my dentist close?", "Dr. Varga's practice closes at noon.",
     "My dentist is Dr. Varga.", True),
    ("Where does Tom's sister live?", "Clara is Tom's sister.", "Bea lives in Ghent.", False),
    ("Where does Tom's sister live?", "Clara is Tom's sister.", "Clara likes jazz.", False),
    ("Where does Clara live?", "Clara lives in Porto.", "Porto lies on the Douro.", False),
)  # fmt: skip


@pytest.mark.parametrize(("question", "first", "other", "goes_on"), HOPS)
def test_X21_a_second_hit_goes_on_by_a_name_of_the_first(
    question: str, first: str, other: str, goes_on: bool
) -> None:
    """Only where the first leaves something open that the second has."""
    assert bool(second_hops(question, [first], [other])[0]) == goes_on


def test_X21_a_long_text_is_read_up_to_a_point() -> None:
    """A document costs no more than its beginning."""
    words = "lorem ipsum " * 100_000
    assert misses("When does the rowing club meet?", [words]) == [""]


# What Snowball's English stemmer changes at the end of a word, and not only takes away.
ENDINGS = (
    "s es ies ied ed ing eed edly ying y ly bly ogies ational ation ator izer ization fulness"
    " bility ousness iveness alities icate ement ible sses"
).split()


def test_X21_a_word_is_found_by_how_its_stem_begins() -> None:
    """Only words that begin as a stem does are compared by their stems: there must be no others."""
    listed = set(re.findall("[a-z]+", FOLDER.joinpath("en.toml").read_text("utf-8")))
    begun = ["d", "tr", "fl", "hop", "sens", "rel", "happ", "cont"]
    built = {start + ending for start in begun for ending in ENDINGS}
    assert [one for one in listed | built if not looked_at(one).means(canonical(one))] == []


@pytest.mark.parametrize(
    ("told", "held"),
    [
        ("Ann’s aunt O'Neil isn't in.", ["ann", "aunt", "o", "isn", "in"]),
        ("rock'n'roll, 'tis the 2nd_time", ["rock", "tis", "the", "2nd", "time"]),
        ("Ünal mag Grüße, MÜNCHEN nicht", ["unal", "mag", "grusse", "munchen", "nicht"]),
    ],
)
def test_X21_words_end_at_an_apostrophe_and_are_folded(told: str, held: list[str]) -> None:
    read = looked_at(told)
    assert read.texts == held == [read.word(place).text for place in range(len(held))]
