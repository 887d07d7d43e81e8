"""Stop watches and scales."""

from __future__ import annotations

import math
import os
import re
import resource
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(slots=True)
class Times:
    """Seconds, one per run of the same thing."""

    seconds: list[float] = field(default_factory=list)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds) if self.seconds else math.nan

    @property
    def p95(self) -> float:
        if not self.seconds:
            return math.nan
        return sorted(self.seconds)[math.ceil(0.95 * len(self.seconds)) - 1]

    @contextmanager
    def one(self) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self.seconds.append(time.perf_counter() - began)


@dataclass(frozen=True, slots=True)
class Contender:
    """Something that answers a question; its answer is thrown away."""

    name: str
    answer: Callable[[Any], Any] | None = None
    answer_async: Callable[[Any], Awaitable[Any]] | None = None

    async def ask(self, question: Any) -> None:
        if self.answer is not None:
            self.answer(question)
        elif self.answer_async is not None:
            await self.answer_async(question)


async def race(
    contenders: Sequence[Contender], questions: Sequence[Any], rounds: int = 3
) -> dict[str, Times]:
    """Each contender answers every question once per round. Rounds go around, so that a busy
    minute hits all alike; the first question of a round is asked twice to warm up."""
    times = {contender.name: Times() for contender in contenders}
    for _ in range(rounds):
        for contender in contenders:
            await contender.ask(questions[0])
            for question in questions:
                with times[contender.name].one():
                    await contender.ask(question)
    return times


def memory_of_this_process() -> dict[str, int]:
    """Bytes of real memory: now, and at the worst moment."""
    status = Path("/proc/self/status")
    if status.exists():
        text = status.read_text()
        found = dict(re.findall(r"^(VmRSS|VmHWM):\s+(\d+) kB", text, re.MULTILINE))
        return {"now": int(found["VmRSS"]) * 1024, "peak": int(found["VmHWM"]) * 1024}
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return {"now": peak, "peak": peak}


def bytes_of(paths: Iterable[Path]) -> int:
    return sum(path.stat().st_size for path in paths if path.exists())


def files_of(database: Path) -> list[Path]:
    """A database with its log."""
    return [database, Path(f"{database}-wal")]


def forget_cached_pages(database: Path) -> bool:
    """Ask the system to drop the file from its cache, so that the next reader meets the disk.
    False where that cannot be asked."""
    if not hasattr(os, "posix_fadvise"):
        return False
    for path in files_of(database):
        if path.exists():
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
                os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(descriptor)
    return True


def cpu_seconds(pid: int) -> float:
    """What a process has used so far, all its threads together; nan where nobody says."""
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():
        return math.nan
    parts = stat.read_text().rpartition(")")[2].split()
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")
