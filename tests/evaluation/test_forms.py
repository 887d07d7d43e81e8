"""The set of talks: stores as they are meant, and what is measured on them."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluation.forms.__main__ import Judged, report
from evaluation.forms.talks import Asked, stores, told


def test_X21_talks_are_stores_with_questions_whose_evidence_was_said() -> None:
    found = list(stores())
    asked = [one for store in found for one in store.questions]
    for kind in ("instruction", "preference"):
        assert sum(one.kind == kind for one in asked) == 60
    assert 0.4 < sum(one.held_back for one in asked) / len(asked) < 0.6
    for store in found:
        said = {one.id for one in store.messages if one.role == "user"}
        assert all(one.wanted and one.wanted <= said for one in store.questions)
        assert all(one.at < store.asked_at for one in store.messages)


def test_X21_what_happened_stays_in_order() -> None:
    for store in stores():
        numbers: dict[str, list[int]] = {}
        for said in store.messages:
            talk, number, *thread = said.id.split("-")
            if said.role == "user" and thread:
                numbers.setdefault(f"{talk} {thread[0]}", []).append(int(number))
        assert numbers
        assert all(one == sorted(one) for one in numbers.values())


def test_X21_a_line_that_does_not_fit_is_named(tmp_path: Path) -> None:
    file = tmp_path / "talks.txt"
    file.write_text("= one\n! no request\n")
    with pytest.raises(ValueError, match="line 2"):
        list(stores(file))


def test_X21_what_was_told_later_is_asked_for_by_its_time(tmp_path: Path) -> None:
    found = told()
    assert sum(len(store.questions) for store in found) == 26
    assert all(said.at < store.asked_at for store in found for said in store.messages)
    file = tmp_path / "told.txt"
    file.write_text("= one | 2025-11-20\n+ a 2025-09-02 In June I ran.\n? What did I run? | b\n")
    with pytest.raises(ValueError, match="line 3"):
        told(file)


def test_X21_recall_by_kind_is_reported() -> None:
    asked = Asked("list", "Which trips?", frozenset("ab"))
    text = report([Judged(asked, ("a",), frozenset("ab"))])
    assert "list" in text
    assert "50.0" in text
    assert "100.0" in text
