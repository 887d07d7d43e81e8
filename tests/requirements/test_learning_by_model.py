"""Learning with a model: one question for several turns, and nothing of its answer believed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from standfast import Memory
from standfast.testing.scripted import ScriptedAnswer, ScriptedQuestion, ScriptedServer, fails
from standfast.upkeep.learn import AT_ONCE, DIGEST, LEARNED
from tests.requirements.conftest import MovableClock, OpenMemory
from tests.requirements.learning_world import (
    ANN,
    BOB,
    background_round,
    engine_of,
    everything_in,
    fact,
    facts,
    impatient,
    learning_items,
    learns,
    model_at,
    nothing,
    place,
    texts,
)

pytest.importorskip("pydantic_ai", reason="needs the extra llm")


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(otherwise=nothing()) as running:
        yield running


@pytest.fixture
def memory(open_memory: OpenMemory, server: ScriptedServer) -> Iterator[Memory]:
    with model_at(server):
        yield impatient(open_memory(background=False), seconds=20)


def say(memory: Memory, *said: Any, to: str = "chat", scope: str = ANN, **options: Any) -> None:
    memory.observe(to, list(said), scope=scope, **{"author": "Ann", **options})


def edges_of(memory: Memory, id_: str) -> set[tuple[str, str]]:
    edges = memory._loop.run(engine_of(memory).store.relations(ANN, (id_,)))
    return {(edge.kind, edge.target) for edge in edges if edge.source == id_}


def test_L6_one_question_for_a_batch_and_every_field_is_kept(
    memory: Memory, server: ScriptedServer
) -> None:
    say(memory, {"role": "user", "content": "Our cat Momo turned 7 last week.", "id": "m1"})
    say(memory, {"role": "user", "content": "Lovely weather here.", "id": "m2"})
    momo = fact(
        "Ann's cat Momo is 7.",
        type="entity",
        claim="momo / age / 7",
        confidence=0.9,
        importance=0.7,
        durability="core",
        tags="Pets, cats",
    )
    server.script(learns(momo, skip="t2: weather"))
    receipt = memory.maintain()
    (record,) = facts(memory)
    assert len(server.requests) == 1
    assert (record.text, record.type) == ("Ann's cat Momo is 7.", "entity")
    assert (record.confidence, record.importance, record.durability) == (0.9, 0.7, "core")
    assert record.tags == ("cats", "pets")
    assert record.data["how"] == "model"
    assert {"Ann", "Momo"} <= set(record.data["entities"])
    assert (record.lineage, record.trust, record.source) == (("m1",), 3, "user")
    skipped = [item for item in receipt.items if item.status == "skipped"]
    assert [(item.id, item.reason) for item in skipped] == [("m2", "the model: weather")]
    assert memory.get([skipped[0].record])[0].data[LEARNED] == "the model: weather"


def test_L6_the_model_sees_handles_times_speakers_and_what_is_known(
    memory: Memory, server: ScriptedServer
) -> None:
    known = memory.remember("Ann lives in Berlin.", scope=ANN, author="Ann").items[0].id
    foreign = memory.remember("Bob lives in Berlin.", scope=BOB).items[0].id
    at = "2026-11-14T23:30:00-07:00"
    say(
        memory,
        {
            "role": "user",
            "content": "Berlin is so loud these days, I want to move.",
            "id": "m1",
            "at": at,
        },
    )
    memory.maintain()
    (asked,) = server.requests
    assert "[t1] Sat 2026-11-14 23:30 -0700 USER Ann: Berlin is so loud" in asked.user
    assert "[k1] 2026-11-15 fact: Ann lives in Berlin." in asked.user
    assert "Bob" not in asked.user
    for secret in (known, foreign, "m1", ANN):
        assert secret not in asked.user
    assert asked.schema is not None
    assert asked.schema["additionalProperties"] is False


def test_X11_no_secret_reaches_the_model(memory: Memory, server: ScriptedServer) -> None:
    say(memory, "My key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789AB and I use it daily.")
    memory.maintain()
    for asked in server.requests:
        assert "abcdefghijklmnop" not in json.dumps(asked.body)


def test_A3_what_the_heuristics_surely_skip_costs_no_call(
    memory: Memory, server: ScriptedServer
) -> None:
    say(memory, "Hello!", "Thanks!")
    receipt = memory.maintain()
    assert server.requests == []
    assert {item.status for item in learning_items(receipt)} == {"skipped"}
    assert place(memory) == 2


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("No emojis in commits please.", 'Ann asks: "No emojis in commits please"'),
        ("I'm allergic to peanuts.", "Ann is allergic to peanuts."),
    ],
)
def test_A3_orders_and_safety_slots_are_kept_though_the_model_passes_them_over(
    memory: Memory, server: ScriptedServer, said: str, kept: str
) -> None:
    say(memory, said, "I don't like coffee.")
    server.script(learns(skip="t1: not important; t2: not important"))
    memory.maintain()
    (record,) = memory.records(scope=ANN, kinds=["semantic"]).items
    assert (record.text, record.data["how"]) == (kept, "network")


@pytest.mark.parametrize(
    ("said", "claimed", "why"),
    [
        ("I like tea.", "Ann likes tea and has 3 dogs.", "the number '3'"),
        ("I like tea.", "Ann works for Siemens.", "the name"),
        ("I like the sea very much.", "Ann owns an expensive yacht.", "words are in the messages"),
        ("I really do not enjoy opera.", "Ann enjoys opera.", "opposite"),
    ],
)
def test_L6_a_fact_that_nobody_said_is_refused(
    memory: Memory, server: ScriptedServer, said: str, claimed: str, why: str
) -> None:
    say(memory, said)
    server.script(learns(fact(claimed)))
    receipt = memory.maintain()
    assert claimed not in texts(memory)
    (refused,) = [item for item in receipt.items if "a fact is refused" in item.reason]
    assert why in refused.reason


def test_L6_too_many_facts_of_one_message_are_cut(memory: Memory, server: ScriptedServer) -> None:
    fruit = ["apples", "pears", "plums", "figs", "limes", "dates", "grapes"]
    say(memory, "For the cake we need " + ", ".join(fruit) + " and some sugar.")
    server.script(learns(*(fact(f"The cake of Ann needs {one}.") for one in fruit)))
    receipt = memory.maintain()
    assert len(facts(memory)) == 5
    assert sum("more than 5 facts" in item.reason for item in receipt.items) == 2


def test_L6_the_same_fact_twice_in_one_answer_is_one(
    memory: Memory, server: ScriptedServer
) -> None:
    say(memory, "Our cat Momo turned 7 last week.")
    server.script(learns(fact("Ann's cat Momo is 7."), fact("Ann's cat Momo is 7")))
    memory.maintain()
    assert len(facts(memory)) == 1


def test_L6_the_models_supersedes_is_only_a_hint(
    memory: Memory, server: ScriptedServer, clock: MovableClock
) -> None:
    nuts = memory.remember("Ann is allergic to nuts.", scope=ANN, author="Ann").items[0].id
    home = memory.remember("Ann lives in Berlin.", scope=ANN, author="Ann").items[0].id
    clock.forward(days=1)
    say(memory, "I live in Hamburg now.")

    def answer(asked: ScriptedQuestion) -> ScriptedAnswer:
        handles = {line.split("] ")[1][11:]: line[1:3] for line in asked.user.splitlines()
                   if line.startswith("[k")}  # fmt: skip
        wrong = handles["fact: Ann is allergic to nuts."]
        right = handles["fact: Ann lives in Berlin."]
        links = f"supersedes {wrong}; supersedes {right}"
        return learns(fact("Ann lives in Hamburg.", links=links))

    server.script(answer)
    memory.maintain()
    by_id = {record.id: record.status for record in memory.get([nuts, home])}
    assert by_id == {nuts: "active", home: "superseded"}


def test_L12_the_model_links_facts_with_each_other_and_with_known_ones(
    memory: Memory, server: ScriptedServer
) -> None:
    project = memory.remember("Project Kite moves to Postgres.", scope=ANN).items[0].id
    say(memory, "Project Kite needs a backup job because Postgres runs on one disk only.")
    server.script(
        learns(
            fact("Project Kite needs a backup job.", links="part_of k1, caused_by f2"),
            fact("Postgres of Project Kite runs on one disk only.", links="depends_on k1"),
        )
    )
    memory.maintain()
    by_text = {record.text: record.id for record in facts(memory)}
    job = by_text["Project Kite needs a backup job."]
    disk = by_text["Postgres of Project Kite runs on one disk only."]
    assert edges_of(memory, job) == {("part_of", project), ("caused_by", disk)}
    assert edges_of(memory, disk) == {("depends_on", project)}


def test_X5_a_wrong_date_of_the_model_is_put_right(memory: Memory, server: ScriptedServer) -> None:
    at = "2026-03-10T09:00:00+01:00"
    say(memory, {"role": "user", "content": "I sprained my ankle yesterday.", "at": at})
    server.script(learns(fact("Ann sprained her ankle.", when="2026-11-14")))
    receipt = memory.maintain()
    (record,) = facts(memory)
    assert record.valid_from == datetime(2026, 3, 8, 23, tzinfo=UTC)
    assert "not what the messages say" in learning_items(receipt)[0].reason


def test_X5_the_models_date_is_taken_where_it_is_the_messages(
    memory: Memory, server: ScriptedServer
) -> None:
    say(memory, "The lease of my garage runs from 2024-05-01 to 2025-04-30, then it is over.")
    server.script(learns(fact("Ann has the lease of a garage.", when="2024-05-01/2025-04-30")))
    memory.maintain()
    found = facts(memory, statuses=("active", "disputed", "superseded"))
    leased = [record for record in found if record.text == "Ann has the lease of a garage."]
    assert leased[0].valid_from == datetime(2024, 5, 1, tzinfo=UTC)
    assert leased[0].valid_to == datetime(2025, 5, 1, tzinfo=UTC)


def test_X9_trust_is_the_least_of_the_cited_messages(
    memory: Memory, server: ScriptedServer
) -> None:
    messages = [
        {"role": "user", "content": "What is my balance?", "author": "Ann"},
        {"role": "assistant", "content": "Your balance is 120 euros, Ann."},
    ]
    memory.observe("chat", messages, scope=ANN)
    server.script(learns(fact("The balance of Ann is 120 euros.", by="t1, t2")))
    memory.maintain()
    (record,) = facts(memory)
    assert (record.trust, record.source, record.author) == (2, "assistant", "Ann")


# Lanes


def test_L7_the_first_session_of_a_scope_is_learned_from_at_once(
    memory: Memory, server: ScriptedServer, clock: MovableClock
) -> None:
    say(memory, "Our cat is called Momo.")
    background_round(memory)
    assert len(server.requests) == 1
    clock.forward(minutes=1)
    say(memory, "Our dog is called Rex.", to="second")
    background_round(memory)
    assert len(server.requests) == 1
    assert place(memory, "second") == 0
    reasons = {entry.reason for entry in memory.history(scope=ANN)}
    assert f"learn: {AT_ONCE}" in reasons
    assert f"learn: {DIGEST}" not in reasons


def test_L7_a_channel_can_say_that_it_is_onboarding(
    memory: Memory, server: ScriptedServer, clock: MovableClock
) -> None:
    say(memory, "Hello!")
    clock.forward(minutes=1)
    say(memory, "Our dog is called Rex.", to="second", channel="onboarding")
    background_round(memory)
    assert len(server.requests) == 1


@pytest.fixture
def second(memory: Memory, clock: MovableClock) -> Memory:
    """A scope whose first session is over and done with."""
    say(memory, "Hello!", to="a-first")
    memory.maintain()
    clock.forward(minutes=1)
    return memory


def test_L7_a_digest_waits_for_enough_turns(second: Memory, server: ScriptedServer) -> None:
    for number in range(11):
        say(second, f"Our cat number {number} has a name too.")
        background_round(second)
    assert server.requests == []
    say(second, "Our dog has none.")
    background_round(second)
    assert len(server.requests) == 1
    assert place(second) == 12
    assert f"learn: {DIGEST}" in {entry.reason for entry in second.history(scope=ANN)}


def test_L7_what_is_told_late_waits_like_everything_else(
    second: Memory, server: ScriptedServer, clock: MovableClock
) -> None:
    """By its own time each of these messages would come after a month of silence."""
    for number in range(11):
        text = f"Our cat number {number} has a name too."
        told = {"role": "user", "content": text, "at": clock.now - timedelta(days=30)}
        second.observe("chat", [told], scope=ANN)
        background_round(second)
    assert server.requests == []
    clock.forward(minutes=31)
    background_round(second)
    assert len(server.requests) == 1


def test_L7_a_digest_waits_for_enough_tokens(second: Memory, server: ScriptedServer) -> None:
    say(second, "Our cat has a long story. " * 60)
    background_round(second)
    assert server.requests == []
    say(second, *("And our dog an even longer one. " * 130 for _ in range(3)))
    background_round(second)
    assert len(server.requests) >= 1


@pytest.mark.parametrize("what", ["quiet", "ended", "by hand"])
def test_L7_a_digest_waits_no_longer_than_needed(
    second: Memory, server: ScriptedServer, clock: MovableClock, what: str
) -> None:
    say(second, "Our cat is called Momo.")
    background_round(second)
    assert server.requests == []
    if what == "quiet":
        clock.forward(minutes=31)
        background_round(second)
    elif what == "ended":
        second.end("chat", scope=ANN)
        background_round(second)
    else:
        second.maintain()
    assert len(server.requests) == 1
    assert place(second) == 1


def test_L7_a_long_backlog_is_several_questions_each_of_bounded_size(
    memory: Memory, server: ScriptedServer
) -> None:
    for number in range(30):
        say(memory, f"Our cat number {number} has a long story. " * 20)
    memory.maintain()
    assert len(server.requests) >= 3
    assert max(len(asked.user) for asked in server.requests) < 20_000
    assert place(memory) == 30


# Failures and costs


def test_two_workers_pay_for_one_answer(memory: Memory, server: ScriptedServer) -> None:
    say(memory, "Our cat is called Momo.")
    server.script(learns(fact("Ann's cat is called Momo.")))
    inner = memory._memory

    async def both() -> None:
        await asyncio.gather(inner.maintain(), inner.maintain())

    memory._loop.run(both())
    assert len(server.requests) == 1
    assert texts(memory) == ["Ann's cat is called Momo."]


def test_a_worker_whose_lease_ran_out_writes_nothing(
    open_memory: OpenMemory, server: ScriptedServer, clock: MovableClock, tmp_path: Path
) -> None:
    file = str(tmp_path / "shared.db")
    with model_at(server):
        slow = impatient(open_memory(file, background=False), seconds=20)
        quick = impatient(open_memory(file, background=False), seconds=20)
    say(slow, "Our cat is called Momo.")
    answer = learns(fact("Ann's cat is called Momo."))

    def late(_: ScriptedQuestion) -> ScriptedAnswer:
        clock.forward(minutes=6)
        quick.maintain()
        return learns(fact("Our cat is called Momo."))

    server.script(late, answer)
    slow.maintain()
    assert len(server.requests) == 2
    assert texts(quick) == ["Ann's cat is called Momo."]


def test_X12_a_round_says_what_it_cost(memory: Memory, server: ScriptedServer) -> None:
    say(memory, "Our cat is called Momo.")
    say(memory, "Our dog is called Rex.", scope=BOB, author="Bob")
    server.script(fails(500), learns(fact("Bob's dog is called Rex.")))
    usage = memory.maintain().usage
    assert (usage.calls, usage.tokens_in, usage.tokens_out) == (2, 400, 60)
    assert usage.texts_embedded >= 1


def test_X12_a_budget_that_is_used_up_waits_without_counting_as_a_try(
    open_memory: OpenMemory, server: ScriptedServer, clock: MovableClock
) -> None:
    with model_at(server, STANDFAST_TOKENS_PER_DAY="100"):
        memory = impatient(open_memory(background=False))
    say(memory, "Our cat is called Momo.")
    for _ in range(7):
        (item,) = [item for item in memory.maintain().items if item.status == "failed"]
        assert "stuck" not in item.reason
        assert "budget" in item.reason
        clock.forward(hours=1)
    assert server.requests == []
    assert place(memory) == 0


def test_A10_an_opted_out_user_is_never_shown_to_a_model(
    memory: Memory, server: ScriptedServer
) -> None:
    memory.set_policy(ANN, persist=False)
    say(memory, "I live in Berlin.")
    memory.maintain()
    memory.end("chat", scope=ANN)
    memory.maintain()
    assert texts(memory) == ["Ann lives in Berlin."]
    assert server.requests == []


def test_A10_opting_out_before_it_was_learned_stops_the_model(
    memory: Memory, server: ScriptedServer
) -> None:
    say(memory, "I live in Berlin, and I plan to migrate the whole cluster by Friday evening.")
    memory.end("chat", scope=ANN, outcome="done")
    memory.set_policy(ANN, persist=False)
    memory.maintain()
    assert server.requests == []
    assert facts(memory) == []


def test_rules_only_asks_no_model(open_memory: OpenMemory, server: ScriptedServer) -> None:
    with model_at(server, STANDFAST_LEARN="rules"):
        memory = open_memory(background=False)
    say(memory, "I live in Berlin.")
    memory.maintain()
    assert texts(memory) == ["Ann lives in Berlin."]
    assert server.requests == []


# Episodes


def test_O2_the_models_episode_takes_the_place_of_the_extract(
    open_memory: OpenMemory, server: ScriptedServer, clock: MovableClock
) -> None:
    with model_at(server):
        memory = impatient(open_memory(profile="agtos", background=False), seconds=20)
    say(
        memory,
        {
            "role": "user",
            "content": "Please migrate the cluster to Postgres by Friday.",
            "id": "m1",
        },
    )
    memory.observe(
        "chat", [{"role": "assistant", "content": "Migrated 40 tables.", "id": "m2"}], scope=ANN
    )
    extract = memory.end("chat", scope=ANN, outcome="done without downtime").items[0].record
    better = "Ann requested to migrate the cluster to Postgres. Migrated 40 tables, no downtime."
    server.script(learns(episode=better))
    memory.maintain()
    (asked,) = server.requests
    assert "draft: Requested: Please migrate the cluster" in asked.user
    (old,) = memory.get([extract])
    assert old.status == "superseded"
    hits = memory.recall("migrate the cluster", scope=ANN, types=["episode"]).hits
    (episode,) = [hit.record for hit in hits]
    assert episode.text == better
    assert episode.data["how"] == "model"
    assert episode.lineage == old.lineage == ("m1", "m2")
    assert episode.expires_at == old.expires_at == clock.now + timedelta(days=30)
    assert edges_of(memory, episode.id) == {("supersedes", old.id)}
    memory.forget(ids=["m2"], session="chat", scope=ANN)
    assert "40 tables" not in str(everything_in(memory))


def test_O2_an_episode_that_says_more_than_was_said_is_refused(
    memory: Memory, server: ScriptedServer
) -> None:
    say(memory, "Please migrate the cluster to Postgres by Friday.")
    extract = memory.end("chat", scope=ANN, outcome="done").items[0].record
    server.script(learns(episode="Ann had the cluster migrated to Oracle for 9000 dollars."))
    receipt = memory.maintain()
    assert memory.get([extract])[0].status == "active"
    assert any("the extract stays" in item.reason for item in receipt.items)
