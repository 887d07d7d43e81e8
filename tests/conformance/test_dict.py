from standfast.ports import Store
from standfast.stores.dict import DictStore
from standfast.testing import StoreContract


class TestDictStore(StoreContract):
    async def open_store(self) -> Store:
        return DictStore()

    async def open_second(self, store: Store) -> Store:
        assert isinstance(store, DictStore)
        return DictStore(beside=store)
