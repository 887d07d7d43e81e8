"""Nothing grows beyond what a person can hold in their head."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.source import PACKAGE, PROJECT, files_below, nodes_of

FUNCTION_LINES_MAX = 70
FILE_LINES_MAX = 800

# "path" or "path::function" -> why it may be longer. Meant to stay empty.
ALLOWED: dict[str, str] = {}

CHECKED = [
    path
    for folder in (
        PACKAGE,
        *(PROJECT / name for name in ("tests", "scripts", "bench", "evaluation")),
    )
    for path in files_below(folder)
]


def long_files() -> Iterator[tuple[str, int]]:
    for path in CHECKED:
        lines = len(path.read_text("utf-8").splitlines())
        if lines > FILE_LINES_MAX:
            yield str(path.relative_to(PROJECT)), lines


def long_functions() -> Iterator[tuple[str, int]]:
    for path in CHECKED:
        for node in nodes_of(path):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > FUNCTION_LINES_MAX:
                    yield f"{path.relative_to(PROJECT)}::{node.name}", lines


def test_files_and_functions_are_short() -> None:
    too_long = {
        name: lines for name, lines in [*long_files(), *long_functions()] if name not in ALLOWED
    }
    assert not too_long, (
        f"split these (limits: {FILE_LINES_MAX} lines a file, {FUNCTION_LINES_MAX} a function)"
    )


def test_the_list_of_exceptions_is_minimal() -> None:
    still_long = {name for name, _ in [*long_files(), *long_functions()]}
    assert set(ALLOWED) <= still_long, "these are short by now: take them off the list"
    assert all(ALLOWED.values()), "an exception needs its reason"


@pytest.mark.parametrize("folder", ["src/recollect", "tests"])
def test_the_check_sees_the_code(folder: str) -> None:
    assert any(path.is_relative_to(PROJECT / folder) for path in CHECKED)
