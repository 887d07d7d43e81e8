from pathlib import Path

import apsw
import pytest

from standfast.ports import Store
from standfast.stores.sqlite import SqliteStore
from standfast.testing import StoreContract

# Where a text may be kept.
KEPT_IN = (
    ("record", "text"),
    ("message", "text"),
    ("summary", "text"),
    ("session", "state"),
    ("relation", "lineage"),
    ("item", "value"),
)


class TestSqliteStore(StoreContract):
    @pytest.fixture(autouse=True)
    def _give_it_a_file(self, tmp_path: Path) -> None:
        self.path = tmp_path / "memory.db"

    async def open_store(self) -> Store:
        return await SqliteStore.open(self.path)

    async def open_second(self, store: Store) -> Store:  # noqa: ARG002
        return await SqliteStore.open(self.path)

    def elsewhere(self, store: Store) -> tuple[str, str]:  # noqa: ARG002
        return "standfast.stores.sqlite:SqliteStore.open", str(self.path)

    async def damage(self, store: Store, old: str, new: str) -> bool:  # noqa: ARG002
        db = apsw.Connection(str(self.path))
        db.set_busy_timeout(5000)
        for table, column in KEPT_IN:
            changed = f"UPDATE {table} SET {column} = replace({column}, ?2, ?1)"
            db.execute(f"{changed} WHERE instr({column}, ?2)", (new, old))
        db.close()
        return True

    async def reopen(self, store: Store) -> Store:  # noqa: ARG002
        return await SqliteStore.open(self.path)
