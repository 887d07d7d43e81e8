"""An existing store changes its vector space by itself, where its embedder has a successor."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from standfast import AsyncMemory, Memory, Unavailable
from standfast.engine import Engine
from standfast.interfaces.cli import main
from standfast.memory.health import in_force
from standfast.models.providers.hashing import HashingEmbedder
from standfast.types import Answer, Work
from standfast.types.pages import Reembedding
from standfast.upkeep.loop import one_round
from standfast.upkeep.reembedding import begin, cut_over
from standfast.wiring import read_settings
from tests import postgres, redis
from tests.requirements.asking import stored
from tests.requirements.conftest import OpenMemory

OLD = "hashing/384"
NEW = "newer/64"
ROOTS = ("user:ann", "user:ben", "org:acme")


class Newer(HashingEmbedder):
    """Takes the place of the hashing embedder, and counts what it embeds."""

    space = NEW
    succeeds = frozenset({OLD})

    def __init__(self) -> None:
        super().__init__(64)
        self.seen: list[str] = []
        self.former: dict[str, HashingEmbedder] = {}

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.seen += texts
        return await super().embed(texts)


@contextmanager
def address_on(engine: str, folder: Path) -> Iterator[str]:
    """Of an empty store on an engine."""
    if engine == "postgresql":
        with postgres.database() as address:
            yield address
    elif engine == "redis":
        with redis.database() as address:
            yield address
    else:
        yield {
            "dict": "dict:",
            "sqlite": str(folder / "memory.db"),
            "surrealdb": f"surrealkv://{folder}/memory",
        }[engine]


ENGINES = ("dict", "sqlite", "postgresql", "redis", "surrealdb")
Opened = Callable[..., Any]


@asynccontextmanager
async def opened_with(
    address: str, embedder: Any, before: AsyncMemory | None
) -> AsyncIterator[Any]:
    """The same store, opened with another embedder: where nothing outlives a handle, the same
    handle."""
    if before is not None and address == "dict:":
        before.engine.embedder = embedder
        yield before
        return
    if before is not None:
        await before.close()
    async with await AsyncMemory.open(address, embedder=embedder, background=False) as memory:
        yield memory


async def fill(memory: AsyncMemory, number: int = 8) -> None:
    for root in ROOTS:
        await memory.remember([f"note {n} about topic {n}" for n in range(number)], scope=root)


async def store_due(memory: AsyncMemory, space: str) -> list[Work]:
    """The records without a vector of this space."""
    now = memory.engine.now()
    return await memory.engine.store.due(now, kinds=("embed",), space=space, limit=100)


def is_by_meaning(answer: Answer) -> bool:
    return answer.hits[0].similarity is not None


@pytest.fixture
def few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A round of maintenance embeds few records, so that a small store takes many."""
    monkeypatch.setattr("standfast.upkeep.agenda.LOOKED_AT", 10)
    monkeypatch.setattr("standfast.upkeep.agenda.WORK_PER_ROUND", 10)


@pytest.mark.usefixtures("few_at_once")
@pytest.mark.parametrize("engine", ENGINES)
def test_X13_maintenance_changes_the_space_in_steps(engine: str, tmp_path: Path) -> None:
    async def moved(address: str) -> None:
        first = await AsyncMemory.open(address, embedder="hashing", background=False)
        await fill(first)
        async with opened_with(address, Newer(), first) as memory:
            before = await memory.recall("note 3 about topic 3", scope="user:ann")
            assert not is_by_meaning(before)
            assert any("begins with the next maintenance" in note for note in before.notes)
            await memory.remember("written meanwhile", scope="user:ann")
            lacking = await store_due(memory, NEW)
            assert len(lacking) == 24, "what is written now has its new vector at once"
            [planned] = [n for n in (await memory.maintain(dry_run=True)).notes if OLD in n]
            assert planned == f"re-embedding from {OLD} to {NEW}: 0 of 25 records, about 1 min left"
            rounds = 0
            while (await memory.stats()).reembedding:
                receipt = await memory.maintain()
                rounds += 1
                assert rounds < 20
                if move := (await memory.stats()).reembedding:
                    assert (move.old, move.new, move.records) == (OLD, NEW, 25)
                    assert str(move) in receipt.notes
                    answer = await memory.recall("note 3 about topic 3", scope="user:ann")
                    assert answer.hits
                    [note] = [one for one in answer.notes if "re-embedding" in one]
                    assert f"{move.percent}% done" in note
            assert rounds >= 3
            for root in ROOTS:
                answer = await memory.recall("note 3 about topic 3", scope=root)
                assert is_by_meaning(answer)
                assert not any("degraded" in note for note in answer.notes)
            await memory.maintain()
            assert len(await store_due(memory, OLD)) == 25, "the old vectors are gone"
            assert await memory.engine.space() == NEW
            assert memory.engine.trusted.move is None

    with address_on(engine, tmp_path) as address:
        asyncio.run(moved(address))


