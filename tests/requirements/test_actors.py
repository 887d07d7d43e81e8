"""Who did it: every verb that writes says so in the journal, whoever asks and however."""

from __future__ import annotations

import inspect
import io
from datetime import timedelta
from typing import Any

import pytest

from standfast import AsyncMemory, Invalid, Memory
from tests.requirements.conftest import MovableClock

# Upkeep is done by the program itself; confirm only says that something was read.
NOBODYS = {"maintain", "reembed", "confirm"}


WRITING = ("write", "erase", "review", "import", "policy")


def test_X12_every_verb_that_writes_takes_an_actor() -> None:
    verbs = dict(inspect.getmembers(AsyncMemory, inspect.isfunction))
    rights = {n: inspect.getclosurevars(v).nonlocals.get("right") for n, v in verbs.items()}
    writing = {n for n, right in rights.items() if right in WRITING} - NOBODYS
    assert len(writing) > 12
    for name in writing:
        assert "actor" in inspect.signature(verbs[name]).parameters, name


def actors(memory: Memory, scope: str = "user:ann") -> str:
    return memory.changes(scope=scope, limit=1).items[0].actor


def test_X12_the_journal_says_who_noted_and_who_followed_a_procedure(memory: Memory) -> None:
    memory.observe("chat", "hello there", scope="user:ann")
    memory.note("chat", "waits for the landlord", scope="user:ann", actor="the chief")
    assert "the chief" in actors(memory)
    memory.save_procedure("deploy", ["run the tests"], scope="user:ann", actor="the author")
    assert "the author" in actors(memory)
    memory.procedure_used("deploy", success=True, scope="user:ann", actor="the crew")
    assert "the crew" in actors(memory)


def test_X13_the_journal_says_who_imported(memory: Memory) -> None:
    file = io.BytesIO()
    with Memory.open("dict:", embedder="hashing", background=False) as other:
        other.remember("Ann likes tea", scope="user:ann")
        other.export_to(file)
    file.seek(0)
    memory.import_from(file, actor="the mover")
    assert "the mover" in actors(memory)


@pytest.mark.parametrize("when", ["just now", "long ago"])
def test_what_would_have_vanished_already_is_refused(
    memory: Memory, clock: MovableClock, when: str
) -> None:
    past = clock.now if when == "just now" else clock.now - timedelta(days=400)
    asked: Any = {"scope": "user:ann", "expires_at": past}
    with pytest.raises(Invalid, match="has passed already; give a time to come"):
        memory.remember("Ann likes tea", **asked)
    with pytest.raises(Invalid, match="has passed already; give a time to come"):
        memory.observe("chat", "hello there", **asked)
    assert memory.records().items == ()
    kept = memory.remember("Ann likes tea", scope="user:ann", expires_at=clock.now + timedelta(1))
    assert kept.items[0].status == "stored"
