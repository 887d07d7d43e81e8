"""The reader in the box: the same clauses alone and in company, in bounded time, never silent."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

pytest.importorskip("onnxruntime", reason="the reader needs the extra `local`")

from standfast import AsyncMemory, Memory
from standfast.errors import Unavailable
from standfast.models.local import box
from standfast.understanding.reading.clauses import Clause
from standfast.understanding.reading.foreign import foreign_ranges
from standfast.understanding.reading.network import ClauseNetwork, NetworkReader, network_in
from standfast.understanding.reading.reader import Reading
from standfast.wiring.reader import boxed_reader

ANN = "user:ann"
READS_ALONE = """
import asyncio
from standfast.understanding.reading.reader import Reading
from standfast.wiring.reader import boxed_reader

assert asyncio.run(boxed_reader().read([Reading(text="I live in Berlin.")]))[0]
"""


def read(*texts: str) -> list[list[Clause]]:
    asked = [Reading(text=one, foreign=foreign_ranges(one)) for one in texts]
    return asyncio.run(boxed_reader().read(asked))


def kept(text: str) -> list[tuple[str, str]]:
    return [(one.label, text[one.start : one.end]) for one in read(text)[0]]


def test_X7_clauses_are_told_apart() -> None:
    said = "I moved to Hamburg last week, fix the test, and no emojis in commits please"
    assert kept(said) == [
        ("FACT", "I moved to Hamburg last week"),
        ("TASK", "fix the test"),
        ("ORDER", "no emojis in commits please"),
    ]
    assert [label for label, _ in kept("if I had a boat I would sail to Oslo")] == ["UNREAL"]


def test_X16_running_it_leaves_nothing_at_home_to_report(tmp_path: Path) -> None:
    """A library that counts how it is used keeps its counts there until it can send them."""
    folders = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    child = [sys.executable, "-c", READS_ALONE]
    subprocess.run(child, env=os.environ | folders, check=True, timeout=60)
    assert list(tmp_path.rglob("*")) == []


def test_an_answer_does_not_depend_on_what_else_is_asked() -> None:
    texts = ["I live in Berlin.", "We deploy on Thursdays. " * 9, "Ich wohne in Köln", "ok"]
    together = asyncio.run(NetworkReader(_loaded).read([Reading(text=t) for t in texts]))
    for text, clauses in zip(texts, together, strict=True):
        (alone,) = asyncio.run(NetworkReader(_loaded).read([Reading(text=text)]))
        assert [(one.start, one.end, one.label) for one in alone] == [
            (one.start, one.end, one.label) for one in clauses
        ]


def _loaded() -> ClauseNetwork:
    return network_in(box.place() or Path(), 1)


def test_X7_a_long_text_is_read_by_windows() -> None:
    filler = "the meeting went on and on today and nobody listened. " * 60
    said = f"{filler}My sister lives in Oslo. {filler}I'm allergic to nuts."
    found = [words for _, words in kept(said)]
    assert "My sister lives in Oslo" in found
    assert "I'm allergic to nuts" in found


def test_X1_a_message_of_a_megabyte_costs_a_bounded_time_and_says_what_was_not_read() -> None:
    with Memory.open("dict:", embedder="none", background=False) as memory:
        memory.observe("s", ["I like tea. " + "and more of it. " * 60_000], scope=ANN)
        began = time.process_time()
        receipt = memory.maintain()
        assert time.process_time() - began < 30
    (why,) = [one.reason for one in receipt.items if one.status == "failed"]
    assert why == "unread: too long, behind its first 24000 characters"


def test_what_cannot_be_written_in_utf_8_is_read_all_the_same() -> None:
    assert len(read("a \ud800 half", "", "I live in \ud83d Leeds.")) == 3


def test_X18_without_a_network_messages_stay_searchable_and_everybody_says_so() -> None:
    async def told() -> tuple[Sequence[str], Sequence[str], Sequence[str], list[str]]:
        opened = AsyncMemory.open("dict:", embedder="none", background=False)
        async with await opened as memory:
            memory.engine.reader, memory.engine.no_reader = None, "read-1 is not here"
            seen = await memory.observe("s", ["I live in Berlin."], scope=ANN)
            kept = await memory.maintain()
            answer = await memory.recall("Berlin", scope=ANN)
            return seen.notes, kept.notes, answer.notes, [hit.record.type for hit in answer.hits]

    observed, maintained, recalled, types = asyncio.run(told())
    why = "nothing is learned without a language model: read-1 is not here"
    assert why in observed
    assert why in maintained
    assert why in recalled
    assert types == ["turn"]


def test_X18_what_could_not_be_read_is_learned_later(tmp_path: Path) -> None:
    missing = NetworkReader(lambda: network_in(tmp_path, 1))
    with pytest.raises(Unavailable, match="read-1"):
        asyncio.run(missing.read([Reading(text="I live in Berlin.")]))
    assert "read-1" in missing.trouble
    with Memory.open("dict:", embedder="none", background=False) as memory:
        engine = memory._memory.engine
        real, engine.reader = engine.reader, None
        memory.observe("s", ["I live in Berlin."], scope=ANN)
        memory.maintain()
        engine.reader = real
        memory.maintain()
        assert [one.text for one in memory.records(scope=ANN, types=["fact"]).items] == [
            "The user lives in Berlin."
        ]
