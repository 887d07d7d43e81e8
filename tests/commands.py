"""The command line run here: the same answers without the half second that a process needs."""

from __future__ import annotations

import contextlib
import io
import subprocess
from collections.abc import Sequence

import pytest

from standfast.interfaces.cli import main


def run_here(command: Sequence[str], stdin: bytes = b"") -> subprocess.CompletedProcess[str]:
    """What ``standfast COMMAND...`` says; a traceback fails the test."""
    said, complained = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(complained),
    ):
        patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin), "utf-8"))
        try:
            code = main(list(command))
        except SystemExit as ended:  # as argparse does it
            code = ended.code if isinstance(ended.code, int) else 0
    return answer_of(list(command), code, _written(said), _written(complained))


def answer_of(
    command: list[str], code: int, said: bytes, complained: bytes
) -> subprocess.CompletedProcess[str]:
    answer = subprocess.CompletedProcess(
        command, code, said.decode("utf-8", "replace"), complained.decode("utf-8", "replace")
    )
    assert "Traceback" not in answer.stderr + answer.stdout, answer.stderr
    return answer


def _written(stream: io.TextIOWrapper) -> bytes:
    stream.flush()
    written = stream.buffer
    assert isinstance(written, io.BytesIO)
    return written.getvalue()
