"""Pages and tools write without end: what a person said keeps its place beside them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from standfast import Memory
from standfast.types import Answer
from tests.requirements.asking import stored, stored_all, texts
from tests.requirements.conftest import MovableClock, OpenMemory

ANN = "user:ann"
FACT = "The spare key hangs in the boiler room"
ASKED = "where is the spare key"


def crowd(many: int, about: str = ASKED) -> Iterator[str]:
    """Texts that say a question's words again, and nothing else."""
    for number in range(many):
        yield f"{about.capitalize()}? {about}, page {number}: see below"


def told(memory: Memory, fact: str = FACT) -> str:
    return stored(memory, fact, scope=ANN)


def from_outside(answer: Answer) -> list[bool]:
    return [hit.record.source in ("web", "tool") for hit in answer.hits]


@pytest.mark.parametrize("source", ["web", "tool"])
@pytest.mark.parametrize("embedder", ["hashing", "none"])
@pytest.mark.parametrize("many", [10, 200])
def test_X9_pages_and_tools_crowd_nobody_out(
    open_memory: OpenMemory, many: int, embedder: str, source: str
) -> None:
    memory = open_memory(embedder=embedder)
    told(memory)
    stored_all(memory, crowd(many), scope=ANN, source=source)
    assert FACT in texts(memory, ASKED, scope=ANN)
    assert FACT in memory.context(query=ASKED, scope=ANN).text
    [best] = memory.recall(ASKED, scope=ANN, limit=1).hits
    assert best.record.text == FACT


@pytest.mark.parametrize(("embedder", "source"), [("hashing", "web"), ("none", "tool")])
def test_X9_two_thousand_pages_crowd_nobody_out(tmp_path: Path, embedder: str, source: str) -> None:
    with Memory.open(tmp_path / "m.db", embedder=embedder, background=False) as memory:
        told(memory)
        stored_all(memory, crowd(2000), scope=ANN, source=source)
        assert FACT in texts(memory, ASKED, scope=ANN)
        assert texts(memory, ASKED, scope=ANN, limit=1) == [FACT]
        assert FACT in memory.context(query=ASKED, scope=ANN).text
        assert FACT in memory.context(query=ASKED, scope=ANN, tokens=300).text


def test_X9_one_page_does_not_end_an_answer_before_a_person_is_heard(
    open_memory: OpenMemory,
) -> None:
    # With the model in the box an answer ends where the scores fall off, and nothing scores higher
    # than the question itself.
    memory = open_memory(embedder="recall-2")
    fact, asked = "My daughter turned six last week", "how old is my daughter"
    stored(memory, fact, scope=ANN)
    assert texts(memory, asked, scope=ANN) == [fact]
    stored(memory, asked, scope=ANN, source="web")
    assert fact in texts(memory, asked, scope=ANN)
    assert texts(memory, asked, scope=ANN, limit=1) == [fact]


def test_X9_pages_have_half_of_the_places_while_others_wait(memory: Memory) -> None:
    stored_all(memory, (f"Spare key number {n} is in room {n}" for n in range(20)), scope=ANN)
    stored_all(memory, crowd(60), scope=ANN, source="web")
    for limit in range(1, 12):
        answer = memory.recall(ASKED, scope=ANN, limit=limit)
        assert len(answer.hits) == limit
        assert sum(from_outside(answer)) == limit // 2
        scores = [hit.score for hit in answer.hits]
        assert scores == sorted(scores, reverse=True)
        assert any("passed over" in note for note in answer.notes)


def test_X9_who_waits_gets_no_more_places_than_they_need(memory: Memory) -> None:
    told(memory)
    stored_all(memory, crowd(30), scope=ANN, source="web")
    answer = memory.recall(ASKED, scope=ANN, limit=6)
    assert sorted(from_outside(answer)) == [False] + 5 * [True]


def test_X9_who_was_passed_over_is_told(memory: Memory) -> None:
    told(memory)
    pages = set(stored_all(memory, crowd(6), scope=ANN, source="web"))
    answer = memory.recall(ASKED, scope=ANN, limit=6, explain=True)
    [passed] = pages - {hit.record.id for hit in answer.hits}
    [said] = [note for note in answer.notes if passed in note]
    assert "pages and tools take half of the places at most" in said
    assert "passed over: place 6 of 7" in memory.why_not(passed, ASKED, scope=ANN, limit=6).notes[0]


