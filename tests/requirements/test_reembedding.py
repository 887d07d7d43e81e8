"""reembed: one space after the other, never mixed, and upkeep by itself."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from standfast import AsyncMemory, Invalid, Memory, Unavailable
from tests.requirements.asking import stored, texts
from tests.requirements.conftest import OpenMemory


class FlakyEmbedder:
    """A remote-like embedder that can be told to fail."""

    space = "flaky/4"
    dimensions = 4
    local = False

    def __init__(self) -> None:
        self.answer: Any = None
        self.calls = 0

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        self.calls += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        if self.answer is not None:
            return self.answer  # type: ignore[no-any-return]
        return [[float(len(text) % 7 + 1), 1.0, 0.5, 0.25] for text in texts]


def test_X13_reembedding_moves_a_store_and_cuts_over(
    open_memory: OpenMemory, tmp_path: Path
) -> None:
    file = str(tmp_path / "moving.db")
    old = open_memory(file, embedder="hashing")
    for n in range(30):
        stored(old, f"note {n} about topic {n}", scope=f"user:u{n % 3}")
    first = stored(old, "Ann lives in Bonn", scope="user:ann", valid_from="2020-01-01T00:00Z")
    old.remember(
        "Ann lives in Kiel", scope="user:ann", supersedes=first, valid_from="2024-01-01T00:00Z"
    )
    new = open_memory(file, embedder="hashing/64")
    assert new.recall("note", scope="user:u1").hits[0].similarity is None
    seen: list[int] = []
    receipt = new.reembed(seen.append)
    assert receipt.usage.texts_embedded == 33
    assert seen == sorted(seen)
    assert "moved from hashing/384 to hashing/64" in receipt.notes
    assert new.recall("note", scope="user:u1").hits[0].similarity is not None
    assert new.recall("Bonn", scope="user:ann", as_of="2021-01-01T00:00Z").hits[0].similarity
    # The other process finds out at once, goes on by keyword and says so.
    answer = old.recall("note", scope="user:u1")
    assert answer.hits[0].similarity is None
    assert any("hashing/64" in note for note in answer.notes)
    assert new.reembed().usage.texts_embedded == 0


def test_X13_reads_are_served_from_the_old_space_until_the_end(
    open_memory: OpenMemory, tmp_path: Path
) -> None:
    file = str(tmp_path / "moving.db")
    old = open_memory(file, embedder="hashing")
    for n in range(20):
        stored(old, f"note {n} about topic {n}", scope="user:ann")
    broken = FlakyEmbedder()
    broken.answer = Unavailable("the service is down")
    new = open_memory(file, embedder=broken)
    with pytest.raises(Unavailable, match="the service is down"):
        new.reembed()
    assert old.recall("note 3", scope="user:ann").hits[0].similarity is not None
    broken.answer = None
    assert new.reembed().usage.texts_embedded == 20
    stored(old, "written by a process with the old embedder", scope="user:ann")
    assert new.maintain().usage.texts_embedded == 1


def test_reembedding_without_an_embedder_is_refused(open_memory: OpenMemory) -> None:
    with pytest.raises(Invalid, match="embedder"):
        open_memory(embedder="none").reembed()


@pytest.mark.parametrize(
    "answer",
    [
        Unavailable("down"),
        RuntimeError("boom"),
        [[1.0, 2.0]],
        [[float("nan")] * 4],
        [[1.0] * 4, [1.0] * 4],
        [None],
        "nonsense",
    ],
    ids=["down", "raises", "wrong size", "nan", "too many", "none", "text"],
)
def test_X1_a_broken_embedder_never_loses_a_write_and_is_noted(
    open_memory: OpenMemory, answer: Any
) -> None:
    embedder = FlakyEmbedder()
    embedder.local = True  # type: ignore[misc]
    embedder.answer = answer
    memory = open_memory(embedder=embedder)
    receipt = memory.remember("Deploys go out on Tuesdays", scope="org:acme")
    assert receipt.items[0].status == "stored"
    assert "vectors pending" in receipt.items[0].reason
    found = memory.recall("deploys", scope="org:acme")
    assert found.hits[0].record.text == "Deploys go out on Tuesdays"
    assert any("degraded" in note for note in found.notes)
    embedder.answer = None
    assert memory.maintain().usage.texts_embedded == 1
    assert memory.recall("deploys", scope="org:acme").hits[0].similarity is not None


def test_a_remote_embedder_is_never_waited_for(open_memory: OpenMemory) -> None:
    embedder = FlakyEmbedder()
    memory = open_memory(embedder=embedder, background=False)
    receipt = memory.observe("chat", ["hello there"], scope="user:ann")
    assert embedder.calls == 0
    assert "pending" in receipt.notes[0]
    assert memory.maintain().usage.texts_embedded == 1


def test_upkeep_runs_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("standfast.upkeep.background.PAUSE_SECONDS", 0.05)
    embedder = FlakyEmbedder()

    async def scenario() -> None:
        file = str(tmp_path / "m.db")
        async with await AsyncMemory.open(file, embedder=embedder) as memory:
            await memory.remember("Deploys go out on Tuesdays", scope="org:acme")
            for _ in range(200):
                if embedder.calls:
                    break
                await asyncio.sleep(0.05)
            await asyncio.sleep(0.2)
            answer = await memory.recall("deploys", scope="org:acme")
            assert answer.hits[0].similarity is not None

    asyncio.run(scenario())


CHILD = """
import sys, time
from standfast import Memory
memory = Memory.open(sys.argv[1], embedder="hashing/64", background=False)
print("started", flush=True)
memory.reembed(lambda done: time.sleep(0.02))
"""


def test_X2_reembedding_killed_at_any_moment_is_resumed(tmp_path: Path, proving: bool) -> None:
    file = str(tmp_path / "moving.db")
    with Memory.open(file, embedder="hashing") as memory:
        for part in range(4):
            memory.observe(
                f"chat{part}", [f"line {n} of chat {part}" for n in range(400)], scope="user:ann"
            )
    for attempt in range(30 if proving else 4):
        child = subprocess.Popen([sys.executable, "-c", CHILD, file], stdout=subprocess.PIPE)
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(0.02 + 0.05 * attempt % 0.4)
        os.kill(child.pid, signal.SIGKILL)
        child.communicate()
        with Memory.open(file, embedder="hashing", background=False) as old:
            answer = old.recall("line 7", scope="user:ann")
            assert answer.hits
            moved = any("degraded" in note for note in answer.notes)
            assert moved == (answer.hits[0].similarity is None)
    with Memory.open(file, embedder="hashing/64", background=False) as new:
        new.reembed()
        hits = new.recall("line 7 of chat 2", scope="user:ann", limit=50).hits
        assert all(hit.similarity is not None for hit in hits)
        assert len(texts(new, "line", scope="user:ann", limit=1000)) > 0
