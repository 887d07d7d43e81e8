"""LangGraph's store and LangChain's history on this memory; its own tests run beside these, see
``foreign/langgraph_stores.py``."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langgraph.store.base", reason="langgraph is not installed (extra: langgraph)")

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langgraph.store.base import GetOp, PutOp, SearchOp

from standfast import Invalid, Memory
from standfast.adapters.langchain import StandfastChatMessageHistory
from standfast.adapters.langgraph import StandfastStore
from tests.adapters.killed import killed_writer

pytestmark = pytest.mark.filterwarnings("ignore")
ANN, BOB = ("users", "ann"), ("users", "bob")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[StandfastStore]:
    path = str(tmp_path / "m.db")
    with StandfastStore.open(path, background=False, embedder="none") as opened:
        yield opened


def test_X14_langgraph_put_get_change_delete(store: StandfastStore) -> None:
    store.put(ANN, "likes", {"text": "green tea", "n": 1})
    first = store.get(ANN, "likes")
    assert first is not None
    assert first.value == {"text": "green tea", "n": 1}
    store.put(ANN, "likes", {"text": "black tea"})
    second = store.get(ANN, "likes")
    assert second is not None
    assert second.value == {"text": "black tea"}
    assert second.created_at == first.created_at
    assert second.updated_at > first.updated_at
    store.delete(ANN, "likes")
    assert store.get(ANN, "likes") is None
    store.delete(ANN, "likes")


def test_X14_langgraph_two_keys_may_say_the_same(store: StandfastStore) -> None:
    for number in range(10):
        store.put(ANN, f"k{number}", {"text": "the very same words"})
    assert len(store.search(ANN, limit=100)) == 10
    store.memory.maintain(force=True)
    assert len(store.search(ANN, limit=100)) == 10


def test_X14_langgraph_two_users_never_see_each_other(store: StandfastStore) -> None:
    store.put(ANN, "pin", {"text": "my pin is on the fridge"})
    store.put(BOB, "pin", {"text": "my pin is in the safe"})
    (found,) = store.search(ANN, query="where is my pin")
    assert found.namespace == ANN
    assert store.search(("users", "an"), query="pin") == []
    store.memory.forget(scope="app:langgraph:ns:users:ns:ann", descend=True)
    assert store.get(ANN, "pin") is None
    assert store.get(BOB, "pin") is not None


def test_X14_langgraph_a_query_ranks_and_a_filter_chooses(store: StandfastStore) -> None:
    store.put(ANN, "a", {"text": "the train leaves at nine", "kind": "travel", "n": 1})
    store.put(ANN, "b", {"text": "tea is served at four", "kind": "home", "n": 2})
    store.put(ANN, "c", {"text": "the tram leaves at ten", "kind": "travel", "n": 3}, index=False)
    found = store.search(("users",), query="when does the train leave")
    assert found[0].key == "a"
    assert found[0].score is not None
    assert {one.key: one.score for one in found}["c"] is None
    assert [one.key for one in store.search(ANN, query="leaves", filter={"n": {"$gt": 2}})] == ["c"]
    assert {one.key for one in store.search(ANN, filter={"kind": "travel"})} == {"a", "c"}
    with pytest.raises(Invalid, match="unknown"):
        store.search(ANN, filter={"n": {"$near": 1}})


def test_X14_langgraph_time_to_live_and_reading_puts_it_off(store: StandfastStore) -> None:
    store.put(ANN, "short", {"v": 1}, ttl=1 / 60)
    store.put(ANN, "read", {"v": 2}, ttl=3 / 60)
    time.sleep(2)
    assert store.get(ANN, "short") is None
    assert store.get(ANN, "read") is not None
    time.sleep(2)
    assert store.get(ANN, "read", refresh_ttl=False) is not None
    time.sleep(1.5)
    assert store.get(ANN, "read") is None
    with pytest.raises(Invalid, match="minutes"):
        store.put(ANN, "never", {"v": 1}, ttl=-1)


def test_X14_langgraph_a_batch_reads_before_it_writes(store: StandfastStore) -> None:
    store.put(ANN, "k", {"v": 0})
    got, found, *_ = store.batch(
        [
            GetOp(ANN, "k"),
            SearchOp(ANN),
            PutOp(ANN, "k", {"v": 1}),
            PutOp(ANN, "k", {"v": 2}),
            PutOp(ANN, "gone", {"v": 3}),
            PutOp(ANN, "gone", None),
        ]
    )
    assert got.value == {"v": 0}
    assert [one.key for one in found] == ["k"]
    after = store.get(ANN, "k")
    assert after is not None
    assert after.value == {"v": 2}
    assert store.get(ANN, "gone") is None


def test_X14_langgraph_odd_labels_and_deep_namespaces(store: StandfastStore) -> None:
    odd = [("a:b",), ("~a",), ("line\nend",), (" blank ",), tuple("abcdefghijkl"), ("%", "é")]
    for number, namespace in enumerate(odd):
        store.put(namespace, "k\n:%", {"n": number})
    for number, namespace in enumerate(odd):
        item = store.get(namespace, "k\n:%")
        assert item is not None
        assert (item.namespace, item.key, item.value) == (namespace, "k\n:%", {"n": number})
        assert [one.namespace for one in store.search(namespace)] == [namespace]
    assert set(store.list_namespaces()) == set(odd)
    assert store.list_namespaces(prefix=("a", "*", "c"), max_depth=2) == [("a", "b")]


def test_X14_langgraph_many_threads_leave_one_version(store: StandfastStore) -> None:
    def work(number: int) -> None:
        store.put(ANN, "shared", {"n": number})
        store.put(ANN, f"own{number}", {"n": number})

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(24)))
    assert len(store.search(ANN, limit=100)) == 25
    live = store.memory.records(
        scope="app:langgraph", descend=True, statuses=["active"], limit=1000
    )
    assert len(live.items) == 25


def test_X14_langgraph_asynchronously(store: StandfastStore) -> None:
    async def scene() -> Any:
        await asyncio.gather(*(store.aput(ANN, f"k{n}", {"n": n}) for n in range(10)))
        await store.adelete(ANN, "k0")
        item = await store.aget(ANN, "k9")
        found = await store.asearch(ANN, filter={"n": {"$gte": 5}}, limit=20)
        return item.value, len(found), await store.alist_namespaces()

    assert asyncio.run(scene()) == ({"n": 9}, 5, [ANN])


def test_X14_langgraph_secrets_are_said_to_be_left_out(
    store: StandfastStore, caplog: pytest.LogCaptureFixture
) -> None:
    store.put(ANN, "k", {"text": "my key is AKIAIOSFODNN7EXAMPLE"})
    item = store.get(ANN, "k")
    assert item is not None
    assert "AKIA" not in str(item.value)
    assert "redacted" in caplog.text


WRITER = """
import sys
from standfast.adapters.langgraph import StandfastStore
store = StandfastStore.open(sys.argv[1], background=False, embedder="none")
for number in range(10_000):
    store.put(("n",), "counter", {"n": number})
    print(number, flush=True)
