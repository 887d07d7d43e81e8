"""history and undo: every change is visible and reversible."""

from __future__ import annotations

from dataclasses import replace

import pytest

from standfast import Conflict, Memory, NotFound
from standfast.changes import Change
from standfast.testing.judge import ScriptedJudge
from standfast.understanding.judging.judge import Judged
from tests.requirements.asking import statuses, stored, texts


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], tuple[Judged, float]]:
    """What the judge of a memory that is opened later finds."""
    found: dict[tuple[str, str], tuple[Judged, float]] = {}
    judge = ScriptedJudge(found)
    monkeypatch.setattr("standfast.wiring._judge", lambda _: (judge, ""))
    return found


def test_X4_undo_takes_a_change_back_and_can_be_undone(memory: Memory) -> None:
    old = stored(memory, "Ann lives in Berlin", scope="user:ann")
    change = memory.remember("Ann lives in Hamburg", scope="user:ann", supersedes=old).change
    undone = memory.undo(change)
    assert "restored" in statuses(undone)
    assert texts(memory, "where does Ann live", scope="user:ann") == ["Ann lives in Berlin"]
    memory.undo(undone.change)
    assert texts(memory, "where does Ann live", scope="user:ann") == ["Ann lives in Hamburg"]


def test_X4_undo_of_a_merge_restores_the_old_fields(memory: Memory) -> None:
    id_ = stored(memory, "Ann likes tea", scope="user:ann", tags=["drink"])
    merge = memory.remember("Ann likes tea", scope="user:ann", tags=["hot"], importance=0.9)
    assert memory.get([id_])[0].importance == 0.9
    memory.undo(merge.change, scope="user:ann")
    record = memory.get([id_])[0]
    assert (record.tags, record.importance) == (("drink",), 0.5)


def test_X4_what_comes_back_together_is_as_it_was(
    known: dict[tuple[str, str], tuple[Judged, float]], memory: Memory
) -> None:
    """Only what was learned since may put it in doubt."""
    home = stored(memory, "Ann lives in Bonn", scope="user:ann")
    hut = stored(memory, "Ann has a hut in Graz", scope="user:ann")
    change = memory.revoke(ids=[home, hut]).change
    known["Bonn", "hut"] = known["hut", "Bonn"] = ("contradicts", 0.95)
    assert "disputed" not in statuses(memory.undo(change))
    assert [one.status for one in memory.get([home, hut])] == ["active", "active"]


def test_X4_undo_refuses_where_later_changes_build_on_it(memory: Memory) -> None:
    first = memory.remember("Ann likes tea", scope="user:ann")
    later = memory.remember("Ann likes tea", scope="user:ann", tags=["drink"])
    with pytest.raises(Conflict, match=later.change):
        memory.undo(first.change)
    memory.undo(later.change)
    # Its fields are back, but the record has moved on: naming the undo as the blocker.
    with pytest.raises(Conflict):
        memory.undo(first.change)


def test_undo_of_observe_keeps_the_log_and_retires_the_turns(memory: Memory) -> None:
    receipt = memory.observe("chat", ["something I said"], scope="user:ann")
    undone = memory.undo(receipt.change)
    assert {"restored", "skipped"} == set(statuses(undone))
    assert texts(memory, "something", scope="user:ann") == []


def test_X6_what_undo_brings_back_is_disputed_by_what_was_learned_since(memory: Memory) -> None:
    berlin = stored(memory, "Ann lives in Berlin", scope="user:ann")
    archived = memory.archive([berlin]).change
    rome = stored(memory, "Ann lives in Rome", scope="user:ann")
    undone = memory.undo(archived)
    assert [(i.id, i.status) for i in undone.items][-1] == (berlin, "disputed")
    assert [one.status for one in memory.get([berlin, rome])] == ["disputed", "disputed"]
    (waiting,) = memory.review(scope="user:ann")
    assert {waiting.id, *(one.id for one in waiting.touches)} == {berlin, rome}
    memory.maintain()
    kept = [one.status for one in memory.get([berlin, rome])]
    assert kept == ["disputed", "disputed"], "no run decides against what a person brought back"
    again = memory.undo(undone.change)
    assert [one.status for one in memory.get([berlin, rome])] == ["archived", "active"]
    memory.undo(again.change)  # the edge is there already, retired
    assert [one.status for one in memory.get([berlin, rome])] == ["disputed", "disputed"]


def test_X4_undo_disputes_nothing_that_stood_beside_it_before(memory: Memory) -> None:
    engine = memory._memory._engine
    judge, engine.change_judge = engine.change_judge, None
    berlin = stored(memory, "Ann lives in Berlin", scope="user:ann")
    rome = stored(memory, "Ann lives in Rome", scope="user:ann")
    engine.change_judge = judge
    memory.undo(memory.archive([berlin]).change)
    assert [one.status for one in memory.get([berlin, rome])] == ["active", "active"]


def test_undo_skips_what_was_erased(memory: Memory) -> None:
    receipt = memory.remember("Ann likes tea", scope="user:ann")
    memory.forget(ids=[receipt.items[0].id])
    undone = memory.undo(receipt.change)
    assert [(i.status, i.reason) for i in undone.items] == [("skipped", "erased for good")]


def test_undo_of_an_unknown_change_is_not_found(memory: Memory) -> None:
    with pytest.raises(NotFound, match="no change"):
        memory.undo("no-such-change")


def test_history_shows_what_happened_to_a_record_without_its_text(memory: Memory) -> None:
    id_ = stored(memory, "Ann likes tea", scope="user:ann", actor="test")
    memory.remember("Ann likes tea", scope="user:ann", importance=0.9)
    entries = memory.history(id_)
    assert [entry.reason for entry in entries] == ["remember", "merge"]
    assert entries[0].actor.endswith("test")
    changed = next(touch for touch in entries[1].touched if touch.id == id_)
    assert changed.before is not None
    assert changed.after is not None
    assert (changed.before["importance"], changed.after["importance"]) == (0.5, 0.9)
    assert "tea" not in repr(entries)


def test_history_of_a_scope_is_newest_first(memory: Memory) -> None:
    for n in range(4):
        stored(memory, f"note number {n} about topic {n}", scope="user:ann")
    entries = memory.history(scope="user:ann", limit=3)
    assert [entry.seq for entry in entries] == [4, 3, 2]


def test_history_of_an_unknown_record_is_not_found(memory: Memory) -> None:
    with pytest.raises(NotFound):
        memory.history("no-such-record")


def test_X4_undo_restores_every_field_that_several_commits_changed(memory: Memory) -> None:
    id_ = stored(memory, "Ann likes tea", scope="user:ann")
    engine = memory._memory._engine
    for fields in ({"importance": 0.9}, {"tags": ("drink",)}, {"importance": 0.7}):
        [record] = memory.get([id_])
        changed = (replace(record, **fields),)
        batch = Change(engine, "user:ann", "test", id="one").batch(records=changed)
        memory._loop.run(engine.store.commit(batch))
    memory.undo("one")
    [record] = memory.get([id_])
    assert (record.importance, record.tags) == (0.5, ())
