"""What every part shares: how much to measure, where, and with which records."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bench.texts import Corpus


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many records, questions and writes each part takes."""

    name: str
    hybrid: int
    tenant: int  # records of the scope that has neighbours
    others: int  # records of other tenants, ``tenant`` each
    siblings: int  # records of sibling scopes, ``tenant`` each
    growth: tuple[int, ...]
    questions: int
    rounds: int
    writers: int
    writes: int  # of each writer
    starts: int  # processes started per import measurement

    def scaled(self, by: float) -> Sizes:
        """The same with fewer (or more) records."""
        if by == 1:
            return self
        growth = dict.fromkeys(max(10, round(count * by)) for count in self.growth)
        return replace(
            self,
            name=f"{self.name} x {by:g}",
            hybrid=max(100, round(self.hybrid * by)),
            others=max(self.tenant, round(self.others * by)),
            siblings=max(self.tenant, round(self.siblings * by)),
            growth=tuple(growth),
        )


FULL = Sizes(
    name="full",
    hybrid=100_000,
    tenant=1000,
    others=1_000_000,
    siblings=100_000,
    growth=(100, 300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000),
    questions=100,
    rounds=3,
    writers=16,
    writes=30,
    starts=15,
)
QUICK = replace(
    FULL,
    name="quick",
    hybrid=20_000,
    others=20_000,
    siblings=10_000,
    growth=(100, 1000, 3000, 10_000, 20_000),
    questions=50,
    starts=7,
)

# Of disk per record, log and baselines included; measured, rounded up.
BYTES_PER_RECORD = 8000
SECONDS_OF_SILENCE = 10


@dataclass(slots=True)
class Bench:
    sizes: Sizes
    folder: Path
    data: Path | None = None  # a folder with conversations that people had
    stores: tuple[str, ...] = ()  # addresses of servers to measure beside a file
    corpus: Corpus = field(default_factory=Corpus)
    memo: dict[str, Any] = field(default_factory=dict)  # what one part measured for another
    began: float = field(default_factory=time.monotonic)
    spoke: float = 0.0

    def say(self, text: str) -> None:
        """Progress, for whoever waits."""
        self.spoke = time.monotonic()
        print(f"[{self.spoke - self.began:6.1f} s] {text}", file=sys.stderr, flush=True)

    def count(self, what: str, done: int, of: int) -> None:
        """Progress of something long; said now and then."""
        if time.monotonic() - self.spoke > SECONDS_OF_SILENCE:
            self.say(f"{what}: {done:,} of {of:,}")

    @contextmanager
    def desk(self) -> Iterator[Path]:
        """A folder for one part's files, gone afterwards."""
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            yield Path(name)


def needed_bytes(sizes: Sizes) -> int:
    """Of disk, at the worst moment."""
    return BYTES_PER_RECORD * max(sizes.hybrid, sizes.others + sizes.siblings, max(sizes.growth))
