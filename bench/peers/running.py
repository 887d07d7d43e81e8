"""Jobs one after the other, each in processes of its own; what is done is kept, so that a run
that was stopped goes on where it was."""

from __future__ import annotations

import json
import math
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import machine
from bench.peers.material import Material, write_questions
from bench.peers.peers import Job, Way
from bench.peers.venvs import PROJECT, InstallError, environment, python_of
from standfast.wiring.models import model_folder

SECONDS_MAX = 420  # for one process
SINGLE_WRITES = 200

Done = dict[str, Any]  # what a job measured, or {"error": why not}


@dataclass(slots=True)
class Run:
    """A run and what it has measured so far, kept in ``folder/run.json``."""

    folder: Path
    size: str
    say: Callable[[str], None]
    rounds: int = 2
    deadline: float = math.inf  # on the monotonic clock; no job begins later
    done: dict[str, Done] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return self.folder / f"run-{self.size}.json"

    def go_on(self, wanted: Sequence[str], *, fresh: bool = False) -> None:
        """Take over what was measured today. What is wanted is measured anew if all of it is
        there (the last run was finished), and always where it failed or when ``fresh``."""
        try:
            known: dict[str, Done] = json.loads(self.path.read_text("utf-8"))
        except (OSError, ValueError):
            return
        today = {key: one for key, one in known.items() if one.get("day") == machine.today()}
        again = set(wanted) if fresh or today.keys() >= set(wanted) else set()
        self.done = {
            key: one for key, one in today.items() if key not in again and "error" not in one
        }

    @property
    def is_late(self) -> bool:
        return time.monotonic() > self.deadline

    def keep(self, key: str, found: Done) -> None:
        self.done[key] = {**found, "day": machine.today()}
        temporary = self.path.with_suffix(".new")
        temporary.write_text(json.dumps(self.done, indent=1), "utf-8")
        temporary.replace(self.path)

    def measure(self, job: Job) -> None:
        if job.key in self.done or self.is_late:
            return
        self.say(f"{job.peer.shown}: {job.records:,} records, scopes: {job.scopes}")
        try:
            python = python_of(job.peer.pins, self.folder / "venvs", self.say)
            with tempfile.TemporaryDirectory(dir=self.folder) as desk:
                self.keep(job.key, self._measured(job, python, Path(desk)))
        except (InstallError, MeasuringError) as error:
            self.say(f"  not measured: {error}")
            self.keep(job.key, {"error": str(error)[:300]})

    def _measured(self, job: Job, python: Path, desk: Path) -> Done:
        (desk / "files").mkdir()
        write_questions(Material(job.records, job.scopes).questions(), desk)
        ways = [way for way in job.ways if not way.needs_model or _model_is_there()]
        found: Done = {"version": _version(python, job.peer.package), "ways": {}}
        if job.peer.in_memory:
            (way,) = ways
            both = self._worker(job, python, desk, way, write=True, ask=True)
            asked = ("median", "p95", "recall", "exact", "memory")
            found["ways"][way.name] = {name: both.pop(name) for name in asked}
            return {**found, **both}
        found |= self._worker(job, python, desk, Way("", ""), write=True, ask=False)
        for way in ways:
            answer = self._worker(job, python, desk, way, write=False, ask=True)
            found["ways"][way.name] = answer
        return found

    def _worker(
        self, job: Job, python: Path, desk: Path, way: Way, *, write: bool, ask: bool
    ) -> Done:
        told = {
            "peer": job.peer.name,
            "setting": job.peer.setting,
            "how": way.name,
            "records": job.records,
            "scopes": job.scopes,
            "batch": job.peer.batch,
            "single": SINGLE_WRITES,
            "rounds": self.rounds,
            "folder": str(desk),
            "write": write,
            "ask": ask,
        }
        home = _home(desk, real=way.needs_model)
        return process(python, "bench.peers.worker", told, home)


class MeasuringError(Exception):
    """A measuring process failed; says why."""


def process(python: Path, module: str, told: Done, home: Path | None) -> Done:
    """Run a module with one JSON object in and one out."""
    try:
        done = subprocess.run(
            [str(python), "-m", module],
            cwd=PROJECT,
            env=environment(home) if home else environment(Path.home()),
            input=json.dumps(told),
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS_MAX,
        )
    except subprocess.TimeoutExpired as error:
        raise MeasuringError(f"took more than {SECONDS_MAX} seconds") from error
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        raise MeasuringError(lines[-1] if lines else f"ended with {done.returncode}")
    answer: Done = json.loads(done.stdout)
    return answer


def _home(desk: Path, *, real: bool) -> Path | None:
    """Programs write settings and caches there; only the local model is in the real one."""
    if real:
        return None
    home = desk / "home"
    home.mkdir(exist_ok=True)
    return home


def _model_is_there() -> bool:
    from standfast.models.providers.minilm.weights import status

    return status(model_folder("minilm")).ready


def _version(python: Path, package: str) -> str:
    code = f"import importlib.metadata as m; print(m.version({package!r}))"
    done = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"
