"""A caller's own key names a memory: said again under it, the new text replaces the old."""

from __future__ import annotations

import pytest

from recollect import Invalid, Memory

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