@pytest.mark.usefixtures("few_at_once")
def test_X13_who_has_the_old_embedder_searches_the_old_vectors_until_the_end(
    tmp_path: Path,
) -> None:
    file = str(tmp_path / "memory.db")

    async def asked() -> None:
        async with (
            await AsyncMemory.open(file, embedder="hashing", background=False) as old,
            await AsyncMemory.open(file, embedder=Newer(), background=False) as new,
        ):
            await fill(old)
            while (await new.stats()).reembedding:
                assert is_by_meaning(await old.recall("note 3 about topic 3", scope="user:ann"))
                await new.maintain()
            await asyncio.sleep(1.1)  # as long as a process trusts what it has read
            answer = await old.recall("note 3 about topic 3", scope="user:ann")
            assert not is_by_meaning(answer)
            assert any(NEW in note for note in answer.notes)
            assert not (await old.maintain()).usage.texts_embedded, "it does not move it back"

    asyncio.run(asked())


@pytest.mark.usefixtures("few_at_once")
def test_X13_who_has_kept_the_old_embedder_asks_the_old_vectors_until_the_end(
    tmp_path: Path,
) -> None:
    file = str(tmp_path / "memory.db")
    newer = Newer()
    newer.former = {OLD: HashingEmbedder()}

    async def asked() -> None:
        async with await AsyncMemory.open(file, embedder="hashing", background=False) as memory:
            await fill(memory)
        async with await AsyncMemory.open(file, embedder=newer, background=False) as memory:
            rounds = 0
            while (await memory.stats()).reembedding:
                for root in ROOTS:
                    answer = await memory.recall("note 3 about topic 3", scope=root)
                    assert all(hit.similarity is not None for hit in answer.hits)
                    assert f"arms: keyword, vector ({OLD})" in answer.notes
                    assert not any("degraded" in note for note in answer.notes)
                await memory.remember(f"written in round {rounds}", scope="user:ann")
                fresh = await memory.recall(f"written in round {rounds}", scope="user:ann")
                assert fresh.hits[0].record.text == f"written in round {rounds}"
                await memory.maintain()
                rounds += 1
            assert rounds >= 3
            answer = await memory.recall("note 3 about topic 3", scope="user:ann")
            assert f"arms: keyword, vector ({NEW})" in answer.notes
            assert is_by_meaning(answer)

    asyncio.run(asked())


@pytest.mark.usefixtures("few_at_once")
def test_X13_few_new_vectors_push_nothing_aside(tmp_path: Path) -> None:
    """The answer is the one by words, until nearly all that is found has its new vector."""
    file = str(tmp_path / "memory.db")

    async def found_with(embedder: Any) -> tuple[list[str], Sequence[str]]:
        async with await AsyncMemory.open(file, embedder=embedder, background=False) as memory:
            if embedder != "none":
                await memory.maintain()
            answer = await memory.recall("note 3 about topic 3", scope="user:ann")
            return [hit.record.id for hit in answer.hits], answer.notes

    async def scenario() -> None:
        async with await AsyncMemory.open(file, embedder="hashing", background=False) as memory:
            await fill(memory, number=16)
        by_words, _ = await found_with("none")
        seen = []
        for _ in range(6):
            found, notes = await found_with(Newer())
            seen.append(any(f"vector ({NEW})" in note for note in notes))
            if not seen[-1]:
                assert found == by_words
                assert any("degraded: no vector search, re-embedding" in note for note in notes)
        assert seen == sorted(seen), "first by words, then by vectors, too"
        assert set(seen) == {True, False}

    asyncio.run(scenario())


