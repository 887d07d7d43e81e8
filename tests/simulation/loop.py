"""How long anything holds a loop at once: the time of its thread that each callback takes."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from unittest.mock import patch


@dataclass(slots=True)
class LoopMeter:
    """The longest of each kind of request, in the thread's own seconds: however busy the machine
    is, they are the same."""

    thread: int
    longest: dict[str, float] = field(default_factory=dict)
    kind: str = ""

    @contextmanager
    def measured(self, kind: str) -> Iterator[None]:
        self.kind, self.longest[kind] = kind, 0.0
        yield
        self.kind = ""

    def note(self, seconds: float) -> None:
        if kind := self.kind:
            self.longest[kind] = max(self.longest[kind], seconds)

    @contextmanager
    def watching(self) -> Iterator[None]:
        run = asyncio.Handle._run

        def measured(handle: asyncio.Handle) -> None:
            if threading.get_ident() != self.thread or not self.kind:
                run(handle)
                return
            begun = time.thread_time()
            run(handle)
            self.note(time.thread_time() - begun)

        with patch.object(asyncio.Handle, "_run", measured):
            yield
