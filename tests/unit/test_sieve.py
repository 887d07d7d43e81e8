"""A sieve finds what the whole pattern finds, and sooner."""

from __future__ import annotations

import random
import re
import time

import pytest

from evaluation.learning.cases import load
from recollect.text.words import cues, parts, pattern
from recollect.text.words.sieve import Sieve, Sieves, keys_of, split

SECTIONS = (
    "changes.ends", "changes.changes", "changes.may", "lasting.figurative", "lasting.hypothetical",
    "lasting.conversation", "lasting.passing", "lasting.passing_nouns", "lasting.standing",
    "lasting.work_in_hand", "lasting.being_there", "safety.facts",
)  # fmt: skip


@pytest.fixture(scope="module")
def texts() -> list[str]:
    draw = random.Random(7)
    said = [turn.text for name in ("pairs", "tricky") for one in load(name) for turn in one.turns]
    words = [word for text in said for word in text.split()]
    mixed = [" ".join(draw.choices(words, k=draw.randint(1, 20))) for _ in range(60)]
    return [*draw.sample(said, 140), *mixed, "ich hab gekündigt", "我辞职了", "ſtopped, no LONGER"]


@pytest.mark.parametrize("section", SECTIONS)
def test_it_finds_what_the_whole_pattern_finds(section: str, texts: list[str]) -> None:
    whole, sieve = pattern(section), cues(section)
    for text in texts:
        wanted, found = whole.search(text), sieve.search(text)
        assert (wanted and wanted.span()) == (found and found.span()), text


def test_the_leftmost_place_counts_and_there_the_first_alternative() -> None:
    sieve = Sieve(r"\b(?:ab|abc)\b|\bxy\w*|abcd", re.IGNORECASE)
    for text in ("xyz ABC", "abcd", "no", "ab xy", "zabcd"):
        whole = re.search(r"\b(?:ab|abc)\b|\bxy\w*|abcd", text, re.IGNORECASE)
        found = sieve.search(text)
        assert (whole and whole.span()) == (found and found.span()), text


def test_the_letters_that_an_alternative_needs() -> None:
    assert split(r"a|(?:b|c)|[|]|\|") == ["a", "(?:b|c)", "[|]", r"\|"]
    assert keys_of(r"\bquit(?:ting)?\b") == {"quit"}
    assert keys_of(r"\bcancel+ed\b") == {"cancel"}
    assert keys_of(r"\bcolou?r\b") == {"colo"}
    assert keys_of(r"\b(?:died|passed) \w+") == {"died", "passed"}
    assert keys_of(r"(?!no)\w+x?") == frozenset()


def test_hostile_text_takes_no_longer_than_its_length() -> None:
    for hostile in ("not " * 250, "gave " * 200, "a" * 1000, "raised " * 140):
        began = time.process_time()
        for section in SECTIONS:
            cues(section).search(hostile)
        assert time.process_time() - began < 0.5


def test_several_at_once_find_what_each_of_them_finds(texts: list[str]) -> None:
    for section in ("fields.words", "topics.values"):
        for language in ("en", "de", "fr"):
            whole = {
                name: rf"(?<!\w)(?:{part})(?!\w)" for name, part in parts(section, language).items()
            }
            sieves = Sieves(whole, re.IGNORECASE)
            for text in texts:
                wanted = {n for n, form in whole.items() if re.search(form, text, re.IGNORECASE)}
                assert sieves.found(text) == wanted, text


@pytest.mark.parametrize("written", ["Elle est décédée.", "ELLE EST DÉCÉDÉE.", "décédé", "decede"])
def test_letters_with_accents_are_looked_for_in_any_case(written: str) -> None:
    form = r"\bdécédée?\b|\bnée?\b"
    found = Sieve(form, re.IGNORECASE).search(written)
    whole = re.search(form, written, re.IGNORECASE)
    assert (found and found.span()) == (whole and whole.span())


def test_a_text_in_plain_letters_is_not_searched_for_letters_with_accents() -> None:
    assert keys_of(r"\bdécédée?\b") == {"décédé"}
    assert keys_of(r"\bnée?\b") == {"né"}
