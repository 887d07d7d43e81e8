"""What is said when a SurrealDB cannot be used: one line, what to do, and no password."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest
from surrealdb import AsyncSurreal

from standfast import Memory
from standfast.errors import Denied, Invalid, StandfastError, Unavailable
from standfast.memory import AsyncMemory
from standfast.stores.surreal import SurrealStore, engine
from standfast.stores.surreal.store import UNBORN_BYTES
from standfast.testing.values import NOW, ROOT, make_record, make_relation, one_record, put, unit
from standfast.types import Erase
from standfast.upkeep.inspection import inspect
from tests.redis import free_port
from tests.surreal import StandIn

SECRET = "hunter2secret"


def refusal(address: str) -> StandfastError:
    async def work() -> None:
        store = await SurrealStore.open(address)
        await store.close()

    with pytest.raises(StandfastError) as error:
        asyncio.run(work())
    said = str(error.value)
    assert "\n" not in said
    assert SECRET not in said
    return error.value


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("surrealkv://", "no folder"),
        ("surrealkv://memory?sync=every", "takes no options"),
        (f"ws://ann:{SECRET}@", "no host"),
        (f"ws://ann:{SECRET}@host:eight", "no port number"),
        (f"ws://ann:{SECRET}@host/a/b/c", "more than a namespace and a database"),
    ],
)
def test_an_address_with_a_mistake_is_refused(address: str, said: str) -> None:
    error = refusal(address)
    assert isinstance(error, Invalid)
    assert said in str(error)


@pytest.mark.parametrize("scheme", ["ws", "http"])
def test_nobody_there(scheme: str) -> None:
    error = refusal(f"{scheme}://ann:{SECRET}@127.0.0.1:{free_port()}")
    assert isinstance(error, Unavailable)
    assert f"cannot reach {scheme}://127.0.0.1" in str(error)


def test_a_folder_is_opened_once_at_a_time_and_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SURREAL_SYNC_DATA", raising=False)
    address = f"surrealkv://{tmp_path}/memory"

    with Memory.open(address, embedder="none", background=False) as memory:
        memory.remember("Ann has a cat", scope="user:ann")
        assert os.environ["SURREAL_SYNC_DATA"] == "true"

    async def work() -> None:
        store = await SurrealStore.open(address)
        assert await store.roots() == ["user:ann"]
        with pytest.raises(Unavailable, match="is open already; close it there first"):
            await SurrealStore.open(address)
        await store.close()
        again = await SurrealStore.open(address)
        await again.close()

    asyncio.run(work())


def test_L1_the_tables_of_the_document_are_there() -> None:
    """Whoever asks the database finds memories and the edges between them, and none that is
    gone."""

    async def work() -> None:
        store = await SurrealStore.open("mem://")
        vectors = {"a": unit(1, 0, 0), "b": unit(0, 1, 0)}
        await put(
            store,
            make_record("a", "Ann moved to Oslo", hash="h"),
            make_record("b", "Oslo is in Norway"),
            make_relation("a", "b"),
            vectors=vectors,
            space="one/3",
        )
        engine = store.engine
        rows = await engine.ask("SELECT *, ->memoryRelation->memory.content AS near FROM memory")
        ann = next(row for row in rows if row["content"] == "Ann moved to Oslo")
        assert (ann["hash"], ann["scopeId"], ann["memoryType"]) == ("h", ROOT, "fact")
        assert ann["embedding"] == [1.0, 0.0, 0.0]
        assert ann["near"] == ["Oslo is in Norway"]
        assert (await one_record(store, "a")).version == 1
        await put(store, Erase(kind="record", id="b"))
        assert len(await engine.ask("SELECT * FROM memory")) == 1
        assert await engine.ask("SELECT * FROM memoryRelation") == []
        assert await store.records(ROOT, ["b"], now=NOW) == []
        await store.close()

    asyncio.run(work())


@pytest.mark.parametrize(
    ("planted", "said"),
    [
        (
            "DEFINE EVENT evil ON TABLE memory WHEN true THEN (CREATE kept SET t = $before)",
            "the event 'evil' of the table memory",
        ),
        ("DEFINE FIELD evil ON entry VALUE 1", "the field 'evil' of the table entry"),
        ("DEFINE TABLE evil AS SELECT * FROM claim", "the view 'evil' of the table claim"),
        (
            "DEFINE FIELD in2 ON memoryRelation VALUE 1",
            "the field 'in2' of the table memoryRelation",
        ),
        ("DEFINE EVENT in ON memoryRelation THEN { RETURN 1 }", "the event 'in' of the table"),
    ],
)
def test_L1_the_light_doctor_names_what_others_put_onto_the_tables(planted: str, said: str) -> None:
    async def work() -> None:
        async with await AsyncMemory.open("mem://", embedder="none", background=False) as memory:
            await memory.remember("Ann moved to Oslo", scope="user:ann")
            assert await inspect(memory.engine) == ""
            await memory.engine.store.engine.ask(planted)  # type: ignore[attr-defined]
            assert said in await inspect(memory.engine)

    asyncio.run(work())


def test_X2_a_server_that_is_slow_or_gone_is_told_and_comes_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Against a stand-in. Those who wait are all told in time, and nothing piles up."""
    monkeypatch.setattr(engine, "SECONDS", 0.5)
    server = StandIn()

    async def one(store: SurrealStore, name: str) -> str:
        try:
            await put(store, make_record(name))
        except Unavailable as error:
            return f"away {error.retry_after}"
        return "kept"

    async def back(store: SurrealStore, name: str) -> None:
        deadline = time.monotonic() + 20
        while await one(store, name) != "kept":
            assert time.monotonic() < deadline
            await asyncio.sleep(0.05)

    async def work() -> None:
        store = await SurrealStore.open(server.url)
        assert await one(store, "a") == "kept"
        server.silent = True
        began = time.monotonic()
        told = await asyncio.gather(*(one(store, f"b{number}") for number in range(8)))
        assert set(told) == {"away 1"}
        assert time.monotonic() - began < 15
        server.silent = False
        await back(store, "c")
        server.hang_up()
        await back(store, "d")
        there = await store.records(None, ["a", "c", "d"], now=NOW)
        assert {record.id for record in there} == {"a", "c", "d"}
        await store.close()

    try:
        asyncio.run(work())
        wrong = refusal(server.url.replace(":hunter2secret@", ":another@"))
        assert isinstance(wrong, Denied)
        assert "correct them in the URL" in str(wrong)
    finally:
        server.stop()


