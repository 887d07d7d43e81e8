"""What ranks a hit besides its own words: the talk around it, who said it, when, and why."""

from __future__ import annotations

from typing import Any

from standfast import Memory
from standfast.types import Hit

SCOPE = "user:ann"


def said(role: str, text: str, at: str, author: str = "") -> dict[str, Any]:
    return {"role": role, "content": text, "at": at, "author": author}


def best(memory: Memory, query: str, **options: Any) -> Hit:
    return memory.recall(query, scope=SCOPE, **options).hits[0]


def stages(hit: Hit) -> dict[str, str]:
    return {why.stage: why.detail for why in hit.why}


def test_L8_an_answer_is_found_by_the_question_before_it(memory: Memory) -> None:
    at = "2026-11-01T10:00:00Z"
    memory.observe(
        "chat",
        [
            said("user", "Bob, which instrument did you learn as a child?", at, "ann"),
            said("user", "The cello, for nine years.", at, "bob"),
            said("user", "Nice weather today.", at, "ann"),
        ],
        scope=SCOPE,
    )
    memory.observe("other", [said("user", "A child is a child.", at, "eve")], scope=SCOPE)
    hits = memory.recall("Which instrument did Bob learn?", scope=SCOPE).hits
    answer = next(hit for hit in hits if "cello" in hit.record.text)
    assert hits.index(answer) <= 1
    assert "around" in stages(answer)["keyword"]


def test_L8_what_answers_a_question_counts_more(memory: Memory) -> None:
    """Both say the same words; one of them was asked for them."""
    for session, opening in (("asked", "How was it?"), ("told", "Nice to see you.")):
        turns = [
            said("user", opening, "2026-11-01T10:00:00Z", "ann"),
            said("user", f"The {session} climb was steep", "2026-11-01T10:01:00Z", "bob"),
        ]
        memory.observe(session, turns, scope=SCOPE)
    found = {hit.record.text: hit for hit in memory.recall("steep climb", scope=SCOPE).hits}
    asked, told = found["The asked climb was steep"], found["The told climb was steep"]
    assert stages(asked)["voice"] == "answers a question"
    assert "voice" not in stages(told)
    assert asked.score > told.score


def test_L8_what_the_person_said_comes_before_what_the_assistant_said(memory: Memory) -> None:
    at = "2026-11-01T10:00:00Z"
    memory.observe(
        "chat",
        [
            said("user", "My bike tour goes along the Danube", at),
            said("assistant", "A bike tour along the Danube goes by castles", at),
        ],
        scope=SCOPE,
    )
    hit = best(memory, "bike tour Danube goes")
    assert hit.record.source == "user"
    told = memory.recall("what did you tell me about the bike tour, Danube castles", scope=SCOPE)
    assert told.hits[0].record.source == "assistant"
    assert "voice" not in stages(told.hits[0])


def test_L12_a_time_in_the_question_prefers_what_was_said_then(memory: Memory) -> None:
    for day, dish in (("2026-03-02", "soup"), ("2026-07-02", "salad"), ("2026-09-02", "cake")):
        text = f"Today we cooked {dish}"
        memory.observe(dish, [said("user", text, f"{day}T10:00:00Z")], scope=SCOPE)
    now = "2026-11-15T12:00:00Z"
    hit = best(memory, "What did we cook in July 2026?", now=now)
    assert "salad" in hit.record.text
    assert "July 2026" in stages(hit)["time"]
    assert "time" not in stages(best(memory, "What did we cook?", now=now))


def test_L8_two_questions_in_one_find_both_answers(memory: Memory) -> None:
    memory.remember("The boss comes from Lisbon", scope=SCOPE)
    memory.remember("The boat festival is on the river Elbe", scope=SCOPE)
    for n in range(6):
        memory.remember(
            f"The boat festival has {n + 2} hundred boats, boats and boats", scope=SCOPE
        )
    text = "Where does the boss come from? And the boat festival, boat festival river Elbe?"
    found = [hit.record.text for hit in memory.recall(text, scope=SCOPE, limit=2).hits]
    assert found == [
        "The boss comes from Lisbon",
        "The boat festival is on the river Elbe",
    ] or found == ["The boat festival is on the river Elbe", "The boss comes from Lisbon"]


def test_O4_otto_asks_once_and_looks_at_no_neighbours(open_memory: Any) -> None:
    memory = open_memory(profile="otto")
    at = "2026-11-01T10:00:00Z"
    memory.observe(
        "chat",
        [said("user", "which instrument?", at, "ann"), said("user", "The cello.", at, "bob")],
        scope=SCOPE,
    )
    for hit in memory.recall("instrument? cello?", scope=SCOPE).hits:
        assert set(stages(hit)) <= {"cosine", "tag"}
        assert hit.keyword_around == 0


def test_X21_a_request_finds_what_the_person_wants_in_general(memory: Memory) -> None:
    at = "2026-11-01T10:00:00Z"
    wish = "I prefer trains to planes for holidays"
    turns = [wish, "The planes over our house fly low", "Trains are loud at night"]
    for number, text in enumerate(turns):
        memory.observe(f"chat-{number}", [said("user", text, at)], scope=SCOPE)
    hit = best(memory, "How should I go on holidays, trains or planes?")
    assert hit.record.text == wish
    assert stages(hit)["standing"] == "a wish"
    asked = best(memory, "Can you recommend trains or planes for holidays?")
    assert "standing" in stages(asked)  # not about what the assistant once recommended
    assert "standing" not in stages(best(memory, "Did the trains bother me on holidays?"))


def test_X21_who_asks_for_all_gets_a_spread_over_sessions(memory: Memory) -> None:
    """Eight turns of one talk, and a weaker one of each of four others."""
    long = [
        said("assistant", f"Trip {n}: a sailing trip", "2026-11-01T10:00:00Z") for n in range(8)
    ]
    memory.observe("long", long, scope=SCOPE)
    for n in range(4):
        text = f"Trip 1{n}: one sailing trip"
        memory.observe(f"s{n}", [said("assistant", text, "2026-10-01T10:00:00Z")], scope=SCOPE)

    def sessions(query: str) -> list[str]:
        hits = memory.recall(query, scope=SCOPE, limit=8, threshold=0.0).hits
        return [hit.record.session for hit in hits]

    assert sessions("sailing trip").count("long") == 8
    spread = sessions("How many sailing trip reports?")
    assert spread[:5] == ["long"] * 5  # the best stay first
    assert len(set(spread)) > 1
    hits = memory.recall("How many sailing trip reports?", scope=SCOPE, limit=12).hits
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
