"""Outputs of the reader's head become clauses of the message: legal, in order, inside the text."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from standfast.understanding.reading.clauses import KEPT, LABELS, Clause
from standfast.understanding.reading.decoding import (
    TAGS,
    Floats,
    Head,
    MarkCalibration,
    decode,
    head_of,
    joined,
    legal_row,
)
from standfast.understanding.reading.layout import MESSAGE_MAX, OVERLAP, Pieces, Window, windows

SIZES = {
    "tags": TAGS, "fixed": 3, "start_query": 2, "start_key": 2, "end_query": 2, "end_key": 2,
    "category": 2, "lasts": 2, "answers": 1,
}  # fmt: skip


def description(**calibration: dict[str, float]) -> dict[str, object]:
    stops = np.cumsum(list(SIZES.values())).tolist()
    parts = {name: [stop - SIZES[name], stop] for name, stop in zip(SIZES, stops, strict=True)}
    return {
        "parts": parts,
        "fixed": ["me", "we", "you"],
        "categories": ["home", "work"],
        "durations": ["days", "years"],
        "calibration": calibration,
    }


HEAD = head_of(description())


def cut(text: str) -> Pieces:
    """A piece for each word."""
    offsets, at = [], 0
    for word in text.split():
        start = text.index(word, at)
        at = start + len(word)
        offsets.append((start, at))
    return Pieces(text=text, ids=[5] * len(offsets), offsets=offsets)


def only_window(text: str, before: str = "") -> Window:
    (found,) = windows(cut(text), cut(before))
    return found


class Outputs:
    """Outputs for a window, written down by name."""

    def __init__(self, window: Window, head: Head = HEAD) -> None:
        self.window, self.head = window, head
        self.numbers = np.zeros((len(window.ids), head.size), np.float32)

    def mark(self, first: int, last: int, label: str) -> slice:
        """Words of the message, the last one included."""
        start = self.window.message[0]
        begin = 1 + 2 * LABELS.index(label)  # type: ignore[arg-type]
        self.numbers[start + first, begin] = 10
        self.numbers[start + first + 1 : start + last + 1, begin + 1] = 10
        return slice(start + first, start + last + 1)

    def set(self, rows: slice | int, name: str, *values: float) -> None:
        start, stop = self.head.parts[name]
        self.numbers[rows, start:stop] = values

    def clauses(self) -> list[Clause]:
        return decode(self.numbers, self.window, self.head)


scores = arrays.arrays(
    np.float32,
    st.tuples(st.integers(1, 12), st.just(TAGS)),
    elements=st.floats(-8, 8, width=32),
)


def is_legal(tags: list[int]) -> bool:
    return all(
        tag == 0 or tag % 2 == 1 or before in (tag, tag - 1)
        for before, tag in zip([0, *tags], tags, strict=False)
    )


@given(scores)
def test_a_row_is_legal_and_no_worse_than_any_legal_change_of_it(found: Floats) -> None:
    row = legal_row(found, HEAD.transitions)
    assert is_legal(row)
    total = sum(found[at, tag] for at, tag in enumerate(row))
    for at in range(len(row)):
        for tag in range(TAGS):
            other = [*row[:at], tag, *row[at + 1 :]]
            if is_legal(other):
                changed = sum(found[place, one] for place, one in enumerate(other))
                assert changed <= total + 1e-3


def test_the_best_legal_row_is_found_where_each_piece_alone_would_be_illegal() -> None:
    found = np.zeros((2, TAGS), np.float32)
    found[0, 0], found[0, 1], found[1, 2] = 1.0, 0.5, 3.0
    assert legal_row(found, HEAD.transitions) == [1, 2]


texts = st.lists(st.sampled_from(["ab", "c.", "日本", "d", "\n"]), max_size=20).map(" ".join)


@given(texts, texts, st.integers(0, 1000))
def test_X36_clauses_are_in_order_and_every_word_of_them_is_in_the_text(
    text: str, before: str, seed: int
) -> None:
    window = only_window(text, before)
    numbers = np.random.default_rng(seed).normal(0, 3, (len(window.ids), HEAD.size))
    found = decode(numbers.astype(np.float32), window, HEAD)
    ends = [(0, 0), *((one.start, one.end) for one in found)]
    assert all(left[1] <= right[0] for left, right in pairwise(ends))
    for one in found:
        assert 0 <= one.start < one.end <= len(text)
        assert 0 <= one.confidence <= 1
        words = {"message": text, "previous": before, "fixed": "me we you"}[one.subject_in]
        assert one.subject in words
        assert (one.category in HEAD.categories) == (one.label in KEPT)


def test_what_is_known_about_a_clause_is_read_from_its_pieces() -> None:
    outputs = Outputs(only_window("Ida lives in Oslo", "Where is she?"))
    rows = outputs.mark(0, 3, "FACT")
    outputs.set(rows, "category", 0, 4)
    outputs.set(rows, "lasts", 0, 4)
    outputs.set(rows, "answers", 1)
    outputs.set(rows, "fixed", 0, 9, 0)
    (clause,) = outputs.clauses()
    assert (clause.start, clause.end, clause.label) == (0, 17, "FACT")
    assert (clause.category, clause.lasts, clause.answers) == ("work", "years", True)
    assert (clause.subject, clause.subject_in) == ("we", "fixed")


def test_nothing_answers_where_there_is_no_line_before() -> None:
    outputs = Outputs(only_window("Tuesdays"))
    outputs.set(outputs.mark(0, 0, "FACT"), "answers", 9)
    assert not outputs.clauses()[0].answers


@pytest.mark.parametrize(
    ("side", "start", "end", "subject"),
    [("message", 1, 2, "Ida Berg"), ("previous", 2, 3, "the boat")],
)
def test_a_subject_is_a_stretch_of_the_message_or_of_the_line_before(
    side: str, start: int, end: int, subject: str
) -> None:
    outputs = Outputs(only_window("yes Ida Berg sails", "what about the boat ?"))
    rows = outputs.mark(1, 3, "FACT")
    base = outputs.window.message[0] if side == "message" else outputs.window.earlier[0]
    outputs.set(rows, "start_query", 1, 0)
    outputs.set(rows, "end_query", 0, 1)
    outputs.set(base + start, "start_key", 5, 0)
    outputs.set(base + end, "end_key", 0, 5)
    (clause,) = outputs.clauses()
    assert (clause.subject, clause.subject_in) == (subject, side)


def test_an_order_is_about_the_one_who_is_addressed() -> None:
    outputs = Outputs(only_window("always be brief"))
    outputs.set(outputs.mark(0, 2, "ORDER"), "fixed", 9, 0, 0)
    assert outputs.clauses()[0].subject == "you"


def test_a_stop_that_is_part_of_a_piece_is_not_part_of_the_clause() -> None:
    outputs = Outputs(only_window("on line 3. then p . m ."))
    outputs.mark(0, 2, "FACT")
    outputs.mark(4, 7, "FACT")
    found = [outputs.window.text[one.start : one.end] for one in outputs.clauses()]
    assert found == ["on line 3", "p . m ."]


def test_confidence_is_calibrated_and_has_a_threshold() -> None:
    head = head_of(description(FACT={"scale": 1.0, "bias": -9.0, "threshold": 0.9}))
    window = only_window("Ida sails")
    outputs = Outputs(window, head)
    outputs.mark(0, 1, "FACT")
    plain = decode(outputs.numbers, window, HEAD)[0]
    (careful,) = outputs.clauses()
    assert plain.confidence > 0.9 > careful.confidence
    assert HEAD.believes(plain)
    assert not head.believes(careful)


@given(st.floats(0, 1), st.floats(0, 1))
def test_calibration_keeps_the_order(one: float, other: float) -> None:
    calibration = MarkCalibration(scale=0.5, bias=1.0)
    low, high = sorted((one, other))
    assert calibration.probability(low) <= calibration.probability(high)


@given(st.integers(0, 1500))
def test_windows_own_each_piece_of_a_long_message_once(size: int) -> None:
    message = cut("a " * size)
    owned: list[int] = []
    for window in windows(message, cut("b " * 100)):
        assert len(window.ids) == len(window.marks) == len(window.offsets)
        assert window.message[1] - window.message[0] <= MESSAGE_MAX
        owned += [window.offsets[at][0] for at in range(*window.owned)]
    assert owned == [start for start, _ in message.offsets]


def test_a_clause_across_the_border_of_two_windows_is_found_once() -> None:
    size = MESSAGE_MAX + 50
    message = cut("a " * size)
    first = MESSAGE_MAX - OVERLAP // 2 - 2  # owned by the first window, and seen by both
    found = []
    for window in windows(message, cut("")):
        outputs = Outputs(window)
        places = [
            at - window.message[0]
            for at in range(*window.message)
            if first <= window.offsets[at][0] // 2 < first + 6
        ]
        outputs.mark(places[0], places[-1], "FACT")
        found.append(outputs.clauses())
    assert [(one.start, one.end) for one in joined(found)] == [(2 * first, 2 * first + 11)]


def test_of_clauses_that_overlap_the_earlier_stays() -> None:
    one, other = (Clause(start=a, end=b, label="FACT") for a, b in ((0, 10), (8, 12)))
    assert joined([[one], [other]]) == [one]
