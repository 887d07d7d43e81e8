import asyncio
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from standfast.errors import Unavailable
from standfast.ports import Store
from standfast.testing import StoreContract
from standfast.testing.folder import FolderStore
from standfast.testing.harness import failure
from standfast.testing.statemachine import store_machine


class TestFolderStore(StoreContract):
    @pytest.fixture(autouse=True)
    def _give_it_a_folder(self, tmp_path: Path) -> None:
        self.path = tmp_path / "memory"

    async def open_store(self) -> Store:
        return await FolderStore.open(self.path)

    async def reopen(self, store: Store) -> Store:  # noqa: ARG002
        return await FolderStore.open(self.path)


def test_X2_a_folder_answers_like_the_reference(tmp_path: Path) -> None:
    numbers = count()

    async def open_folder() -> Store:
        return await FolderStore.open(tmp_path / f"{next(numbers)}")

    short = settings(
        max_examples=15,
        stateful_step_count=20,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(store_machine(open_folder), settings=short)


def test_a_folder_is_open_once(tmp_path: Path) -> None:
    async def run() -> None:
        store = await FolderStore.open(tmp_path)
        error = await failure(FolderStore.open(tmp_path), Unavailable)
        assert "open already" in str(error)
        await store.close()
        await (await FolderStore.open(tmp_path)).close()

    asyncio.run(run())


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    async def run() -> None:
        (tmp_path / "user%3Aann.json").write_text("{")
        error = await failure(FolderStore.open(tmp_path), Unavailable)
        assert "user%3Aann.json" in str(error)
        assert "\n" not in str(error)

    asyncio.run(run())
