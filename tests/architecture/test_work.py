"""How much work a verb does with a thousand records in the store: statements, records checked and
decoded, bytes read, calls of our functions. Counts, not times: a busy machine changes none.

Who makes a verb do more has to say so here.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import apsw
import pytest

from standfast import Memory
from standfast.settings import Settings
from standfast.stores import rows
from tests.architecture.source import PACKAGE
from tests.architecture.statements import is_of_a_verb

ANN = "user:ann"
PLACES = "Oslo Rome Lima Cairo Delhi Quito Paris Tunis Seoul Perth".split()
THINGS = "boat bike lamp drum coat book vase tent kite sled".split()
COLOURS = "red blue green brown black white grey pink gold plain".split()


class Work(NamedTuple):
    statements: int
    decoded: int  # records made of rows of the file
    bytes: int  # in the answers of the database: text and blobs
    calls: int


# At most: what was counted when this was written, and about a fifth more.
LIMITS = {
    # Without a snapshot, which so few records have none of, the vectors are read whole and rounded.
    "the first recall": Work(15, 8, 2_150_000, 8_300),
    "a recall when nothing changed": Work(2, 0, 100, 1_170),
    "a recall after a write": Work(13, 2, 185_000, 1_420),
    "remember": Work(31, 10, 500, 930),
    "observe": Work(17, 0, 300, 780),
    "observe of a hundred": Work(32, 0, 300, 22_500),
    # Each meets those before it, and is looked for by its meaning and by its words.
    "remember of a hundred": Work(400, 4, 200_000, 530_000),
    # Each after a write, as before a call of a model.
    "a packet without a question": Work(22, 2, 80_000, 16_800),
    "a packet": Work(26, 2, 2_430_000, 26_300),
}


class WorkCount:
    """What happened since the last look, on all threads that began later."""

    def __init__(self) -> None:
        self.statements = self.decoded = self.bytes = self.calls = 0

    def of(self, verb: Callable[[], Any]) -> Work:
        self.statements = self.decoded = self.bytes = self.calls = 0
        verb()
        return Work(self.statements, self.decoded, self.bytes, self.calls)

    def watch(self, database: apsw.Connection) -> None:
        database.exec_trace = self._statement
        database.row_trace = self._row

    def _statement(self, _: Any, statement: str, __: Any) -> bool:
        self.statements += is_of_a_verb(statement)
        return True

    def _row(self, _: Any, row: tuple[Any, ...]) -> tuple[Any, ...]:
        self.bytes += sum(len(value) for value in row if isinstance(value, (str, bytes)))
        return row

    def enter(self, frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(str(PACKAGE)):
            self.calls += 1
            self.decoded += frame.f_code is rows.read_record.__code__


@pytest.fixture
def work() -> Iterator[WorkCount]:
    count = WorkCount()
    apsw.connection_hooks.append(count.watch)
    before = sys.getprofile()
    threading.setprofile(count.enter)
    sys.setprofile(count.enter)
    try:
        yield count
    finally:
        sys.setprofile(before)
        threading.setprofile(None)
        apsw.connection_hooks.remove(count.watch)


def packet_after_a_write(memory: Memory, work: WorkCount, query: str) -> Work:
    """The second one: the first loads what it needs."""
    for _ in range(2):
        memory.observe("s", ["Eva has it."], scope=ANN)
        found = work.of(lambda: memory.context(session="s", query=query, scope=ANN, tokens=2000))
    return found


def test_no_verb_does_more_work_than_it_may(work: WorkCount, tmp_path: Path) -> None:
    # With ids of their own: of what is equally good, the same is taken every time.
    said = [
        {"role": "user", "content": f"The {one} {thing} is in {place}.", "id": place + thing + one}
        for place in PLACES
        for thing in THINGS
        for one in COLOURS
    ]
    # Nothing is left to learn: what learning on demand takes is no work of the verb.
    opened = partial(Memory.open, tmp_path / "m.db", embedder="hashing", background=False)
    quiet = Settings(learn="off")
    with opened(settings=quiet) as memory:
        memory.observe("s", said, scope=ANN)
        memory.remember("The lamp is Bob's.", scope=ANN)  # the first one loads patterns
    with opened(settings=quiet) as memory:
        first = work.of(lambda: memory.recall("Where is the blue kite?", scope=ANN))
        memory.recall("Where is the blue kite?", scope=ANN)  # now on another thread
        again = work.of(lambda: memory.recall("Where is the blue kite?", scope=ANN))
        written = work.of(lambda: memory.remember("The kite is Ann's.", scope=ANN))
        after = work.of(lambda: memory.recall("Where is the blue kite?", scope=ANN))
        memory.observe("s", ["Is it far?"], scope=ANN)  # the first one loads what it needs
        observed = work.of(lambda: memory.observe("s", ["Eva has my lamp."], scope=ANN))
        many = [f"Lamp {number} is in Oslo." for number in range(100)]
        talked = work.of(lambda: memory.observe("s", many, scope=ANN))
        stated = work.of(lambda: memory.remember([f"{one} Really." for one in many], scope=ANN))
        packets = [packet_after_a_write(memory, work, query) for query in ("", "Is it in Rome?")]
    counted = (first, again, after, written, observed, talked, stated, *packets)
    done = dict(zip(LIMITS, counted, strict=True))
    over = {
        verb: f"{found} where {LIMITS[verb]} is allowed"
        for verb, found in done.items()
        if any(count > most for count, most in zip(found, LIMITS[verb], strict=True))
    }
    assert over == {}, over
    assert all(first), "the counting sees everything"
