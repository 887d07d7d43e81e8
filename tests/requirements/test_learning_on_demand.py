"""What was said is known to the next recall or context: nobody has to call ``maintain()``."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import apsw
import pytest

from standfast import AsyncMemory, Memory
from standfast.engine import Engine
from standfast.errors import Unavailable
from standfast.stores.dict import DictStore
from standfast.testing.scripted import ScriptedServer
from standfast.types import Answer, Batch, Message, Packet, SessionKey
from standfast.upkeep.learn import on_demand, statements
from standfast.upkeep.learn import round as learning
from standfast.upkeep.leases import failed
from standfast.upkeep.loop import one_round
from standfast.wiring import open_engine
from tests import postgres, redis
from tests.commands import run_here
from tests.interfaces.mcp_world import agent_of, opened
from tests.requirements.conftest import OpenMemory
from tests.requirements.learning_world import ANN, engine_of, facts, model_at, place, texts
from tests.requirements.test_unread_messages import NEXT, ODD, failing
from tests.serving import served

PORTO = "Ann lives in Porto."
HOME = "Where does Ann live?"
FACTS = ("fact", "preference")
READS: dict[str, Callable[[Memory], Any]] = {
    "recall": lambda memory: memory.recall(HOME, scope=ANN, types=FACTS),
    "context": lambda memory: memory.context(query=HOME, scope=ANN),
}


def say(memory: Memory, *said: str, to: str = "chat", scope: str = ANN) -> None:
    memory.observe(to, list(said), scope=scope, author="Ann")


def found(answer: Answer | Packet) -> list[str]:
    if isinstance(answer, Packet):
        return [line for line in answer.text.splitlines() if line.startswith("- ")]
    return [hit.record.text for hit in answer.hits]


def left(answer: Answer | Packet) -> list[str]:
    return [note for note in answer.notes if "not learned yet" in note]


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    return open_memory(background=False)


# On every engine that ships

PLACES: dict[str, Callable[[Path, ExitStack], str]] = {
    "dict": lambda _, __: "dict:",
    "sqlite": lambda folder, _: str(folder / "memory.db"),
    "postgresql": lambda _, stack: stack.enter_context(postgres.database()),
    "redis": lambda _, stack: stack.enter_context(redis.database()),
    "surrealdb": lambda folder, _: f"surrealkv://{folder}/memory",
}


@pytest.mark.parametrize("where", PLACES)
def test_X1_every_engine_knows_at_the_next_read_what_was_said(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SURREAL_SYNC_DATA", "false")
    with ExitStack() as stack:
        address = PLACES[where](tmp_path, stack)
        memory = stack.enter_context(Memory.open(address, embedder="hashing", background=False))
        say(memory, "I live in Lisbon.")
        assert facts(memory) == [], "observe does not wait for learning"
        assert "Ann lives in Lisbon." in found(READS["recall"](memory))
        say(memory, "No, I live in Porto.")
        assert "Ann lives in Porto" in READS["context"](memory).text
        known = {one.id: one.version for one in facts(memory)}
        assert READS["recall"](memory).notes == READS["recall"](memory).notes
        assert left(READS["recall"](memory)) == []
        memory.maintain()
        assert {one.id: one.version for one in facts(memory)} == known, "nothing is learned twice"


# Which sessions a read learns from


@pytest.mark.parametrize("read", READS)
def test_X1_a_read_learns_from_sessions_of_its_scope_and_of_its_parents(
    memory: Memory, read: str
) -> None:
    say(memory, "I live in Porto.", scope=ANN)
    say(memory, "I live in Rome.", scope="user:bob")
    agent = f"{ANN}:agent:x"
    if read == "recall":
        answer: Any = memory.recall(HOME, scope=agent, types=FACTS)
    else:
        answer = memory.context(query=HOME, scope=agent)
    assert any("Ann lives in Porto" in one for one in found(answer))
    assert facts(memory, "user:bob") == [], "others' sessions are left alone"


def test_X1_a_read_below_learns_from_what_is_below(memory: Memory) -> None:
    agent = f"{ANN}:agent:x"
    say(memory, "I live in Porto.", scope=agent)
    assert PORTO not in found(memory.recall(HOME, scope=ANN, types=FACTS))
    assert facts(memory, agent) == []
    assert PORTO in found(memory.recall(HOME, scope=ANN, descend=True, types=FACTS))


def test_X1_a_read_of_everything_learns_from_everything(memory: Memory) -> None:
    say(memory, "I live in Porto.", scope=ANN)
    say(memory, "I drive a Volvo.", scope="user:bob")
    assert PORTO in found(memory.recall(HOME, types=FACTS))
    assert facts(memory, "user:bob")


def test_X1_a_context_without_a_scope_learns_from_its_own_scope_only(memory: Memory) -> None:
    own = engine_of(memory).default_scope
    say(memory, "I live in Porto.", scope=own)
    say(memory, "I drive a Volvo.", scope="user:bob")
    assert "Ann lives in Porto" in memory.context(query=HOME).text
    assert facts(memory, "user:bob") == []


def test_X1_scopes_may_come_from_a_generator(memory: Memory) -> None:
    say(memory, "I live in Porto.")
    scopes = (one for one in (ANN, "user:bob"))
    assert PORTO in found(memory.recall(HOME, scope=scopes, types=FACTS))
    say(memory, "I like green tea.")
    assert "likes green tea" in memory.context(query="tea", scope=(one for one in (ANN,))).text


def test_X1_a_session_of_an_agent_teaches_its_organisation_at_once(
    open_memory: OpenMemory,
) -> None:
    memory = open_memory(profile="lota")
    say(memory, "We use PostgreSQL for billing.", scope="org:acme:agent:cto")
    memory.recall("What do we use for billing?", scope="org:acme")
    assert place(memory, "chat", "org:acme:agent:cto") == 1


def test_X1_the_session_that_is_asked_about_comes_first(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(on_demand.SESSIONS_MAX + 5):
        say(memory, "I like tea.", to=f"a{number:02}")
    say(memory, "I live in Porto.", to="zz")
    Spent(monkeypatch, seconds=1.0)
    packet = memory.context(session="zz", query=HOME, scope=ANN)
    assert place(memory, "zz") == 1
    assert PORTO in texts(memory)
    assert left(packet)


@pytest.mark.parametrize("holder", ["person", "agent"])
def test_X1_a_key_that_may_only_read_finds_it_as_maintenance_would_have_learned_it(
    holder: Any,
) -> None:
    async def play() -> tuple[list[Any], list[Any]]:
        shapes, entries = [], []
        for by_read in (True, False):
            async with await AsyncMemory.open(
                "dict:", embedder="hashing", background=False
            ) as memory:
                await memory.observe("chat", ["I live in Lisbon."], scope=ANN, author="Ann")
                await memory.maintain()
                await memory.observe("chat", ["I live in Porto."], scope=ANN, author="Ann")
                reader = AsyncMemory(memory.engine.narrowed((ANN,), ("read",), holder))
                if not by_read:
                    await memory.maintain()
                answer = await reader.recall(HOME, types=FACTS)
                shapes.append(
                    [(h.record.text, h.record.trust, h.record.status) for h in answer.hits]
                )
                made = await memory.history(scope=ANN)
                entries.append([(e.reason, e.actor) for e in made if e.reason.startswith("learn")])
        assert (PORTO, 3, "active") in shapes[0]
        return shapes, entries

    shapes, entries = asyncio.run(play())
    assert shapes[0] == shapes[1]
    assert entries[0] == entries[1] == [("learn: post-chat-memory", "maintenance")] * 2


def test_A10_X1_what_an_opted_out_user_said_is_found_in_this_process_only(memory: Memory) -> None:
    memory.set_policy(ANN, persist=False)
    say(memory, "I live in Porto.")
    assert PORTO in found(memory.recall(HOME, scope=ANN, types=FACTS))
    engine = engine_of(memory)
    assert memory._loop.run(engine.store.sessions(ANN)) == []
    assert [one.text for one in facts(memory)] == [PORTO]


# Where a read learns nothing


@pytest.mark.parametrize("profile", ["otto", "autobot", "agtos"])
def test_X1_a_read_learns_nothing_where_its_profile_does_not(
    open_memory: OpenMemory, profile: str
) -> None:
    memory = open_memory(profile=profile)
    say(memory, "I live in Porto.")
    for read in READS.values():
        assert left(read(memory)) == []
    assert facts(memory) == []


@pytest.mark.parametrize(("learn", "known"), [("", []), ("rules", [PORTO]), ("off", [])])
def test_X1_a_read_asks_no_language_model(
    learn: str, known: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pydantic_ai", reason="needs the extra llm")
    monkeypatch.setenv("STANDFAST_LEARN", learn)
    with (
        ScriptedServer() as server,
        model_at(server),
        Memory.open("dict:", embedder="hashing", background=False) as memory,
    ):
        say(memory, "I live in Porto.")
        for read in READS.values():
            assert left(read(memory)) == []
        assert texts(memory) == known
        assert server.requests == []


# Once, whoever reads at the same time

SAID = [
    f"My {who}'s name is {name}."
    for who, name in zip(
        ("wife", "brother", "sister", "boss", "dog", "cat", "doctor", "teacher", "neighbour"),
        ("Anna", "Bert", "Cora", "Dina", "Emil", "Fifi", "Gustav", "Hilda", "Ivan"),
        strict=True,
    )
] + ["I live in Porto.", "I work as a nurse.", "I like tea.", "I am allergic to nuts."]


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """How often each message was read."""
    times: Counter[str] = Counter()
    real = statements.statements_of

    def read(message: Message, *rest: Any) -> Any:
        times[message.id] += 1
        return real(message, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(statements, "statements_of", read)
        yield times


def expected(said: list[str]) -> list[str]:
    """What maintenance alone learns of it."""
    with Memory.open("dict:", embedder="hashing", background=False) as memory:
        say(memory, *said)
        memory.maintain()
        return sorted(texts(memory))


def test_X1_reads_at_the_same_time_learn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_demand, "READ_SECONDS", 60.0)

    async def play(times: Counter[str]) -> list[str]:
        engine = await open_engine("dict:", embedder="hashing")
        memory = AsyncMemory(engine)
        await memory.observe("chat", SAID, scope=ANN, author="Ann")
        asked = [memory.recall(HOME, scope=ANN, types=FACTS) for _ in range(6)]
        packets = [memory.context(session="chat", query="home", scope=ANN) for _ in range(3)]
        answers = await asyncio.gather(*asked, *packets)
        assert [left(one) for one in answers] == [[]] * 9
        assert all(PORTO in found(one) for one in answers[:6])
        assert set(times.values()) == {1}
        assert len(times) == len(SAID)
        page = await memory.records(scope=ANN, types=["fact", "preference"], limit=100)
        await memory.close()
        return sorted(one.text for one in page.items)

    with counted(monkeypatch) as times:
        known = asyncio.run(play(times))
    assert known == expected(SAID)


def test_X1_a_round_of_maintenance_and_reads_at_the_same_time_learn_once(tmp_path: Path) -> None:
    async def play() -> list[str]:
        path = str(tmp_path / "memory.db")
        handles = [AsyncMemory(await open_engine(path, embedder="hashing")) for _ in range(3)]
        for start in range(0, len(SAID), 4):
            said = SAID[start : start + 4]
            await handles[0].observe(f"chat{start}", said, scope=ANN, author="Ann")
        rounds = [one_round(one.engine, everything=True, shared=True) for one in handles]
        reads = [one.recall(HOME, scope=ANN, types=FACTS) for one in handles * 3]
        answers = await asyncio.gather(*rounds, *reads)
        assert not any("Conflict" in str(one) or "degraded" in str(one) for one in answers)
        while left(last := await handles[0].recall(HOME, scope=ANN, types=FACTS)):
            pass
        assert PORTO in found(last)
        page = await handles[0].records(scope=ANN, types=["fact", "preference"], limit=100)
        for one in handles:
            await one.close()
        return sorted(one.text for one in page.items)

    assert asyncio.run(play()) == expected(SAID)


READER_PROCESS = """
import json, sys
from standfast import Memory
with Memory.open(sys.argv[1], embedder="hashing", background=sys.argv[2] == "1") as memory:
    sys.stdin.readline()
    answer = memory.recall("Where does Ann live?", scope="user:ann", types=["fact"])
    print(json.dumps([[hit.record.text for hit in answer.hits], list(answer.notes)]))
