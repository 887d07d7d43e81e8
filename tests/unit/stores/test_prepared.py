"""What a batch computes in one go is what it would compute for each record by itself."""

from __future__ import annotations

import string
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from standfast.errors import Invalid
from standfast.index import derived
from standfast.index.derived import COUNT_MAX, terms_blob
from standfast.stores import findable
from standfast.stores.commit import Held, decide
from standfast.stores.prepared import prepare
from standfast.stores.rows import checksum, checksum_of_texts, ids_json, to_json
from standfast.testing.values import NOW, make_batch, make_record
from standfast.text import analysis
from standfast.types import Record

WORDS = [
    "the",
    "dogs",
    "dog's",
    "don't",
    "Ärzte",
    "больнице",
    "北京",
    "is",
    "und",
    "🙂",
    "a_b",
    "'",
]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=20).map(" ".join) | st.text(max_size=40)
SAID = st.tuples(TEXTS, st.sampled_from(["", "Ann", "Zoë"]))


def records_of(said: list[tuple[str, str]]) -> list[Record]:
    return [
        replace(make_record(f"r{place}"), text=text, author=author)
        for place, (text, author) in enumerate(said)
    ]


@given(st.lists(SAID, min_size=1, max_size=20))
def test_records_are_found_by_the_same_words_alone_and_among_many(
    said: list[tuple[str, str]],
) -> None:
    alone = [terms_blob(text, author) for text, author in said]
    assert findable.terms_of(records_of(said)) == alone


def test_a_word_among_many_records_is_counted_as_often_as_fits() -> None:
    said = [("a " * (COUNT_MAX + 10), ""), *[("a b", "")] * 3]
    assert findable.terms_of(records_of(said)) == [terms_blob(*one) for one in said]


def test_more_words_than_are_kept_are_found_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derived, "WORDS_KEPT", 3)
    said = [(f"cats {number} run with dogs", "") for number in range(20)]
    assert findable.terms_of(records_of(said)) == [terms_blob(*one) for one in said]
    assert len(derived.STEM_HASHES) <= 3


@given(st.text(alphabet=string.ascii_letters + string.digits + "'_-.?! \n\t\x00\x7f", max_size=60))
def test_words_of_plain_letters_are_those_of_the_form(text: str) -> None:
    assert list(analysis.words(text)) == analysis._ASCII_TOKEN.findall(text.lower())


NAMES = st.text(max_size=20) | st.sampled_from(["", "x" * 127, "x" * 200, "y" * 2000, "é" * 300])


@given(st.lists(NAMES, min_size=11, max_size=11))
def test_the_quick_checksum_is_the_checksum(parts: list[str]) -> None:
    assert checksum_of_texts(*parts) == checksum(*parts)


def test_the_quick_checksum_takes_what_a_damaged_row_holds() -> None:
    parts: list[Any] = ["a", None, b"b", 3, 0.5, "\ud800", "", "", "", "", ""]
    assert checksum_of_texts(*parts) == checksum(*parts)


@given(st.lists(st.text(max_size=5), max_size=3))
def test_names_are_written_as_json(names: list[str]) -> None:
    assert ids_json(tuple(names)) == to_json(names)


DATA: list[dict[Any, Any]] = [
    {}, {"n": 1}, {"n": True}, {"n": "1"}, {"n": 1.0}, {"a": "x", "b": "y"}, {"b": "y", "a": "x"},
]  # fmt: skip


def test_records_that_are_nearly_alike_are_told_apart() -> None:
    records = [
        make_record(f"r{number}-{place}", text="same", hash=hash_, data=data, **more)
        for number, data in enumerate(DATA)
        for place, (hash_, more) in enumerate(
            (
                ("", {}),
                (f"h{number}", {}),
                (f"e{number}", {"expires_at": NOW - timedelta(days=1)}),
                ("", {"tags": ("a",)}),
                ("", {"importance": -0.0}),
                ("", {"importance": 0}),
            )
        )
    ]
    together = prepare(make_batch(*records)).records
    for record in records:
        alone = prepare(make_batch(record)).records[record.id]
        assert repr(together[record.id]) == repr(alone)


def test_a_list_for_tags_is_taken_as_ever() -> None:
    given: Any = ["b", "a"]
    listed = prepare(make_batch(make_record("r", tags=given))).records["r"]
    assert listed == prepare(make_batch(make_record("r", tags=("b", "a")))).records["r"]


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_a_vector_that_is_not_finite_is_refused(number: float) -> None:
    vector = np.array([1, number, 2], dtype="<f4").tobytes()
    batch = replace(make_batch(make_record("r")), vectors={"r": vector}, space="s/3")
    with pytest.raises(Invalid, match="not finite"):
        prepare(batch, small=False)


def test_large_numbers_are_finite() -> None:
    vector = np.array([3e38, -3e38], dtype="<f4").tobytes()
    batch = replace(make_batch(make_record("r")), vectors={"r": vector}, space="s/2")
    assert prepare(batch, small=False).batch is batch


def test_new_records_are_decided_alike_in_one_go_and_one_by_one() -> None:
    new = [make_record(f"r{number}", text=f"text {number}") for number in range(9)]
    other = make_record("other", text="other", version=1)
    together = decide(make_batch(*new), Held())
    one_by_one = decide(make_batch(*new), Held(records={"other": other}))
    assert together.records == one_by_one.records
    assert together.made == one_by_one.made
    assert together.entry is not None
    assert one_by_one.entry is not None
    assert together.entry.touched == one_by_one.entry.touched
    assert together.also == one_by_one.also
    assert all(record.version == 1 for record in together.records.values())
