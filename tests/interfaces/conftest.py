"""The command line, run as a process where that makes a difference, else here: the same without
the half second that a new process needs to load everything."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.commands import answer_of, run_here
from tests.tracebacks import piped_tracebacks, pytest_runtest_makereport

__all__ = ["piped_tracebacks", "pytest_runtest_makereport"]

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def standfast(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs ``standfast --store <fresh file> ...`` and never shows a traceback."""

    def run(
        *arguments: str, stdin: bytes | str = b"", store: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        monkeypatch.chdir(tmp_path)
        command = ["--store", store or str(tmp_path / "memory.db"), *arguments]
        return run_here(command, _bytes(stdin))

    return run


@pytest.fixture
def standfast_process(tmp_path: Path) -> Run:
    """The same in a process of its own, with more in its environment if that is said."""

    def run(
        *arguments: str, stdin: bytes | str = b"", store: str | None = None, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        command = ["--store", store or str(tmp_path / "memory.db"), *arguments]
        done = subprocess.run(
            [sys.executable, "-m", "standfast.interfaces.cli", *command],
            input=_bytes(stdin),
            capture_output=True,
            env={**os.environ, **environment},
            cwd=tmp_path,
            timeout=60,
            check=False,
        )
        return answer_of(command, done.returncode, done.stdout, done.stderr)

    return run


def _bytes(text: bytes | str) -> bytes:
    return text.encode() if isinstance(text, str) else text


def parsed(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
