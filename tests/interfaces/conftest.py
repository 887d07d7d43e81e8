"""The command line, run as a process where that makes a difference, else here: the same without
the half second that a new process needs to load everything."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recollect.interfaces.cli import main

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def recollect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs ``recollect --store <fresh file> ...`` and never shows a traceback."""

    def run(
        *arguments: str, stdin: bytes | str = b"", store: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        monkeypatch.chdir(tmp_path)
        command = ["--store", store or str(tmp_path / "memory.db"), *arguments]
        said, complained = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(_bytes(stdin)), "utf-8"))
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complained):
            try:
                code = main(command)
            except SystemExit as ended:  # as argparse does it
                code = ended.code if isinstance(ended.code, int) else 0
        return _answer(command, code, _written(said), _written(complained))

    return run


@pytest.fixture
def recollect_process(tmp_path: Path) -> Run:
    """The same in a process of its own, with more in its environment if that is said."""

    def run(
        *arguments: str, stdin: bytes | str = b"", store: str | None = None, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        command = ["--store", store or str(tmp_path / "memory.db"), *arguments]
        done = subprocess.run(
            [sys.executable, "-m", "recollect.interfaces.cli", *command],
            input=_bytes(stdin),
            capture_output=True,
            env={**os.environ, **environment},
            cwd=tmp_path,
            timeout=60,
            check=False,
        )
        return _answer(command, done.returncode, done.stdout, done.stderr)

    return run


def _bytes(text: bytes | str) -> bytes:
    return text.encode() if isinstance(text, str) else text


def _written(stream: io.TextIOWrapper) -> bytes:
    stream.flush()
    written = stream.buffer
    assert isinstance(written, io.BytesIO)
    return written.getvalue()


def _answer(
    command: list[str], code: int, said: bytes, complained: bytes
) -> subprocess.CompletedProcess[str]:
    answer = subprocess.CompletedProcess(
        command, code, said.decode("utf-8", "replace"), complained.decode("utf-8", "replace")
    )
    assert "Traceback" not in answer.stderr + answer.stdout, answer.stderr
    return answer


def parsed(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
