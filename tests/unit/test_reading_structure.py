"""Quotations, blocks, lines and paragraphs of a message are marked at its pieces."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standfast.understanding.reading.structure import (
    BLOCK,
    LINE,
    MARKS,
    PARAGRAPH,
    QUOTATION,
    blocks,
    marks_of,
    quotations,
)


def marks(text: str) -> dict[str, int]:
    """The mark of each word; words are different."""
    offsets, at = [], 0
    for word in text.split():
        start = text.index(word, at)
        at = start + len(word)
        offsets.append((start, at))
    return dict(zip(text.split(), marks_of(text, offsets), strict=True))


@pytest.mark.parametrize(
    "quotation",
    ['"a b"', "“a b”", "„a b“", "„a b”", "«a b»", "»a b«", "「a b」", "『a b』"],
)
def test_X35_quotation_marks_of_many_languages(quotation: str) -> None:
    text = f"she said {quotation} to me"
    assert [text[start:end] for start, end in quotations(text)] == [quotation]


def test_a_mark_that_is_never_closed_quotes_nothing() -> None:
    assert list(quotations('a 5" pipe')) == []


def test_fences_quoted_lines_and_headers_are_blocks() -> None:
    text = "look:\n```\ncode\n```\nand\n> old\nmine: yes\n\nFrom: ida\nTo: olaf\nhi"
    found = "".join(text[start:end] for start, end in blocks(text))
    assert found == "```\ncode\n```\n> old\nFrom: ida\nTo: olaf\n"


def test_first_pieces_of_lines_and_paragraphs_are_marked() -> None:
    found = marks("a b\nc d\n\ne 'f' \"g\"\n> h")
    assert found["a"] == found["b"] == found["d"] == 0
    assert found["c"] == LINE
    assert found["e"] == LINE | PARAGRAPH
    assert found['"g"'] == QUOTATION
    assert found[">"] == LINE | BLOCK
    assert found["h"] == BLOCK


@given(st.text(alphabet='ab"“”„«»`>:\n ', max_size=60))
def test_every_piece_has_a_mark(text: str) -> None:
    offsets = [(at, at + 1) for at, letter in enumerate(text) if not letter.isspace()]
    found = marks_of(text, offsets)
    assert len(found) == len(offsets)
    assert all(0 <= one < MARKS for one in found)
    for start, end in [*quotations(text), *blocks(text)]:
        assert 0 <= start < end <= len(text)


def test_marks_of_a_long_message_take_no_long_time() -> None:
    text = "« " * 100_000
    offsets = [(at, at + 1) for at in range(0, len(text), 2)]
    began = time.process_time()
    assert not any(marks_of(text, offsets))
    assert time.process_time() - began < 5
