"""What `import standfast` offers, and what it costs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import standfast
from tests.architecture.source import PROJECT

HEAVY = (
    "apsw",
    "numpy",
    "simsimd",
    "pydantic",
    "pydantic_ai",
    "httpx2",
    "fastapi",
    "starlette",
    "uvicorn",
    "mcp",
    "onnxruntime",
    "tokenizers",
)
NAMES_MAX = 24


def test_the_public_names_are_sorted_and_few() -> None:
    names = standfast.__all__
    assert list(names) == sorted(set(names))
    assert len(names) <= NAMES_MAX, "about twenty public names; the rest is imported by module"
    assert {"AsyncMemory", "Memory", "StandfastError"} <= set(names)


@pytest.mark.parametrize("name", standfast.__all__)
def test_a_public_name_is_there_and_documented(name: str) -> None:
    assert getattr(standfast, name) is not None
    assert name in dir(standfast)
    library = (PROJECT / "docs" / "reference" / "library.md").read_text("utf-8")
    assert f"`{name}" in library, f"{name} is missing in docs/reference/library.md"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        standfast.no_such_name  # noqa: B018


def loaded_by(code: str) -> set[str]:
    """The top-level modules that a new process has loaded after running the code."""
    report = "import json, sys; print(json.dumps(sorted({m.split('.')[0] for m in sys.modules})))"
    answer = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"], capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stderr
    return set(json.loads(answer.stdout.splitlines()[-1]))


HELP = """
import sys
from standfast.interfaces.cli import main
sys.argv = ["standfast", "--help"]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
"""


@pytest.mark.parametrize("code", ["import standfast", HELP], ids=["import", "help"])
def test_a_first_look_loads_nothing_heavy(code: str) -> None:
    assert loaded_by(code).isdisjoint(HEAVY), "import it where it is used, not at the top"


def test_the_measurement_would_see_a_heavy_import() -> None:
    assert "numpy" in loaded_by("import numpy")