@pytest.mark.usefixtures("few_at_once")
def test_X13_an_open_memory_changes_its_space_in_the_background(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("standfast.upkeep.background.PAUSE_SECONDS", 0.05)
    monkeypatch.setattr("standfast.upkeep.background.PAUSE_SECONDS_BUSY", 0.01)
    file = str(tmp_path / "memory.db")

    async def scenario() -> None:
        async with await AsyncMemory.open(file, embedder="hashing", background=False) as memory:
            await fill(memory)
        async with await AsyncMemory.open(file, embedder=Newer()) as memory:
            async with asyncio.timeout(30):
                await memory.engine.space()
                while memory.engine.moves_on or memory.engine.trusted.move:
                    assert (await memory.recall("note 3", scope="user:ann")).hits
                    await asyncio.sleep(0.05)
                    await memory.engine.space()
            assert is_by_meaning(await memory.recall("note 3", scope="user:ann"))

    asyncio.run(scenario())


def test_X13_without_the_new_model_the_store_stays_as_it_is_and_says_why(tmp_path: Path) -> None:
    file = str(tmp_path / "memory.db")

    class Missing(Newer):
        async def embed(self, texts: Sequence[str]) -> list[list[float]]:  # noqa: ARG002
            raise Unavailable("the model is not here; install it")

    async def left() -> None:
        async with await AsyncMemory.open(file, embedder="hashing", background=False) as memory:
            await fill(memory)
        async with await AsyncMemory.open(file, embedder=Missing(), background=False) as memory:
            why = "no vectors added: the model is not here; install it"
            assert why in (await memory.maintain(dry_run=True)).notes
            assert why in (await memory.maintain()).notes
            assert (await memory.recall("note 3", scope="user:ann")).hits
            assert memory.engine.trusted.move is None
        async with await AsyncMemory.open(file, embedder="hashing", background=False) as memory:
            assert is_by_meaning(await memory.recall("note 3", scope="user:ann"))

    asyncio.run(left())


@pytest.mark.parametrize("begun", ["hashing/64", "none"])
def test_X13_a_store_of_another_embedder_is_left_alone(begun: str, tmp_path: Path) -> None:
    file = str(tmp_path / "memory.db")

    async def left() -> None:
        async with await AsyncMemory.open(file, embedder=begun, background=False) as memory:
            await fill(memory)
        async with await AsyncMemory.open(file, embedder=Newer(), background=False) as memory:
            receipt = await memory.maintain()
            assert await memory.engine.space() == ("hashing/64" if begun != "none" else NEW)
            told = any("no vectors added: the store's vectors are" in n for n in receipt.notes)
            assert told == (begun != "none")
            assert (await memory.stats()).reembedding is None

    asyncio.run(left())


def test_X13_a_move_that_somebody_asked_for_is_left_alone(tmp_path: Path) -> None:
    file = str(tmp_path / "memory.db")

    async def left() -> None:
        async with await AsyncMemory.open(file, embedder="hashing", background=False) as memory:
            await fill(memory)
        async with await AsyncMemory.open(file, embedder="hashing/32", background=False) as other:
            await other.engine.space()
            await begin(other.engine, asked=True)
            async with await AsyncMemory.open(file, embedder=Newer(), background=False) as memory:
                notes = (await memory.maintain()).notes
                assert any("somebody moves the store to hashing/32" in note for note in notes)
                assert await memory.engine.space() == OLD
            assert (await other.reembed()).notes == (f"moved from {OLD} to hashing/32",)

    asyncio.run(left())


def test_X13_a_crash_between_the_change_and_the_drop_is_made_good(tmp_path: Path) -> None:
    file = str(tmp_path / "memory.db")

    async def embedded(engine: Engine, *_: Any) -> None:
        await engine.space()
        await begin(engine)
        for record in await engine.store.due(engine.now(), kinds=("embed",), space=NEW, limit=100):
            assert record.kind == "embed"

    async def crashed(*steps: Callable[..., Awaitable[Any]]) -> None:
        """A process that ends after these steps."""
        async with await AsyncMemory.open(file, embedder=Newer(), background=False) as memory:
            for step in steps:
                await step(memory.engine)

    async def scenario() -> None:
        async with await AsyncMemory.open(file, embedder="hashing", background=False) as memory:
            await fill(memory)
        await crashed(embedded)
        await crashed(one_round_without_end, cut_over)
        async with await AsyncMemory.open(file, embedder=Newer(), background=False) as memory:
            assert await memory.engine.space() == NEW
            assert memory.engine.trusted.move is not None
            assert is_by_meaning(await memory.recall("note 3", scope="user:ann"))
            receipt = await memory.maintain()
            assert any("old vectors dropped" in item.reason for item in receipt.items)
            await memory.engine.space()
            assert memory.engine.trusted.move is None

    asyncio.run(scenario())


async def one_round_without_end(engine: Engine) -> None:
    """Everything is embedded; the process ends before it changes the space."""
    await one_round(engine)
    assert await engine.space() == OLD


@pytest.mark.usefixtures("few_at_once")
def test_X13_two_workers_do_not_embed_the_same(tmp_path: Path) -> None:
    file = str(tmp_path / "memory.db")

    async def scenario() -> None:
        async with await AsyncMemory.open(file, embedder="hashing", background=False) as memory:
            await fill(memory)
        one, two = Newer(), Newer()
        async with (
            await AsyncMemory.open(file, embedder=one, background=False) as first,
            await AsyncMemory.open(file, embedder=two, background=False) as second,
        ):
            for _ in range(20):
                rounds = (one_round(memory.engine, shared=True) for memory in (first, second))
                await asyncio.gather(*rounds)
                if (await first.stats()).reembedding is None:
                    break
            assert await first.engine.space() == NEW
        sampled = 2 * (8 + 1)  # by whoever measures how long it takes
        assert len(one.seen) + len(two.seen) <= 24 + sampled

    asyncio.run(scenario())


CHILD = """
import sys
from standfast import Memory
from standfast.upkeep import agenda
from tests.requirements.test_changing_space import Newer
agenda.LOOKED_AT = agenda.WORK_PER_ROUND = 100
with Memory.open(sys.argv[1], embedder=Newer(), background=False) as memory:
    print("started", flush=True)
    while memory.stats().reembedding:
        memory.maintain()
"""


def test_X2_changing_the_space_is_killed_at_any_moment_and_goes_on(
    tmp_path: Path, proving: bool
) -> None:
    """Nothing is lost, what was embedded stays, and the new process needs no word to go on."""
    file = str(tmp_path / "memory.db")
    with Memory.open(file, embedder="hashing", background=False) as memory:
        for part in range(4):
            lines = [f"line {n} of chat {part}" for n in range(400)]
            memory.observe(f"chat{part}", lines, scope=f"user:u{part}")
        turns = memory.stats(descend=True).types["turn"]
    done = 0
    for attempt in range(30 if proving else 5):
        child = subprocess.Popen([sys.executable, "-c", CHILD, file], stdout=subprocess.PIPE)
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(0.05 + 0.13 * attempt % 0.5)
        os.kill(child.pid, signal.SIGKILL)
        child.communicate()
        with Memory.open(file, embedder=Newer(), background=False) as memory:
            stats = memory.stats(descend=True)
            assert stats.types["turn"] == turns
            assert memory.recall("line 7 of chat 2", scope="user:u2").hits
            assert stats.reembedding is None or stats.reembedding.done >= done
            done = stats.reembedding.done if stats.reembedding else done
    finished = subprocess.run([sys.executable, "-c", CHILD, file], capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
    with Memory.open(file, embedder=Newer(), background=False) as memory:
        memory.maintain()
        assert memory.stats(descend=True).types["turn"] == turns
        hits = memory.recall("line 7 of chat 2", scope="user:u2", limit=50).hits
        assert hits
        assert all(hit.similarity is not None for hit in hits)


def begin_another(memory: Memory) -> None:
    """Somebody moves the store to hashing/32, and is stopped at once."""

    async def begun() -> None:
        engine = replace(memory._memory.engine, embedder=HashingEmbedder(32))
        await begin(engine, asked=True)

    memory._loop.run(begun())


def test_X13_how_far_a_move_is_is_told_to_who_sees_the_whole_store(
    open_memory: OpenMemory,
) -> None:
    memory = open_memory()
    stored(memory, "Ann lives in Bonn", scope="user:ann")
    assert memory.stats().reembedding is None
    begin_another(memory)
    move = memory.stats().reembedding
    assert move == Reembedding(old=OLD, new="hashing/32", records=1)
    assert str(move) == f"re-embedding from {OLD} to hashing/32: 0 of 1 records"


def test_X13_nobody_is_told_how_many_records_others_have(tmp_path: Path) -> None:
    file = str(tmp_path / "memory.db")
    with Memory.open(file, embedder="hashing", background=False) as memory:
        stored(memory, "Ann lives in Bonn", scope="user:ann")
        begin_another(memory)
    with Memory.open(file, embedder="hashing", scope="user:ann", background=False) as bound:
        assert bound.stats().reembedding is None


def test_X13_commands_and_the_server_tell_how_far_a_move_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(tmp_path / "memory.db")
    with Memory.open(file, embedder="hashing", background=False) as memory:
        stored(memory, "Ann lives in Bonn", scope="user:ann")
        begin_another(memory)
        told = in_force(memory._memory, read_settings(), "1")["reembedding"]
    assert told == f"re-embedding from {OLD} to hashing/32: 0 of 1 records"
    assert main(["--store", file, "--embedder", "hashing", "stats"]) == 0
    assert told in capsys.readouterr().out


def test_X13_an_abandoned_move_is_cleaned_up_by_who_moves_back(tmp_path: Path) -> None:
    file = str(tmp_path / "memory.db")
    with Memory.open(file, embedder="hashing", background=False) as memory:
        stored(memory, "Ann lives in Bonn", scope="user:ann")
        begin_another(memory)
        assert memory.reembed().notes == ()
        assert memory.stats().reembedding is None
        assert memory.recall("Bonn", scope="user:ann").hits[0].similarity is not None
