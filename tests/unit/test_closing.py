"""What ``close`` lets go of, and what becomes of an open memory in a forked child."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Coroutine, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from standfast import AsyncMemory, Memory, Unavailable
from standfast.models.local import box, runtime
from standfast.models.local.recall import BoxedEmbedder

ANN = "user:ann"
SECONDS = 20.0  # in which a child has answered; one that hangs never does
CYCLES = 100
STATM = Path("/proc/self/statm")

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
boxed = pytest.mark.skipif(not box.runs_here(), reason="the model in the box is not here")


class Owner:
    """Tells the time to the memory that it owns."""

    def __init__(self, store: str, *, background: bool) -> None:
        self.memory = Memory.open(store, embedder="hashing", clock=self.now, background=background)

    def now(self) -> datetime:
        return datetime(2026, 5, 3, 10, tzinfo=UTC)


@pytest.mark.parametrize("background", [False, True])
@pytest.mark.parametrize("kind", ["sqlite", "dict"])
def test_a_closed_memory_whose_clock_is_its_owner_is_freed(
    kind: str, background: bool, tmp_path: Path
) -> None:
    owner = Owner("dict:" if kind == "dict" else str(tmp_path / "m.db"), background=background)
    owner.memory.observe("s", "I moved to Berlin in May.", scope=ANN)
    owner.memory.maintain()
    engine = owner.memory._memory.engine
    kept = [weakref.ref(owner), weakref.ref(owner.memory), weakref.ref(engine.store)]
    owner.memory.close()
    del owner, engine
    assert not _alive(kept)


def _alive(kept: Sequence[weakref.ref[Any]]) -> list[object]:
    """A thread that has just ended its work may hold it for a moment more."""
    ends = time.monotonic() + SECONDS
    while any(one() is not None for one in kept) and time.monotonic() < ends:
        gc.collect()
        time.sleep(0.01)
    return [one() for one in kept if one() is not None]


def test_whoever_keeps_a_closed_handle_keeps_neither_clock_nor_models() -> None:
    class Time:
        def __call__(self) -> datetime:
            return datetime.now(UTC)

    clock = Time()
    freed = weakref.ref(clock)
    memory = Memory.open("dict:", embedder="hashing", clock=clock, background=False)
    memory.remember("Ann drinks tea", scope=ANN)
    embedder = weakref.ref(memory._memory.engine.embedder)  # type: ignore[arg-type]
    memory.close()
    del clock
    assert not _alive([freed, embedder])
    memory.close()
    with pytest.raises(Unavailable, match="closed"):
        memory.recall("tea", scope=ANN)


def test_an_asynchronous_memory_closes_twice_and_says_so() -> None:
    asyncio.run(_close_twice())


async def _close_twice() -> None:
    memory = await AsyncMemory.open("dict:", embedder="none")
    narrowed = memory.engine.narrowed((ANN,), memory.engine.rights)
    await memory.close()
    await memory.close()
    with pytest.raises(Unavailable, match="closed"):
        await memory.recall("tea", scope=ANN)
    with pytest.raises(Unavailable, match="closed"):
        await AsyncMemory(narrowed).records(scope=ANN)


@boxed
def test_open_memories_share_one_loaded_session_and_the_last_one_frees_it() -> None:
    folder = box.place()
    assert folder is not None
    one, other = BoxedEmbedder(folder), BoxedEmbedder(folder)
    rows = [asyncio.run(embedder.embed(["tea"])) for embedder in (one, other)]
    assert rows[0] == rows[1]
    assert one._network is not None
    assert one._network is other._network
    session = weakref.ref(one._network.session)
    del one
    gc.collect()
    assert session() is not None, "the other one still uses it"
    del other
    gc.collect()
    assert session() is None


_OPEN_AND_CLOSE = """
import gc, sys
from pathlib import Path
from types import SimpleNamespace
from standfast import Memory

def resident():
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1])

sizes = []
for number in range(int(sys.argv[2])):
    store = Path(sys.argv[1], f"{number}.db")
    with Memory.open(store, embedder="recall-2", background=False) as memory:
        memory.observe("s", "I moved to Berlin in May.", scope="user:ann")
        memory.maintain()
        memory.recall("where does Ann live?", scope="user:ann")
    sizes.append(resident())