def test_L1_over_http_it_is_the_same_store() -> None:
    """Against a stand-in, which has the embedded engine behind it."""
    server = StandIn()

    async def work() -> None:
        store = await SurrealStore.open(server.http_url)
        await put(store, make_record("a", "Ann lives in Oslo"))
        assert (await one_record(store, "a")).text == "Ann lives in Oslo"
        await put(store, Erase(kind="record", id="a"))
        assert await store.records(ROOT, ["a"], now=NOW) == []
        assert len(await store.journal(ROOT)) == 2
        await store.close()

    try:
        asyncio.run(work())
        wrong = refusal(server.http_url.replace(":hunter2secret@", ":another@"))
        assert isinstance(wrong, Denied)
    finally:
        server.stop()


# Killed while the engine makes its first files


def files_of(folder: Path) -> list[Path]:
    return sorted(one for one in (folder / "data").rglob("*") if one.is_file())


@pytest.mark.parametrize("left", [0, 1, 100])
@pytest.mark.parametrize("which", ["manifest", "clog"])
def test_X1_a_folder_that_was_killed_while_it_was_made_is_made_again(
    tmp_path: Path, which: str, left: int
) -> None:
    async def begun() -> None:
        db = AsyncSurreal(f"surrealkv://{tmp_path}/data")
        await db.connect()
        await db.close()

    asyncio.run(begun())
    [file] = [one for one in files_of(tmp_path) if one.suffix == f".{which}"]
    os.truncate(file, left)
    with Memory.open(f"surrealkv://{tmp_path}", embedder="hashing", background=False) as memory:
        memory.remember("I like tea", scope="user:ann")
    with Memory.open(f"surrealkv://{tmp_path}", embedder="hashing", background=False) as memory:
        assert [one.text for one in memory.records(scope="user:ann").items] == ["I like tea"]


@pytest.mark.parametrize("which", ["manifest", "clog"])
def test_X1_a_folder_that_holds_something_is_never_begun_anew(tmp_path: Path, which: str) -> None:
    Memory.open(f"surrealkv://{tmp_path}", embedder="hashing", background=False).close()
    before = {file: file.stat().st_size for file in files_of(tmp_path)}
    assert sum(before.values()) > UNBORN_BYTES
    [short] = [file for file in before if file.suffix == f".{which}"]
    os.truncate(short, 0)
    assert "Log error" in str(refusal(f"surrealkv://{tmp_path}"))
    assert all(file.stat().st_size == before[file] for file in before if file != short)
