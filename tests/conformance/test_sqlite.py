from pathlib import Path

import apsw
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

    async def damage(self, store: Store, old: str, new: str) -> bool:  # noqa: ARG002
        db = apsw.Connection(str(self.path))
        db.set_busy_timeout(5000)
        for table in ("record", "message"):
            db.execute(f"UPDATE {table} SET text = ? WHERE text = ?", (new, old))
        db.close()
        return True

    async def reopen(self, store: Store) -> Store:  # noqa: ARG002
        return await SqliteStore.open(self.path)
