"""How many steps a verb takes: statements to the database, and files that a reader has to open.

Counts, not times: they are the same on every machine, and they only grow back if somebody lets
them.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import apsw
import pytest

from scripts.gates.project import budgets
from standfast import Memory, engine
from tests.architecture.source import PACKAGE
from tests.architecture.statements import is_of_a_verb

ANN = "user:ann"
# A thread that reads for the first time opens a connection; whether one does is chance.
OPENS = str(PACKAGE / "stores" / "sqlite" / "connection.py")
# So does who makes the first value of a kind in this process.
MAKES = str(PACKAGE / "types" / "frozen.py")
# verb -> (statements, files) at most
LIMITS = {verb: (row["statements"], row["files"]) for verb, row in budgets()["steps"].items()}


@dataclass
class Steps:
    """What happened since the last look."""

    statements: list[str] = field(default_factory=list)
    files: set[str] = field(default_factory=set)

    def taken(self, verb: Callable[[], Any]) -> tuple[int, int]:
        """Of the verb alone: what other tests left to be collected ends before or behind it."""
        gc.collect()
        gc.disable()
        self.statements.clear()
        self.files.clear()
        try:
            verb()
            return len(self.statements), len(self.files)
        finally:
            gc.enable()


@pytest.fixture
def steps() -> Iterator[Steps]:
    counted = Steps()

    def watch(database: apsw.Connection) -> None:
        def seen(_: Any, statement: str, __: Any) -> bool:
            if is_of_a_verb(statement):
                counted.statements.append(statement)
            return True

        database.exec_trace = seen

    def enter(frame: FrameType, event: str, _: Any) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(str(PACKAGE)) and name not in (OPENS, MAKES):
            counted.files.add(name)

    apsw.connection_hooks.append(watch)
    before = sys.getprofile()
    threading.setprofile(enter)
    sys.setprofile(enter)
    try:
        yield counted
    finally:
        sys.setprofile(before)
        threading.setprofile(None)
        apsw.connection_hooks.remove(watch)


def test_no_verb_takes_more_steps_than_it_may(
    steps: Steps, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # How often the space is looked at again is a matter of time, and a slow machine takes more.
    monkeypatch.setattr(engine, "SPACE_TRUSTED_SECONDS", 3600)
    with Memory.open(tmp_path / "m.db", embedder="hashing", background=False) as memory:
        memory.observe("w", ["I like tea"], scope=ANN)
        memory.maintain()
        memory.recall("tea", scope=ANN)
        memory.context(session="w", scope=ANN)
        told = ["I live in Berlin."]
        taken = {
            "observe": steps.taken(lambda: memory.observe("s", told, scope=ANN)),
            "learn": steps.taken(memory.maintain),
            "recall": steps.taken(lambda: memory.recall("Where do I live?", scope=ANN)),
            "context": steps.taken(lambda: memory.context(session="s", scope=ANN)),
            "forget": steps.taken(lambda: memory.forget(session="s", scope=ANN)),
        }
        for _ in range(3):
            memory.maintain()
        taken["idle"] = steps.taken(memory.maintain)
        memory.remember("Ann has a cat.", scope=ANN)
        fact = "Tea is served at five."
        taken["remember"] = steps.taken(lambda: memory.remember(fact, scope=ANN))
    over = {
        verb: f"{found} where {LIMITS[verb]} are allowed (statements, files)"
        for verb, found in taken.items()
        if found[0] > LIMITS[verb][0] or found[1] > LIMITS[verb][1]
    }
    assert over == {}, over


def test_the_counting_sees_statements_and_files(steps: Steps, tmp_path: Path) -> None:
    with Memory.open(tmp_path / "m.db", embedder="hashing", background=False) as memory:
        statements, files = steps.taken(lambda: memory.remember("Ann has a cat", scope=ANN))
    assert statements > 3
    assert files > 5
