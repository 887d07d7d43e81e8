"""A sieve finds what the whole pattern finds, and sooner."""

from __future__ import annotations

import random
import re
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import from_regex

import standfast
from evaluation.learning.cases import load
from standfast.text.dates import (
    _JOINED_NUMBERS,
    _calendar_forms,
    _numeric_forms,
    _relative_forms,
)
from standfast.text.words import cues, languages, parts, pattern, screened
from standfast.text.words.sieve import Screened, Sieve, Sieves, keys_of, split

SOURCES = Path(standfast.__file__).parent.rglob("*.py")
ASKED = re.compile(r'\b(?:cues|screened)\("([a-z_.]+)"')
# All that the rules hold against texts by a sieve or a screen.
SECTIONS = sorted(
    {name for file in SOURCES for name in ASKED.findall(file.read_text("utf-8"))}
    | {"changes.ends", "changes.changes", "changes.may"}
)
# With groups of one name in each language.
BY_LANGUAGE = [
    (f"corrections.{way}", language)
    for way in ("swap", "not_but", "said_meant", "wrong", "forget", "and_not")
    for language in languages(f"corrections.{way}")
]
quick = settings(
    max_examples=20, deadline=None, database=None, suppress_health_check=list(HealthCheck)
)


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


@pytest.mark.parametrize("section", SECTIONS)
def test_it_finds_whatever_the_whole_pattern_can_match(section: str) -> None:
    whole, sieve, screen = pattern(section), cues(section), screened(section)

    @quick
    @given(from_regex(whole))
    def holds(text: str) -> None:
        wanted = whole.search(text)
        assert wanted
        for found in (sieve.search(text), screen.search(text)):
            assert found
            assert found.span() == wanted.span()

    holds()


@pytest.mark.parametrize(("section", "language"), BY_LANGUAGE)
def test_a_screen_lets_through_whatever_can_match(section: str, language: str) -> None:
    whole, screen = pattern(section, language), screened(section, language)

    @quick
    @given(from_regex(whole))
    def holds(text: str) -> None:
        assert _same(whole.search(text), screen.search(text))
        assert _same(whole.match(text), screen.match(text))
        assert whole.sub("", text) == screen.sub("", text)

    holds()


def _same(one: re.Match[str] | None, other: re.Match[str] | None) -> bool:
    if one is None or other is None:
        return one is other
    return (one.span(), one.groupdict()) == (other.span(), other.groupdict())


@pytest.mark.parametrize(
    "form", [form for _, form in (*_numeric_forms(), *_calendar_forms(), *_relative_forms())]
)
def test_a_screen_lets_through_whatever_names_a_time(form: str) -> None:
    whole, screen = re.compile(form, re.IGNORECASE), Screened(form, re.IGNORECASE)

    @quick
    @given(from_regex(whole))
    def holds(text: str) -> None:
        assert [one.span() for one in whole.finditer(text)] == [
            one.span() for one in screen.finditer(text)
        ]

    holds()


@pytest.mark.parametrize("form", [form for _, form in _numeric_forms()])
def test_every_date_in_numbers_has_two_of_them_joined(form: str) -> None:
    @quick
    @given(from_regex(re.compile(form, re.IGNORECASE)))
    def holds(text: str) -> None:
        assert _JOINED_NUMBERS.search(text)

    holds()


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
    assert keys_of(r"(?-i:[a-z]+)") == keys_of(r"(?P<one>\w)(?P=one)") == frozenset()
    assert keys_of(r"(?i-s:quit|left)") == {"quit", "left"}


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
