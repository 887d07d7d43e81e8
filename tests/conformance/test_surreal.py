"""The contract on SurrealDB, embedded: in a folder, and in memory."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from standfast.ports import Store
from standfast.stores.surreal import SurrealStore
from standfast.testing import StoreContract
from standfast.testing.clauses.commits import WritingClauses
from standfast.testing.clauses.erasure import EraseClauses
from standfast.testing.clauses.quality import QualityClauses
from standfast.testing.clauses.scopes import ScopeClauses
from standfast.testing.clauses.search import (
    FilterClauses,
    KeywordClauses,
    ScriptClauses,
    VectorClauses,
)
from standfast.testing.clauses.surroundings import SurroundingsClauses
from standfast.testing.clauses.times import ExpiryClauses, TwoAxesClauses
from standfast.testing.clauses.truth import TruthClauses
from standfast.testing.harness import Contract
from standfast.types import Hit, Search
from tests import keyspace
from tests.surreal import StandIn


class TestSurrealStore(StoreContract):
    @pytest.fixture(autouse=True)
    def _give_it_a_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SURREAL_SYNC_DATA", "false")  # no machine stops during these tests
        self.address = f"surrealkv://{tmp_path}/memory"

    async def open_store(self) -> Store:
        return await SurrealStore.open(self.address)

    async def damage(self, store: Store, old: str, new: str) -> bool:
        return await keyspace.damage(store, old, new)

    async def reopen(self, store: Store) -> Store:  # noqa: ARG002
        return await SurrealStore.open(self.address)


class Built(SurrealStore):
    """Searches when the tables that it wants are there."""

    async def search(self, asked: Search) -> list[Hit]:
        found = await super().search(asked)
        if self._builder is None or self._builder.done():
            return found
        await self.built()
        return await super().search(asked)


class OnNativeSurreal(Contract):
    async def open_store(self) -> Store:
        store = await Built.open("mem://?search=native")
        store.engine.table_above = 1
        return store

    async def damage(self, store: Store, old: str, new: str) -> bool:
        return await keyspace.damage(store, old, new)


class TestNativeSurrealStore(
    OnNativeSurreal, KeywordClauses, VectorClauses, FilterClauses, SurroundingsClauses, EraseClauses
):
    """By postings and HNSW in the engine: the clauses in which something is found."""


@pytest.mark.proof
class TestAllOfNativeSurrealStore(
    OnNativeSurreal,
    ScriptClauses,
    QualityClauses,
    ScopeClauses,
    TwoAxesClauses,
    ExpiryClauses,
    TruthClauses,
):
    """The others, which take longer."""


_numbers = count(1)


@pytest.fixture(scope="module")
def stand_in() -> Iterator[StandIn]:
    server = StandIn()
    yield server
    server.stop()


class TestSurrealOverSocket(WritingClauses):
    """Against a stand-in: the protocol of a server, and the engine of the client's package."""

    @pytest.fixture(autouse=True)
    def _give_it_a_database(self, stand_in: StandIn) -> None:
        self.address = f"{stand_in.url}/test/d{next(_numbers)}"

    async def open_store(self) -> Store:
        return await SurrealStore.open(self.address)

    async def open_second(self, store: Store) -> Store:  # noqa: ARG002
        return await SurrealStore.open(self.address)
