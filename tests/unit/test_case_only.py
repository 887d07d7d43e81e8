"""Letters that are others only as long as nobody minds case (İ, ı, ſ, K): a pattern that does not
mind finds them, and no table has them. Whatever a person writes, nothing breaks on it."""

from __future__ import annotations

import random
from datetime import UTC, datetime

import pytest

from standfast import Memory
from standfast.lifecycle.merge.claims.clauses import expanded
from standfast.text.dates import _numbers, time_spans
from standfast.text.words import counted, meanings

AT = datetime(2026, 1, 5, tzinfo=UTC)
OTHERS = {"i": "İı", "I": "İı", "s": "ſ", "S": "ſ", "k": "\u212a", "K": "\u212a"}
SAID = (
    "I'm moving to Kiel next Saturday, it isn't far",
    "I've lived in Oslo since last week",
    "What did I say this morning, or six weeks ago?",
    "My sister's birthday is on the 6th of March this year",
)


def otherwise(text: str) -> str:
    drawn = random.Random(text)
    return "".join(drawn.choice(OTHERS.get(letter, letter)) for letter in text)


@pytest.mark.parametrize("said", SAID)
def test_whatever_is_written_so_is_kept_asked_for_and_learned_from(said: str) -> None:
    with Memory.open("dict:", embedder="hashing", background=False) as memory:
        for one in (said, otherwise(said)):
            memory.observe("s", [one], scope="user:ann")
            memory.remember(one, scope="user:ann")
            assert memory.recall(one, scope="user:ann").hits
            memory.maintain()


def test_no_word_of_the_tables_breaks_when_it_is_written_so() -> None:
    tables = [counted(name) for name in ("dates.numbers", "dates.months", "dates.weekdays")]
    tables += [_numbers(name) for name in ("dates.shifts", "dates.days_away")]
    for word in (word for table in tables for word in table):
        for text in (f"{word} week", f"{word} days ago", f"on {word}", f"last {word}", word):
            time_spans(otherwise(text), AT)
    for word in meanings("clauses.contractions"):
        assert expanded(otherwise(word))
