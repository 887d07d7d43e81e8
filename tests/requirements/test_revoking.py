"""X4, X9: "revoke everything that came from X" follows lineage, destroys nothing, and can be
undone."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from standfast import Denied, Invalid, Memory
from tests.requirements.conftest import MovableClock, OpenMemory

SCOPE = "user:ann"


def texts(memory: Memory, query: str = "", **filters: object) -> list[str]:
    hits = memory.recall(query, scope=SCOPE, limit=50, **filters).hits  # type: ignore[arg-type]
    return sorted(hit.record.text for hit in hits)


def keep(memory: Memory, text: str, **options: object) -> str:
    receipt = memory.remember(text, scope=SCOPE, **options)  # type: ignore[arg-type]
    return receipt.items[0].id


def test_X9_everything_from_a_source_is_retired_and_undo_brings_it_back(memory: Memory) -> None:
    page = [{"role": "tool", "content": "The fair opens in May.", "id": "m1"}]
    memory.observe("chat", page, scope=SCOPE)
    memory.observe("chat", "I want to see the fair.", scope=SCOPE)
    fact = keep(memory, "The fair closes in June.", source="tool")
    receipt = memory.revoke(source="tool", scope=SCOPE)
    assert {item.record for item in receipt.items} >= {fact}
    assert {item.status for item in receipt.items} == {"stored"}
    assert texts(memory) == ["I want to see the fair."]
    assert "1 messages stay in the log" in receipt.notes[0]
    memory.undo(receipt.change)
    assert texts(memory) == [
        "I want to see the fair.",
        "The fair closes in June.",
        "The fair opens in May.",
    ]


def test_X9_a_dry_run_says_what_would_go_and_changes_nothing(memory: Memory) -> None:
    fact = keep(memory, "The fair closes in June.", source="web")
    receipt = memory.revoke(source="web", scope=SCOPE, dry_run=True)
    assert [(item.id, item.status) for item in receipt.items] == [(fact, "pending")]
    assert receipt.change == ""
    assert texts(memory) == ["The fair closes in June."]


def test_X9_what_the_user_said_too_survives_and_is_named(memory: Memory) -> None:
    fact = keep(memory, "The fair closes in June.", source="web")
    assert keep(memory, "The fair closes in June.") == fact
    receipt = memory.revoke(source="web", scope=SCOPE)
    assert receipt.survivors == (fact,)
    assert "somebody more trusted" in receipt.notes[0]
    assert texts(memory) == ["The fair closes in June."]


def test_X9_an_episode_with_other_messages_survives_and_one_without_goes(memory: Memory) -> None:
    tool = [{"role": "tool", "content": "Disk is full"}]
    memory.observe("mixed", "Please look why the build server is so slow today", scope=SCOPE)
    memory.observe("mixed", tool, scope=SCOPE)
    mixed = memory.end("mixed", scope=SCOPE, outcome="found it").items[0].id
    memory.observe("alone", tool, scope=SCOPE)
    alone = memory.end("alone", scope=SCOPE, outcome="cleaned").items[0].id
    receipt = memory.revoke(source="tool", scope=SCOPE)
    assert receipt.survivors == (mixed,)
    assert alone in {item.id for item in receipt.items}
    statuses = {record.id: record.status for record in memory.get([mixed, alone])}
    assert statuses == {mixed: "active", alone: "archived"}


def test_X9_what_was_derived_goes_with_its_sources(memory: Memory) -> None:
    first = keep(memory, "Acme builds ships.", source="web")
    richer = keep(memory, "Acme builds ships in Kiel.", source="web", supersedes=first)
    receipt = memory.revoke(ids=[richer])
    restored = [item.id for item in receipt.items if item.status == "restored"]
    assert restored == [first]
    assert texts(memory) == ["Acme builds ships."]
    memory.undo(receipt.change)
    assert texts(memory) == ["Acme builds ships in Kiel."]


def test_X9_what_a_revoked_record_replaced_is_believed_again_and_not_closed(
    memory: Memory, clock: MovableClock
) -> None:
    old = keep(memory, "The office is in Berlin.", source="tool")
    clock.forward(days=2)
    since = clock.now.isoformat()
    new = keep(memory, "The office is in Bonn.", source="tool", supersedes=old, valid_from=since)
    clock.forward(days=2)
    memory.revoke(ids=[new])
    assert texts(memory) == ["The office is in Berlin."]
    assert texts(memory, as_of=clock.now - timedelta(hours=1)) == ["The office is in Berlin."]


def test_X9_of_what_was_filed_as_history_twice_one_is_believed_again(
    memory: Memory, clock: MovableClock
) -> None:
    """Berlin is known when two messages tell, late, of Hamburg before it."""
    now = clock.now
    memory.observe("chat", [{"id": "b", "role": "user", "content": "I live in Berlin."}],
                   scope=SCOPE, author="Ann")  # fmt: skip
    late = {"role": "user", "content": "I live in Hamburg.", "at": now - timedelta(days=9)}
    memory.observe("late", [{**late, "id": "h1"}, {**late, "id": "h2"}], scope=SCOPE, author="Ann")
    memory.maintain()
    assert texts(memory, kinds=["semantic"]) == ["Ann lives in Berlin."]
    clock.forward(days=1)
    receipt = memory.revoke(session="chat", scope=SCOPE)
    assert texts(memory, kinds=["semantic"]) == ["Ann lives in Hamburg."]
    (hamburg,) = memory.recall("Hamburg", scope=SCOPE, kinds=["semantic"]).hits
    assert hamburg.record.valid_to is None, "it ended only because of Berlin"
    memory.undo(receipt.change)
    assert texts(memory, kinds=["semantic"]) == ["Ann lives in Berlin."]


def test_X6_what_something_known_by_now_speaks_against_stays_retired(
    memory: Memory, clock: MovableClock
) -> None:
    berlin = keep(memory, "Ann lives in Berlin.", source="tool")
    clock.forward(days=1)
    hamburg = keep(memory, "Ann lives in Hamburg.", source="tool", author="eve", supersedes=berlin)
    rome = keep(memory, "Ann lives in Rome.", source="tool", valid_from=clock.now)
    receipt = memory.revoke(author="eve", scope=SCOPE)
    statuses = {one.id: one.status for one in memory.get([berlin, hamburg, rome])}
    assert statuses == {berlin: "superseded", hamburg: "archived", rome: "active"}
    assert any(note.startswith(berlin) and "speaks against it" in note for note in receipt.notes)


def test_X9_what_something_else_replaced_too_stays_retired(memory: Memory) -> None:
    old = keep(memory, "The office is in Berlin.")
    keep(memory, "The office moved to Bonn.", supersedes=old)
    rumour = keep(memory, "The office was never in Berlin at all.", author="eve")
    memory.relate(rumour, "supersedes", old)
    memory.revoke(author="eve", scope=SCOPE)
    assert "The office is in Berlin." not in texts(memory)


def test_X6_the_other_side_of_a_dispute_is_no_longer_disputed(memory: Memory) -> None:
    mine = keep(memory, "My phone number is 555 1234.")
    theirs = keep(
        memory, "My phone number is 555 9999.", author="eve", valid_from="2020-01-01T00:00:00Z"
    )
    memory.dispute(mine, by=theirs)
    assert [r.status for r in memory.get([mine, theirs])] == ["disputed", "disputed"]
    receipt = memory.revoke(author="eve", scope=SCOPE)
    assert [r.status for r in memory.get([mine, theirs])] == ["active", "archived"]
    memory.undo(receipt.change)
    assert [r.status for r in memory.get([mine, theirs])] == ["disputed", "disputed"]


def test_X9_by_author_session_and_time(memory: Memory, clock: MovableClock) -> None:
    memory.observe("one", "I like tea.", scope=SCOPE, author="bob")
    clock.forward(days=1)
    memory.observe("two", "I like coffee.", scope=SCOPE, author="eve")
    assert len(memory.revoke(author="bob", scope=SCOPE).items) == 1
    assert texts(memory) == ["I like coffee."]
    revoked = memory.revoke(session="two", scope=SCOPE, since=clock.now).items
    assert len(revoked) == 2  # the message, and what asking has learned from it
    assert texts(memory) == []
    assert memory.revoke(session="two", scope=SCOPE).items == ()


def test_X4_nothing_is_learned_from_revoked_messages(memory: Memory) -> None:
    memory.observe("chat", "Remember that I live in Hamburg.", scope=SCOPE)
    memory.revoke(session="chat", scope=SCOPE)
    memory.end("chat", scope=SCOPE)
    memory.maintain()
    assert texts(memory) == []
    memory.observe("chat", "Remember that I live in Bremen.", scope=SCOPE)
    memory.maintain()
    assert not [text for text in texts(memory) if "Hamburg" in text]


def test_X9_revoking_says_what_it_needs(memory: Memory) -> None:
    with pytest.raises(Invalid, match="say what to revoke"):
        memory.revoke()
    receipt = memory.revoke(ids=["nobody"])
    assert [(i.status, i.reason) for i in receipt.items] == [("skipped", "there is no such record")]
    assert receipt.change == ""


def test_X9_a_bound_handle_revokes_in_its_own_scope_only(
    open_memory: OpenMemory, sqlite_file: Path
) -> None:
    whole = open_memory(str(sqlite_file))
    other = whole.remember("Bob likes tea.", scope="user:bob", source="web").items[0].id
    mine = whole.remember("Ann likes tea.", scope=SCOPE, source="web").items[0].id
    bound = open_memory(str(sqlite_file), scope=SCOPE)
    assert [item.id for item in bound.revoke(source="web").items] == [mine]
    assert bound.revoke(ids=[other]).items[0].reason == "there is no such record"
    with pytest.raises(Denied):
        bound.revoke(source="web", scope="user:bob")
    assert whole.get([other])[0].status == "active"
