"""Nothing grows beyond what a person can hold in their head."""

from __future__ import annotations

import ast
from functools import cache

import pytest

from tests.architecture.source import PACKAGE, PROJECT, files_below

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


@cache
def too_long() -> dict[str, int]:
    """The lines of every file and function beyond its limit. The trees are not kept: those of all
    tests would fill the memory of whoever runs them, and slow down what runs after."""
    found: dict[str, int] = {}
    for path in CHECKED:
        name, text = str(path.relative_to(PROJECT)), path.read_text("utf-8")
        lines = len(text.splitlines())
        if lines > FILE_LINES_MAX:
            found[name] = lines
        for node in ast.walk(ast.parse(text, name)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > FUNCTION_LINES_MAX:
                    found[f"{name}::{node.name}"] = lines
    return found


def test_files_and_functions_are_short() -> None:
    assert not {name: lines for name, lines in too_long().items() if name not in ALLOWED}, (
        f"split these (limits: {FILE_LINES_MAX} lines a file, {FUNCTION_LINES_MAX} a function)"
    )


def test_the_list_of_exceptions_is_minimal() -> None:
    assert set(ALLOWED) <= set(too_long()), "these are short by now: take them off the list"
    assert all(ALLOWED.values()), "an exception needs its reason"


@pytest.mark.parametrize("folder", ["src/standfast", "tests"])
def test_the_check_sees_the_code(folder: str) -> None:
    assert any(path.is_relative_to(PROJECT / folder) for path in CHECKED)