"""


def test_X1_several_processes_on_one_file_learn_once(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Memory.open(path, embedder="hashing", background=False) as memory:
        say(memory, *SAID)
    command = [sys.executable, "-c", READER_PROCESS, str(path)]
    running = [
        subprocess.Popen(
            [*command, str(number % 2)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for number in range(4)
    ]
    for one in running:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()
    answers = [json.loads(one.communicate(timeout=60)[0]) for one in running]
    assert [one.returncode for one in running] == [0] * 4
    for hits, notes in answers:
        assert PORTO in hits or any("not learned yet" in note for note in notes)
        assert not any("degraded: what was said" in note for note in notes), notes
    with Memory.open(path, embedder="hashing", background=False) as memory:
        memory.maintain()
        assert sorted(texts(memory)) == expected(SAID)


# Within its time


class Spent:
    """Time that passes only while a message is read, so much for each."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, seconds: float) -> None:
        self.now = 0.0
        real = statements.statements_of

        def read(message: Message, *rest: Any) -> Any:
            self.now += seconds
            return real(message, *rest)

        monkeypatch.setattr(on_demand, "monotonic", lambda: self.now)
        monkeypatch.setattr(statements, "statements_of", read)


@pytest.mark.parametrize(("seconds", "learned"), [(5.0, 8), (0.05, 8), (0.01, 24), (0.002, 104)])
def test_X1_a_read_learns_for_200_ms_and_from_eight_messages_at_least(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, seconds: float, learned: int
) -> None:
    said = [f"I like dish number {number}." for number in range(120)]
    say(memory, *said)
    Spent(monkeypatch, seconds=seconds)
    answer = memory.recall("Which dish?", scope=ANN)
    assert place(memory) == learned
    assert left(answer) == ["not learned yet: session 'chat'; maintenance continues"]
    memory.recall("Which dish?", scope=ANN)
    assert place(memory) == min(2 * learned, 120), "the next read goes on"
    memory.maintain()
    assert place(memory) == 120
    assert left(memory.recall("Which dish?", scope=ANN)) == []


