"""The command line is run as a person runs it: as a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def recollect(tmp_path: Path) -> Run:
    """Runs ``recollect --store <fresh file> ...`` and never shows a traceback."""

    def run(
        *arguments: str, stdin: bytes | str = b"", store: str | None = None, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        address = store or str(tmp_path / "memory.db")
        done = subprocess.run(
            [sys.executable, "-m", "recollect.interfaces.cli", "--store", address, *arguments],
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            env={**os.environ, **environment},
            cwd=tmp_path,
            timeout=60,
            check=False,
        )
        answer = subprocess.CompletedProcess(
            done.args,
            done.returncode,
            done.stdout.decode("utf-8", "replace"),
            done.stderr.decode("utf-8", "replace"),
        )
        assert "Traceback" not in answer.stderr + answer.stdout, answer.stderr
        return answer

    return run


def parsed(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
