"""What was said once and changed since does not stand before what is true now."""

from __future__ import annotations

import pytest

from standfast import Memory
from standfast.testing.judge import ScriptedJudge

ANN = "user:ann"


@pytest.fixture(autouse=True)
def judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the second statement of each test does to the first is given."""
    judge = ScriptedJudge(
        {
            ("live in Berlin", "moved to Hamburg"): ("replaces", 0.95),
            ("charge 70", "Up to 85"): ("contradicts", 0.95),
        }
    )
    monkeypatch.setattr("standfast.wiring._judge", lambda _: (judge, ""))


def say(memory: Memory, text: str, at: str, session: str) -> None:
    message = {"role": "user", "content": text, "at": at, "author": "Ann"}
    memory.observe(session, [message], scope=ANN)
    memory.maintain()


def told(memory: Memory) -> None:
    say(memory, "I live in Berlin, near the zoo.", "2026-01-10T10:00:00+00:00", "one")
    say(memory, "I moved to Hamburg yesterday.", "2026-03-05T10:00:00+00:00", "two")


def test_X6_L12_a_turn_whose_fact_was_replaced_brings_the_new_fact_and_stands_behind_it(
    memory: Memory,
) -> None:
    told(memory)
    hits = memory.recall("do I live in Berlin near the zoo?", scope=ANN).hits
    texts = [hit.record.text for hit in hits]
    old = next(hit for hit in hits if "zoo" in hit.record.text)
    assert any(why.stage == "outdated" for why in old.why)
    assert "Hamburg" in texts[0]
    assert any(why.stage in ("replaces", "same source") for why in hits[0].why)


def test_X6_the_packet_says_what_is_true_now(memory: Memory) -> None:
    told(memory)
    packet = memory.context(query="where do I live, in Berlin near the zoo?", scope=ANN)
    assert packet.text.index("Hamburg") < packet.text.index("Berlin, near the zoo")


def test_X5_whoever_asks_about_the_past_gets_the_turn_as_it_was(memory: Memory) -> None:
    told(memory)
    answer = memory.recall("live near the zoo", scope=ANN, as_of="2026-02-01T00:00:00+00:00")
    assert all(why.stage != "outdated" for hit in answer.hits for why in hit.why)
    assert "Berlin" in answer.hits[0].record.text


def test_X4_undoing_the_change_takes_the_mark_away(memory: Memory) -> None:
    say(memory, "I live in Berlin, near the zoo.", "2026-01-10T10:00:00+00:00", "one")
    message = {"role": "user", "content": "I moved to Hamburg.", "at": "2026-03-05T10:00:00+00:00"}
    memory.observe("two", [{**message, "author": "Ann"}], scope=ANN)
    memory.maintain()
    (learned,) = [e for e in memory.history(scope=ANN, limit=50) if e.reason.startswith("learn")][
        :1
    ]
    memory.undo(learned.change, scope=ANN)
    hits = memory.recall("do I live in Berlin near the zoo?", scope=ANN).hits
    assert all(why.stage != "outdated" for hit in hits for why in hit.why)


def test_K3_what_is_in_doubt_is_shown_with_its_doubt_and_not_as_the_turn_that_has_none(
    memory: Memory,
) -> None:
    say(memory, "I charge 70 an hour for gardening.", "2026-01-10T10:00:00+00:00", "one")
    say(memory, "Up to 85 now.", "2026-03-05T10:00:00+00:00", "two")
    hits = memory.recall("what do I charge an hour for gardening?", scope=ANN).hits
    (shown,) = [hit.record for hit in hits if "70" in hit.record.text]
    assert (shown.type, shown.status) == ("fact", "disputed")
    assert any("85" in hit.record.text for hit in hits), "what it is disputed by comes along"