@pytest.mark.parametrize("source", ["web", "tool"])
def test_X9_a_memory_of_nothing_else_loses_nothing(memory: Memory, source: str) -> None:
    stored_all(memory, crowd(40), scope=ANN, source=source)
    stored_all(memory, crowd(40), scope="user:bob")
    for limit in (1, 6, 40):
        answer = memory.recall(ASKED, scope=ANN, limit=limit)
        as_a_persons = memory.recall(ASKED, scope="user:bob", limit=limit)
        assert [(hit.record.text, hit.score) for hit in answer.hits] == [
            (hit.record.text, hit.score) for hit in as_a_persons.hits
        ]
        assert len(answer.hits) == limit
        assert not any("passed over" in note for note in answer.notes)


def test_X9_what_is_imported_or_an_agents_is_not_halved(memory: Memory) -> None:
    told(memory)
    for source in ("import", "assistant", "file"):
        stored_all(memory, (f"{source}: {one}" for one in crowd(8)), scope=ANN, source=source)
    answer = memory.recall(ASKED, scope=ANN)
    assert not any("passed over" in note for note in answer.notes)
    assert FACT not in [hit.record.text for hit in answer.hits]


def test_X9_what_a_person_confirmed_is_theirs(memory: Memory) -> None:
    stored(memory, FACT, scope=ANN, source="web")
    memory.remember(FACT, scope=ANN)
    stored_all(memory, crowd(30), scope=ANN, source="web")
    assert texts(memory, ASKED, scope=ANN, limit=1) == [FACT]


def test_X9_a_page_that_copies_a_persons_words_does_not_stand_for_them(
    memory: Memory, clock: MovableClock
) -> None:
    mine = stored(memory, FACT, scope="org:acme")
    clock.forward(days=40)
    copy = stored(memory, FACT, scope="org:acme:agent:cto", source="web")
    answer = memory.recall(ASKED, scope="org:acme:agent:cto")
    assert [hit.record.id for hit in answer.hits] == [mine] != [copy]


def test_X9_without_words_the_newest_pages_leave_room(memory: Memory, clock: MovableClock) -> None:
    told(memory)
    clock.forward(hours=1)
    stored_all(memory, crowd(120), scope=ANN, source="tool")
    assert FACT in texts(memory, "", scope=ANN)


def test_X9_a_packet_without_a_question_says_what_a_recall_without_words_says(
    memory: Memory, clock: MovableClock
) -> None:
    told(memory)
    quiet = memory.context(query="", scope=ANN)
    assert quiet.notes == memory.recall("", scope=ANN).notes
    clock.forward(hours=1)
    stored_all(memory, crowd(130), scope=ANN, source="tool")
    told_of = memory.context(query="", scope=ANN).notes
    assert set(memory.recall("", scope=ANN, limit=120).notes) <= set(told_of)
    assert any("passed over" in note for note in told_of)


def test_X9_pages_leave_room_in_a_small_packet(memory: Memory) -> None:
    # Longer than a page, so that no gap behind the last of them is large enough.
    fact = f"{FACT}, on the hook behind the door, below the shelf with the paint and the old lamp"
    told(memory, fact)
    stored_all(memory, crowd(50), scope=ANN, source="web")
    for tokens in (200, 500, 1000):
        packet = memory.context(query=ASKED, scope=ANN, tokens=tokens)
        assert fact in packet.text
        assert 0.75 * tokens < packet.tokens <= tokens, "what nobody else needs is theirs"


def test_X9_pages_push_no_core_memory_out_of_a_packet(memory: Memory) -> None:
    stored(memory, "Ann is allergic to peanuts", scope=ANN, durability="core")
    weight = {"durability": "core", "importance": 1.0}
    stored_all(memory, crowd(420, "page and page"), scope=ANN, source="web", **weight)
    assert "peanuts" in memory.context(query="what is for lunch", scope=ANN).stable_text


def test_X9_pages_push_no_episode_out_of_a_packet(memory: Memory, clock: MovableClock) -> None:
    stored(memory, "Ann planned the trip to Bergen", scope=ANN, type="episode")
    clock.forward(hours=1)
    stored_all(memory, crowd(210), scope=ANN, source="web", type="episode")
    assert "Bergen" in memory.context(query="hello", scope=ANN).text
