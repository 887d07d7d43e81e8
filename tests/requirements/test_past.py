"""What is told of another time, and what a threshold is held against."""

from __future__ import annotations

import pytest

from standfast import Memory
from tests.requirements.asking import stored, texts
from tests.requirements.conftest import MovableClock, OpenMemory

pytestmark = pytest.mark.not_served("what is true when is decided behind every surface")

ANN = "user:ann"
ASKED = {"query": "where does Ann live", "scope": ANN}


@pytest.mark.parametrize(
    "text", ["Ann lives in Berlin", "Ann lives at 12 Elm Street", "安住在柏林"]
)
def test_P8_X5_what_is_told_today_says_nothing_about_1990(memory: Memory, text: str) -> None:
    id_ = stored(memory, text, scope=ANN)
    for query in (text, ""):
        assert texts(memory, query, scope=ANN, as_of="1990-01-01T00:00:00Z") == []
        assert texts(memory, query, scope=ANN) == [text]
    packet = memory.context(query=text, scope=ANN, as_of="1990-01-01T00:00:00Z")
    assert text not in packet.text
    told = memory.why_not(id_, text, scope=ANN, as_of="1990-01-01T00:00:00Z").notes[0]
    assert "nobody said since when" in told


def test_P8_X5_it_is_told_of_the_time_since_it_was_told(
    memory: Memory, clock: MovableClock
) -> None:
    stored(memory, "Ann lives in Berlin", scope=ANN)
    clock.forward(days=30)
    then = clock.now.isoformat()
    clock.forward(days=30)
    assert texts(memory, **ASKED, as_of=then) == ["Ann lives in Berlin"]


def test_P8_X5_words_that_name_a_time_count_from_it(memory: Memory) -> None:
    stored(memory, "Ann has lived in Berlin since 2012", scope=ANN)
    assert texts(memory, **ASKED, as_of="2011-06-01T00:00:00Z") == []
    assert texts(memory, **ASKED, as_of="2013-06-01T00:00:00Z") != []


def test_P8_X5_what_a_dated_change_ended_is_told_from_when_it_was_told(
    memory: Memory, clock: MovableClock
) -> None:
    berlin = stored(memory, "Ann lives in Berlin", scope=ANN)
    clock.forward(days=30)
    between = clock.now.isoformat()
    clock.forward(days=30)
    memory.remember(
        "Ann lives in Hamburg", scope=ANN, supersedes=berlin, valid_from=clock.now.isoformat()
    )
    assert texts(memory, **ASKED, as_of=between) == ["Ann lives in Berlin"]
    assert texts(memory, **ASKED, as_of="1990-01-01T00:00:00Z") == []
    assert texts(memory, **ASKED) == ["Ann lives in Hamburg"]


@pytest.mark.parametrize("profile", ["openmotoko", "agtos"])
def test_P6_A11_a_threshold_is_held_against_the_similarity(
    open_memory: OpenMemory, profile: str
) -> None:
    memory = open_memory(profile=profile, embedder="hashing", background=False)
    stored(memory, "Ann grows tomatoes in her garden", scope=ANN)
    (hit,) = memory.recall("tomatoes in the garden", scope=ANN).hits
    assert hit.similarity is not None
    assert hit.similarity > 0.3
    just_below, just_above = hit.similarity - 0.01, hit.similarity + 0.01
    told = memory.why_not(
        hit.record.id, "tomatoes in the garden", scope=ANN, threshold=just_above
    ).notes[0]
    assert "similarity" in told
    for least, there in ((just_below, True), (just_above, False)):
        packet = memory.context(query="tomatoes in the garden", scope=ANN, threshold=least)
        assert ("tomatoes" in packet.text) is there
        found = texts(memory, "tomatoes in the garden", scope=ANN, threshold=least)
        assert bool(found) is there
