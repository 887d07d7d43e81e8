"""The same calls on mem0's own class and on ours: the answers have the same shape and meaning.

mem0's tests mock its inside, so they can say nothing about another class. mem0 runs here without
a service: its own Qdrant in a folder, and an embedder that counts words.
"""

from __future__ import annotations

import math
import os
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

os.environ["MEM0_TELEMETRY"] = "False"  # it calls home as soon as it is imported
mem0 = pytest.importorskip(
    "mem0",
    reason="mem0ai cannot be installed beside our pins: test_own_environment.py runs this file",
)

from standfast import Memory as Standfast  # noqa: E402
from standfast.adapters.importers import import_foreign  # noqa: E402
from standfast.adapters.mem0 import Memory  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

DIMENSIONS = 256
ANN = {"user_id": "ann"}


class CountingEmbedder:
    """Words as places in a vector: alike texts are near each other."""

    config = type("Config", (), {"embedding_dims": DIMENSIONS, "model": "words"})()

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:  # noqa: ARG002
        vector = [0.0] * DIMENSIONS
        for word in text.lower().split():
            vector[zlib.crc32(word.encode()) % DIMENSIONS] += 1.0
        length = math.sqrt(sum(part * part for part in vector)) or 1.0
        return [part / length for part in vector]

    def embed_batch(self, texts: list[str], memory_action: str | None = None) -> list[list[float]]:
        return [self.embed(text, memory_action) for text in texts]


@pytest.fixture
def theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("MEM0_DIR", str(tmp_path / "mem0"))
    from mem0.utils.factory import EmbedderFactory, LlmFactory

    monkeypatch.setattr(EmbedderFactory, "create", lambda *_, **__: CountingEmbedder())
    monkeypatch.setattr(LlmFactory, "create", lambda *_, **__: None)
    store = {"path": str(tmp_path / "qdrant"), "embedding_model_dims": DIMENSIONS}
    config = {
        "vector_store": {"provider": "qdrant", "config": {**store, "on_disk": True}},
        "history_db_path": str(tmp_path / "history.db"),
    }
    opened = mem0.Memory.from_config(config)
    yield opened
    opened.close()


@pytest.fixture
def ours(tmp_path: Path) -> Iterator[Memory]:
    with Memory(str(tmp_path / "memory.db"), background=False, embedder="none") as opened:
        yield opened


Both = Callable[[Callable[[Any], Any]], tuple[Any, Any]]


@pytest.fixture
def both(theirs: Any, ours: Memory) -> Both:
    return lambda call: (call(theirs), call(ours))


def added(memory: Any, *texts: str, **more: Any) -> list[str]:
    told = [{"role": "user", "content": text} for text in texts]
    return [one["id"] for one in memory.add(told, user_id="ann", infer=False, **more)["results"]]


def shape(value: Any) -> Any:
    """Names and kinds, without the values."""
    if isinstance(value, dict):
        return {name: shape(part) for name, part in sorted(value.items())}
    if isinstance(value, list):
        return [shape(part) for part in value]
    return type(value).__name__


def test_X14_beside_mem0_add_answers_alike(both: Both) -> None:
    told = [
        {"role": "system", "content": "Be kind"},
        {"role": "user", "content": "I like tea", "name": "ann"},
        {"role": "assistant", "content": "Noted"},
    ]
    theirs, ours = both(lambda m: m.add(told, user_id="ann", metadata={"a": 1}, infer=False))
    assert shape(ours) == shape(theirs)
    without_ids = [[{**one, "id": ""} for one in answer["results"]] for answer in (theirs, ours)]
    assert without_ids[0] == without_ids[1]


def test_X14_beside_mem0_get_answers_alike(both: Both) -> None:
    def call(memory: Any) -> Any:
        (id_,) = added(memory, "I like tea", metadata={"topic": "drinks"}, run_id="r1")
        return memory.get(id_)

    theirs, ours = both(call)
    assert shape(ours) == shape(theirs)
    for name in ("memory", "hash", "metadata", "user_id", "run_id", "role", "score"):
        assert ours[name] == theirs[name], name
    assert both(lambda m: m.get("11111111-1111-4111-8111-111111111111")) == (None, None)


def test_X14_beside_mem0_get_all_and_search_answer_alike(both: Both) -> None:
    def call(memory: Any) -> Any:
        added(memory, "I like green tea", metadata={"topic": "drinks"})
        added(memory, "The train leaves at nine", metadata={"topic": "travel"})
        listed = memory.get_all(filters=ANN)["results"]
        found = memory.search("green tea", filters=ANN, top_k=1)["results"]
        return sorted(listed, key=lambda one: one["memory"]), found

    theirs, ours = both(call)
    assert shape(ours) == shape(theirs)
    for mine, other in zip(ours[0] + ours[1], theirs[0] + theirs[1], strict=True):
        assert mine["memory"] == other["memory"]
        assert mine["metadata"] == other["metadata"]


