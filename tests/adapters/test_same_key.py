"""Many writers of one key at once: every one of them is answered, and the last version stays."""

from __future__ import annotations

import asyncio
import operator
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import pytest

pytest.importorskip("langgraph.graph", reason="langgraph is not installed (extra: langgraph)")
pytest.importorskip("anthropic.lib.tools", reason="anthropic is not installed (extra: anthropic)")

from langgraph.config import get_store
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

from standfast import Memory
from standfast.adapters.anthropic import StandfastMemoryTool
from standfast.adapters.langgraph import StandfastStore
from standfast.adapters.mem0 import Mem0Memory
from tests.adapters.killed import HEAD

pytestmark = pytest.mark.filterwarnings("ignore")
WRITERS = 51
NOTES = ("notes", "shared")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(str(tmp_path / "m.db"), background=False, embedder="none") as opened:
        yield opened


def at_once(work: Callable[[int], Any], writers: int = WRITERS) -> None:
    """Run it that often at the same time; raises what any of them raises."""
    together = threading.Barrier(writers)

    def started(number: int) -> None:
        together.wait()
        work(number)

    with ThreadPoolExecutor(writers) as pool:
        list(pool.map(started, range(writers)))


class Counted(TypedDict):
    count: Annotated[int, operator.add]


def many_nodes() -> Any:
    """A graph of one superstep in which every node puts the same key of the injected store."""

    def node(state: Counted, config: Any) -> Counted:
        thread = config["configurable"]["thread_id"]
        get_store().put(NOTES, "doc", {"thread": thread, "seen": state["count"]})
        return {"count": 1}

    async def anode(state: Counted, config: Any) -> Counted:
        thread = config["configurable"]["thread_id"]
        await get_store().aput(NOTES, "doc", {"thread": thread, "seen": state["count"]})
        return {"count": 1}

    from langchain_core.runnables import RunnableLambda

    graph = StateGraph(Counted)
    for number in range(WRITERS):
        graph.add_node(f"node{number}", RunnableLambda(node, anode))
        graph.add_edge(START, f"node{number}")
    return graph


def test_X14_langgraph_parallel_nodes_put_one_key(memory: Memory) -> None:
    store = StandfastStore(memory)
    graph = many_nodes().compile(store=store)
    for thread, before in (("one", 0), ("two", 7)):
        told = {"configurable": {"thread_id": thread}, "max_concurrency": WRITERS}
        assert graph.invoke({"count": before}, told) == {"count": before + WRITERS}
        [item] = store.search(NOTES)
        assert item.value == {"thread": thread, "seen": before}


def test_X14_langgraph_parallel_nodes_put_one_key_asynchronously(memory: Memory) -> None:
    store = StandfastStore(memory)
    graph = many_nodes().compile(store=store)
    told = {"configurable": {"thread_id": "one"}}
    assert asyncio.run(graph.ainvoke({"count": 0}, told)) == {"count": WRITERS}
    [item] = store.search(NOTES)
    assert item.value == {"thread": "one", "seen": 0}


def test_X14_langgraph_every_put_and_delete_of_one_key_is_answered(memory: Memory) -> None:
    """Each writer with a store object of its own, as web workers have it."""

    def write(number: int) -> None:
        store = StandfastStore(memory)
        if number % 5 == 0:
            store.delete(NOTES, "doc")
        else:
            store.put(NOTES, "doc", {"n": number})

    StandfastStore(memory).put(NOTES, "doc", {"n": -1})
    at_once(write)
    StandfastStore(memory).put(NOTES, "doc", {"n": 0})
    assert [one.value for one in StandfastStore(memory).search(NOTES)] == [{"n": 0}]


def test_X14_mem0_every_update_of_one_memory_is_kept(memory: Memory) -> None:
    ours = Mem0Memory(memory=memory)
    id_ = ours.add("I like tea", user_id="ann", infer=False)["results"][0]["id"]
    at_once(lambda number: Mem0Memory(memory=memory).update(id_, text=f"tea number {number}"))
    kept = {one["new_memory"] for one in ours.history(id_)}
    assert kept == {"I like tea", *(f"tea number {number}" for number in range(WRITERS))}


def test_X14_memory_tool_every_edit_of_one_file_is_kept(memory: Memory) -> None:
    tool = StandfastMemoryTool(memory, scope="user:ann")
    tool.call({"command": "create", "path": "/memories/log.md", "file_text": "start\n"})

    def insert(number: int) -> None:
        tool.call(
            {
                "command": "insert",
                "path": "/memories/log.md",
                "insert_line": 0,
                "insert_text": f"line {number};",
            }
        )

    at_once(insert)
    shown = str(tool.call({"command": "view", "path": "/memories/log.md"}))
    assert all(f"line {number};" in shown for number in range(WRITERS))


def test_X14_writers_that_no_lock_keeps_apart_try_again(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in as many processes: nothing but the pauses between the attempts helps."""
    monkeypatch.setattr("standfast.adapters.shelf.key_lock", lambda *_: nullcontext())
    monkeypatch.setattr("standfast.adapters.mem0.key_lock", lambda *_: nullcontext())
    store, mem0 = StandfastStore(memory), Mem0Memory(memory=memory)
    store.put(NOTES, "doc", {"n": -1})
    id_ = mem0.add("I like tea", user_id="ann", infer=False)["results"][0]["id"]
    at_once(lambda number: store.put(NOTES, "doc", {"n": number}), 32)
    at_once(lambda number: mem0.update(id_, text=f"tea number {number}"), 32)
    assert len(store.search(NOTES)) == 1
    assert len(mem0.history(id_)) == 33


def test_X14_a_key_that_never_comes_free_is_told(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    from standfast import Unavailable
    from standfast.adapters import contention

    monkeypatch.setattr(contention, "LOCK_SECONDS", 0.2)
    store, entered, over = StandfastStore(memory), threading.Event(), threading.Event()

    def hold() -> None:
        with store._shelf.lock("app:langgraph:ns:notes:ns:shared", '["notes", "shared", "doc"]'):
            entered.set()
            over.wait(30)

    holder = threading.Thread(target=hold)
    holder.start()
    assert entered.wait(30)
    try:
        with pytest.raises(Unavailable, match="busy with other writers"):
            store.put(NOTES, "doc", {"n": 1})
        store.put(NOTES, "other", {"n": 1})
    finally:
        over.set()
        holder.join()
    store.put(NOTES, "doc", {"n": 2})


FORKED = """
import os, threading
from standfast.adapters.contention import key_lock
from standfast.errors import Unavailable
from standfast.adapters.mem0 import Mem0Memory
mem0 = Mem0Memory(memory=memory)
id_ = mem0.add("I like tea", user_id="ann")["results"][0]["id"]
entered, over = threading.Event(), threading.Event()
def hold():
    with key_lock("mem0", id_):
        entered.set()
        over.wait()
threading.Thread(target=hold).start()
entered.wait()
child = os.fork()
if not child:
    try:
        mem0.update(id_, text="I like coffee")
    except Unavailable as error:
        os._exit(7 if "closed" in str(error) else 1)
    os._exit(2)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
over.set()
"""


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="there is no fork here")
def test_X14_a_forked_child_waits_for_no_lock_of_its_parent(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", HEAD + FORKED, str(tmp_path / "m.db")],
        capture_output=True, text=True, timeout=50, check=False,
    )  # fmt: skip
    assert (done.stdout.strip(), done.stderr) == ("7", "")
