"""Servers of database engines, for tests: one of each kind for a whole run, started by whoever
needs it first and ended with the run, however many workers it has.

The folder of the run is named in the environment by the process that pytest was started as (see
``conftest.py``); its workers inherit it. A kind of server is a function that starts one and says
how to reach it and which processes it is::

    def started(folder: Path) -> Server: ...

    server = running("postgres", started)   # a Server, or pytest.skip with the reason
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import pytest

RUN = "STANDFAST_TEST_RUN"  # names the folder of this run
STOP_SECONDS = 20
# Read early: no test has this in its environment.
_folder: list[Path] = []
IN_CI = bool(os.environ.get("CI"))


@dataclass(frozen=True)
class Server:
    """``address`` reaches it; ``pids`` are ended with the run, by ``stop`` (a signal) first."""

    address: str
    pids: tuple[int, ...] = ()
    stop: int = signal.SIGTERM


class CannotStartError(Exception):
    """This machine cannot run that server; says why."""


def begin_run(worker: bool) -> None:
    """Make the folder of the run, or find it if this is only a worker. Anybody may walk through
    it: a database refuses to run as root and runs as nobody instead."""
    if not worker:
        os.environ[RUN] = tempfile.mkdtemp(prefix="standfast-servers-")
        Path(os.environ[RUN]).chmod(0o711)
    _folder[:] = [Path(os.environ[RUN])]


def end_run() -> None:
    """End every server of the run, and leave nothing behind."""
    os.environ.pop(RUN, None)
    folder = _folder.pop()
    for file in folder.glob("*.json"):
        said = json.loads(file.read_text())
        for pid in said.get("pids", ()):
            _end(pid, said["stop"])
    shutil.rmtree(folder, ignore_errors=True)


def _end(pid: int, stop: int) -> None:
    """By its id; with force if it does not listen."""
    for number in (stop, signal.SIGKILL):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return
        deadline = time.monotonic() + STOP_SECONDS
        while time.monotonic() < deadline:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
            if not Path(f"/proc/{pid}").exists() and not _alive(pid):
                return
            time.sleep(0.02)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


@cache
def running(kind: str, start: Callable[[Path], Server]) -> Server:
    """The server of this kind, started if nobody has yet. Skips the test where it cannot start,
    saying why; under continuous integration it fails instead."""
    [folder] = _folder
    file = folder / f"{kind}.json"
    with _locked(folder / f"{kind}.lock"):
        if not file.exists():
            place = folder / kind
            place.mkdir(exist_ok=True)
            try:
                said = asdict(start(place))
            except CannotStartError as error:
                said = {"refused": f"no {kind} here: {error}"}
            file.write_text(json.dumps(said))
    said = json.loads(file.read_text())
    if "refused" in said:
        if IN_CI:
            pytest.fail(said["refused"])
        pytest.skip(said["refused"])
    return Server(said["address"], tuple(said["pids"]), said["stop"])


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
