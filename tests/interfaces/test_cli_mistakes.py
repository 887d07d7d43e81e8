"""What a person gets to read who typed something wrong: one line that says what to do.

``python -m tests.interfaces.test_cli_mistakes`` writes the golden file anew; read the difference.
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import sys
from pathlib import Path
from unittest import mock

from standfast.interfaces.cli import main

HERE = Path(__file__).parent
LINES = [
    line
    for line in (HERE / "mistakes.in").read_text("utf-8").splitlines()
    if not line.startswith("#")
]
GOLDEN = HERE / "mistakes.golden"


def answers(folder: Path) -> str:
    """Every line with its exit code and what was said on standard error."""
    (folder / "broken.jsonl").write_text('{"role": "user", "content": \n', "utf-8")
    (folder / "norole.jsonl").write_text('{"content": "hello"}\n', "utf-8")
    (folder / "messages.jsonl").write_text('{"role": "user", "content": "hello"}\n', "utf-8")
    (folder / "latin1.jsonl").write_bytes("Grüße\n".encode("latin-1"))
    environ = {
        "HOME": str(folder),
        "PATH": os.environ["PATH"],
        "STANDFAST_STORE": str(folder / "memory.db"),
        "STANDFAST_EMBEDDER": "hashing",
        "COLUMNS": "100",
    }
    said = []
    with mock.patch.dict(os.environ, environ, clear=True), contextlib.chdir(folder):
        _run(["remember", "I like tea", "--no-background"])
        for line in LINES:
            with mock.patch.dict(os.environ):
                code, message = _run([*shlex.split(line), "--no-background"])
            message = message.replace(str(folder), "FOLDER").strip()
            said.append(f"$ standfast {line}\n[{code}] {message}\n")
    return "\n".join(said)


def _run(arguments: list[str]) -> tuple[int, str]:
    error = io.StringIO()
    stdin = mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with stdin, contextlib.redirect_stderr(error), contextlib.redirect_stdout(io.StringIO()):
        try:
            code = main(arguments)
        except SystemExit as left:
            code = left.code if isinstance(left.code, int) else 1
    return code, error.getvalue()


def test_C5_sixty_mistakes_get_one_line_each_that_says_what_to_do(tmp_path: Path) -> None:
    found = answers(tmp_path)
    assert len(LINES) >= 60
    assert "Traceback" not in found
    assert "usage:" not in found
    assert found == GOLDEN.read_text("utf-8")


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        GOLDEN.write_text(answers(Path(name).resolve()), "utf-8")
