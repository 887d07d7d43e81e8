"""What is said weeks later: the counts say what was believed after it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from evaluation.cases import DataError
from evaluation.learning.sequels import HELD, OPEN, SEQUELS, endings, render, sequels, wrong

STORY = """\
= I live in Swindon.
+ I live in Stroud now.
- My neighbour has a new dog.
= What a day.
+ It is over.
"""


def test_X22_what_stands_and_what_does_not_is_counted(tmp_path: Path) -> None:
    story = tmp_path / "story.txt"
    story.write_text(STORY, "utf-8")
    found = asyncio.run(endings(sequels(story), None))
    assert [(one.learned, one.right) for one in found] == [
        (True, True),
        (True, True),
        (False, False),
    ]
    first, *rest = render("told", found)
    assert first == "told: 1 of 2, 50.0% statements learned"
    assert rest == [
        "  changes  1 of 2, 50.0% right; of those to a learned statement 1 of 1, 100.0%",
        "  harmless 1 of 1, 100.0% right; of those to a learned statement 1 of 1, 100.0%",
    ]
    assert list(wrong(found))[:2] == ["NOT LEARNED = What a day.", "    + It is over."]


def test_a_line_that_is_none_is_named_by_its_place(tmp_path: Path) -> None:
    story = tmp_path / "story.txt"
    story.write_text("= I live in Swindon.\nI moved.\n", "utf-8")
    with pytest.raises(DataError, match=r"story\.txt:2 "):
        sequels(story)


def test_nothing_that_is_held_apart_is_open() -> None:
    known = {one.statement for one in sequels(SEQUELS / OPEN)}
    held = {one.statement for one in sequels(SEQUELS / HELD)}
    assert len(known) >= 750
    assert len(held) >= 200
    assert not known & held