@pytest.mark.parametrize(
    "condition",
    [
        {"topic": "drinks"},
        {"n": {"gte": 2}},
        {"n": {"gt": 1, "lt": 3}},
        {"topic": {"in": ["drinks", "food"]}},
        {"topic": {"nin": ["drinks"]}},
        {"topic": {"ne": "travel"}},
        {"OR": [{"topic": "drinks"}, {"n": 3}]},
        {"NOT": [{"topic": "drinks"}]},
        {"AND": [{"n": {"gte": 1}}, {"topic": "travel"}]},
    ],
)
def test_X14_beside_mem0_filters_choose_alike(both: Both, condition: dict[str, Any]) -> None:
    def call(memory: Any) -> set[str]:
        added(memory, "tea time comes", metadata={"topic": "drinks", "n": 1})
        added(memory, "train time comes", metadata={"topic": "travel", "n": 2})
        added(memory, "lunch time comes", metadata={"topic": "food", "n": 3})
        found = memory.search("time comes", filters={**ANN, **condition}, threshold=0.0)
        return {one["memory"] for one in found["results"]}

    theirs, ours = both(call)
    assert ours == theirs


def test_X14_beside_mem0_update_and_history_answer_alike(both: Both) -> None:
    def call(memory: Any) -> Any:
        (id_,) = added(memory, "I like tea", metadata={"topic": "drinks"})
        answer = memory.update(id_, text="I like coffee", metadata={"sure": True, "user_id": "bob"})
        got = memory.get(id_)
        rows = [{**row, "is_deleted": bool(row["is_deleted"])} for row in memory.history(id_)]
        assert {row["memory_id"] for row in rows} == {id_} == {got["id"]}
        return answer, got, rows

    theirs, ours = both(call)
    assert shape(ours) == shape(theirs)
    assert ours[0] == theirs[0]
    assert ours[1]["metadata"] == theirs[1]["metadata"]
    assert ours[1]["user_id"] == theirs[1]["user_id"] == "ann"
    for name in ("old_memory", "new_memory", "event"):
        assert [row[name] for row in ours[2]] == [row[name] for row in theirs[2]]


def test_X14_beside_mem0_deleting_answers_alike(both: Both) -> None:
    def call(memory: Any) -> Any:
        one, _ = added(memory, "I like tea", "I like rain")
        memory.add("Somebody else", user_id="bob", infer=False)
        answers = [memory.delete(one), memory.get(one)]
        answers.append(len(memory.get_all(filters=ANN)["results"]))
        answers.append(memory.delete_all(user_id="ann"))
        answers.append(memory.get_all(filters=ANN))
        answers.append(len(memory.get_all(filters={"user_id": "bob"})["results"]))
        answers.append(memory.reset())
        answers.append(memory.get_all(filters={"user_id": "bob"}))
        return answers

    theirs, ours = both(call)
    assert ours == theirs


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.add("x"),
        lambda m: m.add("x", user_id=" "),
        lambda m: m.add("x", user_id="a b"),
        lambda m: m.add("x", user_id="a", expiration_date="soon"),
        lambda m: m.search("", filters=ANN),
        lambda m: m.search("x", filters={}),
        lambda m: m.search("x", filters=ANN, top_k=-1),
        lambda m: m.search("x", filters=ANN, threshold=2),
        lambda m: m.get_all(filters={"topic": "x"}),
        lambda m: m.update("11111111-1111-4111-8111-111111111111"),
        lambda m: m.update("11111111-1111-4111-8111-111111111111", text="x"),
        lambda m: m.delete("11111111-1111-4111-8111-111111111111"),
        lambda m: m.delete_all(),
    ],
)
def test_X14_beside_mem0_both_refuse(theirs: Any, ours: Memory, call: Any) -> None:
    for memory in (theirs, ours):
        with pytest.raises(Exception) as caught:  # noqa: PT011  mem0 has a class of its own too
            call(memory)
        assert isinstance(caught.value, ValueError) or memory is theirs


@pytest.mark.parametrize("name", ["add", "search", "get_all", "get", "update", "delete",
                                  "delete_all", "history", "reset"])  # fmt: skip
def test_X14_beside_mem0_takes_the_same_arguments(name: str) -> None:
    import inspect

    theirs = inspect.signature(getattr(mem0.Memory, name)).parameters
    mine = inspect.signature(getattr(Memory, name)).parameters
    named = [p for p in theirs.values() if p.kind is not p.VAR_KEYWORD]
    assert [p.name for p in named if p.name not in mine] == []
    assert [p.kind for p in named] == [mine[p.name].kind for p in named]


def test_X13_beside_mem0_its_folder_comes_in(theirs: Any, tmp_path: Path) -> None:
    (tea, _) = added(theirs, "I like tea", "I like rain", metadata={"topic": "drinks"})
    theirs.update(tea, text="I like green tea")
    theirs.close()
    with Standfast.open(str(tmp_path / "m.db"), background=False, embedder="none") as memory:
        import_foreign(memory, "mem0", tmp_path / "qdrant")
        found = Memory(memory=memory).get_all(filters=ANN)["results"]
        import_foreign(memory, "mem0", tmp_path / "history.db", scope="user:history")
        history = memory.records(scope="user:history", limit=100).items
    assert {one["memory"] for one in found} == {"I like green tea", "I like rain"}
    assert [one["metadata"] for one in found] == [{"topic": "drinks"}] * 2
    assert {one.text for one in history} == {"I like tea", "I like green tea", "I like rain"}
