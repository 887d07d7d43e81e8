"""The whole contract on a real Redis server."""

import pytest

from recollect.ports import Store
from recollect.stores.redis import RedisStore
from recollect.testing import StoreContract
from tests.redis import fresh_address


class TestRedisStore(StoreContract):
    @pytest.fixture(autouse=True)
    def _give_it_a_prefix(self) -> None:
        self.address = fresh_address()

    async def open_store(self) -> Store:
        return await RedisStore.open(self.address)

    async def open_second(self, store: Store) -> Store:  # noqa: ARG002
        return await RedisStore.open(self.address)

    def elsewhere(self, store: Store) -> tuple[str, str]:  # noqa: ARG002
        return "recollect.stores.redis:RedisStore.open", self.address

    async def reopen(self, store: Store) -> Store:  # noqa: ARG002
        return await RedisStore.open(self.address)
