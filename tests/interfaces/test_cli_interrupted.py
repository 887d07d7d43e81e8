"""Ctrl-C on a terminal, or SIGTERM, in the middle of a long command: it leaves what it says."""

from __future__ import annotations

import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from dataclasses import dataclass
from fcntl import ioctl
from pathlib import Path

import pytest

from standfast import Memory
from standfast.interfaces.cli import STOPPED, main

MESSAGES = 240
ROOTS = ("user:ann", "user:bob")
NARROW = 40  # columns of the terminal
# The command as it is, but at some step it waits for whoever wants to stop it.
SLOW = """
import os, sys, time
from standfast.interfaces.cli import main
from standfast.interfaces.cli import progress
from standfast import wiring
from standfast.testing.judge import WordJudge

wiring._judge = lambda _: (WordJudge(), "")
told, waited = progress.Progress.__call__, []
def slowly(self, done, total=None):
    self._begun -= 1  # long enough for the bar to show
    told(self, done, total)
    if done >= int(os.environ["SLOW_AT"]) and not waited:
        waited.append(done)
        print("\\nSTEP", file=sys.stderr, flush=True)
        time.sleep(2)
progress.Progress.__call__ = slowly
sys.exit(main(sys.argv[1:]))
"""


@dataclass(kw_only=True)
class LongWork:
    """A command on ``store``; ``left`` looks at what an interruption left, ``whole`` at the end."""

    command: list[str]
    left: Callable[[Path], bool]
    whole: Callable[[Path], bool]
    at: int = 1  # how far it is when somebody stops it


def _counts(store: Path) -> tuple[int, int]:
    if not store.exists():
        return 0, 0
    with Memory.open(str(store), embedder="hashing", background=False) as memory:
        talks = memory.sessions(limit=100).items
        return memory.stats(descend=True).records, sum(one.last_seq for one in talks)


def _space(folder: Path) -> str:
    with Memory.open(str(folder / "source.db"), embedder="auto", background=False) as memory:
        return str(memory._loop.run(memory._memory.engine.space()))


def _at_a_terminal() -> None:
    """As a shell starts a command: with the terminal, and not deaf to it if the tests are."""
    ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _only(folder: Path, name: str) -> bool:
    """Is there no half of it, under whatever name?"""
    return not [one.name for one in folder.iterdir() if name in one.name]


WORK = {
    "export": LongWork(
        command=["export", "out.jsonl", "--store", "source.db"],
        at=100,
        left=lambda folder: _only(folder, "out.jsonl"),
        whole=lambda folder: (folder / "out.jsonl").stat().st_size > 10_000,
    ),
    "import": LongWork(
        command=["import", "all.jsonl", "--store", "target.db"],
        left=lambda folder: 0 < _counts(folder / "target.db")[1] < 2 * MESSAGES,
        whole=lambda folder: _counts(folder / "target.db") == _counts(folder / "source.db"),
        at=150,
    ),
    "backup": LongWork(
        command=["backup", "copy.db", "--store", "source.db"],
        left=lambda folder: _only(folder, "copy.db"),
        whole=lambda folder: _counts(folder / "copy.db") == _counts(folder / "source.db"),
    ),
    "migrate": LongWork(
        command=["migrate", "source.db", "target.db"],
        left=lambda folder: 0 < _counts(folder / "target.db")[1] <= 2 * MESSAGES,
        whole=lambda folder: _counts(folder / "target.db") == _counts(folder / "source.db"),
    ),
    "reembed": LongWork(
        command=["reembed", "--embedder", "recall-2", "--store", "source.db"],
        left=lambda folder: _space(folder).startswith("hashing"),
        whole=lambda folder: _space(folder).startswith("recall-2"),
    ),
    "maintain": LongWork(
        command=["maintain", "--store", "source.db"],
        at=0,  # nobody can count it
        left=lambda folder: _counts(folder / "source.db")[1] == 2 * MESSAGES,
        whole=lambda folder: _counts(folder / "source.db")[1] == 2 * MESSAGES,
    ),
    "remember": LongWork(
        command=[
            "remember",
            "--lines",
            "lines.jsonl",
            "--scope",
            "user:ann",
            "--store",
            "target.db",
        ],
        left=lambda folder: _counts(folder / "target.db")[0] in (0, 100, 200),
        whole=lambda folder: _counts(folder / "target.db")[0] == 250,
        at=150,
    ),
    "observe": LongWork(
        command=["observe", "s", "talk.jsonl", "--scope", "user:ann", "--store", "target.db"],
        at=500,
        left=lambda folder: _counts(folder / "target.db")[1] == 500,
        whole=lambda folder: _counts(folder / "target.db")[1] >= 700,
    ),
}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("source")
    with Memory.open(str(folder / "source.db"), embedder="hashing", background=False) as memory:
        for root in ROOTS:
            said = [f"Part {n} of {root} lies in box {n * 7}" for n in range(MESSAGES)]
            memory.observe("s", said, scope=root)
        memory.export_to(str(folder / "all.jsonl"))
    lines = [f'"Shelf {n} holds {n * 13} bolts of size {n % 17}"' for n in range(250)]
    (folder / "lines.jsonl").write_text("\n".join(lines))
    talk = [f'{{"role": "user", "content": "step {n}", "id": "m{n}"}}' for n in range(700)]
    (folder / "talk.jsonl").write_text("\n".join(talk))
    return folder


# What a supervisor sends ends it in the same way.
ENDED = [
    *((name, signal.SIGINT) for name in WORK),
    *((name, signal.SIGTERM) for name in ("export", "backup", "import")),
]


def _interrupted(
    folder: Path, work: LongWork, environ: dict[str, str], number: signal.Signals
) -> tuple[int, str]:
    """Its exit code and all that the terminal showed."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, NARROW, 0, 0))
    child = subprocess.Popen(
        [sys.executable, "-c", SLOW, *work.command, "--no-background"],
        cwd=folder, env=environ, stdin=theirs, stdout=theirs, stderr=theirs,
        start_new_session=True, preexec_fn=_at_a_terminal,
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    sent = False
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            piece = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        shown += piece
        if not sent and b"STEP" in shown:
            if number == signal.SIGINT:
                os.write(ours, b"\x03")
            else:
                child.send_signal(number)
            sent = True
    os.close(ours)
    return child.wait(timeout=60), shown.decode()


@pytest.mark.parametrize(("name", "number"), ENDED)
def test_C5_ctrl_c_leaves_what_it_says(
    name: str,
    number: signal.Signals,
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    work = WORK[name]
    for file in source.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    environ = {
        **{
            key: value
            for key, value in os.environ.items()
            if not key.startswith("STANDFAST_") and key not in ("COLUMNS", "LINES")
        },
        "PYTHONPATH": os.pathsep.join(os.path.abspath(one) for one in sys.path if one),
        "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path), "STANDFAST_EMBEDDER": "hashing",
        "SLOW_AT": str(work.at),
    }  # fmt: skip
    code, shown = _interrupted(tmp_path, work, environ, number)
    assert code == 128 + number, shown
    assert f"standfast: interrupted; {STOPPED[name]}" in shown, shown
    assert "Traceback" not in shown
    bars = [part for line in shown.split("\n") for part in line.split("\r\x1b[K")]
    assert max(len(bar) for bar in bars if "%" in bar or "upkeep" in bar) < NARROW, bars
    assert work.left(tmp_path), shown
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STANDFAST_EMBEDDER", "hashing")
    assert main([*work.command, "--no-background", "--quiet"]) == 0
    assert work.whole(tmp_path)
