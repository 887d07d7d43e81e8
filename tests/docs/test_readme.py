"""The first screen of the README: its example prints what the page says, and it fits a screen."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.architecture.source import PROJECT

README = (PROJECT / "README.md").read_text("utf-8")
FIRST_SCREEN_LINES = 60
EXAMPLE = re.compile(r"```python\n(.*?)```\s+prints\s+```text\n(.*?)```", re.DOTALL)
SECONDS_MAX = 120


def test_X1_the_first_example_prints_what_the_page_says(tmp_path: Path) -> None:
    found = EXAMPLE.search(README)
    assert found, "the README has no example with its output"
    code, printed = found.groups()
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
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
