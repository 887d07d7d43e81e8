"""What `recollect recall` costs as a command: a process that starts, answers and ends, as a hook of
a coding agent does at every turn. Processor time, because that is what a command takes away."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

from bench.report import Result, Table, at_most, ms, number, times
from bench.running import Bench
from bench.timing import Times
from recollect import Memory

CPU_MAX = 0.35  # seconds, with 20,000 messages in the file
SHARE = 5  # of the records of ``hybrid``: 20,000 messages
AT_ONCE = 500
SCOPE = "user:bench"
CODE = "import sys; from recollect.interfaces.cli import main; sys.exit(main(sys.argv[1:]))"
NOTHING, NUMPY, RECALL = "python alone", "import numpy, asyncio", "recollect recall"


async def run(bench: Bench) -> Result:
    count = bench.sizes.hybrid // SHARE
    bench.say(f"commands: {count:,} messages")
    with bench.desk() as desk:
        store = desk / "memory.db"
        question = _fill(bench, store, count)
        asked = ["recall", question, "--store", str(store), "--scope", SCOPE]
        commands = {
            NOTHING: ["-c", "pass"],
            NUMPY: ["-c", "import asyncio, numpy"],
            RECALL: ["-c", CODE, *asked, "--embedder", "hashing"],
        }
        _spent(commands[RECALL])  # the first one saves the index that the others find
        measured = {what: Times() for what in commands}
        for _ in range(bench.sizes.starts):
            for what, command in commands.items():
                measured[what].seconds.append(_spent(command))
    alone = measured[NOTHING].median
    rows = [
        (what, ms(one.median), ms(one.p95), times(one.median / alone))
        for what, one in measured.items()
    ]
    title = f"One command, {number(count)} messages in the file: processor time"
    table = Table(title, ("process", "median", "p95", "ratio"), rows)
    claim = at_most(
        f"{number(count)} messages: `{RECALL}` as a command", measured[RECALL].median, CPU_MAX,
        "{:.2f} s of processor time",
    )  # fmt: skip
    return Result("commands", [table], [claim])


def _fill(bench: Bench, store: Path, count: int) -> str:
    """Returns a question that some of it answers."""
    with Memory.open(store, embedder="hashing", background=False) as memory:
        for first, chunk in bench.corpus.records(0, count, AT_ONCE):
            memory.observe(f"session {first}", list(chunk.texts), scope=SCOPE)
    return bench.corpus.questions(1, series=11)[0].text


def _spent(command: list[str]) -> float:
    """Seconds of processor time, of all its threads."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *command], env=_environment(), capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _environment() -> dict[str, str]:
    """Nothing is compiled anew at every start."""
    return {name: one for name, one in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
