"""Memory and AsyncMemory are the same verbs; nothing is written twice, nothing drifts."""

from __future__ import annotations

import inspect
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from standfast import AsyncMemory, Memory, Unavailable

WRITERS = 51
WAYS_IN_AND_OUT = {"open", "connect", "close"}
VERBS = [
    name
    for name, member in inspect.getmembers(AsyncMemory, inspect.iscoroutinefunction)
    if not name.startswith("_") and name not in WAYS_IN_AND_OUT
]


def test_both_faces_have_the_same_verbs() -> None:
    blocking = {name for name in vars(Memory) if not name.startswith("_")}
    assert blocking == {*VERBS, *WAYS_IN_AND_OUT}


@pytest.mark.parametrize("name", VERBS)
def test_signatures_and_docstrings_are_equal(name: str) -> None:
    asynchronous, blocking = getattr(AsyncMemory, name), getattr(Memory, name)
    assert inspect.signature(asynchronous) == inspect.signature(blocking)
    assert asynchronous.__doc__ == blocking.__doc__
    assert not inspect.iscoroutinefunction(blocking)


def test_a_closed_memory_says_so_and_closes_twice() -> None:
    memory = Memory.open("dict:")
    memory.close()
    memory.close()
    with pytest.raises(Unavailable, match="closed"):
        memory.recall("x")


def test_many_threads_share_one_memory() -> None:
    with Memory.open("dict:", embedder="none") as memory:
        threads = [
            threading.Thread(
                target=lambda n=n: memory.remember(f"note {n} of thread {n}", scope="user:ann")
            )
            for n in range(20)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(memory.recall("note", scope="user:ann", limit=50).hits) == 20


def test_a_store_that_cannot_be_opened_leaves_no_thread_behind() -> None:
    before = threading.active_count()
    with pytest.raises(Exception, match="unknown store"):
        Memory.open("ftp://nowhere")
    assert threading.active_count() == before


def test_many_writers_of_one_session_and_one_procedure_are_all_answered(tmp_path: Path) -> None:
    """More of them than a write has attempts: each pauses for another while."""
    together = threading.Barrier(WRITERS)

    def write(number: int) -> None:
        together.wait()
        memory.set_state("s", {f"key{number}": number}, scope="user:ann")
        memory.save_procedure("deploy", [f"step {number}"], scope="user:ann")

    with Memory.open(str(tmp_path / "m.db"), embedder="none", background=False) as memory:
        memory.observe("s", ["hello"], scope="user:ann")
        with ThreadPoolExecutor(WRITERS) as pool:
            list(pool.map(write, range(WRITERS)))
        [session] = memory.sessions(scope="user:ann").items
        assert session.state in [{f"key{number}": number} for number in range(WRITERS)]
        kept = memory.records(
            scope="user:ann", types=["procedure"], statuses=["active", "superseded"], limit=100
        )
        assert len(kept.items) == WRITERS
