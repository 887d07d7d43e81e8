"""Every requirement is proved through the public interface, on every store that ships."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from recollect import Memory

OpenMemory = Callable[..., Memory]


class MovableClock:
    """A clock that stands still until it is told to move."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **amount: float) -> None:
        self.now += timedelta(**amount)


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


@pytest.fixture(params=["dict", "sqlite"])
def open_memory(
    request: pytest.FixtureRequest, tmp_path: Path, clock: MovableClock
) -> Iterator[OpenMemory]:
    """Opens memories on a fresh store; each call is a new handle, closed at the end."""
    opened: list[Memory] = []
    address = "dict:" if request.param == "dict" else str(tmp_path / "memory.db")

    def open_one(store: str = address, **options: Any) -> Memory:
        memory = Memory.open(store, **{"clock": clock, "embedder": "hashing", **options})
        opened.append(memory)
        return memory

    yield open_one
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    return open_memory()


@pytest.fixture
def sqlite_file(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"
