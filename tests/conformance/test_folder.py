from pathlib import Path

import pytest

from recollect.ports import Store
from recollect.testing import StoreContract
from recollect.testing.folder import FolderStore


class TestFolderStore(StoreContract):
    @pytest.fixture(autouse=True)
    def _give_it_a_folder(self, tmp_path: Path) -> None:
        self.path = tmp_path / "memory"

    async def open_store(self) -> Store:
        return await FolderStore.open(self.path)

    async def reopen(self, store: Store) -> Store:  # noqa: ARG002
        return await FolderStore.open(self.path)
