"""The reference memory server's tools: ours alone, and beside the reference server itself."""

from __future__ import annotations

import asyncio
import gc
import os
import shutil
import signal
import threading
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from standfast import Memory
from standfast.adapters.callers_loop import CallersLoop, blocking
from standfast.adapters.knowledge_graph import KnowledgeGraph
from standfast.errors import Unavailable
from tests.adapters.killed import killed_writer
from tests.interfaces.mcp_world import Agent, agent_of, opened, run, started

REFERENCE = shutil.which("mcp-server-memory")
ANN = {"name": "Ann", "entityType": "person", "observations": ["likes tea", "lives in Porto"]}
ACME = {"name": "Acme", "entityType": "company", "observations": []}
WORKS = {"from": "Ann", "to": "Acme", "relationType": "works_at"}


@asynccontextmanager
async def ours(folder: Path, *arguments: str) -> AsyncIterator[Agent]:
    given = ("--tools", "reference", "--no-background", *arguments)
    async with started(folder / "m.db", *given) as agent:
        yield agent


@asynccontextmanager
async def theirs(folder: Path) -> AsyncIterator[Agent]:
    assert REFERENCE
    environment = {**os.environ, "MEMORY_FILE_PATH": str(folder / "memory.jsonl")}
    parameters = StdioServerParameters(command=REFERENCE, env=environment)
    async with Client(parameters) as client:
        yield Agent(client)


def test_X14_reference_tools_make_read_search_and_open(tmp_path: Path) -> None:
    async def scene() -> None:
        async with ours(tmp_path) as agent:
            assert await agent.does("create_entities", entities=[ANN, ACME]) == {
                "entities": [ANN, ACME]
            }
            assert await agent.does("create_entities", entities=[ANN]) == {"entities": []}
            await agent.does("create_relations", relations=[WORKS])
            graph = {"entities": [ANN, ACME], "relations": [WORKS]}
            assert await agent.does("read_graph") == graph
            assert await agent.does("open_nodes", names=["Acme"]) == {
                "entities": [ACME],
                "relations": [WORKS],
            }
            found = await agent.does("search_nodes", query="Where does Ann live, and what of teas?")
            assert ANN in found["entities"]

    run(scene())


def test_X14_reference_tools_delete_for_good(tmp_path: Path) -> None:
    async def scene() -> None:
        async with ours(tmp_path) as agent:
            quilt = {**ANN, "observations": ["hides an otter-quilt", "likes tea"]}
            await agent.does("create_entities", entities=[quilt, ACME])
            await agent.does("create_relations", relations=[WORKS])
            deletion = {"entityName": "Ann", "observations": ["hides an otter-quilt"]}
            await agent.does("delete_observations", deletions=[deletion])
            assert (await agent.does("read_graph"))["entities"][0]["observations"] == ["likes tea"]
            await agent.does("delete_entities", entityNames=["Acme"])
            kept = {**ANN, "observations": ["likes tea"]}
            assert await agent.does("read_graph") == {"entities": [kept], "relations": []}

    run(scene())
    left = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    assert b"otter-quilt" not in left


def test_X14_reference_tools_two_scopes_are_two_graphs(tmp_path: Path) -> None:
    async def scene() -> None:
        async with ours(tmp_path, "--scope", "user:ann") as agent:
            await agent.does("create_entities", entities=[ANN])
        async with ours(tmp_path, "--scope", "user:bob") as agent:
            assert await agent.does("read_graph") == {"entities": [], "relations": []}
            assert "not found" in await agent.fails(
                "add_observations", observations=[{"entityName": "Ann", "contents": ["x"]}]
            )

    run(scene())


def test_X14_reference_tools_many_at_once(tmp_path: Path) -> None:
    async def scene() -> None:
        async with ours(tmp_path) as one, ours(tmp_path) as two:
            await one.does("create_entities", entities=[ANN])
            calls = [
                agent.does(
                    "add_observations",
                    observations=[{"entityName": "Ann", "contents": [f"saw {number}"]}],
                )
                for number in range(10)
                for agent in (one, two)
            ]
            await asyncio.gather(*calls)
            seen = (await one.does("read_graph"))["entities"][0]["observations"]
            assert sorted(seen[2:]) == sorted(f"saw {number}" for number in range(10))

    run(scene())


def test_X14_reference_tools_leave_their_servers_memory_open() -> None:
    """A call has a handle of its own on the server's memory; that it goes must close nothing."""

    async def scene() -> None:
        async with opened() as memory, agent_of(memory, tools="reference") as agent:
            for number in range(5):
                entity = {"name": f"E{number}", "entityType": "thing", "observations": []}
                await agent.does("create_entities", entities=[entity])
                gc.collect()
            handle = blocking(memory)
            await asyncio.to_thread(handle.close)
            del handle
            gc.collect()
            await asyncio.sleep(0.2)
            assert len((await agent.does("read_graph"))["entities"]) == 5

    run(scene())


class ThreadedEmbedder:
    """One that works in a thread of the loop's, as the models in the box do."""

    local, space, dimensions = True, "threaded/2", 2

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        await asyncio.to_thread(time.sleep, 0.01)
        return [[1.0, 0.0] for _ in texts]


