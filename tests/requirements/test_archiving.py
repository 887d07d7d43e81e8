"""archive: retired, not erased."""

from __future__ import annotations

import pytest

from standfast import Denied, Invalid, Memory
from tests.requirements.asking import statuses, texts
from tests.requirements.conftest import MovableClock, OpenMemory


def test_L11_X4_archived_records_are_kept_and_come_back_by_undo(
    memory: Memory, clock: MovableClock
) -> None:
    id_ = memory.remember("Deploys go out on Tuesdays", scope="org:acme").items[0].id
    before = clock.now
    clock.forward(days=1)
    receipt = memory.archive([id_])
    assert statuses(receipt) == ["stored"]
    (record,) = memory.get([id_])
    assert (record.status, record.retired_at) == ("archived", clock.now)
    assert not memory.recall("deploys", scope="org:acme").hits
    assert texts(memory, "deploys", scope="org:acme", known_at=before)
    assert statuses(memory.archive([id_])) == ["skipped"]
    memory.undo(receipt.change)
    assert texts(memory, "deploys", scope="org:acme") == ["Deploys go out on Tuesdays"]


def test_L2_an_archived_text_may_be_said_again(memory: Memory) -> None:
    first = memory.remember("Ann lives in Berlin", scope="user:ann").items[0].id
    memory.archive([first])
    again = memory.remember("Ann lives in Berlin", scope="user:ann")
    assert statuses(again) == ["stored"]
    assert again.items[0].id != first


def test_archive_says_what_it_leaves_alone(memory: Memory) -> None:
    turn = memory.observe("chat", ["hello there"], scope="user:ann").items[0].record
    receipt = memory.archive([turn, "no-such"])
    assert statuses(receipt) == ["skipped", "skipped"]
    assert receipt.change == ""
    with pytest.raises(Invalid, match="list"):
        memory.archive(turn)


def test_A10_nobody_archives_what_belongs_to_a_parent(
    open_memory: OpenMemory, memory: Memory
) -> None:
    id_ = memory.remember("Deploys go out on Tuesdays", scope="org:acme").items[0].id
    if memory._memory._engine.store.__class__.__name__ == "DictStore":
        pytest.skip("a dict store is not shared by two handles")
    agent = open_memory(scope="org:acme:agent:cto")
    with pytest.raises(Denied):
        agent.archive([id_])
    stranger = open_memory(scope="org:other")
    assert statuses(stranger.archive([id_])) == ["skipped"]
