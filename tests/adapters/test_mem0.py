"""mem0's methods on this memory: shapes, ids that stay, filters, and whose memory is whose."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from standfast import Memory as Standfast
from standfast.adapters.mem0 import AsyncMemory, Memory


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(str(tmp_path / "memory.db"), background=False, embedder="none") as opened:
        yield opened


def only(result: dict[str, Any]) -> dict[str, Any]:
    (item,) = result["results"]
    return item


def test_X14_mem0_adds_searches_gets_and_lists(memory: Memory) -> None:
    added = only(memory.add("I am allergic to nuts", user_id="ann", metadata={"topic": "food"}))
    assert added["event"] == "ADD"
    assert added["memory"] == "I am allergic to nuts"
    found = only(memory.search("allergic to what?", filters={"user_id": "ann"}))
    assert found["id"] == added["id"]
    assert 0 < found["score"] <= 1
    assert found["user_id"] == "ann"
    assert found["metadata"] == {"topic": "food"}
    got = memory.get(added["id"])
    assert got is not None
    assert got["memory"] == "I am allergic to nuts"
    assert only(memory.get_all(filters={"user_id": "ann"}))["id"] == added["id"]


def test_X14_mem0_an_id_stays_the_same_over_all_versions(memory: Memory) -> None:
    id_ = only(memory.add("Deploys go out on Tuesdays", user_id="ann"))["id"]
    for number in range(5):
        memory.update(id_, text=f"Deploys go out at {number} o'clock")
    memory.update(id_, metadata={"checked": True})
    got = memory.get(id_)
    assert got is not None
    assert (got["id"], got["memory"]) == (id_, "Deploys go out at 4 o'clock")
    assert got["metadata"] == {"checked": True}
    assert only(memory.get_all(filters={"user_id": "ann"}))["id"] == id_
    assert only(memory.search("when do deploys go out", filters={"user_id": "ann"}))["id"] == id_
    told = [(row["event"], row["old_memory"], row["new_memory"]) for row in memory.history(id_)]
    assert told[0] == ("ADD", None, "Deploys go out on Tuesdays")
    assert told[1] == ("UPDATE", "Deploys go out on Tuesdays", "Deploys go out at 0 o'clock")
    assert len(told) == 7


def test_X14_mem0_an_update_to_what_another_says_stays_its_own(memory: Memory) -> None:
    one = only(memory.add("Tea is served at four", user_id="ann"))["id"]
    two = only(memory.add("The cat sleeps upstairs", user_id="ann"))["id"]
    memory.update(two, text="Tea is served at four")
    assert memory.get(one) != memory.get(two)
    assert [memory.get(id_)["memory"] for id_ in (one, two)] == ["Tea is served at four"] * 2  # type: ignore[index]


def test_X14_mem0_without_inference_every_message_is_kept(memory: Memory) -> None:
    told = [
        {"role": "system", "content": "You are kind"},
        {"role": "user", "content": "hello", "name": "ann"},
        {"role": "user", "content": "hello", "name": "ann"},
        {"role": "assistant", "content": "hello yourself"},
    ]
    results = memory.add(told, user_id="ann", infer=False)["results"]
    assert [one["memory"] for one in results] == ["hello", "hello", "hello yourself"]
    assert [one["actor_id"] for one in results] == ["ann", "ann", None]
    assert len({one["id"] for one in results}) == 3


def test_X14_mem0_with_inference_nothing_is_kept_twice(memory: Memory) -> None:
    first = only(memory.add("I live in Porto", user_id="ann"))
    again = only(memory.add("I live in Porto", user_id="ann"))
    assert (again["id"], again["event"]) == (first["id"], "NONE")
    memory.add("I live in Lisbon now", user_id="ann")
    texts = [one["memory"] for one in memory.get_all(filters={"user_id": "ann"})["results"]]
    assert texts == ["I live in Lisbon now"]


def test_X14_mem0_delete_erases_every_version(memory: Memory, tmp_path: Path) -> None:
    id_ = only(memory.add("The vault code is otter-quilt", user_id="ann"))["id"]
    memory.update(id_, text="The vault code is badger-quilt")
    memory.delete(id_)
    assert memory.get(id_) is None
    assert memory.history(id_) == []
    memory.close()
    left = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    assert b"quilt" not in left


def test_X14_mem0_two_users_never_see_each_other(memory: Memory) -> None:
    memory.add("My pin is written on the fridge", user_id="ann")
    memory.add("My pin is in the safe", user_id="bob", agent_id="helper")
    assert "fridge" not in str(memory.search("pin", filters={"user_id": "bob"}))
    assert "safe" not in str(memory.get_all(filters={"user_id": "ann"}))
    memory.delete_all(user_id="bob")
    assert memory.get_all(filters={"user_id": "bob"}) == {"results": []}
    assert len(memory.get_all(filters={"user_id": "ann"})["results"]) == 1


def test_X14_mem0_the_user_of_an_app_is_somebody_else(tmp_path: Path) -> None:
    with Standfast.open(str(tmp_path / "m.db"), background=False, embedder="none") as base:
        kept = base.remember("My pin is written on the fridge", scope="app:shop:user:ann")
        id_ = kept.items[0].id
        memory = Memory(memory=base)
        memory.add("My pin is in the safe", user_id="ann")
        for asked in ({"user_id": "ann"}, {"user_id": {"in": ["ann"]}}, {"user_id": "*"},
                      {"OR": [{"user_id": "ann"}]}):  # fmt: skip
            assert "fridge" not in str(memory.get_all(filters=asked))
            assert "fridge" not in str(memory.search("pin", filters=asked))
        assert memory.get(id_) is None
        with pytest.raises(ValueError, match="no memory"):
            memory.delete(id_)
        memory.delete_all(user_id="ann")
        memory.reset()
        assert base.get([id_])


def test_X14_mem0_what_another_replaced_is_not_shown_as_known(memory: Memory) -> None:
    old = only(memory.add("I live in Porto", user_id="ann"))["id"]
    memory.add("I live in Lisbon now", user_id="ann")
    assert memory.get(old) is None
    with pytest.raises(ValueError, match="no memory"):
        memory.update(old, text="I live in Faro")


def test_X14_mem0_an_agent_is_found_across_its_users(memory: Memory) -> None:
    memory.add("Ann wants it short", user_id="ann", agent_id="helper")
    memory.add("Bob wants it long", user_id="bob", agent_id="helper")
    memory.add("Cleo wants nothing", user_id="cleo")
    found = memory.get_all(filters={"agent_id": "helper"})["results"]
    assert {one["user_id"] for one in found} == {"ann", "bob"}
    both = {"user_id": "ann", "agent_id": "helper"}
    assert [one["user_id"] for one in memory.search("wants", filters=both)["results"]] == ["ann"]


@pytest.mark.parametrize(
    ("condition", "numbers"),
    [
        ({"n": 2}, {2}),
        ({"n": {"gte": 2}}, {2, 3}),
        ({"n": {"gt": 1, "lt": 3}}, {2}),
        ({"n": {"in": [1, 3]}}, {1, 3}),
        ({"n": {"nin": [1, 3]}}, {2}),
        ({"n": {"ne": 1}}, {2, 3}),
        ({"word": {"contains": "wo"}}, {2}),
        ({"word": {"icontains": "T"}}, {2, 3}),
        ({"word": "*"}, {1, 2, 3}),
        ({"absent": "*"}, set()),
        ({"OR": [{"n": 1}, {"word": "three"}]}, {1, 3}),
        ({"AND": [{"n": {"gt": 1}}, {"word": {"ne": "two"}}]}, {3}),
        ({"NOT": [{"n": 1}]}, {2, 3}),
    ],
)
def test_X14_mem0_filters(memory: Memory, condition: dict[str, Any], numbers: set[int]) -> None:
    for number, word in enumerate(("one", "two", "three"), 1):
        memory.add(
            f"number {word} is kept",
            user_id="ann",
            metadata={"n": number, "word": word},
            infer=False,
        )
    asked = {"user_id": "ann", **condition}
    listed = memory.get_all(filters=asked)["results"]
    assert {one["metadata"]["n"] for one in listed} == numbers
    found = memory.search("number kept", filters=asked)["results"]
    assert {one["metadata"]["n"] for one in found} == numbers


def test_X14_mem0_first_version_arguments_work_too(memory: Memory) -> None:
    memory.add("Rain is expected", user_id="ann")
    assert only(memory.search("rain", user_id="ann", limit=1))["memory"] == "Rain is expected"
    assert only(memory.get_all(user_id="ann", limit=5))["memory"] == "Rain is expected"


def test_X14_mem0_a_memory_that_expires_is_gone(memory: Memory) -> None:
    today = datetime.now(UTC).date()
    id_ = only(memory.add("The offer holds", user_id="ann", expiration_date=today.isoformat()))[
        "id"
    ]
    assert memory.get(id_)["expiration_date"] == today.isoformat()  # type: ignore[index]
    memory.update(id_, expiration_date=None)
    assert "expiration_date" not in memory.get(id_)  # type: ignore[operator]
    with pytest.raises(ValueError, match="passed already"):
        memory.add("late", user_id="ann", expiration_date=today - timedelta(days=1))


def test_X14_mem0_reset_leaves_other_scopes_alone(tmp_path: Path) -> None:
    with Standfast.open(str(tmp_path / "m.db"), background=False, embedder="none") as base:
        base.remember("Deploys go out on Tuesdays", scope="org:acme")
        memory = Memory(memory=base)
        memory.add("one thing", user_id="ann")
        memory.add("another thing", run_id="r1")
        memory.reset()
        assert memory.get_all(filters={"user_id": "ann"}) == {"results": []}
        assert memory.get_all(filters={"run_id": "r1"}) == {"results": []}
        assert len(base.records(scope="org:acme").items) == 1


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda m: m.add("x"), "user_id"),
        (lambda m: m.add("x", user_id="a b"), "blanks"),
        (lambda m: m.add(3, user_id="a"), "messages"),
        (lambda m: m.add([{"role": "user"}], user_id="a"), "content"),
        (lambda m: m.add("x", user_id="a", memory_type="odd"), "procedural_memory"),
        (lambda m: m.add("x", user_id="a", expiration_date="soon"), "no day"),
        (lambda m: m.search("", filters={"user_id": "a"}), "query"),
        (lambda m: m.search("x"), "whose"),
        (lambda m: m.search("x", filters={"user_id": "a"}, top_k=-1), "top_k"),
        (lambda m: m.search("x", filters={"user_id": "a", "k": {"$near": 1}}), "unknown"),
        (lambda m: m.get_all(filters={"topic": "x"}), "whose"),
        (lambda m: m.update("nothing", text="x"), "no memory"),
        (lambda m: m.update("nothing"), "what to update"),
        (lambda m: m.delete("nothing"), "no memory"),
        (lambda m: m.delete_all(), "whose"),
        (lambda m: m.get(""), "memory_id"),
        (lambda _: Memory.from_config({"llm": {"provider": "openai"}}), "brings its own"),
    ],
)
def test_X14_mem0_bad_input_is_said_in_one_line(memory: Memory, call: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told) as caught:
        call(memory)
    assert "\n" not in str(caught.value)


def test_X14_mem0_many_threads_lose_nothing(memory: Memory) -> None:
    ids = [
        only(memory.add(f"thing {n} of many", user_id="ann", infer=False))["id"] for n in range(4)
    ]

    def work(number: int) -> None:
        memory.add("the same words", user_id="ann", infer=False)
        memory.update(ids[number % 4], text=f"version {number}")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(24)))
    listed = memory.get_all(filters={"user_id": "ann"}, top_k=100)["results"]
    assert len(listed) == 28
    assert sum(len(memory.history(id_)) for id_ in ids) == 28


def test_X14_mem0_asynchronously(tmp_path: Path) -> None:
    async def scene() -> list[str]:
        async with AsyncMemory(str(tmp_path / "m.db"), background=False, embedder="none") as memory:
            added = await memory.add("Lunch is at noon", user_id="ann")
            id_ = added["results"][0]["id"]
            await memory.update(id_, text="Lunch is at one")
            found = await memory.search("lunch", filters={"user_id": "ann"})
            await memory.delete(id_)
            left = await memory.get_all(filters={"user_id": "ann"})
            return [found["results"][0]["memory"], str(left)]

    assert asyncio.run(scene()) == ["Lunch is at one", "{'results': []}"]


WRITER = """
import sys
from standfast.adapters.mem0 import Memory
memory = Memory(sys.argv[1], background=False, embedder="none")
for number in range(10_000):
    memory.add(f"thing {number}", user_id="ann", infer=False)
    print(number, flush=True)
"""


def test_X14_mem0_what_was_answered_survives_a_kill(tmp_path: Path) -> None:
    path = str(tmp_path / "m.db")
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, path], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    with writer.stdout as told:
        answered = [told.readline().strip() for _ in range(20)][-1]
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait()
    with Memory(path, background=False, embedder="none") as memory:
        listed = memory.get_all(filters={"user_id": "ann"}, top_k=1000)["results"]
    assert int(answered) + 1 <= len(listed)
    assert {f"thing {n}" for n in range(int(answered) + 1)} <= {one["memory"] for one in listed}
