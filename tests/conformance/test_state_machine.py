"""Random histories on two stores; `make test-long` runs many more and longer ones."""

from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from standfast.ports import Store
from standfast.stores.dict import DictStore
from standfast.stores.redis import RedisStore
from standfast.stores.sqlite import SqliteStore
from standfast.stores.surreal import SurrealStore
from standfast.testing.statemachine import store_machine
from standfast.types import Batch
from tests.redis import fresh_address


def _lengths(proving: bool) -> settings:
    examples, steps = (1500, 60) if proving else (20, 30)
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


def test_X2_sqlite_answers_like_the_reference(tmp_path: Path, proving: bool) -> None:
    numbers = count()

    async def open_sqlite() -> Store:
        return await SqliteStore.open(tmp_path / f"{next(numbers)}.db")

    run_state_machine_as_test(store_machine(open_sqlite), settings=_lengths(proving))


def test_the_machine_notices_a_difference() -> None:
    class Miscounting(DictStore):
        async def commit(self, batch: Batch) -> int:
            seq = await super().commit(batch)
            return seq + (seq > 1)

    async def open_miscounting() -> Store:
        return Miscounting()

    # Seeing it is enough; shrinking it to the shortest history would take long.
    only_looking = settings(_lengths(False), phases=[Phase.generate], database=None)
    with pytest.raises(AssertionError):
        run_state_machine_as_test(store_machine(open_miscounting), settings=only_looking)


def test_X2_redis_answers_like_the_reference(proving: bool) -> None:
    async def open_redis() -> Store:
        return await RedisStore.open(fresh_address())

    lengths = _lengths(proving) if proving else settings(_lengths(False), max_examples=15)
    run_state_machine_as_test(store_machine(open_redis), settings=lengths)


def test_L1_surreal_answers_like_the_reference(proving: bool) -> None:
    async def open_surreal() -> Store:
        return await SurrealStore.open("mem://")

    lengths = _lengths(proving) if proving else settings(_lengths(False), max_examples=8)
    run_state_machine_as_test(store_machine(open_surreal), settings=lengths)
