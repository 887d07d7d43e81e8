"""Search in thirteen languages: stores, figures, and what calibration reads from cosines."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from evaluation import calibrate
from evaluation.languages import COSINE, RECALL, Judged, judge, main, report, stores_of
from standfast.models.local.recall import calibration_of, subtract_common
from standfast.models.providers.hashing import HashingEmbedder
from training.languages.pairs import Asked

PAIRS = [
    Asked("de", "Jana isst gern Quitten.", "Was isst Jana gern?", "What fruit?", False),
    Asked("de", "ich fahr morgen nach Gera", "Wohin fahr ich morgen?", "Where to?", True),
    Asked("en", "The boat leaves at four.", "When does the boat leave?", "When?", False),
]


def test_X17_a_store_holds_one_language_and_the_english_ones() -> None:
    assert stores_of(PAIRS) == {"de": PAIRS}
    with pytest.raises(ValueError, match="no memories in xx"):
        stores_of(PAIRS, ["xx"])


def test_X17_messages_and_statements_are_found_through_the_public_interface() -> None:
    judged = asyncio.run(judge(HashingEmbedder(384), "default", stores_of(PAIRS)))
    assert len(judged) == 2 * 2 * 2, "questions, languages asked in, systems"
    same = [one for one in judged if one.question == "same" and one.system == RECALL]
    assert [one.place for one in same] == [0, 0]


def test_X17_what_is_not_among_the_first_five_is_a_miss() -> None:
    judged = [
        Judged("de", question, system, place)
        for question in ("same", "english")
        for system in (RECALL, COSINE)
        for place in (0, 4, None)
    ]
    text = report(judged)
    assert "66.7 / 33.3" in text
    assert "2 of 3" in text


def test_X17_a_file_that_is_no_list_of_pairs_is_named(
    tmp_path: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "pairs.jsonl"  # type: ignore[operator]
    file.write_text('{"lang": "de"}\n')
    assert main([str(file)]) == 2
    assert "pairs.jsonl:1" in capsys.readouterr().err


class Fixed(calibrate.Candidate):
    """Vectors in which one number is the same in every text."""

    def __init__(self, rows: dict[str, list[float]]) -> None:
        self._rows = {text: np.array(row, np.float32) for text, row in rows.items()}

    def plain(self, texts: list[str]) -> np.ndarray:  # type: ignore[override,type-arg]
        return np.array([self._rows[text] for text in texts])


def test_X17_what_all_languages_have_in_common_favours_none_of_them() -> None:
    rows = {"Jana isst gern Quitten.": [0.8, 0.6, 0.0], "The boat leaves at four.": [0.8, 0.0, 0.6]}
    pairs = [one for one in PAIRS if one.memory in rows]
    common = calibrate.common_of(Fixed(rows), pairs)
    weights = [float(common @ row) for row in np.array(list(rows.values()))]
    assert weights[0] == pytest.approx(weights[1], abs=1e-3)
    assert common[0] == max(common)


def test_X17_centered_vectors_are_of_length_one() -> None:
    found = subtract_common(np.array([[0.8, 0.6]], np.float32), np.array([0.5, 0.0], np.float32))
    assert np.linalg.norm(found) == pytest.approx(1)
    assert found[0, 1] > found[0, 0]


def test_X17_a_calibration_comes_back_from_its_file() -> None:
    values = {name: tried[0] for name, tried in calibrate.CHOICES.items()}
    found = calibration_of(calibrate.file_of(np.zeros(3, np.float32), values))
    assert found.similarity_floor == calibrate.FLOOR
    assert found.similarity_weight == values["similarity_weight"]
    assert found.cuts is not None
    assert found.cuts["statement"].least == values["least"]
