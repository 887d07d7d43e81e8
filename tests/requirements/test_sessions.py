"""Sessions: windows, summaries, the pending buffer, blocks, and the end."""

from __future__ import annotations

from typing import Any

import pytest

from standfast import Invalid, Memory, NotFound
from tests.requirements.asking import statuses, texts
from tests.requirements.conftest import MovableClock, OpenMemory


def chat(memory: Memory, count: int, *, start: int = 0, **options: Any) -> None:
    messages = [
        {"role": "user" if n % 2 == 0 else "assistant", "content": f"line {n} of the talk"}
        for n in range(start, start + count)
    ]
    memory.observe("chat", messages, **{"scope": "user:ann", **options})


def spoken(messages: Any) -> list[str]:
    return [m["content"] for m in messages if m["role"] != "system"]


def test_O9_O11_otto_keeps_eight_and_replaces_the_rest_by_one_system_message(
    open_memory: OpenMemory,
) -> None:
    memory = open_memory(profile="otto")
    chat(memory, 12)
    memory.maintain()
    assert len(memory.context(session="chat", scope="user:ann").messages) == 12
    chat(memory, 1, start=12)
    memory.maintain()
    packet = memory.context(session="chat", scope="user:ann")
    assert spoken(packet.messages) == [f"line {n} of the talk" for n in range(5, 13)]
    assert packet.messages[0]["role"] == "system"
    assert "line 0 of the talk" in packet.messages[0]["content"]


@pytest.mark.parametrize("tokens", [0, 1, 40, 100, 300])
def test_A7_a_summary_apart_counts_towards_the_budget(open_memory: OpenMemory, tokens: int) -> None:
    memory = open_memory(profile="otto")
    chat(memory, 20)
    memory.maintain()
    packet = memory.context(session="chat", scope="user:ann", tokens=tokens)
    assert packet.tokens <= tokens
    if tokens <= 1:
        assert packet.messages == ()
        assert any("summary did not fit" in note for note in packet.notes)


def test_M2_openmotoko_shows_summary_and_the_last_twenty(open_memory: OpenMemory) -> None:
    memory = open_memory(profile="openmotoko")
    chat(memory, 41)
    memory.maintain()
    packet = memory.context(session="chat", scope="user:ann", tokens=5000)
    assert len(packet.messages) == 20
    assert "<session-summary>" in packet.text


def test_A1_agtos_counts_turns_and_bounds_the_summary(open_memory: OpenMemory) -> None:
    memory = open_memory(profile="agtos")
    chat(memory, 40)
    memory.maintain()
    assert len(memory.context(session="chat", scope="user:ann", tokens=9000).messages) == 40
    chat(memory, 20, start=40)
    memory.maintain()
    packet = memory.context(session="chat", scope="user:ann", tokens=9000)
    assert spoken(packet.messages)[0] == "line 40 of the talk"


def test_B4_a_window_of_zero_only_trims(open_memory: OpenMemory) -> None:
    memory = open_memory(profile="autobot")
    memory._memory._engine.profile = _autobot_without_window(memory)
    chat(memory, 30)
    memory.maintain()
    packet = memory.context(session="chat", scope="user:ann", tokens=9000)
    assert spoken(packet.messages) == [f"line {n} of the talk" for n in range(20, 30)]
    assert "summary" not in packet.text


def _autobot_without_window(memory: Memory) -> Any:
    from dataclasses import replace

    return replace(memory._memory._engine.profile, compact_above=0)


def test_O12_later_rounds_build_on_the_summary(open_memory: OpenMemory) -> None:
    memory = open_memory(profile="otto")
    chat(memory, 13)
    memory.maintain()
    first = memory.context(session="chat", scope="user:ann").messages[0]["content"]
    chat(memory, 10, start=13)
    memory.maintain()
    second = memory.context(session="chat", scope="user:ann").messages[0]["content"]
    assert first.splitlines()[0] == second.splitlines()[0]
    assert "line 14 of the talk" in second


