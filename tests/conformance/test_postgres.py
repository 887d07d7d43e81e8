"""The whole contract, on a database of its own for each clause."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from standfast.ports import Store
from standfast.stores.postgres import PostgresStore
from standfast.testing import StoreContract
from standfast.testing.clauses.quality import QualityClauses
from standfast.testing.clauses.scopes import ScopeClauses
from standfast.testing.clauses.search import (
    FilterClauses,
    KeywordClauses,
    ScriptClauses,
    VectorClauses,
)
from standfast.testing.clauses.surroundings import SurroundingsClauses
from standfast.testing.clauses.times import TwoAxesClauses
from standfast.testing.statemachine import store_machine
from tests import postgres
from tests.conformance.test_sqlite import KEPT_IN


def damage_all(db: psycopg.Connection[Any], old: str, new: str) -> None:
    """Wherever this text is kept, another stands."""
    for table, column in KEPT_IN:
        db.execute(
            f"UPDATE standfast.{table} SET {column} = replace({column}::text, %s, %s)"
            f"::{'text' if column == 'text' else 'json'} WHERE {column}::text LIKE %s",
            (old, new, f"%{old}%"),
        )


class TestPostgresStore(StoreContract):
    @pytest.fixture(autouse=True)
    def _give_it_a_database(self) -> Iterator[None]:
        with postgres.database() as self.address:
            yield

    async def open_store(self) -> Store:
        store = await PostgresStore.open(f"{self.address}?native_above=0")
        assert store.capabilities.search == "exact"
        return store

    async def damage(self, store: Store, old: str, new: str) -> bool:  # noqa: ARG002
        with psycopg.connect(self.address, autocommit=True) as db:
            damage_all(db, old, new)
        return True

    async def open_second(self, store: Store) -> Store:  # noqa: ARG002
        return await PostgresStore.open(self.address)

    def elsewhere(self, store: Store) -> tuple[str, str]:  # noqa: ARG002
        return "standfast.stores.postgres:PostgresStore.open", self.address

    async def reopen(self, store: Store) -> Store:  # noqa: ARG002
        return await PostgresStore.open(self.address)


class TestPostgresItself(
    ScopeClauses,
    TwoAxesClauses,
    KeywordClauses,
    ScriptClauses,
    VectorClauses,
    FilterClauses,
    SurroundingsClauses,
    QualityClauses,
):
    """What is found where the database itself searches, however little there is."""

    @pytest.fixture(autouse=True)
    def _give_it_a_database(self) -> Iterator[None]:
        with postgres.database() as self.address:
            yield

    async def open_store(self) -> Store:
        store = await PostgresStore.open(self.address)
        assert store.capabilities.search == "both"
        store._place.native_above = -1  # there is always more than that
        return store


def test_X2_postgresql_answers_like_the_reference(proving: bool) -> None:
    """Random histories; `make proof` runs many more and longer ones."""
    used: list[AbstractContextManager[str]] = []

    async def open_postgres() -> Store:
        for one in used:  # the store before was closed
            one.__exit__(None, None, None)
        used[:] = [postgres.database()]
        return await PostgresStore.open(f"{used[0].__enter__()}?native_above=0")

    examples, steps = (400, 60) if proving else (8, 25)
    lengths = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(store_machine(open_postgres), settings=lengths)
