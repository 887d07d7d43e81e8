"""Labelled messages become what the reader learns from, and what it says is measured fairly."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import pytest

from standfast.understanding.reading.clauses import LABELS, Clause, Label
from standfast.understanding.reading.decoding import TAGS, Head, decode, head_of
from standfast.understanding.reading.layout import Pieces, windows
from training.reader import calibration, measure
from training.reader.examples import (
    CATEGORY_ORDER,
    DURATION_ORDER,
    FIXED,
    UNKNOWN,
    Example,
    example,
    with_unrelated_lines,
)
from training.reader.labels import Labelled, parse

HEAD: Head = head_of(
    {
        "parts": {"tags": [0, TAGS], "fixed": [TAGS, TAGS + 3], "start_query": [20, 21],
                  "start_key": [21, 22], "end_query": [22, 23], "end_key": [23, 24],
                  "category": [24, 38], "lasts": [38, 43], "answers": [43, 44]},
        "fixed": FIXED, "categories": CATEGORY_ORDER, "durations": DURATION_ORDER,
        "calibration": {},
    }
)  # fmt: skip


def message(
    text: str, *spans: Sequence[object], before: str = "", language: str = "en"
) -> Labelled:
    row = {"prev": before, "text": text, "spans": spans, "lang": language}
    return parse(json.dumps(row))


def cut(text: str) -> Pieces:
    offsets, at = [], 0
    for word in text.split():
        start = text.index(word, at)
        at = start + len(word)
        offsets.append((start, at))
    return Pieces(text=text, ids=[7] * len(offsets), offsets=offsets)


def learned(one: Labelled) -> Example:
    (window,) = windows(cut(one.text), cut(one.before))
    return example(one, window)


SAILS = message(
    "ida sails and fix it",
    ("ida sails", "FACT", "ida", "leisure", "years", False),
    ("fix it", "TASK", ""),
)


def test_tags_and_targets_of_a_message() -> None:
    found = learned(SAILS)
    start = found.window.message[0]
    begin = 1 + 2 * LABELS.index("TASK")
    assert found.tags == (*[UNKNOWN] * start, 1, 2, 0, begin, begin + 1, UNKNOWN)
    (target,) = found.targets
    assert (target.first, target.last) == (start, start + 1)
    assert (target.choice, target.end) == (len(FIXED) + start, start)
    assert CATEGORY_ORDER[target.category] == "leisure"


def test_the_tags_of_labelled_messages_decode_to_their_clauses() -> None:
    found = learned(SAILS)
    outputs = np.zeros((len(found.tags), HEAD.size), np.float32)
    for at, tag in enumerate(found.tags):
        outputs[at, max(tag, 0)] = 9
    clauses = decode(outputs, found.window, HEAD)
    assert [(one.start, one.end, one.label) for one in clauses] == [
        (span.start, span.end, span.label) for span in SAILS.spans
    ]


def test_a_subject_is_sought_in_the_clause_then_ahead_then_in_the_line_before() -> None:
    kind = ("FACT", "ida", "people", "years", False)
    both = message("ida came and ida stays", ("ida stays", *kind))
    ahead = message("ida came and stays", ("stays", *kind))
    earlier = message("she stays", ("she stays", *kind), before="where is ida")
    for one, place in ((both, 3), (ahead, 0)):
        found = learned(one)
        assert found.targets[0].choice == len(FIXED) + found.window.message[0] + place
    found = learned(earlier)
    assert found.targets[0].choice == len(FIXED) + found.window.earlier[0] + 2


def test_what_early_files_were_not_asked_for_is_left_out() -> None:
    answer = message("yes, latex", ("yes, latex", "FACT", "me"), before="Any allergies?")
    alone = message("I sail", ("I sail", "FACT", "me"))
    order = message("be brief", ("be brief", "ORDER", "you"))
    assert learned(answer).targets[0].choice == UNKNOWN
    assert learned(alone).targets[0].choice == FIXED.index("me")
    for one in (answer, alone, order):
        (target,) = learned(one).targets
        assert target.category == target.lasts == target.answers == UNKNOWN


def test_some_messages_get_a_line_that_another_one_followed() -> None:
    answer = message("yes, latex", before="Any allergies?")
    alone, other = message("I sail"), message("ich segle", language="de")
    assert with_unrelated_lines([answer, alone, other], 0.0) == [answer, alone, other]
    changed = with_unrelated_lines([answer, alone, other], 1.0)
    assert [one.before for one in changed] == ["Any allergies?", "Any allergies?", ""]
    assert [one.text for one in changed] == ["yes, latex", "I sail", "ich segle"]


def clause(one: Labelled, words: str, label: Label, confidence: float = 1.0, **told: str) -> Clause:
    start = one.text.index(words)
    return Clause(start=start, end=start + len(words), label=label, confidence=confidence, **told)  # type: ignore[arg-type]


def test_punctuation_at_the_ends_is_no_difference_and_half_of_a_clause_meets_it() -> None:
    one = message("I sail!", ("I sail", "FACT", "me"))
    exact = measure.summary([(one, [clause(one, "I sail!", "FACT")])])
    near = measure.summary([(one, [clause(one, "sail", "FACT")])])
    assert (exact["exact"], exact["overlap"]) == (100, 100)
    assert (near["exact"], near["overlap"]) == (0, 100)
    assert near["told kept"] == "1 of 1"


def test_what_is_kept_and_should_not_be_is_counted() -> None:
    one = message("use tabs here, he says: always", ("use tabs here", "TASK", ""),
                  ("he says: always", "FOREIGN", ""))  # fmt: skip
    found = [clause(one, "use tabs here", "ORDER"), clause(one, "always", "FACT")]
    said = measure.report([(one, found)], HEAD)
    assert said["all"]["kept wrongly"] == "2 of 2"
    assert said["all"]["orders made up"] == "1 of 1"
    assert said["all"]["foreign kept"] == "1 of 1"
    assert said["confusion"]["TASK"] == {"ORDER": 1}
    assert said["confusion"]["nothing"] == {"FACT": 1}
    assert said["labels"]["TASK"]["gold"] == 1


def test_subjects_categories_and_durations_are_measured_on_what_was_found() -> None:
    told = {"subject": "Ida", "category": "leisure", "lasts": "days"}
    found = [clause(SAILS, "ida sails", "FACT", **told)]
    said = measure.details([(SAILS, found)])
    assert said["subject named"] == "1 of 1"
    assert said["category"] == "1 of 1"
    assert said["lasts"] == "0 of 1"


def test_what_is_not_believed_is_measured_apart() -> None:
    careful = head_of({
        **{name: getattr(HEAD, name) for name in ("parts", "fixed", "categories", "durations")},
        "calibration": {"FACT": {"threshold": 0.7}},
    })  # fmt: skip
    one = message("I sail", ("I sail", "FACT", "me"))
    said = measure.report([(one, [clause(one, "I sail", "FACT", 0.6)])], careful)
    assert said["all"]["told kept"] == "1 of 1"
    assert said["believed"]["told kept"] == "0 of 1"


@pytest.mark.parametrize(("scale", "bias"), [(0.5, 0.0), (1.0, -1.0), (2.0, 0.5)])
def test_calibration_finds_what_the_odds_are_worth(scale: float, bias: float) -> None:
    dice = np.random.default_rng(1)
    odds = dice.normal(1, 2, 20_000)
    right = dice.random(len(odds)) < 1 / (1 + np.exp(-(scale * odds + bias)))
    found = calibration.platt(odds, right.astype(np.float64))
    np.testing.assert_allclose(found, (scale, bias), atol=0.1)


def test_few_clauses_change_nothing_and_a_missed_order_costs_most() -> None:
    found = calibration.calibrate([(SAILS, [clause(SAILS, "ida sails", "FACT", 0.9)])])
    assert (found["FACT"]["scale"], found["FACT"]["bias"]) == (1.0, 0.0)
    assert found["FACT"]["threshold"] > found["ORDER"]["threshold"] > found["TASK"]["threshold"]


def test_calibration_lowers_the_confidence_of_a_label_that_is_often_wrong() -> None:
    wrong = message("so be it", ("so be it", "PASSING", ""))
    given = [(wrong, [clause(wrong, "so be it", "FACT", 0.95)])] * 30
    given += [(SAILS, [clause(SAILS, "ida sails", "FACT", 0.95)])] * 30
    found = calibration.calibrate(given)["FACT"]
    head = head_of({
        **{name: getattr(HEAD, name) for name in ("parts", "fixed", "categories", "durations")},
        "calibration": {"FACT": found},
    })  # fmt: skip
    assert head.calibration["FACT"].probability(0.95) == pytest.approx(0.5, abs=0.1)


def test_calibration_of_confidences_that_tell_right_from_wrong() -> None:
    odds, right = np.repeat([2.9, 3.5], 30), np.repeat([0.0, 1.0], 30)
    scale, bias = calibration.platt(odds, right)
    wrong, good = (1 / (1 + np.exp(-(scale * one + bias))) for one in (2.9, 3.5))
    assert wrong < 0.5 < good
