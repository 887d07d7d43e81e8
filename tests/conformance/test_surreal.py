"""The contract on SurrealDB, embedded: in a folder, and in memory."""

from pathlib import Path

import pytest

from recollect.ports import Store
from recollect.stores.surreal import SurrealStore
from recollect.testing import StoreContract
from tests import keyspace


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
