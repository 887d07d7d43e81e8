"""The labelled data of the networks is well-formed, and a wrong line is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from training import labelled
from training.judge import labels as judged
from training.languages import pairs
from training.reader import labels as read

LANGUAGES = set("en de fr es it pt nl pl tr ru zh ja ko".split())


def folder_of(module: object) -> Path:
    return Path(str(module.__file__)).parent  # type: ignore[attr-defined]


def test_X36_labelled_messages_are_well_formed_in_thirteen_languages() -> None:
    found = list(labelled.read(labelled.files_in(folder_of(read)), read.parse))
    assert len(found) > 10_000
    assert {one.language for one in found} >= LANGUAGES
    assert {span.label for one in found for span in one.spans} == set(read.LABELS)
    for one in found:
        assert all(a.end <= b.start for a, b in zip(one.spans, one.spans[1:], strict=False))


def test_X36_judged_pairs_are_well_formed_in_thirteen_languages() -> None:
    blocks = labelled.read(labelled.files_in(folder_of(judged)), judged.parse)
    found = [pair for pairs_of in blocks for pair in pairs_of]
    assert len(found) > 11_000
    assert {one.language for one in found} >= LANGUAGES
    assert {one.relation for one in found} == set(judged.RELATIONS)


def test_X35_questions_in_other_words_cover_thirteen_languages() -> None:
    found = list(labelled.read(labelled.files_in(folder_of(pairs)), pairs.parse))
    assert {one.language for one in found} == LANGUAGES
    assert len({one.memory for one in found}) == len(found)


@pytest.mark.parametrize(
    "line",
    [
        '{"text": "I live here", "spans": [["I lived", "FACT", "me"]]}',
        '{"text": "I live here", "spans": [["I live", "FACTS", "me"]]}',
        '{"text": "I live here", "spans": [["I live", "FACT", ""]]}',
        '{"text": "I live here", "spans": [["I live", "FACT", "me", "house", "years", false]]}',
        '{"text": "I live here", "spans": [["I live", "FACT", "Bob", "home", "years", false]]}',
        '{"text": "I live here", "spans": [["live", "FACT", "me"], ["I", "FACT", "me"]]}',
        "no json",
    ],
)
def test_a_wrong_line_is_named(line: str, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(f"\n{line}\n", "utf-8")
    with pytest.raises(ValueError, match=r"x\.jsonl:2: "):
        list(labelled.read([path], read.parse))
