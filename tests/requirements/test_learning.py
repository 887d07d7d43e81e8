"""Learning by itself: from what was said to what is known, by rules."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from standfast import Memory
from standfast.changes import Change
from standfast.types import CursorMove, SessionKey
from standfast.upkeep.learn import LEARNED, READER
from tests.requirements.conftest import MovableClock, OpenMemory
from tests.requirements.learning_world import (
    ANN,
    BOB,
    background_round,
    engine_of,
    everything_in,
    facts,
    learning_items,
    place,
    session,
    texts,
)


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    return open_memory(background=False)


def say(memory: Memory, *said: Any, to: str = "chat", scope: str = ANN, **options: Any) -> None:
    memory.observe(to, list(said), scope=scope, **{"author": "Ann", **options})


def test_L6_turns_become_facts_without_a_model(memory: Memory, clock: MovableClock) -> None:
    say(memory, {"role": "user", "content": "I live in Berlin.", "id": "m1"})
    receipt = memory.maintain()
    (record,) = facts(memory)
    assert record.text == "Ann lives in Berlin."
    assert (record.type, record.kind, record.status) == ("fact", "semantic", "active")
    assert (record.session, record.lineage, record.author) == ("chat", ("m1",), "Ann")
    assert record.valid_from == clock.now
    assert 0 < record.confidence <= 1
    assert record.importance > 0.5
    assert record.data["how"] == "network"
    assert (record.data["about"], record.data["said"]) == ("me", "I live in Berlin")
    (item,) = learning_items(receipt)
    assert (item.id, item.status) == (record.id, "stored")


def test_M3_a_fact_carries_its_category_confidence_and_source(memory: Memory) -> None:
    say(memory, "I like green tea.")
    memory.maintain()
    (record,) = facts(memory)
    assert (record.type, record.source, record.trust) == ("preference", "user", 3)
    assert 0 < record.confidence < 1


def test_A3_a_trivial_turn_is_skipped_and_keeps_the_reason(memory: Memory) -> None:
    say(
        memory,
        {"role": "user", "content": "Hello!", "id": "m1"},
        {"role": "user", "content": "I like tea.", "id": "m2"},
    )
    receipt = memory.maintain()
    skipped = [item for item in receipt.items if item.status == "skipped"]
    assert [(item.id, item.reason) for item in skipped] == [("m1", "nothing to learn")]
    (turn,) = memory.get([skipped[0].record])
    assert (turn.type, turn.data[LEARNED]) == ("turn", "nothing to learn")


def test_A3_corrections_and_preferences_are_always_kept(
    memory: Memory, clock: MovableClock
) -> None:
    say(memory, "I live in Berlin.")
    clock.forward(minutes=1)
    say(memory, "No, I live in Kiel.", "I don't like coffee.")
    memory.maintain()
    assert sorted(texts(memory)) == ["Ann doesn't like coffee.", "Ann lives in Kiel."]


def test_L6_a_later_statement_supersedes_the_earlier_one(
    memory: Memory, clock: MovableClock
) -> None:
    say(memory, "I live in Berlin.")
    memory.maintain()
    clock.forward(days=40)
    say(memory, "I live in Hamburg.")
    receipt = memory.maintain()
    assert texts(memory) == ["Ann lives in Hamburg."]
    assert "supersedes" in learning_items(receipt)[0].reason
    month_ago = clock.now - timedelta(days=30)
    assert texts(memory, as_of=month_ago) == ["Ann lives in Berlin."]


def test_L6_statements_of_one_batch_meet_each_other(memory: Memory, clock: MovableClock) -> None:
    later = (clock.now - timedelta(minutes=1)).isoformat()
    earlier = (clock.now - timedelta(minutes=9)).isoformat()
    say(
        memory,
        {"role": "user", "content": "I live in Berlin.", "at": earlier},
        {"role": "user", "content": "I live in Berlin.", "at": earlier},
        {"role": "user", "content": "I live in Hamburg.", "at": later},
    )
    memory.maintain()
    assert texts(memory) == ["Ann lives in Hamburg."]
    assert texts(memory, statuses=("superseded",)).count("Ann lives in Berlin.") >= 1


def test_M4_what_is_said_twice_is_known_once(memory: Memory) -> None:
    say(memory, "I live in Berlin.")
    say(memory, "I live in Berlin.", to="another")
    statuses = [item.status for item in learning_items(memory.maintain())]
    assert sorted(statuses) == ["merged", "stored"]
    assert texts(memory) == ["Ann lives in Berlin."]


def test_L12_who_says_it_too_supports_it(memory: Memory) -> None:
    say(memory, "I live in Berlin.")
    say(memory, {"role": "user", "content": "I live in Berlin.", "id": "m2"}, to="another")
    memory.maintain()
    (record,) = facts(memory)
    edges = memory._loop.run(engine_of(memory).store.relations(ANN, (record.id,)))
    (edge,) = edges
    (turn,) = memory.get([edge.source])
    assert (edge.kind, edge.target) == ("supports", record.id)
    assert turn.type == "turn"
    assert turn.lineage != record.lineage


def test_L12_contradictions_and_replacements_are_linked(
    memory: Memory, clock: MovableClock
) -> None:
    say(memory, "I live in Berlin.")
    memory.maintain()
    clock.forward(days=1)
    say(memory, "I live in Hamburg.")
    memory.maintain()
    (record,) = facts(memory)
    edges = memory._loop.run(engine_of(memory).store.relations(ANN, (record.id,)))
    assert {edge.kind for edge in edges if edge.source == record.id} == {"supersedes"}


def test_X5_a_relative_date_is_resolved_against_the_message(memory: Memory) -> None:
    long_ago = "2023-05-08T23:30:00-07:00"
    say(memory, {"role": "user", "content": "I moved to Hamburg yesterday.", "at": long_ago})
    memory.maintain()
    (record,) = facts(memory)
    assert record.valid_from == datetime(2023, 5, 7, 7, tzinfo=UTC)


def test_X4_raw_turns_stay_and_a_round_is_one_reversible_change(memory: Memory) -> None:
    say(memory, "I live in Berlin.", "I like tea.")
    before = everything_in(memory)
    receipt = memory.maintain()
    assert len(facts(memory)) == 2
    memory.undo(receipt.change)
    assert facts(memory) == []
    assert {id_: told for id_, told in everything_in(memory).items() if id_ in before} == before
    assert learning_items(memory.maintain()) == []  # what was taken back is not learned again


def test_X10_forgetting_a_message_erases_what_was_learned_from_it(memory: Memory) -> None:
    say(
        memory,
        {"role": "user", "content": "I live in Berlin.", "id": "m1"},
        {"role": "user", "content": "I like tea.", "id": "m2"},
    )
    memory.maintain()
    memory.forget(ids=["m1"], session="chat", scope=ANN)
    assert texts(memory) == ["Ann likes tea."]
    memory.maintain()
    assert texts(memory) == ["Ann likes tea."]


def test_X10_what_was_forgotten_is_not_learned_again(memory: Memory, clock: MovableClock) -> None:
    say(memory, "I live in Berlin.")
    memory.maintain()
    said_before = (clock.now - timedelta(hours=1)).isoformat()
    clock.forward(hours=1)
    memory.forget(ids=[facts(memory)[0].id])
    say(
        memory,
        {"role": "user", "content": "I live in Berlin, you know.", "at": said_before},
        to="late",
    )
    say(
        memory, {"role": "user", "content": "Well, I live in Berlin.", "at": said_before}, to="late"
    )
    receipt = memory.maintain()
    assert texts(memory) == []
    assert "forgotten before" in [item.reason for item in receipt.items]
    clock.forward(hours=1)
    say(memory, "I live in Berlin.", to="new")  # who tells us again, wants it known again
    memory.maintain()
    assert texts(memory) == ["Ann lives in Berlin."]


def test_X9_recalled_memories_are_not_learned_again(memory: Memory) -> None:
    memory.remember("Bob lives in Rome.", scope=ANN)
    packet = memory.context(query="Where does Bob live?", scope=ANN)
    assert "Rome" in packet.text
    known = everything_in(memory)
    memory.observe("chat", [{"role": "assistant", "content": packet.text}], scope=ANN)
    memory.observe("chat", [{"role": "user", "content": packet.text}], scope=ANN)
    memory.maintain()
    semantic = [record.id for record in facts(memory)]
    assert [id_ for id_ in semantic if id_ not in known] == []


def test_L7_rules_do_not_wait(memory: Memory) -> None:
    for name in ("first", "second"):
        say(memory, f"I like {name}.", to=name)
    background_round(memory)
    assert place(memory, "first") == place(memory, "second") == 1


def test_A2_agtos_learns_when_the_session_ends(open_memory: OpenMemory) -> None:
    memory = open_memory(profile="agtos", background=False)
    say(memory, "I live in Berlin.")
    memory.maintain()
    assert facts(memory) == []
    memory.end("chat", scope=ANN)
    background_round(memory)
    assert texts(memory) == ["Ann lives in Berlin."]


@pytest.mark.parametrize("profile", ["otto", "autobot"])
def test_profiles_that_do_not_learn_have_no_reader(open_memory: OpenMemory, profile: str) -> None:
    memory = open_memory(profile=profile, background=False)
    say(memory, "I live in Berlin.")
    memory.maintain()
    assert facts(memory) == []
    assert READER not in session(memory).cursors


@pytest.mark.parametrize(
    ("setting", "profile", "learned"),
    [
        ("off", "default", False),
        ("rules", "default", True),
        ("rules", "otto", True),
        ("auto", "otto", False),
        ("auto", "lota", True),
    ],
)
def test_the_setting_decides_over_the_profile(
    open_memory: OpenMemory,
    monkeypatch: pytest.MonkeyPatch,
    setting: str,
    profile: str,
    learned: bool,
) -> None:
    monkeypatch.setenv("STANDFAST_LEARN", setting)
    memory = open_memory(profile=profile, background=False)
    say(memory, "I live in Berlin.")
    memory.maintain()
    assert bool(facts(memory)) is learned


def test_notes_are_not_learned_from(memory: Memory) -> None:
    say(memory, "I like tea.")
    memory.note("chat", "Ann lives in Berlin.", scope=ANN)
    memory.maintain()
    assert texts(memory) == ["Ann likes tea."]


def test_an_older_session_is_learned_from_as_of_now(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STANDFAST_LEARN", "off")
    memory = open_memory(background=False)
    say(memory, "I live in Berlin.")
    assert READER not in session(memory).cursors
    engine = engine_of(memory)
    engine.profile = replace(engine.profile, learn="turns")
    say(memory, "I like tea.")
    assert session(memory).cursors[READER] == 1
    memory.maintain()
    assert texts(memory) == ["Ann likes tea."]


def test_A10_an_opted_out_user_is_learned_from_in_this_process_only(memory: Memory) -> None:
    memory.set_policy(ANN, persist=False)
    say(memory, "I live in Berlin.")
    (item,) = learning_items(memory.maintain())
    assert item.status == "volatile"
    assert texts(memory) == ["Ann lives in Berlin."]
    engine = engine_of(memory)
    assert memory._loop.run(engine.store.records(ANN, (item.id,), now=engine.now())) == []


def test_A10_nothing_more_comes_of_what_was_said_before_opting_out(memory: Memory) -> None:
    say(memory, "I live in Berlin.")
    say(memory, "I live in Rome.", author="Bob")
    memory.set_policy(ANN, persist=False, author="Ann")
    receipt = memory.maintain()
    assert texts(memory) == ["Bob lives in Rome."]
    reasons = [item.reason for item in receipt.items if item.status == "skipped"]
    assert reasons == ["its author opted out of persistence"]


def test_a_fact_lives_no_longer_than_the_message_it_was_made_from(
    memory: Memory, clock: MovableClock
) -> None:
    until = (clock.now + timedelta(days=3)).isoformat()
    say(memory, "I live in Berlin.", expires_at=until)
    memory.maintain()
    assert len(facts(memory)) == 1
    clock.forward(days=4)
    assert facts(memory) == []


def test_L5_a_fact_goes_to_the_organisation_and_its_agent(open_memory: OpenMemory) -> None:
    memory = open_memory(profile="lota", background=False)
    agent, other = "org:acme:agent:cto", "org:acme:agent:ceo"
    say(memory, "I live in Berlin.", scope=agent)
    memory.maintain()
    (shared,), (own,) = facts(memory, "org:acme"), facts(memory, agent)
    assert shared.text == own.text == "Ann lives in Berlin."
    assert shared.origin == own.origin
    assert shared.id != own.id
    assert shared.session_key == own.session_key == (agent, "chat")
    assert facts(memory, other) == []
    entries = {entry.batch for id_ in (shared.id, own.id) for entry in memory.history(id_)}
    assert len(entries) == 1
    memory.forget(session="chat", scope=agent)
    assert facts(memory, "org:acme") == facts(memory, agent) == []


def test_L5_a_session_of_the_organisation_teaches_the_agents_that_spoke(
    open_memory: OpenMemory,
) -> None:
    memory = open_memory(profile="lota", background=False)
    messages = [
        {"role": "user", "content": "I live in Berlin.", "author": "Ann"},
        {"role": "assistant", "content": "Noted.", "author": "cto"},
    ]
    memory.observe("meeting", messages, scope="org:acme")
    memory.maintain()
    assert texts(memory, "org:acme") == ["Ann lives in Berlin."]
    assert texts(memory, "org:acme:agent:cto") == ["Ann lives in Berlin."]
    assert texts(memory, "org:acme:agent:ceo") == []


def test_L5_copies_change_together(open_memory: OpenMemory, clock: MovableClock) -> None:
    memory = open_memory(profile="lota", background=False)
    agent = "org:acme:agent:cto"
    say(memory, "I live in Berlin.", scope=agent)
    memory.maintain()
    clock.forward(days=1)
    say(memory, "I live in Hamburg.", scope=agent)
    memory.maintain()
    for scope in ("org:acme", agent):
        assert texts(memory, scope) == ["Ann lives in Hamburg."], scope


def test_other_profiles_keep_a_fact_where_it_was_said(memory: Memory) -> None:
    say(memory, "I live in Berlin.", scope="org:acme:agent:cto")
    memory.maintain()
    assert facts(memory, "org:acme") == []


class KilledError(BaseException):
    """Nobody catches it."""


@pytest.mark.not_served("a worker that dies takes the server with it")
def test_a_killed_worker_leaves_nothing_half_done(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(memory, "I live in Berlin.", "Hello!", "I like tea.")
    before = everything_in(memory)
    engine = engine_of(memory)
    commit = type(engine.store).commit

    async def dies(store: Any, batch: Any) -> int:
        if batch.reason.startswith("learn"):
            raise KilledError
        return await commit(store, batch)

    with monkeypatch.context() as patched:
        patched.setattr(type(engine.store), "commit", dies)
        with pytest.raises(KilledError):
            memory.maintain()
    assert place(memory) == 0
    assert everything_in(memory) == before
    memory.maintain()
    assert len(facts(memory)) == 2
    assert place(memory) == 3


def test_a_message_that_is_forgotten_meanwhile_teaches_nothing(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(
        memory,
        {"role": "user", "content": "I live in Berlin.", "id": "m1"},
        {"role": "user", "content": "I like tea.", "id": "m2"},
    )
    engine = engine_of(memory)
    commit = type(engine.store).commit
    forgotten: list[bool] = []

    async def forget_first(store: Any, batch: Any) -> int:
        if batch.reason.startswith("learn") and not forgotten:
            forgotten.append(True)
            await memory._memory.forget(ids=["m1"], session="chat", scope=ANN)
        return await commit(store, batch)

    monkeypatch.setattr(type(engine.store), "commit", forget_first)
    memory.maintain()
    assert forgotten
    assert texts(memory) == ["Ann likes tea."]
    assert "Berlin" not in str(everything_in(memory))


def test_a_second_worker_that_comes_too_late_writes_nothing(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(memory, "I live in Berlin.")
    engine = engine_of(memory)
    commit = type(engine.store).commit
    moved: list[bool] = []

    async def move_first(store: Any, batch: Any) -> int:
        if batch.reason.startswith("learn") and not moved:
            moved.append(True)
            move = CursorMove(session=SessionKey(ANN, "chat"), reader=READER, old=0, new=1)
            other = Change(engine, ANN, "other").batch(cursors=(move,))
            await commit(store, other)
        return await commit(store, batch)

    monkeypatch.setattr(type(engine.store), "commit", move_first)
    assert learning_items(memory.maintain()) == []
    assert facts(memory) == []


def test_two_tenants_do_not_meet(memory: Memory) -> None:
    say(memory, "I live in Berlin.", author="Sam")
    say(memory, "I live in Rome.", scope=BOB, author="Sam")
    memory.maintain()
    assert texts(memory) == ["Sam lives in Berlin."]
    assert texts(memory, BOB) == ["Sam lives in Rome."]
