"""A list of statements: a commit for each hundred, an item for each, a bad one by its number."""

from __future__ import annotations

import pytest

from standfast import Invalid, Memory, NotFound
from standfast.changes import PER_COMMIT

ANN = "user:ann"


def test_C5_a_list_is_one_commit_and_one_change(memory: Memory) -> None:
    receipt = memory.remember(
        ["Ann keeps bees", {"text": "Ann lives in Porto", "tags": ["home"], "importance": 0.9}],
        scope=ANN,
        author="ann",
    )
    assert [item.status for item in receipt.items] == ["stored", "stored"]
    entries = memory.history(scope=ANN)
    assert [(entry.change, entry.reason) for entry in entries] == [(receipt.change, "remember")]
    bees, porto = memory.get([item.id for item in receipt.items])
    assert (bees.text, bees.importance, bees.author) == ("Ann keeps bees", 0.5, "ann")
    assert (porto.tags, porto.importance, porto.author) == (("home",), 0.9, "ann")
    memory.undo(receipt.change)
    assert {one.status for one in memory.records(scope=ANN).items} == {"archived"}


def test_C5_statements_of_one_list_meet_as_if_they_came_one_by_one(memory: Memory) -> None:
    said = [
        "The office is in Lisbon",
        {"text": "The office is in Lisbon"},
        {"text": "The printer is on floor 2", "key": "printer"},
        {"text": "The printer stands in the cellar", "key": "printer"},
        {"text": "the printer stands in the cellar!", "key": "printer"},
    ]
    receipt = memory.remember(said, scope=ANN)
    office, again, first, second, third = receipt.items
    assert (again.status, again.id) == ("merged", office.id)
    assert second.reason == f"supersedes {first.id}"
    assert third.id == second.id
    live = memory.records(scope=ANN, statuses=["active"]).items
    assert [one.text for one in live] == [
        "The office is in Lisbon",
        "The printer stands in the cellar",
    ]
    edges = memory.relations(second.id)
    assert [(edge.kind, edge.target) for edge in edges] == [("supersedes", first.id)]


def test_C5_a_known_record_is_replaced_once_by_a_list(memory: Memory) -> None:
    old = memory.remember("The code is 12", scope=ANN).items[0].id
    with pytest.raises(Invalid, match=r"^statement 2: record .* superseded"):
        memory.remember(
            [
                {"text": "The code is 13", "supersedes": old},
                {"text": "The code is 14", "supersedes": old},
            ],
            scope=ANN,
        )
    assert [one.text for one in memory.records(scope=ANN).items] == ["The code is 12"]
    with pytest.raises(NotFound, match=r"^statement 1: "):
        memory.remember([{"text": "The code is 15", "supersedes": "nobody"}], scope=ANN)


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({"txt": "x"}, "no field 'txt'; did you mean 'text'"),
        ({"tags": ["x"]}, "it has no 'text'"),
        ({"text": 5}, "must be text"),
        ({"text": " "}, "empty"),
        ({"text": "x", "importance": 3}, "importance must be a number from 0 to 1"),
        ({"text": "x", "type": "opinion"}, "type 'opinion' is unknown"),
        ({"text": "x", "scope": "user:bob"}, "each root takes its own call"),
    ],
)
def test_C5_a_bad_statement_is_told_by_its_number_and_nothing_is_written(
    memory: Memory, bad: object, said: str
) -> None:
    with pytest.raises(Invalid, match=f"^statement 2: .*{said}"):
        memory.remember(["Ann keeps bees", bad, "Ann keeps goats"], scope=ANN)  # type: ignore[list-item]
    assert memory.records(scope=ANN).items == ()


def test_C5_what_was_committed_before_a_bad_statement_stays_and_is_said(memory: Memory) -> None:
    def coming() -> list[str]:
        return [f"Box {number} holds part {number * 7}" for number in range(PER_COMMIT + 5)]

    with pytest.raises(Invalid, match=rf"^statement 106: .*the first {PER_COMMIT} are kept"):
        memory.remember([*coming(), ""], scope=ANN)
    assert memory.stats(scope=ANN).records == PER_COMMIT
    receipt = memory.remember(coming(), scope=ANN)  # again: what is known is merged
    assert [item.status for item in receipt.items] == ["merged"] * PER_COMMIT + ["stored"] * 5
    assert len(receipt.items) == memory.stats(scope=ANN).records


def test_C5_what_belongs_to_one_statement_is_not_said_for_all(memory: Memory) -> None:
    for name in ("key", "supersedes"):
        with pytest.raises(Invalid, match=f"{name} belongs to one statement"):
            memory.remember(["a thing", "another"], scope=ANN, **{name: "x"})  # type: ignore[arg-type]
    assert memory.remember([], scope=ANN).items == ()


def test_C5_who_opted_out_is_not_kept_among_others_who_are(memory: Memory) -> None:
    memory.set_policy(ANN, persist=False, author="eve")
    said = ["Ann keeps bees", {"text": "Eve keeps goats", "author": "eve"}, "Ann sells honey"]
    receipt = memory.remember(said, scope=ANN)
    assert [item.status for item in receipt.items] == ["stored", "volatile", "stored"]