def test_O10_a_tool_call_stays_with_its_answer(open_memory: OpenMemory) -> None:
    memory = open_memory(profile="otto")
    chat(memory, 4)
    call = {"id": "c1", "type": "function", "function": {"name": "run", "arguments": "{}"}}
    memory.observe(
        "chat", [{"role": "assistant", "content": None, "tool_calls": [call]}], scope="user:ann"
    )
    memory.observe(
        "chat", [{"role": "tool", "tool_call_id": "c1", "content": "ok"}], scope="user:ann"
    )
    chat(memory, 7, start=6)
    memory.maintain()
    packet = memory.context(session="chat", scope="user:ann")
    roles = [m["role"] for m in packet.messages]
    assert roles[:3] == ["system", "assistant", "tool"]
    assert len(roles) == 10


def test_the_policy_is_recorded_with_the_session(open_memory: OpenMemory, tmp_path: Any) -> None:
    file = str(tmp_path / "shared.db")
    otto = open_memory(file, profile="otto")
    chat(otto, 13)
    plain = open_memory(file, profile="default", embedder="hashing")
    plain.maintain()
    assert len(plain.context(session="chat", scope="user:ann", tokens=9000).messages) == 8


def test_X4_raw_messages_stay_in_the_log_after_folding(open_memory: OpenMemory) -> None:
    memory = open_memory(profile="otto")
    chat(memory, 30)
    memory.maintain()
    assert texts(memory, "line 0 of the talk", scope="user:ann", limit=1) == ["line 0 of the talk"]


def test_X10_forgetting_a_message_takes_the_summaries_built_on_it(open_memory: OpenMemory) -> None:
    memory = open_memory(profile="otto")
    memory.observe(
        "chat", [{"role": "user", "content": "my pin is quokka", "id": "m1"}], scope="user:ann"
    )
    chat(memory, 14)
    memory.maintain()
    assert "quokka" in memory.context(session="chat", scope="user:ann").messages[0]["content"]
    memory.forget(session="chat", scope="user:ann", ids=["m1"])
    chat(memory, 1, start=14)
    memory.maintain()
    packet = memory.context(session="chat", scope="user:ann")
    assert "quokka" not in str(packet.messages) + packet.text
    assert packet.messages[0]["role"] == "system"


def test_O13_long_messages_are_trimmed_to_whole_exchanges(memory: Memory) -> None:
    chat(memory, 6)
    memory.observe("chat", [{"role": "user", "content": "word " * 300}], scope="user:ann")
    packet = memory.context(session="chat", scope="user:ann", tokens=700, query="")
    assert packet.tokens <= 700
    assert spoken(packet.messages)[-1].startswith("word")


def wait_in_buffer(memory: Memory, *said: str, scope: str = "project:web") -> None:
    messages = [{"role": "user", "content": text, "author": "bob"} for text in said]
    receipt = memory.observe("slack/C1", messages, scope=scope, pending=True)
    assert set(statuses(receipt)) == {"stored"}


def test_O14_pending_messages_reach_any_session_and_are_consumed_by_confirm(memory: Memory) -> None:
    wait_in_buffer(memory, "the logo changed", "use the blue one")
    first = memory.context(session="task/1", scope="project:web", query="")
    assert [m.text for m in first.pending] == ["the logo changed", "use the blue one"]
    assert "<pending-messages>" in first.text
    again = memory.context(session="task/2", scope="project:web", query="")
    assert len(again.pending) == 2  # nobody confirmed: a crash would have lost nothing
    assert len(memory.confirm(first).items) == 2
    assert memory.context(session="task/3", scope="project:web", query="").pending == ()
    wait_in_buffer(memory, "one more")
    assert [m.text for m in memory.context(scope="project:web", query="").pending] == ["one more"]
    memory.confirm(first)  # an old packet consumes nothing new
    assert len(memory.context(scope="project:web", query="").pending) == 1


