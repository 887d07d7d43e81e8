from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standfast.text.analysis import bm25, idf, query_terms, terms
from standfast.text.normal import fold


@given(st.text())
def test_any_text_is_analysed_and_folding_settles(text: str) -> None:
    assert all(terms(text)) or terms(text) == []
    assert set(query_terms(text)) <= set(terms(text))


@given(st.text(st.characters(codec="ascii")))
def test_case_never_matters(text: str) -> None:
    assert terms(text.upper()) == terms(text.lower())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Ann's running dogs didn't bark", ["ann", "run", "dog", "didnt", "bark"]),
        ("北京", ["北", "京", "北京"]),
        ("ก", ["ก"]),
        ("Café STRASSE Straße", ["cafe", "strass", "strass"]),
        ("gpt-4o v2.1", ["gpt", "4o", "v2", "1"]),
    ],
)
def test_X16_terms_of_a_text(text: str, found: list[str]) -> None:
    assert terms(text) == found


def test_stop_words_are_left_out_of_a_query_unless_there_is_nothing_else() -> None:
    assert query_terms("where do we deploy the site") == ("deploy", "site")
    assert query_terms("the of and") == ("the", "of", "and")
    assert query_terms("didn\u2019t she say") == ("say",)


def test_fold_keeps_marks_that_are_letters() -> None:
    assert fold("が") == "が"
    assert fold("हिन्दी") == "हिन्दी"


def test_a_rarer_term_weighs_more_and_every_weight_is_positive() -> None:
    weights = [idf(1000, n) for n in (0, 1, 10, 500, 1000)]
    assert weights == sorted(weights, reverse=True)
    assert weights[-1] > 0


def test_a_longer_document_scores_less_for_the_same_word() -> None:
    assert bm25(1.0, 1, 10, 20) > bm25(1.0, 1, 40, 20) > 0
    assert bm25(1.0, 2, 10, 20) > bm25(1.0, 1, 10, 20)


def test_a_huge_text_is_analysed_in_reasonable_time() -> None:
    started = time.thread_time()
    terms("word " * 2_000_000)
    assert time.thread_time() - started < 5
