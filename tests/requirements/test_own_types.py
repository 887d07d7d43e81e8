"""Types of one's own and instructions for the model that learns: data, checked when it is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from standfast import Invalid, Memory
from standfast.ports import Prompt, Reply

ANN = "user:ann"
OWN: dict[str, Any] = {
    "instructions": "Prices are in euro.",
    "types": {
        "order": {
            "like": "preference",
            "said": "what a customer ordered.",
            "fields": {"dish": "text", "price": "number", "paid": "flag"},
            "required": ["dish"],
        }
    },
}


class Waiter:
    """A model that learns one order, and says more of it than was heard."""

    name = "fake:waiter"

    def __init__(self) -> None:
        self.asked: list[Prompt] = []

    async def ask(self, prompt: Prompt) -> Reply:
        self.asked.append(prompt)
        fact = {
            "text": "The user ordered soup for 4.50",
            "from": "t1",
            "type": "order",
            "fields": "dish=soup; price=4.50; paid=maybe; colour=red; price=9",
        }
        return Reply(text="", data={"facts": [fact]})


@pytest.fixture
def memory() -> Memory:
    return Memory.open("dict:", embedder="hashing", background=False, own_types=OWN)


def test_C5_a_record_of_ones_own_type_is_found_by_it(memory: Memory) -> None:
    said = {"tags": ["type:order"], "data": {"dish": "soup", "price": 4.5, "table": 3}}
    memory.remember("Ann ordered soup", scope=ANN, **said)  # type: ignore[arg-type]
    memory.remember("Ann likes soup", scope=ANN)
    [record] = memory.records(scope=ANN, tags=["type:order"]).items
    assert (record.type, record.kind) == ("preference", "semantic")
    where = {"tags": {"all": ["type:order"]}, "data": {"all": {"price": {"lt": 5}}}}
    [hit] = memory.recall("soup", scope=ANN, where=where).hits
    assert hit.record.id == record.id


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"tags": ["type:ordre"]}, "no type 'ordre' of your own; did you mean 'order'"),
        ({"tags": ["type:order"]}, "needs 'dish' in its data"),
        ({"tags": ["type:order"], "data": {"dish": 3}}, "'dish' of type 'order' is a text"),
        ({"tags": ["type:order"], "data": {"dish": "x", "price": True}}, "is a number, not bool"),
        ({"tags": ["type:order", "type:b"], "data": {"dish": "x"}}, "one type of your own"),
        ({"tags": ["type:order"], "data": {"dish": "x"}, "type": "fact"}, "is a preference"),
    ],
)
def test_C5_what_does_not_fit_its_type_is_refused(
    memory: Memory, said: dict[str, Any], told: str
) -> None:
    with pytest.raises(Invalid, match=told):
        memory.remember("Ann ordered soup", scope=ANN, **said)
    with pytest.raises(Invalid, match=f"^statement 1: .*{told}"):
        memory.remember([{"text": "Ann ordered soup", **said}], scope=ANN)
    assert memory.records(scope=ANN).items == ()


@pytest.mark.parametrize(
    ("own", "told"),
    [
        ([], "a mapping, not list"),
        ({"type": {}}, "did you mean 'types'"),
        ({"types": {"fact": {}}}, "'fact' is no name for a type of your own"),
        ({"types": {"Order!": {}}}, "is no name for a type of your own"),
        ({"types": {"order": {"like": "turn"}}}, "is like one of fact"),
        ({"types": {"order": {"field": {}}}}, "did you mean 'fields'"),
        ({"types": {"order": {"fields": {"dish": "date"}}}}, "a text or a number or a flag"),
        ({"types": {"order": {"required": ["dish"]}}}, "lists some of its fields"),
        ({"instructions": "x" * 2001}, "at most 2000 characters"),
    ],
)
def test_C5_bad_types_are_refused_when_the_memory_is_opened(own: Any, told: str) -> None:
    with pytest.raises(Invalid, match=told):
        Memory.open("dict:", own_types=own)


def test_C5_a_model_learns_them_with_what_was_heard(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text(
        'instructions = "Prices are in euro."\n[types.order]\nlike = "preference"\n'
        'said = "what a customer ordered."\nfields = {dish = "text", price = "number"}\n'
    )
    waiter = Waiter()
    with Memory.open(
        "dict:", embedder="hashing", background=False, model=waiter, own_types=file
    ) as memory:
        memory.observe("s", ["I ordered soup for 4.50 today"], scope=ANN)
        memory.maintain()
        [record] = memory.records(scope=ANN, tags=["type:order"]).items
    assert record.type == "preference"
    assert (record.data["dish"], record.data["price"]) == ("soup", 4.5)
    assert "colour" not in record.data
    system = waiter.asked[0].system
    assert "Prices are in euro." in system
    assert "- order: what a customer ordered. Fields: dish (text), price (number)." in system
    file.write_text("types = 3")
    for bad in (file, tmp_path / "nowhere.toml"):
        with pytest.raises(Invalid):
            Memory.open("dict:", own_types=bad)
