"""The journal is kept as long as it is wanted, and what still needs it keeps its part."""

from __future__ import annotations

from pathlib import Path

import pytest

from standfast import Memory, NotFound
from standfast.settings import Settings
from standfast.stores.sqlite import doctor
from standfast.testing.values import make_batch, make_record
from tests.requirements.conftest import MovableClock, OpenMemory

ANN = "user:ann"


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    memory = open_memory(background=False)
    memory._memory._engine.journal_days = 30
    return memory


def reasons(memory: Memory) -> list[str]:
    engine = memory._memory._engine
    entries = memory._loop.run(engine.store.journal(ANN, limit=1000))
    return [entry.reason for entry in entries]


def test_the_journal_is_kept_for_ever_unless_somebody_says_otherwise(
    open_memory: OpenMemory, clock: MovableClock
) -> None:
    assert Settings().journal_days == 0
    memory = open_memory(background=False)
    memory.remember("the first thing", scope=ANN)
    memory.maintain()
    clock.forward(days=3650)
    memory.remember("the last thing", scope=ANN)
    memory.maintain()
    assert reasons(memory).count("remember") == 2


def test_X4_what_is_old_goes_and_what_is_young_can_be_undone(
    memory: Memory, clock: MovableClock
) -> None:
    old = memory.remember("an old thing", scope=ANN)
    memory.maintain()
    clock.forward(days=20)
    young = memory.remember("a young thing", scope=ANN)
    memory.maintain()
    assert reasons(memory).count("remember") == 2
    clock.forward(days=15)
    memory.maintain()
    assert reasons(memory).count("remember") == 1
    with pytest.raises(NotFound):
        memory.undo(old.change)
    assert memory.undo(young.change).items[0].status == "restored"
    assert memory.recall("old thing", scope=ANN).hits[0].record.id == old.items[0].id


def test_X4_a_change_of_several_commits_goes_as_a_whole(
    memory: Memory, clock: MovableClock
) -> None:
    engine = memory._memory._engine

    def commit(number: int) -> None:
        record = make_record(f"r{number}", scope=ANN)
        batch = make_batch(record, reason="long", change="long change", at=clock.now)
        memory._loop.run(engine.store.commit(batch))

    commit(1)
    clock.forward(days=20)
    commit(2)
    clock.forward(days=15)
    memory.remember("so that there is a later entry", scope=ANN)
    memory.maintain()
    assert reasons(memory).count("long") == 2, "the second commit is 15 days old"
    clock.forward(days=20)
    memory.maintain()
    assert reasons(memory).count("long") == 0


def test_X4_who_forgot_and_who_opted_out_stays_known(memory: Memory, clock: MovableClock) -> None:
    told = memory.remember("soon forgotten", scope=ANN)
    memory.forget(ids=[told.items[0].id])
    memory.set_policy(ANN, persist=True, author="guest")
    memory.remember("something else", scope=ANN)
    clock.forward(days=400)
    memory.maintain()
    memory.maintain()
    left = reasons(memory)
    assert {"forget", "policy"} <= set(left)
    assert "remember" not in left[:-1]
    clock.forward(days=1)
    memory.maintain()
    assert reasons(memory) == left, "what was decided is not decided again"


def test_X4_numbers_go_on_and_the_doctor_finds_no_gap(tmp_path: Path, clock: MovableClock) -> None:
    path = tmp_path / "memory.db"
    with Memory.open(str(path), clock=clock, embedder="hashing", background=False) as memory:
        memory._memory._engine.journal_days = 1
        for n in range(20):
            memory.remember(f"thing number {n}", scope=ANN)
        clock.forward(days=3)
        memory.maintain()
        memory.remember("a new thing", scope=ANN)
        engine = memory._memory._engine
        [last] = memory._loop.run(engine.store.journal(ANN, newest=True, limit=1))
        assert last.seq > 20
        assert len(reasons(memory)) < 10
    report = doctor.check(path)
    assert report.is_sound, report.findings


def test_X4_the_setting_reaches_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STANDFAST_JOURNAL_DAYS", "30")
    with Memory.open(str(tmp_path / "m.db"), embedder="none", background=False) as memory:
        assert memory._memory._engine.journal_days == 30
