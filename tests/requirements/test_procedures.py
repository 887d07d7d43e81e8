"""Procedures: named steps with triggers and versions, counted by use, learned from practice."""

from __future__ import annotations

import json
from typing import Any

import pytest

from standfast import Invalid, Memory, NotFound
from standfast.testing.snapshots import snapshot
from standfast.types import Record
from tests.requirements.asking import statuses, stored
from tests.requirements.conftest import MovableClock, OpenMemory

ANN = "user:ann"


def record(memory: Memory, id_: str) -> Record:
    [found] = memory.get([id_])
    return found


def saved(
    memory: Memory, name: str = "deploy", steps: Any = ("pull", "build"), **options: Any
) -> str:
    return memory.save_procedure(name, steps, **{"scope": ANN, **options}).items[0].id


def test_M7_a_procedure_has_a_name_steps_triggers_and_versions(memory: Memory) -> None:
    first = memory.save_procedure("deploy", ["pull", "build"], triggers=["ship it"], scope=ANN)
    again = memory.save_procedure("Deploy", ["pull", "build"], triggers=["ship it"], scope=ANN)
    assert (statuses(first), statuses(again)) == (["stored"], ["merged"])
    second = memory.save_procedure("deploy", ["pull", "test", "build"], scope=ANN)
    assert "version 2" in second.items[0].reason
    old, new = first.items[0].id, second.items[0].id
    assert (record(memory, old).status, record(memory, new).status) == ("superseded", "active")
    assert record(memory, new).data["steps"] == ["pull", "test", "build"]
    memory.undo(second.change)
    assert (record(memory, old).status, record(memory, new).status) == ("active", "archived")
    other = memory.save_procedure("deploy", ["run"], scope="user:bob").items[0]
    assert (other.status, record(memory, other.id).data["version"]) == ("stored", 1)


