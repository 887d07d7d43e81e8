"""Whoever may write into a scope may write data and tags of any name there; what another program
reads of them must not stop it from reading its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

pytest.importorskip("anthropic.lib.tools", reason="anthropic is not installed (extra: anthropic)")
pytest.importorskip("langgraph.store.base", reason="langgraph is not installed (extra: langgraph)")

from standfast import Memory
from standfast.adapters import anthropic, knowledge_graph, langchain, langgraph, mem0, namespaces
from standfast.adapters.shelf import key_tags, tag_of

pytestmark = pytest.mark.filterwarnings("ignore")
ANN = "user:ann"
ODD: list[Any] = [5, "text", [], [1], True, None, {}, {"path": 1, "content": [2]}, {"name": 1},
                  {"namespace": 3}, {"namespace": [1, None], "key": "k", "value": 7, "indexed": 1},
                  {"namespace": ["a"], "key": "k", "value": {}, "indexed": True, "ttl": "long"},
                  {"metadata": 9, "number": "two", "handle": [1]}, {"entity": "Ann"},
                  {"name": "Ann", "entityType": {"a": 1}}, {"from": "Ann"}]  # fmt: skip


@pytest.fixture
def memory() -> Iterator[Memory]:
    with Memory.open("dict:", background=False, embedder="none") as opened:
        yield opened


def poison(memory: Memory, name: str, *tags: str, scope: str = ANN) -> None:
    for number, odd in enumerate(ODD):
        data: Mapping[str, Any] = {name: odd}
        text = f"Odd thing number {number} of {name}"
        memory.remember(text, scope=scope, data=data, tags=tags, source="web")


def test_X12_files_are_read_beside_what_others_wrote(memory: Memory) -> None:
    tool = anthropic.StandfastMemoryTool(memory, scope=ANN)
    path = "/memories/tea.md"
    tool.call({"command": "create", "path": path, "file_text": "green"})
    here = tag_of(anthropic.NAME, "in", "/memories")
    poison(memory, anthropic.NAME, here, *key_tags(anthropic.NAME, path))
    assert "tea.md" in str(tool.call({"command": "view", "path": "/memories"}))
    assert "green" in str(tool.call({"command": "view", "path": path}))
    asked = {"command": "str_replace", "path": path, "old_str": "green", "new_str": "white"}
    tool.call(asked)
    tool.call({"command": "delete", "path": path})
    assert not memory.records(scope=ANN, tags=key_tags(anthropic.NAME, path)[1:]).items


def test_X12_a_graph_is_read_beside_what_others_wrote(memory: Memory) -> None:
    graph = knowledge_graph.KnowledgeGraph(memory, scope=ANN)
    graph.create_entities([{"name": "Ann", "entityType": "person", "observations": ["likes tea"]}])
    kinds = [tag_of(knowledge_graph.NAME, "kind", kind) for kind in knowledge_graph.TYPES]
    poison(memory, knowledge_graph.NAME, *kinds, *key_tags(knowledge_graph.NAME, "x"))
    (ann,) = graph.read_graph()["entities"]
    assert ann["observations"] == ["likes tea"]
    assert graph.search_nodes("thing")["entities"] == []
    graph.create_relations([{"from": "Ann", "to": "Ann", "relationType": "knows"}])
    graph.delete_entities(["Ann"])
    assert graph.read_graph()["entities"] == []


def test_X12_a_store_is_read_beside_what_others_wrote(memory: Memory) -> None:
    store = langgraph.StandfastStore(memory, scope=ANN)
    store.put(("a",), "k", {"said": "tea"})
    (kept,) = memory.records(scope=ANN, descend=True).items
    poison(memory, namespaces.NAME, *kept.tags, scope=kept.scope)
    item = store.get(("a",), "k")
    assert item is not None
    assert item.value == {"said": "tea"}
    assert [one.key for one in store.search(("a",))] == ["k"]
    assert "k" in [one.key for one in store.search(("a",), query="thing")]
    assert store.list_namespaces() == [("a",)]


def test_X12_mem0_is_read_beside_what_others_wrote(memory: Memory) -> None:
    own = mem0.Mem0Memory(memory=memory)
    own.add("Ann likes tea", user_id="ann", infer=False)
    poison(memory, mem0.NAME)
    listed = own.get_all(filters={"user_id": "ann"})["results"]
    assert len(listed) == len(ODD) + 1
    for one in listed:
        assert own.history(one["id"])
        own.update(one["id"], f"{one['memory']} again")
    assert own.search("tea", filters={"user_id": "ann", "colour": "green"})["results"] == []


@pytest.mark.parametrize("kept", [{"type": "human"}, {"type": "zebra", "data": {"content": "x"}},
                                  {"type": "human", "data": 5}, {"data": {}}, {}])  # fmt: skip
def test_X12_messages_are_read_beside_what_others_wrote(memory: Memory, kept: Any) -> None:
    memory.observe("s", [{"role": "user", "content": "hello", langchain.NAME: kept}], scope=ANN)
    history = langchain.StandfastChatMessageHistory(memory, "s", scope=ANN)
    assert [one.content for one in history.messages] == ["hello"]
