"""The signatures are true: for mypy, for help() and at run time."""

from __future__ import annotations

import asyncio
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from standfast import AsyncMemory, Invalid, Memory
from standfast.wiring import open_engine

TYPED = Path(__file__).parent / "typed"
PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[int]]:
    """File -> the lines that mypy refuses, of both files in one run."""
    pytest.importorskip("mypy", reason="mypy is part of the extra dev")
    cache = tmp_path_factory.mktemp("mypy")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file", str(PROJECT / "pyproject.toml"),
         "--cache-dir", str(cache), "--follow-imports", "silent",
         *map(str, sorted(TYPED.glob("*.py")))],
        capture_output=True, text=True, cwd=PROJECT, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found: dict[str, set[int]] = {"right.py": set(), "wrong.py": set()}
    for name, line in re.findall(r"(\w+\.py):(\d+): error:", done.stdout):
        found[name].add(int(line))
    return found


def test_mypy_agrees_with_what_is_right(refused: dict[str, set[int]]) -> None:
    assert refused["right.py"] == set()


def test_mypy_refuses_every_line_that_is_wrong(refused: dict[str, set[int]]) -> None:
    lines = (TYPED / "wrong.py").read_text("utf-8").splitlines()
    assert refused["wrong.py"] == {n for n, line in enumerate(lines, 1) if "# wrong: " in line}


def test_a_misspelt_option_is_told_which_one_there_is() -> None:
    with pytest.raises(TypeError, match="Did you mean 'embedder'"):
        Memory.open("dict:", embeder="none")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="Did you mean 'background'"):
        asyncio.run(AsyncMemory.open("dict:", backgrund=False))  # type: ignore[call-arg]
    with Memory.open("dict:", embedder="none", background=False) as memory:
        with pytest.raises(TypeError, match="Did you mean 'limit'"):
            memory.recall("x", limits=3)  # type: ignore[call-arg]
        with pytest.raises(TypeError, match=r"argument: 'query'$|argument: .query.$"):
            memory.recall()  # type: ignore[call-arg]
        with pytest.raises(Invalid, match="kind 'semantics' is unknown"):
            memory.remember("x", kind="semantics")  # type: ignore[arg-type]


def test_opening_takes_what_the_engine_takes() -> None:
    engine = inspect.signature(open_engine).parameters
    opened = inspect.signature(AsyncMemory.open).parameters
    assert [name for name in opened if name != "background"] == list(engine)
    assert inspect.signature(Memory.open) == inspect.signature(AsyncMemory.open)
    assert "embedder" in (Memory.open.__doc__ or "")


def test_a_path_is_accepted_where_paths_are(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory.db", embedder="none", background=False) as memory:
        memory.remember("Deploys go out on Tuesdays")
        memory.export_to(tmp_path / "export.jsonl")
        assert memory.import_from(tmp_path / "export.jsonl").items
