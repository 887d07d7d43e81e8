"""Many at once on Redis: whoever finds all connections in use waits."""

from __future__ import annotations

import asyncio

from standfast import AsyncMemory
from standfast.stores.redis.store import CONNECTIONS
from standfast.testing.values import NOW, make_batch, make_record
from tests.redis import fresh_address

ANN = "user:ann"


async def opened(address: str) -> AsyncMemory:
    return await AsyncMemory.open(address, embedder="none", background=False)


def test_X1_more_records_than_connections_are_forgotten_and_their_ids_free() -> None:
    async def main() -> None:
        async with await opened(fresh_address()) as memory:
            store = memory._engine.store
            records = [make_record(f"r{n}", f"fact {n}", scope=ANN) for n in range(250)]
            await store.commit(make_batch(*records, at=NOW))
            receipt = await memory.forget(scope=ANN)
            assert len(receipt.items) >= len(records)
            others = [make_record(one.id, scope="user:bob") for one in records]
            await store.commit(make_batch(*others, at=NOW))

    asyncio.run(main())


def test_A8_many_requests_at_once_wait_for_a_connection() -> None:
    async def main() -> None:
        async with await opened(fresh_address()) as memory:
            await memory.remember("Ann keeps bees", scope=ANN)
            asked = (memory.recall("bees", scope=ANN) for _ in range(4 * CONNECTIONS))
            for answer in await asyncio.gather(*asked):
                assert [hit.record.text for hit in answer.hits] == ["Ann keeps bees"]

    asyncio.run(main())


def test_A8_those_who_wait_for_news_keep_nobody_else_waiting() -> None:
    async def main() -> None:
        async with await opened(fresh_address()) as memory:
            store, many = memory._engine.store, 2 * CONNECTIONS
            waiting = [asyncio.ensure_future(store.journal(ANN, wait=20)) for _ in range(many)]
            await asyncio.sleep(0.5)
            await memory.remember("Ann keeps bees", scope=ANN)
            for entries in await asyncio.gather(*waiting):
                assert len(entries) == 1

    asyncio.run(main())
