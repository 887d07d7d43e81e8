"""L6: whatever a reader raises costs one message, never its session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any
from unittest import mock

import pytest

from standfast import AsyncMemory, Memory
from standfast.errors import Invalid
from standfast.memory.health import Health, unread_in
from standfast.testing.scripted import ScriptedServer
from standfast.text import trust
from standfast.understanding.reading.clauses import Clause
from standfast.understanding.reading.reader import Reader, Reading
from standfast.upkeep import fold
from standfast.upkeep.learn import lanes, statements, writer
from standfast.upkeep.learn import round as learning
from tests.requirements.conftest import OpenMemory
from tests.requirements.learning_world import fact, impatient, learns, model_at

ANN = "user:ann"
ODD = "My cat is called Zzyzx."
SECRET = "zzyzx"
SAID = [f"I like dish number {number}." for number in range(21)]
SAID[13] = ODD
NEXT = "I live in Berlin."


def failing(home: Any, name: str, error: type[Exception] = ValueError) -> Any:
    """What raises where it is given the odd message, with its words in the error."""
    real = getattr(home, name)

    def raising(*args: Any, **kwargs: Any) -> Any:
        if SECRET in repr(args).lower():
            raise error(f"cannot read {ODD}")
        return real(*args, **kwargs)

    return mock.patch.object(home, name, raising)


class OddReader:
    """A reader that fails at the odd message, alone or among others."""

    trouble = ""

    def __init__(self, real: Reader) -> None:
        self._real = real

    async def read(self, messages: Sequence[Reading]) -> list[list[Clause]]:
        if any(SECRET in one.text.lower() for one in messages):
            raise IndexError(messages)
        return await self._real.read(messages)


FAILURES: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "statements": lambda: failing(statements, "statements_of", KeyError),
    "structure": lambda: failing(statements, "foreign_ranges"),
    "trust": lambda: failing(trust, "_as_heard"),
    "doubt": lambda: failing(lanes, "doubt_about"),
    "comparing": lambda: failing(writer, "meet"),
    "writing": lambda: failing(writer, "record_of", Invalid),
    "depth": lambda: failing(statements, "statements_of", RecursionError),
}


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    return open_memory(background=False, embedder="hashing")


def learned(memory: Memory) -> list[str]:
    return [one.text for one in memory.records(scope=ANN, types=["fact", "preference"]).items]


def fate(memory: Memory) -> str:
    turns = memory.records(scope=ANN, types=["turn"], limit=50).items
    return next(str(turn.data.get("learning")) for turn in turns if turn.text == ODD)


@pytest.mark.parametrize("name", FAILURES)
def test_L6_a_message_that_no_reader_can_read_costs_no_other(memory: Memory, name: str) -> None:
    with FAILURES[name]():
        memory.observe("s", SAID, scope=ANN)
        receipt = memory.maintain()
        memory.observe("s", NEXT, scope=ANN)
        after = memory.maintain()
    found = learned(memory)
    likes = {f"The user likes dish number {number}." for number in range(21) if number != 13}
    assert likes <= set(found)
    assert "The user lives in Berlin." in found
    assert not any("Zzyzx" in text for text in found)
    failures = [one.reason for one in receipt.items if one.status == "failed"]
    assert [reason.startswith("unread: ") for reason in failures] == [True]
    assert name == "writing" or SECRET not in failures[0].lower(), "an error may hold the text"
    assert fate(memory) == failures[0]
    assert [one for one in after.items if one.status == "failed"] == []


def test_L6_a_model_in_the_box_that_fails_at_a_message_costs_no_other(memory: Memory) -> None:
    engine = memory._memory.engine
    assert engine.reader is not None
    engine.reader = OddReader(engine.reader)
    memory.observe("s", SAID, scope=ANN)
    receipt = memory.maintain()
    assert "unread: IndexError" in fate(memory)
    assert len([one for one in receipt.items if one.status == "failed"]) == 1
    memory.observe("s", NEXT, scope=ANN)
    memory.maintain()
    assert "The user lives in Berlin." in learned(memory)


def test_L6_an_answer_of_a_language_model_that_cannot_be_read_costs_no_other(
    open_memory: OpenMemory,
) -> None:
    """The network in the box reads the message then, and the session goes on with the model."""

    def raising(data: Any, shown: Any, *_: Any) -> Any:
        if any(SECRET in one.text.lower() for one in shown.messages.values()):
            raise IndexError(ODD)
        return real(data, shown, *_)

    pytest.importorskip("pydantic_ai", reason="needs the extra llm")
    real = learning.read_answer
    answer = learns(fact("The user likes dish number 10."))
    with ScriptedServer(answer) as server, model_at(server):
        memory = impatient(open_memory(background=False, embedder="hashing"), seconds=30)
        with mock.patch.object(learning, "read_answer", raising):
            memory.observe("s", SAID[10:16], scope=ANN)
            receipt = memory.maintain()
    (failure,) = [one.reason for one in receipt.items if one.status == "failed"]
    assert failure.startswith("unread: IndexError")
    assert failure.endswith("it was read alone")
    session = memory.sessions(scope=ANN).items[0]
    assert session.cursors["extract"] == session.last_seq


def test_L6_unread_messages_are_counted(memory: Memory) -> None:
    with FAILURES["statements"]():
        memory.observe("s", SAID, scope=ANN)
        memory.observe("t", ODD, scope="user:bob")
        memory.maintain()
    whole = memory._memory

    async def counts() -> tuple[int, int]:
        health = Health(whole)
        status, _ = await health.look()
        assert status == "ok", "one odd message is no reason to call anybody"
        ann = AsyncMemory(whole.engine.narrowed((ANN,), whole.engine.rights))
        return health.unread, await unread_in(ann)

    assert memory._loop.run(counts()) == (2, 1)


def test_L6_a_summary_that_cannot_be_made_stops_no_other_user(memory: Memory) -> None:
    with failing(fold, "extract_summary"):
        memory.observe("s", [ODD, *("word " * 400 for _ in range(80))], scope=ANN)
        memory.observe("s", NEXT, scope="user:bob")
        receipt = memory.maintain()
    assert "ValueError" in next(one.reason for one in receipt.items if one.id == ANN)
    assert len(memory.records(scope="user:bob", types=["fact"]).items) == 1


def test_L6_a_mark_alone_is_no_question(memory: Memory) -> None:
    """A public conversation: ``ValueError`` ended every round of upkeep."""
    talk = [{"role": "assistant", "content": "*?"}, "that is an action with stuff there", NEXT]
    memory.observe("s", talk, scope=ANN)
    receipt = memory.maintain()
    assert not [one for one in receipt.items if one.status == "failed"]
    assert "The user lives in Berlin." in learned(memory)