"""


def test_X14_langgraph_what_was_answered_survives_a_kill(tmp_path: Path) -> None:
    path = str(tmp_path / "m.db")
    writer = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", WRITER, path], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    with writer.stdout as told:
        answered = [told.readline().strip() for _ in range(20)][-1]
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait()
    with StandfastStore.open(path, background=False, embedder="none") as store:
        item = store.get(("n",), "counter")
    assert item is not None
    assert item.value["n"] >= int(answered)


# LangChain's history

TOLD: list[BaseMessage] = [
    SystemMessage("Be kind"),
    HumanMessage("What is the weather?", name="ann"),
    AIMessage(
        "",
        tool_calls=[
            {"name": "weather", "args": {"city": "Porto"}, "id": "c1", "type": "tool_call"}
        ],
    ),
    ToolMessage("sunny", tool_call_id="c1"),
    AIMessage([{"type": "text", "text": "It is sunny"}], id="m5", response_metadata={"k": [1]}),
]


def test_X14_langchain_messages_come_back_as_they_were(tmp_path: Path) -> None:
    with Memory.open(str(tmp_path / "m.db"), background=False, embedder="none") as memory:
        history = StandfastChatMessageHistory(memory, "chat", scope="user:ann")
        assert history.messages == []
        history.add_messages(TOLD)
        assert history.messages == TOLD
        (hit, *_) = memory.recall("how is the weather, sunny?", scope="user:ann").hits
        assert "sunny" in hit.record.text
        other = StandfastChatMessageHistory(memory, "chat", scope="user:bob")
        other.add_user_message("hello")
        assert len(history.messages) == len(TOLD)
        history.clear()
        history.clear()
        assert history.messages == []
        assert len(other.messages) == 1
        history.add_messages(TOLD)
        assert history.messages == TOLD


def test_X14_langchain_many_at_once_lose_nothing(tmp_path: Path) -> None:
    with Memory.open(str(tmp_path / "m.db"), background=False, embedder="none") as memory:

        def work(number: int) -> None:
            history = StandfastChatMessageHistory(memory, "chat", scope=f"user:u{number % 2}")
            history.add_user_message(f"message {number}")

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(24)))
        for user in (0, 1):
            history = StandfastChatMessageHistory(memory, "chat", scope=f"user:u{user}")
            kept = [one.content for one in history.messages]
            assert sorted(map(str, kept)) == sorted(f"message {n}" for n in range(user, 24, 2))


HISTORIAN = """
from standfast.adapters.langchain import StandfastChatMessageHistory
history = StandfastChatMessageHistory(memory, "chat", scope="user:ann")
for number in range(10_000):
    history.add_user_message(f"message {number}")
    print(number, flush=True)
