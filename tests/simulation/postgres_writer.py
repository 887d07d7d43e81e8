"""A process that writes into a database until it is killed, and says what was acknowledged."""

from __future__ import annotations

import asyncio
import sys
from datetime import UTC, datetime

from standfast.errors import Unavailable
from standfast.stores.postgres import PostgresStore
from standfast.testing.values import make_batch, make_message, make_record


async def write(address: str, name: str, count: int) -> None:
    store = await PostgresStore.open(address)
    at = datetime(2026, 11, 15, tzinfo=UTC)
    for number in range(count):
        one = f"{name}-{number}"
        batch = make_batch(make_record(one, f"said by {name}"), make_message(one), id=one, at=at)
        while True:
            try:
                seq = await store.commit(batch)
                break
            except Unavailable:
                await asyncio.sleep(0.05)
        print(one, seq, flush=True)
    await store.close()


if __name__ == "__main__":
    asyncio.run(write(sys.argv[1], sys.argv[2], int(sys.argv[3])))