def test_X1_a_slow_reader_learns_from_several_short_sessions(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(12):
        say(memory, "I like tea.", to=f"s{number:02}")
    Spent(monkeypatch, seconds=1.0)
    (note,) = left(memory.recall("tea", scope=ANN))
    assert note == (
        "not learned yet: session 's08', session 's09', session 's10' and 1 more; "
        "maintenance continues"
    )
    assert left(memory.recall("tea", scope=ANN)) == []


@pytest.mark.parametrize("seconds", [0.0, 1.0])
def test_X1_a_message_at_which_a_reader_raises_does_not_stop_a_read(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    say(memory, "I like tea.", ODD, NEXT)
    Spent(monkeypatch, seconds=seconds)
    with failing(statements, "statements_of", KeyError):
        answer = memory.recall(HOME, scope=ANN, types=FACTS)
    assert "Ann lives in Berlin." in found(answer)
    assert left(answer) == []
    assert place(memory) == 3


# Where it cannot be learned now


class RefusingStore:
    """Reads as usual, and refuses what learning commits."""

    def __init__(self, store: DictStore, error: Exception) -> None:
        self.inner, self.error, self.tried = store, error, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    async def commit(self, batch: Batch) -> int:
        if batch.reason.startswith("learn"):
            self.tried += 1
            raise self.error
        return await self.inner.commit(batch)


async def refusing(error: Exception) -> tuple[AsyncMemory, RefusingStore]:
    engine = await open_engine("dict:", embedder="hashing")
    engine.store = store = RefusingStore(DictStore(), error)  # type: ignore[assignment]
    return AsyncMemory(engine), store


def test_X1_a_store_that_takes_no_write_answers_and_says_so() -> None:
    async def play() -> None:
        memory, store = await refusing(Unavailable("the disk is full"))
        await memory.remember("Ann has a cat.", scope=ANN)
        await memory.observe("chat", ["I live in Porto."], scope=ANN, author="Ann")
        answer = await memory.recall("cat", scope=ANN)
        assert "Ann has a cat." in found(answer)
        note = "degraded: what was said last is not learned yet: the disk is full"
        assert left(answer) == [note]
        packet = await memory.context(session="chat", query="cat", scope=ANN)
        assert left(packet) == [note]
        assert "I live in Porto." in str(packet.messages)
        assert store.tried == 2, "each read tries once"

    asyncio.run(play())


def test_X1_a_defect_in_learning_costs_no_answer(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.remember("Ann has a cat.", scope=ANN)
    say(memory, "My code is Zzyzx.")

    async def breaks(*_: Any, **__: Any) -> None:
        raise KeyError("Zzyzx")

    monkeypatch.setattr(on_demand, "learn_sessions", breaks)
    answer = memory.recall("cat", scope=ANN)
    assert "Ann has a cat." in found(answer)
    (note,) = left(answer)
    assert "KeyError" in note
    assert "Zzyzx" not in note


def test_X1_a_read_does_not_wait_long_for_another_writer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_demand, "COMMIT_SECONDS_MAX", 0.3)
    path = tmp_path / "memory.db"
    with Memory.open(path, embedder="hashing", background=False) as memory:
        memory.remember("Ann has a cat.", scope=ANN)
        say(memory, "I live in Porto.")
        other = apsw.Connection(str(path))
        other.execute("BEGIN IMMEDIATE")
        answer = memory.recall("cat", scope=ANN)
        other.execute("ROLLBACK")
        other.close()
        assert "Ann has a cat." in found(answer)
        (note,) = left(answer)
        assert "another writer keeps the store" in note
        assert PORTO in found(memory.recall(HOME, scope=ANN, types=FACTS))
        assert texts(memory).count(PORTO) == 1


READ_ONLY = """
import json, os, sys
from standfast import Memory
from standfast.text import analysis
with Memory.open("dict:", embedder="hashing", background=False) as memory:
    memory.observe("load", ["I live in Rome."], scope="user:ann")
    memory.recall("what is loaded can be read later", scope="user:ann")
    memory.context(query="x", scope="user:ann")
from standfast.stores import sqlite
from standfast.stores.sqlite.migrate import migrations
migrations()
for name in [name for name in os.environ if name.startswith("XDG_")] + ["HOME"]:
    os.environ[name] = "/"
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
with Memory.open(sys.argv[1], embedder="hashing", background=False) as memory:
    answer = memory.recall("cat", scope="user:ann")
    print(json.dumps([[hit.record.text for hit in answer.hits], list(answer.notes)]))
"""


def test_X1_a_read_only_file_answers_and_says_so() -> None:
    # Not below tmp_path: the child is another user, who may not go through its parents.
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "memory.db"
        with Memory.open(path, embedder="hashing", background=False) as memory:
            memory.remember("Ann has a cat.", scope=ANN)
            say(memory, "I live in Porto.")
        path.chmod(0o444)
        path.parent.chmod(0o555)
        child = subprocess.run(
            [sys.executable, "-c", READ_ONLY, str(path)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            timeout=60,
            check=False,
        )
        path.parent.chmod(0o700)
        assert child.returncode == 0, child.stderr.decode()
    hits, notes = json.loads(child.stdout)
    assert "Ann has a cat." in hits
    assert any("not learned yet" in note and "read-only" in note for note in notes), notes


@pytest.mark.parametrize("call", ["due", "sessions"])
def test_X1_a_store_that_is_away_while_it_is_learned_from_costs_no_answer(call: str) -> None:
    async def away(*_: Any, **__: Any) -> None:
        raise Unavailable("cannot reach the store")

    async def play() -> None:
        memory, store = await refusing(Unavailable("unused"))
        await memory.remember("Ann has a cat.", scope=ANN)
        await memory.observe("chat", ["I live in Porto."], scope=ANN, author="Ann")
        setattr(store, call, away)
        answer = await memory.recall("cat", scope=ANN)
        assert "Ann has a cat." in found(answer)
        assert left(answer) == [f"{on_demand.FAILED}cannot reach the store"]

    asyncio.run(play())


# Sessions that cannot be learned from


def test_X34_X1_sessions_in_which_learning_failed_cost_a_read_little(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A thousand of them: one question for all, none is tried, and none hides another session."""

    async def play() -> None:
        engine = await open_engine("dict:", embedder="hashing")
        memory = AsyncMemory(engine)
        for number in range(1000):
            await memory.observe(f"a{number:04}", ["I like tea."], scope=ANN, author="Ann")
            work = learning.work_of(f"a{number:04}")
            await failed(engine, engine.store, ANN, work, "it can never be written")
        await memory.observe("zz", ["I live in Porto."], scope=ANN, author="Ann")
        looked: list[SessionKey] = []
        real = learning.next_turns

        async def next_turns(engine: Engine, store: Any, key: SessionKey, **more: Any) -> Any:
            looked.append(key)
            return await real(engine, store, key, **more)

        monkeypatch.setattr(learning, "next_turns", next_turns)
        answer = await memory.recall(HOME, scope=ANN, types=FACTS)
        assert PORTO in found(answer)
        assert {key.id for key in looked} == {"zz"}
        (note,) = left(answer)
        assert note.endswith("and 997 more; maintenance continues")
        await memory.close()

    asyncio.run(play())


def test_X34_X1_what_can_never_be_written_is_tried_once_by_reads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def play() -> None:
        from standfast.errors import Invalid

        memory, store = await refusing(Invalid("this store takes no such thing"))
        await memory.observe("chat", ["I live in Porto."], scope=ANN, author="Ann")
        for _ in range(3):
            answer = await memory.recall("home", scope=ANN)
            assert left(answer) == ["not learned yet: session 'chat'; maintenance continues"]
            tried = store.tried
        assert tried == store.tried
        later = memory.engine.now() + on_demand.timedelta(seconds=on_demand.FAILED_SECONDS)
        monkeypatch.setattr(memory.engine, "clock", lambda: later)
        store.error = None  # type: ignore[assignment]
        monkeypatch.setattr(store, "commit", store.inner.commit)
        assert PORTO in found(await memory.recall(HOME, scope=ANN, types=FACTS))

    asyncio.run(play())


# Through every interface


def test_X1_over_http_two_requests_at_once_find_it_and_the_books_stay_right(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(on_demand, "READ_SECONDS", 60.0)
    with counted(monkeypatch) as times, served() as server:
        secret = server.key(ANN, rights=("read", "write", "admin"))
        reader = server.key(ANN, rights=("read",))
        writing = Memory.connect(server.url, secret)
        writing.observe("chat", SAID, scope=ANN, author="Ann")
        answers: list[Any] = []

        def ask() -> None:
            with Memory.connect(server.url, reader) as reading:
                answers.append(reading.recall(HOME, types=FACTS))
                answers.append(reading.context(query=HOME))

        threads = [Thread(target=ask) for _ in range(2)]
        for one in threads:
            one.start()
        for one in threads:
            one.join(60)
        assert len(answers) == 4
        assert all("Ann lives in Porto" in str(found(one)) for one in answers)
        assert not any(left(one) for one in answers)
        assert set(times.values()) == {1}
        assert writing.due(scope=ANN).work == () or all(
            one.detail != "extract" for one in writing.due(scope=ANN).work
        )
        assert server.memory.engine.disk.trouble == ""
        assert server.memory.engine.callers.waiting == 0
        writing.close()


def test_X1_over_mcp_the_next_search_and_context_find_it() -> None:
    async def play() -> None:
        async with opened() as memory, agent_of(memory, ANN) as agent:
            told = [{"role": "user", "content": "I live in Porto.", "author": "Ann"}]
            await agent.does("session_log", session="chat", messages=told)
            await agent.finds(HOME)
            page = await memory.records(scope=ANN, types=["fact"])
            assert [one.text for one in page.items] == [PORTO]
            more = [{"role": "user", "content": "I like green tea.", "author": "Ann"}]
            await agent.does("session_log", session="chat", messages=more)
            assert "likes green tea" in await agent.says("memory_context", task="tea")

    asyncio.run(play())


def cli(store: Path, *arguments: str, stdin: bytes = b"") -> str:
    command = [*arguments, "--store", str(store), "--embedder", "hashing", "--no-background"]
    done = run_here(command, stdin)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "read", [("recall", "--type", "fact", "--type", "preference"), ("context",)]
)
def test_X1_the_command_line_finds_it_alone_and_beside_a_server(
    read: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.interfaces.test_nearby import running

    with tempfile.TemporaryDirectory() as home:
        monkeypatch.setenv("XDG_DATA_HOME", home)
        store = tmp_path / "memory.db"
        told = json.dumps({"role": "user", "content": "I live in Porto.", "author": "Ann"})
        cli(store, "observe", "chat", "--scope", ANN, stdin=told.encode())
        assert PORTO[:-1] in cli(store, *read, HOME, "--scope", ANN)
        told = json.dumps({"role": "user", "content": "I like green tea.", "author": "Ann"})
        cli(store, "observe", "chat", "--scope", ANN, stdin=told.encode())
        with running(store):
            assert "likes green tea" in cli(store, *read, "green tea", "--scope", ANN)


@pytest.mark.parametrize("text", ["x" * 1_000_000, "A word. " * 125_000], ids=["run", "words"])
def test_X34_a_message_of_a_megabyte_keeps_no_read_waiting(text: str) -> None:
    with Memory.open("dict:", embedder="hashing", background=False) as memory:
        memory.observe("chat", ["I live in Lisbon.", f"log {text}", "I like tea."], scope=ANN)
        began = time.process_time()
        answer = memory.recall("Where do I live?", scope=ANN)
        assert time.process_time() - began < 20  # it took an hour
        assert any("not learned" in note for note in answer.notes)
        memory.maintain()  # reads a part of it, and goes on behind it
        facts = [one.text for one in memory.records(scope=ANN, kinds=["semantic"]).items]
    assert any("Lisbon" in fact for fact in facts)
    assert any("tea" in fact for fact in facts)
