"""The contract on a store whose roots are spread over three databases by hash partitions."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import psycopg
import pytest

from standfast.errors import Incompatible, Invalid
from standfast.ports import Store
from standfast.stores.postgres import PostgresStore
from standfast.stores.postgres.spread import TABLES, spread
from standfast.testing import StoreContract
from standfast.testing.clauses.atomicity import AtomicityClauses
from standfast.testing.clauses.commits import WritingClauses
from standfast.testing.clauses.erasure import EraseClauses
from standfast.testing.clauses.sessions import SessionClauses
from standfast.testing.harness import Contract
from standfast.testing.values import make_record, one_record, put
from tests import postgres
from tests.conformance.test_postgres import damage_all

Spread = tuple[str, list[str]]  # the front and its shards


@pytest.fixture(scope="module")
def databases() -> Iterator[Spread]:
    front, *shards = (postgres.new_database() for _ in range(4))
    spread(front, shards)
    yield front, shards
    for address in (front, *shards):
        postgres.drop_database(address)


def emptied(address: str) -> None:
    with psycopg.connect(address, autocommit=True) as db:
        local = db.execute(
            "SELECT relname FROM pg_class WHERE relkind = 'r'"
            " AND relnamespace = 'standfast'::regnamespace"
        )
        tables = [name for (name,) in local if name not in ("migration", "meta")]
        db.execute(";".join(f"DELETE FROM standfast.{table}" for table in tables))


class OnSpread(Contract):
    @pytest.fixture(autouse=True)
    def _give_it_a_front(self, databases: Spread) -> Iterator[None]:
        self.address, shards = databases
        yield
        for one in (self.address, *shards):
            emptied(one)

    async def open_store(self) -> Store:
        return await PostgresStore.open(f"{self.address}?native_above=0")

    async def open_second(self, store: Store) -> Store:  # noqa: ARG002
        return await PostgresStore.open(self.address)

    async def reopen(self, store: Store) -> Store:  # noqa: ARG002
        return await PostgresStore.open(self.address)

    def elsewhere(self, store: Store) -> tuple[str, str]:  # noqa: ARG002
        return "standfast.stores.postgres:PostgresStore.open", self.address

    async def damage(self, store: Store, old: str, new: str) -> bool:  # noqa: ARG002
        with psycopg.connect(self.address, autocommit=True) as db:
            damage_all(db, old, new)
        return True


class TestSpreadStore(OnSpread, WritingClauses, SessionClauses):
    """What is written and read, in every run."""


@pytest.mark.proof
class TestAllOfSpreadStore(OnSpread, StoreContract):
    """All of it, also by several processes at once."""


@pytest.mark.proof
class TestSpreadStoreItself(OnSpread, AtomicityClauses, EraseClauses):
    """Where the databases themselves search."""

    async def open_store(self) -> Store:
        store = await PostgresStore.open(self.address)
        store._place.native_above = -1  # there is always more than that
        return store


def test_X18_roots_lie_on_different_shards_and_none_on_two(databases: Spread) -> None:
    front, shards = databases

    async def work() -> None:
        store = await PostgresStore.open(front)
        for number in range(12):
            await put(store, make_record(f"r{number}", scope=f"user:u{number}"))
        assert (await one_record(store, "r7")).scope == "user:u7"
        assert len(await store.roots()) == 12
        await store.close()

    try:
        asyncio.run(work())
        held: list[set[str]] = []
        for shard in shards:
            with psycopg.connect(shard) as db:
                held.append({name for (name,) in db.execute("SELECT name FROM standfast.root")})
                for table in set(TABLES) - {"root"}:
                    rows = db.execute(f"SELECT DISTINCT root FROM standfast.{table}")
                    assert {root for (root,) in rows} <= held[-1]
        assert sum(map(len, held)) == len(set.union(*held)) == 12
        assert sum(map(bool, held)) > 1
    finally:
        for one in (front, *shards):
            emptied(one)


def test_X18_what_cannot_be_spread_is_refused(databases: Spread) -> None:
    front, shards = databases
    with pytest.raises(Invalid, match="at least one shard"):
        spread(front, [])
    with pytest.raises(Invalid, match="another database"):
        spread(front, [front])
    with pytest.raises(Incompatible, match="is spread already"):
        spread(front, shards)
    with postgres.database() as address:
        store = asyncio.run(_with_a_record(address))
        assert store
        with pytest.raises(Incompatible, match=r"holds memories already.*standfast migrate"):
            spread(address, shards)


async def _with_a_record(address: str) -> int:
    store = await PostgresStore.open(address)
    number = await put(store, make_record("r"))
    await store.close()
    return number
