"""The whole contract, on a database of its own for each clause."""

from collections.abc import Iterator

import pytest

from recollect.ports import Store
from recollect.stores.postgres import PostgresStore
from recollect.testing import StoreContract
from tests import postgres


class TestPostgresStore(StoreContract):
    @pytest.fixture(autouse=True)
    def _give_it_a_database(self) -> Iterator[None]:
        with postgres.database() as self.address:
            yield

    async def open_store(self) -> Store:
        return await PostgresStore.open(self.address)

    async def open_second(self, store: Store) -> Store:  # noqa: ARG002
        return await PostgresStore.open(self.address)

    def elsewhere(self, store: Store) -> tuple[str, str]:  # noqa: ARG002
        return "recollect.stores.postgres:PostgresStore.open", self.address

    async def reopen(self, store: Store) -> Store:  # noqa: ARG002
        return await PostgresStore.open(self.address)
