"""SurrealDB searches by itself: where, from when on, and what is left when something is erased."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from standfast import Memory
from standfast.errors import Invalid
from standfast.ports import NativeHits
from standfast.stores.surreal import SurrealStore
from standfast.stores.surreal import near as surreal_near
from standfast.stores.surreal.near import table_of
from standfast.testing.values import ROOT, make_record, make_search, put, unit
from standfast.types import Erase, Search

SPACE = "one/3"
COLOURS = ("red", "green", "blue", "grey", "white", "black")


async def _planted(store: SurrealStore, first: int, last: int) -> None:
    for number in range(first, last):
        text = f"the {COLOURS[number % 6]} door has number {number}"
        vector = unit(1.0, number / 50, (number % 7) / 7)
        await put(
            store,
            make_record(f"r{number:03}", text),
            vectors={f"r{number:03}": vector},
            space=SPACE,
        )


def _asked(text: str = "red door", limit: int = 5) -> Search:
    return make_search(ROOT, text=text, vector=unit(1, 0.3, 0.2), space=SPACE, limit=limit)


def _run(tmp_path: Path, work: Callable[[str], Awaitable[None]]) -> None:
    asyncio.run(work(f"surrealkv://{tmp_path}/memory"))  # type: ignore[arg-type]


def test_L1_lota_lets_surrealdb_search_and_says_so(tmp_path: Path) -> None:
    address = f"surrealkv://{tmp_path}/memory"
    with Memory.open(address, profile="lota", embedder="hashing", background=False) as memory:
        memory.remember("Ann prefers window seats", scope="user:ann")
        found = memory.recall("window seats", scope="user:ann")
        assert [hit.record.text for hit in found.hits] == ["Ann prefers window seats"]
        assert any("engine itself" in note for note in found.notes)
    with Memory.open(address, embedder="hashing", background=False) as memory:
        found = memory.recall("window seats", scope="user:ann")
        assert not any("engine itself" in note for note in found.notes)


def test_L1_what_was_there_before_is_indexed_when_it_is_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In steps, which another process may go on with, while others write and erase."""
    monkeypatch.setattr(surreal_near, "WORDS_AT_ONCE", 7)
    monkeypatch.setattr(surreal_near, "VECTORS_AT_ONCE", 7)

    async def work(address: str) -> None:
        store = await SurrealStore.open(f"{address}?search=exact")
        await _planted(store, 0, 30)
        await store.close()
        store = await SurrealStore.open(f"{address}?search=native")
        assert not await store.engine.build(ROOT, "", ""), "the first step is not all"
        assert not await store.engine.build(ROOT, SPACE, ROOT)
        await put(store, Erase(kind="record", id="r002"), Erase(kind="record", id="r029"))
        await _planted(store, 30, 33)
        await store.close()
        store = await SurrealStore.open(f"{address}?search=native")
        store.engine.table_above = 1
        exact = await store.search(_asked())
        assert not isinstance(exact, NativeHits), "by the index of the process, meanwhile"
        await store.built()
        await store.search(_asked())
        await store.built()
        found = await store.search(_asked())
        assert isinstance(found, NativeHits)
        assert [hit.record.id for hit in found] == [hit.record.id for hit in exact]
        assert [round(hit.keyword, 9) for hit in found] == [round(hit.keyword, 9) for hit in exact]
        table = table_of(ROOT, SPACE, ROOT)
        numbers = await store.engine.ask(f"SELECT VALUE id[0] FROM {table}")
        assert sorted(numbers) == [one for one in range(1, 34) if one not in (3, 30)]
        await store.close()

    _run(tmp_path, work)


def test_X1_erasing_takes_words_and_vectors_out_of_the_engine(tmp_path: Path) -> None:
    async def work(address: str) -> None:
        store = await SurrealStore.open(f"{address}?search=native")
        store.engine.table_above = 1
        await _planted(store, 0, 12)
        await store.search(_asked())
        await store.built()
        erased = [Erase(kind="record", id=f"r{number:03}") for number in range(12) if number != 5]
        await put(store, *erased)
        table = table_of(ROOT, SPACE, ROOT)
        assert await store.engine.ask(f"SELECT VALUE id[0] FROM {table}") == [6]
        words = await store.engine.ask(
            f"SELECT VALUE v FROM entry:['{ROOT.encode().hex()}', '{b'p'.hex()}']"
            f"..['{ROOT.encode().hex()}', '{b'q'.hex()}']"
        )
        assert {len(blob) for blob in words} == {7}, "one posting a word: those of the other one"
        assert [hit.record.id for hit in await store.search(_asked())] == ["r005"]
        await put(store, drop_space=SPACE)
        tables = await store.engine.ask("INFO FOR DB")
        assert table not in tables["tables"]
        assert [hit.record.id for hit in await store.search(_asked("number door"))] == ["r005"]
        await store.close()

    _run(tmp_path, work)


def test_L1_above_a_size_the_engine_searches(tmp_path: Path) -> None:
    async def work(address: str) -> None:
        store = await SurrealStore.open(f"{address}?native_above=10")
        await _planted(store, 0, 9)
        assert not isinstance(await store.search(_asked()), NativeHits)
        await _planted(store, 9, 12)
        await store.search(_asked())
        await store.built()
        assert isinstance(await store.search(_asked()), NativeHits)
        with pytest.raises(Invalid, match="another length"):
            await store.search(make_search(ROOT, text="x", vector=unit(1, 0), space=SPACE))
        await store.close()

    _run(tmp_path, work)


@pytest.mark.parametrize("query", ["search=quick", "native_above=many", "native_above=-1"])
def test_an_option_with_a_mistake_is_refused(query: str) -> None:
    with pytest.raises(Invalid):
        asyncio.run(SurrealStore.open(f"mem://?{query}"))


@pytest.mark.proof
@pytest.mark.parametrize("records", [1000, 10_000])
def test_L1_native_recall_of_surrealdb(records: int, tmp_path: Path) -> None:
    """Recall of the exact top ten by both arms, in one scope and among a hundred."""
    from tests.simulation.native_quality import recalls

    async def opened(search: str, scopes: int) -> SurrealStore:
        return await SurrealStore.open(f"surrealkv://{tmp_path}/{scopes}?search={search}")

    one, many = asyncio.run(recalls(opened, records=records))
    assert min(*one, *many) >= 0.95, (one, many)