def test_X14_reference_tools_leave_the_loop_its_threads() -> None:
    async def scene() -> None:
        memory = opened(embedder=ThreadedEmbedder())
        async with memory as used, agent_of(used, tools="reference") as agent:
            await agent.does("create_entities", entities=[ANN])
            asked = (agent.does("search_nodes", query=f"who is number {n}?") for n in range(40))
            async with asyncio.timeout(30):
                assert len(await asyncio.gather(*asked)) == 40

    run(scene())


def test_X14_reference_a_half_made_entity_is_made_whole(tmp_path: Path) -> None:
    """Killed between what was observed and the entity: asking again makes it whole."""
    with Memory.open(str(tmp_path / "m.db"), background=False, embedder="none") as memory:
        graph = KnowledgeGraph(memory, scope="user:ann")
        graph._observe("Ann", ["likes tea"])
        assert graph.read_graph()["entities"] == []
        graph.create_entities([ANN])
        assert graph.read_graph()["entities"] == [ANN]


@pytest.mark.skipif(os.name != "posix", reason="signals to a thread are of POSIX")
def test_X14_ctrl_c_calls_the_work_of_a_callers_loop_off() -> None:
    """The caller must not leave it running unseen on the loop of somebody else."""
    ended = threading.Event()
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)

    async def work() -> None:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        try:
            await asyncio.sleep(600)
        finally:
            ended.set()

    # A run that was started in the background of a shell ignores Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            CallersLoop(loop).run(work())
        assert ended.wait(10)
    finally:
        signal.signal(signal.SIGINT, before)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
    with pytest.raises(Unavailable):
        CallersLoop(loop).run(work())


WRITER = """
from standfast.adapters.callers_loop import blocking
from standfast.adapters.knowledge_graph import KnowledgeGraph
graph = KnowledgeGraph(memory, scope="user:ann")
for number in range(10_000):
    box = {"name": f"box {number}", "entityType": "box", "observations": [f"holds {number}"]}
    graph.create_entities([box])
    print(number, flush=True)
"""


def test_X14_reference_what_was_answered_survives_a_kill(tmp_path: Path) -> None:
    store = str(tmp_path / "killed.db")
    answered = killed_writer(WRITER, store)
    with Memory.open(store, background=False, embedder="none") as memory:
        entities = KnowledgeGraph(memory, scope="user:ann").read_graph()["entities"]
    assert [one["observations"] for one in entities][:answered] == [
        [f"holds {number}"] for number in range(answered)
    ]
    assert len(entities) <= answered + 1


STEPS: list[tuple[str, dict[str, Any]]] = [
    ("read_graph", {}),
    ("create_entities", {"entities": [ANN, ACME]}),
    ("create_entities", {"entities": [{**ANN, "observations": ["new"]}]}),
    ("create_relations", {"relations": [WORKS, WORKS | {"relationType": "founded"}]}),
    ("create_relations", {"relations": [WORKS]}),
    ("add_observations", {"observations": [{"entityName": "Ann", "contents": ["likes tea", "x"]}]}),
    ("add_observations", {"observations": [{"entityName": "Nobody", "contents": ["y"]}]}),
    ("read_graph", {}),
    ("search_nodes", {"query": "TEA"}),
    ("search_nodes", {"query": "person"}),
    ("search_nodes", {"query": ""}),
    ("search_nodes", {"query": "zzzz"}),
    ("open_nodes", {"names": ["Ann", "Nobody"]}),
    ("delete_observations", {"deletions": [{"entityName": "Ann", "observations": ["x", "z"]}]}),
    ("delete_observations", {"deletions": [{"entityName": "No", "observations": ["x"]}]}),
    ("delete_relations", {"relations": [WORKS]}),
    ("read_graph", {}),
    ("delete_entities", {"entityNames": ["Acme", "Nobody"]}),
    ("read_graph", {}),
]


@pytest.mark.skipif(
    not REFERENCE,
    reason="mcp-server-memory is not on the PATH (npm @modelcontextprotocol/server-memory)",
)
def test_X14_reference_server_and_ours_answer_alike(tmp_path: Path) -> None:
    async def scene() -> None:
        async with AsyncExitStack() as both:
            reference = await both.enter_async_context(theirs(tmp_path))
            own = await both.enter_async_context(ours(tmp_path))
            for number, (tool, arguments) in enumerate(STEPS):
                expected = await reference.call(tool, **arguments)
                answer = await own.call(tool, **arguments)
                where = f"step {number}: {tool}"
                assert bool(answer.is_error) == bool(expected.is_error), where
                assert answer.structured_content == expected.structured_content, where
                if not expected.is_error:
                    assert answer.content[0].text == expected.content[0].text, where
            listed = {t.name: t for t in (await reference.client.list_tools()).tools}
            mine = {t.name: t for t in (await own.client.list_tools()).tools}
            assert mine.keys() == listed.keys()
            for name, tool_ in listed.items():
                described = [" ".join(t.description.split()) for t in (mine[name], tool_)]
                assert described[0] == described[1]
                takes = [set(t.input_schema.get("properties", {})) for t in (mine[name], tool_)]
                assert takes[0] == takes[1], name
                gives = [set((t.output_schema or {})["properties"]) for t in (mine[name], tool_)]
                assert gives[0] == gives[1], name
                assert mine[name].annotations.destructive_hint == tool_.annotations.destructive_hint

    run(scene())