def test_O14_pending_messages_expire_after_thirty_days(memory: Memory, clock: MovableClock) -> None:
    wait_in_buffer(memory, "old news")
    clock.forward(days=29)
    assert len(memory.context(scope="project:web", query="").pending) == 1
    clock.forward(days=2)
    assert memory.context(scope="project:web", query="").pending == ()


def test_O14_other_projects_see_nothing_and_a_small_budget_delivers_only_what_fits(
    memory: Memory,
) -> None:
    wait_in_buffer(memory, *(f"message {n} with some more words in it" for n in range(30)))
    assert memory.context(scope="project:data", query="").pending == ()
    small = memory.context(scope="project:web", query="", tokens=300)
    assert 0 < len(small.pending) < 30
    assert [m.seq for m in small.pending] == list(range(1, len(small.pending) + 1))
    memory.confirm(small)
    rest = memory.context(scope="project:web", query="", tokens=5000)
    assert rest.pending[0].seq == len(small.pending) + 1


def test_O14_a_compaction_consumes_what_it_has_summarised(memory: Memory) -> None:
    wait_in_buffer(memory, *(f"message {n}" for n in range(60)))
    memory.maintain()
    packet = memory.context(scope="project:web", query="", tokens=9000)
    assert len(packet.pending) == 10
    assert "<channel-summary>" in packet.text


def test_L10_notes_are_labelled_by_role_and_compacted_above_fifteen(memory: Memory) -> None:
    for n in range(15):
        memory.note("launch", f"note {n}", role="chief", scope="org:acme")
    memory.maintain()
    packet = memory.context(session="launch", scope="org:acme", query="", tokens=4000)
    assert "<memory-block>" in packet.text
    assert packet.text.count("chief: note") == 15
    memory.note("launch", "note 15", role="cto", scope="org:acme")
    memory.maintain()
    packet = memory.context(session="launch", scope="org:acme", query="", tokens=4000)
    assert "cto: note 15" in packet.text
    assert packet.text.count("chief: note") < 15
    assert "note 15" not in memory.context(session="other", scope="org:acme", query="").text
    assert texts(memory, "note", scope="org:acme") == []


def test_O2_the_end_of_a_task_saves_request_approach_and_outcome(memory: Memory) -> None:
    memory.observe(
        "task/7",
        [
            {"role": "user", "content": "Please migrate the orders table to UUID keys"},
            {"role": "assistant", "content": "I will use a shadow table."},
        ],
        scope="project:web",
        channel="slack",
    )
    receipt = memory.end("task/7", scope="project:web", outcome="migrated without downtime")
    assert statuses(receipt) == ["stored"]
    record = memory.get([receipt.items[0].record])[0]
    for part in ("migrate the orders table", "shadow table", "migrated without downtime"):
        assert part in record.text
    assert (record.kind, record.type, record.data["channel"]) == ("episodic", "episode", "slack")
    again = memory.end("task/7", scope="project:web", outcome="migrated without downtime")
    assert (statuses(again), again.items[0].reason[:12]) == (["skipped"], "already kept")
    assert texts(
        memory, "how did the migration of orders go", scope="project:web", types=["episode"]
    )


def test_X10_forgetting_a_folded_message_takes_the_episode_along(open_memory: OpenMemory) -> None:
    memory = open_memory(profile="otto")
    first = {"role": "user", "content": "my pin is quokka", "id": "m1"}
    memory.observe("chat", [first], scope="user:ann")
    chat(memory, 14)
    memory.maintain()
    episode = memory.end("chat", scope="user:ann", outcome="done").items[0].record
    assert "m1" in memory.get([episode])[0].lineage
    memory.forget(session="chat", scope="user:ann", ids=["m1"])
    assert memory.get([episode]) == ()


