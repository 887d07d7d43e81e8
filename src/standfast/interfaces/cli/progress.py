"""A bar on standard error for whatever takes longer than a moment, for people only."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType

AFTER_SECONDS = 0.5
EVERY_SECONDS = 0.1
WIDTH = 24

Count = Callable[[int], str]


def plain_count(number: int) -> str:
    return f"{number:,}"


def megabytes(number: int) -> str:
    return f"{number / 1e6:,.1f} MB"


class Progress:
    """``total`` 0: nobody knows how much there is. Shows nothing before half a second, nothing
    where nobody looks, and leaves the line clean."""

    def __init__(
        self, what: str, total: int = 0, *, shown: bool = True, count: Count = plain_count
    ) -> None:
        self._what = what
        self._total = total
        self._count = count
        self._shown = shown and sys.stderr.isatty()
        self._begun = time.monotonic()
        self._last = self._begun - EVERY_SECONDS
        self._drawn = False

    @classmethod
    @contextmanager
    def ticking(cls, what: str, *, shown: bool = True) -> Iterator[None]:
        """For what nobody can count: how long it takes already."""
        over = threading.Event()
        with cls(what, shown=shown) as progress:

            def tick() -> None:
                while not over.wait(AFTER_SECONDS):
                    progress(0)

            thread = threading.Thread(target=tick, daemon=True)
            thread.start()
            try:
                yield
            finally:
                over.set()
                thread.join()

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._shown = False  # work that was stopped may tell of one more step
        if self._drawn:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def __call__(self, done: int, total: int | None = None) -> None:
        self._total = self._total if total is None else total
        now = time.monotonic()
        often = now - self._last < EVERY_SECONDS
        if not self._shown or often or now - self._begun < AFTER_SECONDS:
            return
        self._last, self._drawn = now, True
        columns = shutil.get_terminal_size((80, 24)).columns
        shown = self.line(done, now, columns)[: columns - 1]  # a line that wraps is never cleared
        print(f"\r\x1b[K{shown}", end="", file=sys.stderr, flush=True)

    def line(self, done: int, now: float, columns: int = 80) -> str:
        """With a bar where there is room for one."""
        spent = now - self._begun
        if not self._total:
            counted = f"{self._count(done)} in " if done else ""
            return f"{self._what}: {counted}{_clock(spent)}"
        share = min(done / self._total, 1.0)
        bar = "#" * int(WIDTH * share)
        left = f", {_clock(spent / share - spent)} left" if share > 0 else ""
        numbers = f"{self._count(done)} of {self._count(self._total)}"
        whole = f"{self._what} [{bar:<{WIDTH}}] {share:4.0%} {numbers}{left}"
        return whole if len(whole) < columns else f"{self._what} {share:4.0%}{left}"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
