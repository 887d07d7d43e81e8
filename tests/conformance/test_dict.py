from recollect.ports import Store
from recollect.stores.dict import DictStore
from recollect.testing import StoreContract


class TestDictStore(StoreContract):
    async def open_store(self) -> Store:
        return DictStore()

    async def open_second(self, store: Store) -> Store:
        assert isinstance(store, DictStore)
        return DictStore(beside=store)