print(*sizes)
"""


@boxed
@pytest.mark.proof
@pytest.mark.skipif(not STATM.exists(), reason="only Linux says how much memory a process has")
def test_100_open_and_close_cycles_need_no_more_memory_than_the_first(tmp_path: Path) -> None:
    first, last = _grown(tmp_path, CYCLES)
    assert last < 1.3 * first


@boxed
@pytest.mark.skipif(not STATM.exists(), reason="only Linux says how much memory a process has")
def test_a_few_open_and_close_cycles_need_no_more_memory_than_the_first(tmp_path: Path) -> None:
    """Each loaded 117 MB that nobody freed: the fifth had four times the memory of the first."""
    first, last = _grown(tmp_path, 5)
    assert last < 1.3 * first


def _grown(folder: Path, cycles: int) -> tuple[int, int]:
    """Pages that are resident after the first cycle and after the last one."""
    code = [sys.executable, "-c", _OPEN_AND_CLOSE, str(folder), str(cycles)]
    done = subprocess.run(code, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    sizes = list(map(int, done.stdout.split()))
    assert len(sizes) == cycles
    return sizes[0], sizes[-1]


# Forks

Asked = Callable[[AsyncMemory], Coroutine[Any, Any, object]]
VERBS: dict[str, Asked] = {
    "remember": lambda memory: memory.remember("said in the child", scope=ANN),
    "observe": lambda memory: memory.observe("s", "hi", scope=ANN),
    "recall": lambda memory: memory.recall("tea", scope=ANN),
    "context": lambda memory: memory.context(query="tea", scope=ANN),
    "records": lambda memory: memory.records(scope=ANN),
    "maintain": lambda memory: memory.maintain(),
    "store": lambda memory: memory.engine.store.records("user:ann", ["1"], now=datetime.now(UTC)),
    "roots": lambda memory: memory.engine.store.roots(),
}


@forks
@pytest.mark.parametrize("verb", VERBS)
def test_an_asynchronous_memory_says_in_a_forked_child_that_it_cannot_be_used(
    verb: str, tmp_path: Path
) -> None:
    async def opened() -> AsyncMemory:
        memory = await AsyncMemory.open(tmp_path / "m.db", embedder="hashing", background=False)
        await memory.remember("Ann drinks tea", scope=ANN)
        return memory

    with asyncio.Runner() as parent:
        memory = parent.run(opened())

        def child() -> str:
            try:
                asyncio.new_event_loop().run_until_complete(VERBS[verb](memory))
            except Unavailable as error:
                return f"Unavailable: {error}"
            return "answered"

        said = _in_child(child)
        assert said.startswith("Unavailable: this "), said
        assert "open it again" in said
        texts = [one.text for one in parent.run(memory.records(scope=ANN)).items]
        assert texts == ["Ann drinks tea"], "the parent goes on"
        parent.run(memory.close())


@forks
def test_a_forked_child_closes_nothing_of_its_parent_and_opens_its_own(tmp_path: Path) -> None:
    async def opened() -> AsyncMemory:
        return await AsyncMemory.open(tmp_path / "m.db", embedder="hashing")

    async def anew(memory: AsyncMemory) -> str:
        await memory.close()
        async with await AsyncMemory.open(tmp_path / "m.db", embedder="hashing") as own:
            await own.remember("Bob drinks coffee", scope=ANN)
            return str(len((await own.records(scope=ANN)).items))

    with asyncio.Runner() as parent:
        memory = parent.run(opened())
        parent.run(memory.remember("Ann drinks tea", scope=ANN))
        said = _in_child(lambda: asyncio.new_event_loop().run_until_complete(anew(memory)))
        assert said == "2"
        assert len(parent.run(memory.records(scope=ANN)).items) == 2
        parent.run(memory.close())


@forks
@boxed
def test_a_forked_child_loads_a_session_of_its_own() -> None:
    folder = box.place()
    assert folder is not None
    embedder = BoxedEmbedder(folder)
    rows = asyncio.run(embedder.embed(["tea"]))

    def child() -> str:
        own = BoxedEmbedder(folder)
        return str(asyncio.new_event_loop().run_until_complete(own.embed(["tea"])) == rows)

    assert _in_child(child) == "True"


@forks
def test_a_memory_says_in_a_forked_child_that_it_cannot_be_used(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "m.db", embedder="hashing", background=False) as memory:

        def child() -> str:
            try:
                memory.remember("said in the child", scope=ANN)
            except Unavailable as error:
                return f"Unavailable: {error}"
            return "answered"

        assert _in_child(child).startswith("Unavailable: this memory")


def _in_child(work: Callable[[], str]) -> str:
    """What it says; "no answer" after a time, where it would wait for ever."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(writing, work().encode())
        except BaseException as error:
            os.write(writing, f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(0)
    os.close(writing)
    ends = time.monotonic() + SECONDS
    while os.waitpid(pid, os.WNOHANG) == (0, 0):
        if time.monotonic() > ends:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
            os.close(reading)
            return "no answer"
        time.sleep(0.01)
    with os.fdopen(reading, "rb") as pipe:
        return pipe.read().decode()


def test_a_network_is_whole_for_whoever_gets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads take and drop the shared network at the same time: nobody gets one half freed."""
    files = SimpleNamespace(onnx=b"graph", tokenizer=b"{}")
    library = SimpleNamespace(from_str=lambda _: object())
    monkeypatch.setattr(runtime, "libraries", lambda: (None, library))
    monkeypatch.setattr(runtime, "session", lambda *_: object())
    # Others get a turn while memory is given back.
    monkeypatch.setattr(runtime, "_return_freed_memory", lambda: time.sleep(0.001))
    broken: list[object] = []

    def take_and_drop() -> None:
        for _ in range(50):
            found = runtime.shared_network(runtime.LoadedNetwork, lambda: files, 1)
            time.sleep(0)
            broken.extend(one for one in (found.session, found.tokenizer) if one is None)
            del found
            time.sleep(0.0005)

    monkeypatch.setattr(runtime.LoadedNetwork, "width", 1, raising=False)
    threads = [threading.Thread(target=take_and_drop) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert broken == []
