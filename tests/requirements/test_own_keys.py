"""A caller's own key names a memory: said again under it, the new text replaces the old."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from standfast import Invalid, Memory

ANN = "user:ann"


@pytest.fixture
def memory() -> Memory:
    return Memory.open("dict:", embedder="hashing", background=False)


def test_C5_the_same_key_again_supersedes(memory: Memory) -> None:
    first = memory.remember("The wifi password is on the fridge", scope=ANN, key="wifi").items[0]
    second = memory.remember("The wifi password is in the drawer", scope=ANN, key="wifi").items[0]
    assert "supersedes" in second.reason
    live = memory.records(scope=ANN, tags=["key:wifi"], statuses=["active"]).items
    assert [record.text for record in live] == ["The wifi password is in the drawer"]
    assert memory.get([first.id])[0].status == "superseded"
    again = memory.remember("The wifi password is in the drawer", scope=ANN, key="wifi").items[0]
    assert (again.status, again.id) == ("merged", second.id)


def test_C5_a_key_is_of_one_scope_and_may_be_anything_that_names(memory: Memory) -> None:
    memory.remember("Ann keeps bees", scope=ANN, key="hobby")
    memory.remember("Bob keeps goats", scope="user:bob", key="hobby")
    for scope, text in ((ANN, "Ann keeps bees"), ("user:bob", "Bob keeps goats")):
        found = memory.records(scope=scope, tags=["key:hobby"], statuses=["active"]).items
        assert [record.text for record in found] == [text]
    with pytest.raises(Invalid):
        memory.remember("Nothing", scope=ANN, key="")


def test_C5_an_edit_keeps_the_key(memory: Memory) -> None:
    id_ = memory.remember("The code is 12", scope=ANN, key="code").items[0].id
    memory.edit(id_, "The code is 13")
    memory.remember("The code is 14", scope=ANN, key="code")
    live = memory.records(scope=ANN, tags=["key:code"], statuses=["active"]).items
    assert [record.text for record in live] == ["The code is 14"]


def test_C5_of_many_who_say_a_key_at_once_one_stays(tmp_path: Path) -> None:
    store = str(tmp_path / "m.db")
    with (
        Memory.open(store, embedder="hashing", background=False) as one,
        Memory.open(store, embedder="hashing", background=False) as other,
    ):
        for key in ("a", "b", "c"):

            def say(number: int, key: str = key) -> None:
                text = f"Wall {number} of {key} has colour {number * 17}"
                (one, other)[number % 2].remember(text, scope=ANN, key=key)

            with ThreadPoolExecutor(6) as pool:
                list(pool.map(say, range(6)))
            live = one.records(scope=ANN, tags=[f"key:{key}"], statuses=["active"]).items
            assert len(live) == 1
            said = one.records(scope=ANN, tags=[f"key:{key}"]).items
            assert len(said) == 6
            assert {record.status for record in said} == {"active", "superseded"}


def test_C5_who_is_trusted_less_replaces_nothing_by_its_key(memory: Memory) -> None:
    mine = memory.remember("The code is 12", scope=ANN, key="code").items[0]
    memory.remember("The code is 99", scope=ANN, key="code", source="web")
    [kept] = memory.get([mine.id])
    assert kept.status in ("active", "disputed")
