from pathlib import Path

import pytest

from recollect.ports import Store
from recollect.stores.sqlite import SqliteStore
from recollect.testing import StoreContract


class TestSqliteStore(StoreContract):
    @pytest.fixture(autouse=True)
    def _give_it_a_file(self, tmp_path: Path) -> None:
        self.path = tmp_path / "memory.db"

    async def open_store(self) -> Store:
        return await SqliteStore.open(self.path)

    async def open_second(self, store: Store) -> Store:  # noqa: ARG002
        return await SqliteStore.open(self.path)

    def elsewhere(self, store: Store) -> tuple[str, str]:  # noqa: ARG002
        return "recollect.stores.sqlite:SqliteStore.open", str(self.path)

    async def reopen(self, store: Store) -> Store:  # noqa: ARG002
        return await SqliteStore.open(self.path)
