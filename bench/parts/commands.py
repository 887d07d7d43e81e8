"""What `standfast recall` costs as a command: a process that starts, answers and ends, as a hook of
a coding agent does at every turn. Processor time, because that is what a command takes away."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.report import Result, Table, at_most, ms, number, times
from bench.running import Bench
from bench.timing import Times
from standfast import Memory
from standfast.models.local.box import runs_here

CPU_MAX = 0.35  # seconds, with 20,000 messages in the file
SHARE = 5  # of the records of ``hybrid``: 20,000 messages
MODEL_SHARE = 100  # the same for the model in the box, which takes a while to embed them
AT_ONCE = 500
SCOPE = "user:bench"
CODE = "import sys; from standfast.interfaces.cli import main; sys.exit(main(sys.argv[1:]))"
NOTHING, NUMPY = "python alone", "import numpy, asyncio"


@dataclass(frozen=True, slots=True)
class Asked:
    """A store to ask, and how much is in it."""

    store: Path
    embedder: str
    count: int

    @property
    def options(self) -> list[str]:
        return ["--store", str(self.store), "--embedder", self.embedder]

    @property
    def shown(self) -> str:
        return f"standfast recall, {self.embedder}, {number(self.count)} messages"


async def run(bench: Bench) -> Result:
    measured: dict[str, Times] = {}
    with bench.desk() as desk:
        environment = _environment(desk)
        hashing = Asked(desk / "hashing.db", "hashing", bench.sizes.hybrid // SHARE)
        model = Asked(desk / "model.db", "recall-2", bench.sizes.hybrid // MODEL_SHARE)
        stores = [hashing, model] if runs_here() else [hashing]
        commands = {NOTHING: ["-c", "pass"], NUMPY: ["-c", "import asyncio, numpy"]}
        for one in stores:
            question = _fill(bench, one)
            commands[one.shown] = ["-c", CODE, "recall", question, "--scope", SCOPE, *one.options]
            _spent(commands[one.shown], environment)  # it saves the index that the others find
        for _ in range(bench.sizes.starts):
            for what, command in commands.items():
                measured.setdefault(what, Times()).seconds.append(_spent(command, environment))
        for one in stores:
            spent = measured[f"{one.shown}: a running server answers"] = Times()
            with _serving(one, environment):
                for _ in range(bench.sizes.starts):
                    spent.seconds.append(_spent(commands[one.shown], environment))
    return _result(hashing, measured)


def _result(hashing: Asked, measured: dict[str, Times]) -> Result:
    alone = measured[NOTHING].median
    rows = [
        (what, ms(one.median), ms(one.p95), times(one.median / alone))
        for what, one in measured.items()
    ]
    note = (
        "A command finds the server of its store by itself, and opens the store itself where none "
        "runs. The processor time of the server is not in it."
    )
    columns = ("process", "median", "p95", "ratio")
    table = Table("One command: processor time", columns, rows, note)
    claim = at_most(
        f"{number(hashing.count)} messages: `standfast recall` as a command",
        measured[hashing.shown].median, CPU_MAX, "{:.2f} s of processor time",
    )  # fmt: skip
    return Result("commands", [table], [claim])


def _fill(bench: Bench, into: Asked) -> str:
    """Returns a question that some of it answers."""
    bench.say(f"commands: {into.count:,} messages, {into.embedder}")
    with Memory.open(into.store, embedder=into.embedder, background=False) as memory:
        for first, chunk in bench.corpus.records(0, into.count, AT_ONCE):
            memory.observe(f"session {first}", list(chunk.texts), scope=SCOPE)
    return bench.corpus.questions(1, series=11)[0].text


def _spent(command: list[str], environment: dict[str, str]) -> float:
    """Seconds of processor time, of all its threads."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *command], env=environment, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@contextmanager
def _serving(asked: Asked, environment: dict[str, str]) -> Iterator[None]:
    """A server on the same store."""
    server = subprocess.Popen(
        [sys.executable, "-c", CODE, "serve", "--port", "0", *asked.options],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert server.stdout is not None
    try:
        server.stdout.readline()  # it greets when it listens
        yield
    finally:
        server.terminate()
        server.stdout.close()
        server.wait(30)


def _environment(desk: Path) -> dict[str, str]:
    """Nothing is compiled anew at every start, and nobody's own server is asked."""
    kept = {name: one for name, one in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "XDG_DATA_HOME": str(desk.resolve())}