def test_A2_agtos_keeps_the_episode_for_thirty_days(
    open_memory: OpenMemory, clock: MovableClock
) -> None:
    memory = open_memory(profile="agtos")
    chat(memory, 8)
    id_ = memory.end("chat", scope="user:ann").items[0].record
    assert memory.get([id_])[0].expires_at is not None
    clock.forward(days=31)
    assert memory.get([id_]) == ()


def test_A3_a_trivial_exchange_is_skipped_with_the_reason(memory: Memory) -> None:
    memory.observe("hi", ["hello", {"role": "assistant", "content": "hi!"}], scope="user:ann")
    receipt = memory.end("hi", scope="user:ann")
    assert (statuses(receipt), "trivial" in receipt.items[0].reason) == (["skipped"], True)
    memory.observe("pref", ["I prefer short answers"], scope="user:ann")
    assert statuses(memory.end("pref", scope="user:ann")) == ["stored"]


def test_A1_an_opted_out_session_works_in_this_process_only(memory: Memory) -> None:
    memory.set_policy("user:ann", persist=False)
    chat(memory, 3)
    packet = memory.context(session="chat", scope="user:ann")
    assert len(packet.messages) == 3


@pytest.mark.parametrize("name", ["~pending", "~notes/x", "", 7])
def test_reserved_session_names_are_refused(memory: Memory, name: Any) -> None:
    for call in (
        lambda: memory.observe(name, ["x"], scope="user:ann"),
        lambda: memory.context(session=name, scope="user:ann"),
        lambda: memory.note(name, "x", scope="user:ann"),
        lambda: memory.end(name, scope="user:ann"),
    ):
        with pytest.raises(Invalid, match="session"):
            call()


def test_ending_an_unknown_session_is_not_found(memory: Memory) -> None:
    with pytest.raises(NotFound):
        memory.end("never", scope="user:ann")


def test_A1_the_current_task_state_is_carried_by_every_context(open_memory: OpenMemory) -> None:
    memory = open_memory(profile="otto")
    chat(memory, 3)
    memory.set_state("chat", {"step": 2, "waiting for": "review"}, scope="user:ann")
    chat(memory, 20, start=3)
    memory.maintain()
    text = memory.context(session="chat", scope="user:ann").text
    assert "<task-state>" in text
    assert "waiting for" in text
    memory.set_state("chat", {}, scope="user:ann")
    assert "<task-state>" not in memory.context(session="chat", scope="user:ann").text
    with pytest.raises(NotFound):
        memory.set_state("never", {"a": 1}, scope="user:ann")
    for bad in ("text", {"a": object()}, {"a": "x" * 30_000}):
        with pytest.raises(Invalid):
            memory.set_state("chat", bad, scope="user:ann")  # type: ignore[arg-type]


def test_O14_a_long_message_blocks_nobody_and_is_not_lost(memory: Memory) -> None:
    wait_in_buffer(memory, "long " * 400, "short one", "another short one")
    packet = memory.context(scope="project:web", query="", tokens=300)
    assert [m.text for m in packet.pending] == ["short one", "another short one"]
    assert any("1 pending messages did not fit" in note for note in packet.notes)
    memory.confirm(packet)
    again = memory.context(scope="project:web", query="", tokens=300)
    assert again.pending == ()
    whole = memory.context(scope="project:web", query="", tokens=9000)
    assert [m.text for m in whole.pending] == ["long " * 400]
    memory.confirm(whole)
    assert memory.pending(scope="project:web") == ()


def test_O14_first_in_is_first_out_whatever_their_clocks_say(memory: Memory) -> None:
    at = ["2026-03-01T12:00:00Z", "2026-03-01T09:00:00Z", "2026-03-01T15:00:00Z"]
    for number, moment in enumerate(at):
        memory.observe(
            "chan",
            [{"role": "user", "content": f"message {number}", "at": moment, "id": f"p{number}"}],
            scope="project:web",
            pending=True,
        )
    packet = memory.context(scope="project:web", query="", tokens=2000)
    assert [m.id for m in packet.pending] == ["p0", "p1", "p2"]