@pytest.mark.not_served("the server words what is misshapen in its own way")
@pytest.mark.parametrize(
    ("name", "steps", "options", "said"),
    [
        ("", ["a"], {}, "name"),
        ("x" * 200, ["a"], {}, "name"),
        ("n", [], {}, "1 to 50 steps"),
        ("n", "pull", {}, "list"),
        ("n", ["a"] * 51, {}, "more than 50"),
        ("n", ["a", " "], {}, "step 2"),
        ("n", ["a", 7], {}, "step 2"),
        ("n", ["a" * 2001], {}, "step 1"),
        ("n", ["a"], {"triggers": ["t"] * 21}, "more than 20"),
        ("n", ["a"], {"triggers": [""]}, "trigger 1"),
        ("n", ["a"], {"triggers": "t"}, "list"),
        ("n", ["a"], {"tags": "t"}, "tags"),
        ("n", ["a"], {"scope": "nonsense"}, "scope"),
    ],
)
def test_M7_a_bad_procedure_is_refused_with_the_reason(
    memory: Memory, name: Any, steps: Any, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(Invalid, match=said):
        memory.save_procedure(name, steps, **options)


def test_X5_secrets_do_not_get_into_a_procedure(memory: Memory) -> None:
    key = "sk-proj-" + "a1B2c3D4e5F6g7H8i9J0" * 2
    receipt = memory.save_procedure("call", [f"curl with key {key}"], scope=ANN)
    assert key not in str(record(memory, receipt.items[0].id))
    assert any("redacted" in note for note in receipt.notes)


def test_M7_uses_are_counted_with_success_and_failure(memory: Memory) -> None:
    id_ = saved(memory)
    memory.procedure_used(id_, success=True)
    memory.procedure_used("deploy", success=True, scope=ANN)
    memory.procedure_used("DEPLOY", success=False, scope=f"{ANN}:agent:x", note="disk full")
    found = record(memory, id_)
    assert (found.data["successes"], found.data["failures"], found.uses) == (2, 1, 3)
    assert found.data["last_outcome"]["success"] is False
    assert found.data["last_outcome"]["note"] == "disk full"
    with pytest.raises(NotFound):
        memory.procedure_used("nothing", success=True, scope=ANN)
    with pytest.raises(Invalid, match="fact"):
        memory.procedure_used(stored(memory, "a fact", scope=ANN), success=True)
    with pytest.raises(Invalid, match="success"):
        memory.procedure_used(id_, success="yes")  # type: ignore[arg-type]


def test_M7_triggers_come_first_and_the_most_used_and_successful_before_others(
    memory: Memory,
) -> None:
    slow = saved(memory, "slow deploy", triggers=["deploy the site"])
    fast = saved(memory, "fast deploy", triggers=["deploy the site"])
    bad = saved(memory, "bad deploy", triggers=["deploy the site"])
    near = saved(memory, "roll a deploy of the site back", ["revert"])
    for _ in range(3):
        memory.procedure_used(fast, success=True)
    for _ in range(5):
        memory.procedure_used(bad, success=False)
    found = memory.find_procedures("please deploy the site now", scope=ANN)
    assert [hit.record.id for hit in found.hits][:3] == [fast, slow, bad]
    assert near in [hit.record.id for hit in found.hits]
    assert len(memory.find_procedures("deploy the site", scope=ANN, limit=2).hits) == 2
    assert memory.find_procedures("deploy the site", scope="user:bob").hits == ()


def test_M9_a_packet_offers_what_is_triggered_and_trusted(memory: Memory) -> None:
    saved(memory, "water the garden", ["open the tap"], triggers=["water plants"])
    memory.remember("How the web waters", scope=ANN, kind="procedural", source="web",
                    data={"steps": ["burn it"], "triggers": ["water plants"]})  # fmt: skip
    packet = memory.context(query="please water all my plants", scope=ANN)
    assert "open the tap" in packet.text
    offered = packet.text.partition("<procedures>")[2]
    assert '"open the tap"' in offered
    assert "open the tap" not in memory.context(query="read a book", scope=ANN).text


# Learned ones


def call(name: str, answer: str = "ok", **arguments: Any) -> list[dict[str, Any]]:
    id_ = f"{name}{json.dumps(arguments)}"
    function = {"name": name, "arguments": json.dumps(arguments)}
    return [
        {"role": "assistant", "content": None, "tool_calls": [{"id": id_, "function": function}]},
        {"role": "tool", "tool_call_id": id_, "content": answer},
    ]


def deploy(memory: Memory, session: str, n: int, answer: str = "ok", **options: Any) -> Any:
    messages = [
        {"role": "user", "content": f"deploy the site please, ticket {n}"},
        *call("git_pull", branch="main"),
        *call("build", answer, ticket=n),
        {"role": "assistant", "content": "It is deployed."},
    ]
    return memory.observe(session, messages, **{"scope": ANN, **options})


def learned(memory: Memory, scope: str = ANN) -> list[Record]:
    engine = memory._memory._engine
    taken = memory._loop.run(snapshot(engine.store, scope, now=engine.now()))
    return [r for r in taken.records if r.kind == "procedural"]


def test_M7_three_successes_make_a_procedure(memory: Memory) -> None:
    deploy(memory, "one", 1)
    deploy(memory, "two", 2)
    memory.maintain()
    assert learned(memory) == []
    deploy(memory, "one", 3)
    receipt = memory.maintain()
    [found] = learned(memory)
    assert found.data["steps"] == ['git_pull(branch="main")', "build(ticket=...)"]
    assert found.data["triggers"] == ["deploy site ticket"]
    assert (found.status, found.source, found.confidence, found.trust) == (
        "active", "assistant", 0.7, 1,
    )  # fmt: skip
    assert any(item.id == found.id and "procedure" in item.reason for item in receipt.items)
    assert len(found.derived_from) >= 9
    packet = memory.context(query="deploy the site, ticket 9", scope=ANN)
    assert "git_pull(" in packet.text
    memory.maintain()
    assert len(learned(memory)) == 1
    memory.undo(receipt.change)
    deploy(memory, "two", 4)
    memory.maintain()
    assert [r.status for r in learned(memory)] == ["archived"], "taken back: not learned again"


def test_M7_what_happens_afterwards_is_counted(memory: Memory, clock: MovableClock) -> None:
    for n in range(3):
        deploy(memory, "s", n)
    memory.end("s", scope=ANN, outcome="all deployed")
    memory.maintain()
    [found] = learned(memory)
    assert found.data["successes"] == 3
    deploy(memory, "later", 4)
    memory.maintain()
    memory.maintain()
    assert learned(memory)[0].data["successes"] == 4
    memory.observe("later", ["no, that is wrong"], scope=ANN)
    clock.forward(days=2)
    memory.maintain()
    assert learned(memory)[0].data["failures"] == 1


@pytest.mark.parametrize("why", ["error", "complaint", "two only", "another scope"])
def test_M7_what_did_not_work_three_times_is_not_learned(memory: Memory, why: str) -> None:
    for n in range(3):
        other = why == "another scope" and n == 2
        answer = "Error: no disk" if why == "error" and n == 2 else "ok"
        if not (why == "two only" and n == 2):
            deploy(memory, "s", n, answer, scope="user:bob" if other else ANN)
        if why == "complaint" and n == 0:
            memory.observe("s", ["No, that's wrong, undo it"], scope=ANN)
    memory.end("s", scope=ANN)
    memory.maintain()
    assert learned(memory) == learned(memory, "user:bob") == []


def test_X1_a_forgotten_run_counts_no_more_and_takes_its_procedure_along(memory: Memory) -> None:
    receipts = [deploy(memory, "s", n) for n in range(3)]
    memory.maintain()
    [found] = learned(memory)
    first = receipts[0].items[0]
    memory.forget(session="s", ids=[first.id], scope=ANN)
    assert memory.get([found.id]) == ()
    memory.maintain()
    assert learned(memory) == []
    deploy(memory, "s", 7)
    deploy(memory, "s", 8)
    memory.maintain()
    assert len(learned(memory)) <= 1


def test_X1_a_forgotten_procedure_is_not_learned_again_from_the_same_runs(
    memory: Memory, clock: MovableClock
) -> None:
    for n in range(3):
        deploy(memory, "s", n)
    memory.maintain()
    [found] = learned(memory)
    clock.forward(minutes=1)
    memory.forget(ids=[found.id])
    clock.forward(minutes=1)
    deploy(memory, "s", 5)
    memory.maintain()
    assert learned(memory) == []


def test_X4_two_workers_count_a_run_once(open_memory: OpenMemory) -> None:
    memory = open_memory()
    for n in range(2):
        deploy(memory, "s", n)
    for _ in range(4):
        memory.maintain()
    assert learned(memory) == []


def test_M7_a_procedure_that_a_person_named_keeps_its_name(memory: Memory) -> None:
    mine = saved(memory, "deploy site ticket", ["my own way"])
    for n in range(3):
        deploy(memory, "s", n)
    memory.maintain()
    assert record(memory, mine).status == "active"
    names = sorted(r.data["name"] for r in learned(memory))
    assert names == ["deploy site ticket", "deploy site ticket (git_pull, build)"]


def test_an_opted_out_scope_keeps_a_procedure_in_this_process_only(memory: Memory) -> None:
    memory.set_policy(ANN, persist=False)
    receipt = memory.save_procedure("deploy", ["pull"], scope=ANN)
    assert statuses(receipt) == ["volatile"]
    assert memory.find_procedures("deploy", scope=ANN).hits[0].record.data["steps"] == ["pull"]
