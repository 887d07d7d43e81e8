"""The list of requirements is complete, and the table of their tests can be built."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scripts import requirements_table

SIZES = {"O": 16, "M": 9, "A": 12, "B": 10, "L": 14, "X": 36}


def test_every_requirement_has_its_text() -> None:
    groups = json.loads(requirements_table.TEXTS.read_text("utf-8"))
    expected = [f"{letter}{n}" for letter, size in SIZES.items() for n in range(1, size + 1)]
    assert [id_ for texts in groups.values() for id_ in texts] == expected
    assert all(text for texts in groups.values() for text in texts.values())


def test_the_page_lists_every_requirement() -> None:
    page = (requirements_table.PROJECT / "docs/reference/requirements.md").read_text("utf-8")
    groups = json.loads(requirements_table.TEXTS.read_text("utf-8"))
    for texts in groups.values():
        for id_, text in texts.items():
            assert f"| {id_} | {text.replace('|', chr(92) + '|')} |" in page


def test_the_table_of_tests_is_built_from_their_names() -> None:
    table = requirements_table.current()
    assert "`test_X16_" in table
    assert table.count("\n| ") > sum(SIZES.values())


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("test_X16_thai_is_found", ["X16"]),
        ("test_O4_L8_both", ["O4", "L8"]),
        ("test_plain", []),
        ("test_X", []),
        ("helper_X1_is_no_test", []),
    ],
)
def test_a_name_gives_its_ids(name: str, ids: list[str]) -> None:
    assert requirements_table.ids_in(name) == ids


def test_methods_and_async_tests_are_collected(tmp_path: Path) -> None:
    folder = tmp_path / "tests" / "deep"
    folder.mkdir(parents=True)
    (folder / "test_it.py").write_text(
        "class A:\n    def test_X1_a(self): ...\nasync def test_X1_b(): ...\ndef test_c(): ...\n"
    )
    where = "tests/deep/test_it.py"
    assert requirements_table.proofs(tmp_path) == {
        "X1": [f"{where}::test_X1_a", f"{where}::test_X1_b"]
    }


def test_an_unknown_requirement_is_refused() -> None:
    with pytest.raises(SystemExit, match="X99"):
        requirements_table.page({"X": {"X1": "one"}}, {"X99": ["tests/t.py::test_X99_a"]})