"""


def test_X14_langchain_what_was_answered_survives_a_kill(tmp_path: Path) -> None:
    store = str(tmp_path / "killed.db")
    answered = killed_writer(HISTORIAN, store)
    with Memory.open(store, background=False, embedder="none") as memory:
        kept = StandfastChatMessageHistory(memory, "chat", scope="user:ann").messages
    assert [one.content for one in kept][:answered] == [f"message {n}" for n in range(answered)]


def test_X14_langchain_asynchronously(tmp_path: Path) -> None:
    async def scene(history: StandfastChatMessageHistory) -> list[BaseMessage]:
        await history.aadd_messages(TOLD[:2])
        await history.aadd_messages(TOLD[2:])
        return await history.aget_messages()

    with Memory.open(str(tmp_path / "m.db"), background=False, embedder="none") as memory:
        assert asyncio.run(scene(StandfastChatMessageHistory(memory, "chat"))) == TOLD
        memory.observe("chat", "said elsewhere")
        assert StandfastChatMessageHistory(memory, "chat").messages[-1].content == "said elsewhere"


def test_X14_langgraph_a_graph_uses_the_store(store: StandfastStore) -> None:
    from langgraph.config import get_store
    from langgraph.graph import START, MessagesState, StateGraph

    def node(state: Any) -> dict[str, Any]:
        store = get_store()
        known = store.search(ANN, query=str(state["messages"][-1].content))
        store.put(ANN, f"m{len(known)}", {"text": str(state["messages"][-1].content)})
        return {"messages": [AIMessage("; ".join(one.value["text"] for one in known) or "-")]}

    builder = StateGraph(MessagesState)
    builder.add_node("node", node)
    builder.add_edge(START, "node")
    graph = builder.compile(store=store)
    assert graph.invoke({"messages": [HumanMessage("I like tea")]})["messages"][-1].content == "-"
    answer = graph.invoke({"messages": [HumanMessage("what tea do I like")]})
    assert answer["messages"][-1].content == "I like tea"
