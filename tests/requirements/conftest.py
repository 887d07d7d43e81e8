"""Every requirement is proved through the public interface, on every store that ships, and through
a server: there the client has the verbs, and what a test injects is on the other side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from standfast import AsyncMemory, Memory
from standfast.memory.sync import BackgroundLoop
from tests.conftest import PROVING
from tests.engines import ENGINES
from tests.serving import Plugged, Switchboard

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


class ServedMemory(Memory):
    """A memory whose server ends with it. Both share a loop and a process, so that a test may look
    at the engine, which is the server's."""

    def __init__(self, board: Switchboard, server: Plugged, *scopes: str) -> None:
        connecting = AsyncMemory.connect(server.url, server.key(*scopes))
        super().__init__(board.run(connecting), SharedLoop(board))
        self._memory._engine = server.engine
        self._server = server

    def close(self) -> None:
        if self._loop.running:
            super().close()
            self._server.unplug()


class SharedLoop(BackgroundLoop):
    """The loop of a switchboard, which goes on when a memory is closed."""

    def __init__(self, board: Switchboard) -> None:
        self._loop = board.loop
        self._open = True

    @property
    def running(self) -> bool:
        return self._open

    def stop(self) -> None:
        self._open = False


@pytest.fixture(scope="session")
def switchboard() -> Iterator[Switchboard]:
    board = Switchboard()
    yield board
    board.close()


# On engines behind a server `make test` proves these, which write most kinds of rows; `make proof`
# proves all of them.
ON_ENGINES = (
    "test_changing_space.py",
    "test_forgetting.py",
    "test_learning_on_demand.py",
    "test_undoing.py",
)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if PROVING:
        return
    here = Path(__file__).parent
    left_out = [
        item
        for item in items
        if item.path.parent == here
        and item.path.name not in ON_ENGINES
        and any(f"[{name}" in item.name or f"-{name}" in item.name for name in ENGINES)
    ]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]


@pytest.fixture(params=["dict", "sqlite", "served", *ENGINES])
def open_memory(
    request: pytest.FixtureRequest, tmp_path: Path, clock: MovableClock
) -> Iterator[OpenMemory]:
    """Opens memories on a fresh store; each call is a new handle, closed at the end."""
    here_only = request.node.get_closest_marker("not_served")
    if request.param == "served" and here_only:
        pytest.skip(f"not through a server: {here_only.args[0]}")
    opened: list[Memory] = []
    stack = ExitStack()
    if request.param in ENGINES:
        address = stack.enter_context(ENGINES[request.param]())
    else:
        address = "dict:" if request.param == "dict" else str(tmp_path / "memory.db")

    def open_one(store: str = address, **options: Any) -> Memory:
        # Upkeep runs when a test says so: by itself it would come after five seconds, which is in
        # the midst of a test on a busy machine.
        options = {"clock": clock, "embedder": "hashing", "background": False, **options}
        if request.param == "served":
            memory = serve_one(store, **options)
        else:
            memory = Memory.open(store, **options)
        opened.append(memory)
        return memory

    def serve_one(store: str, *, scope: str | None = None, **options: Any) -> Memory:
        board: Switchboard = request.getfixturevalue("switchboard")
        return ServedMemory(board, board.plug(store, **options), *([scope] if scope else []))

    yield open_one
    for memory in opened:
        memory.close()
    stack.close()


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    return open_memory()


@pytest.fixture
def sqlite_file(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"
