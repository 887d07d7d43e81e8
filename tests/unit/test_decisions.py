"""What is done about a judgment, row by row, and what no judgment may do."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standfast.testing.judge import THRESHOLDS
from standfast.understanding.judging.decisions import Order, Pairing, Subject, decide, decide_all
from standfast.understanding.judging.judge import Judged, Judgment

SURE = 0.99


def found(relation: Judged, probability: float = SURE, **fields: object) -> str:
    pairing = replace(Pairing(judgment=Judgment(relation, probability)), **fields)  # type: ignore[arg-type]
    return decide(pairing, THRESHOLDS)


@pytest.mark.parametrize(
    ("relation", "fields", "action"),
    [
        ("same", {}, "merge"),
        ("same", {"order": "earlier"}, "merge"),
        ("same", {"trust": -1}, "merge"),
        ("same", {"other_names": True}, "keep"),
        ("refines", {"entails": True}, "enrich"),
        ("refines", {}, "keep"),
        ("refines", {"entails": True, "trust": -1}, "keep"),
        ("refines", {"entails": True, "guarded": True}, "keep"),
        ("refines", {"entails": True, "order": "earlier"}, "keep"),
        ("replaces", {}, "supersede"),
        ("ends", {}, "end"),
        ("replaces", {"subject": "unclear"}, "supersede"),
        ("replaces", {"subject": "other"}, "keep"),
        ("ends", {"trust": 1}, "end"),
        ("replaces", {"order": "earlier"}, "file"),
        ("ends", {"order": "none"}, "question_both"),
        ("replaces", {"trust": -1}, "question_new"),
        ("ends", {"guarded": True}, "question_new"),
        ("replaces", {"same_speaker": False}, "question_known"),
        ("replaces", {"same_speaker": False, "order": "earlier"}, "question_new"),
        ("replaces", {"same_speaker": False, "order": "none"}, "question_both"),
        ("ends", {"same_speaker": False, "trust": 1, "order": "earlier"}, "question_known"),
        ("contradicts", {}, "question_known"),
        ("contradicts", {"order": "earlier"}, "question_new"),
        ("contradicts", {"trust": -1}, "question_new"),
        ("contradicts", {"trust": 1}, "question_known"),
        ("contradicts", {"order": "none"}, "question_both"),
        ("unrelated", {}, "keep"),
    ],
)
def test_X6_a_judgment_is_carried_out_row_by_row(
    relation: Judged, fields: dict[str, object], action: str
) -> None:
    assert found(relation, **fields) == action


@pytest.mark.parametrize(
    ("relation", "least", "fields"),
    [
        ("same", THRESHOLDS.same, {}),
        ("refines", THRESHOLDS.refines, {"entails": True}),
        ("replaces", THRESHOLDS.change, {}),
        ("ends", THRESHOLDS.change_unclear, {"subject": "unclear"}),
        ("contradicts", THRESHOLDS.contradicts, {}),
    ],
)
def test_X6_what_is_not_sure_changes_nothing(
    relation: Judged, least: float, fields: dict[str, object]
) -> None:
    assert found(relation, least, **fields) == "keep"
    assert found(relation, least + 0.01, **fields) != "keep"


def test_M4_the_same_text_is_known_whoever_judges() -> None:
    assert decide(Pairing(equal=True), None) == "merge"
    assert decide(Pairing(near=True), None) == "keep"
    assert found("same", 0.5) == "keep"
    assert found("same", 0.5, near=True) == "merge"


pairings = st.builds(
    Pairing,
    judgment=st.builds(Judgment, st.sampled_from(get_args(Judged)), st.floats(0, 1)),
    equal=st.booleans(),
    near=st.booleans(),
    subject=st.sampled_from(get_args(Subject)),
    same_speaker=st.booleans(),
    trust=st.integers(-3, 3),
    order=st.sampled_from(get_args(Order)),
    other_names=st.booleans(),
    entails=st.booleans(),
    guarded=st.booleans(),
)
TOUCHED = ("enrich", "supersede", "end", "question_known", "question_both")


@given(pairings)
def test_X6_nobody_touches_what_is_trusted_more_or_guarded_or_about_another(one: Pairing) -> None:
    if one.trust < 0 or one.guarded or one.subject == "other":
        assert decide(one, THRESHOLDS) not in TOUCHED


@given(pairings)
def test_X6_a_repetition_or_an_addition_disputes_and_ends_nothing(one: Pairing) -> None:
    assert one.judgment is not None
    if one.judgment.relation in ("same", "refines", "unrelated"):
        assert decide(one, THRESHOLDS) in ("keep", "merge", "enrich")


@given(pairings)
def test_X6_only_the_same_speaker_ends_or_replaces_and_only_later(one: Pairing) -> None:
    if decide(one, THRESHOLDS) in ("supersede", "end"):
        assert one.same_speaker
        assert one.order == "later"


@given(pairings)
def test_X6_without_a_judge_nothing_but_equal_texts_meet(one: Pairing) -> None:
    assert decide(one, None) == ("merge" if one.equal else "keep")


def test_X6_one_change_is_of_the_likeliest_thing_unless_it_is_certain() -> None:
    def pairing(subject: Subject, probability: float) -> Pairing:
        return Pairing(judgment=Judgment("ends", probability), subject=subject)

    some = [pairing("unclear", 0.99), pairing("same", 0.9), pairing("same", 0.95)]
    assert decide_all(some, THRESHOLDS) == ["keep", "keep", "end"]
    told = [pairing("same", 1.0), pairing("same", 0.9), pairing("same", 1.0)]
    assert decide_all(told, THRESHOLDS) == ["end", "keep", "end"]
    unclear = [pairing("unclear", 0.97), pairing("unclear", 0.99)]
    assert decide_all(unclear, THRESHOLDS) == ["keep", "end"]
