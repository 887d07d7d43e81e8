"""The README: its examples print what the page says, and the first fits a screen."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.source import PROJECT

README = (PROJECT / "README.md").read_text("utf-8")
FIRST_SCREEN_LINES = 60
EXAMPLE = re.compile(r"```python\n(.*?)```\s+prints\s+```text\n(.*?)```", re.DOTALL)
EXAMPLES = EXAMPLE.findall(README)
SECONDS_MAX = 120


def test_X1_the_readme_has_an_example_in_other_languages_too() -> None:
    assert len(EXAMPLES) == 2
    assert not EXAMPLES[1][1].isascii()


@pytest.mark.parametrize(("code", "printed"), EXAMPLES)
def test_X1_the_examples_print_what_the_page_says(tmp_path: Path, code: str, printed: str) -> None:
    pytest.importorskip("onnxruntime", reason="the local model needs the extra `local`")
    # As a reader has it: with the model in the box, which other tests go without.
    environ = {name: told for name, told in os.environ.items() if name != "STANDFAST_LOCAL_MODEL"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == printed
    assert "maintain" not in code


def test_the_first_screen_says_what_it_is_and_how_to_get_it() -> None:
    screen = README.splitlines()[:FIRST_SCREEN_LINES]
    for heading in ("## Get it", "## Ten lines", "## Three ways in"):
        assert heading in screen
    example = EXAMPLE.search(README)
    assert example is not None
    assert len([line for line in example[1].splitlines() if line.strip()]) <= 11
