"""How a clause of the contract is run on one store."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar
from unittest import SkipTest

from standfast.errors import StandfastError
from standfast.ports import Store
from standfast.types import Batch

C = TypeVar("C", bound="Contract")
E = TypeVar("E", bound=StandfastError)


class Contract:
    """What a backend provides: an empty store for each clause."""

    async def open_store(self) -> Store:
        raise NotImplementedError("return an empty store of the backend that is tested")

    async def open_second(self, store: Store) -> Store | None:  # noqa: ARG002 - as below
        """Another handle on what this open store holds; None if it allows only one."""
        return None

    def elsewhere(self, store: Store) -> tuple[str, str] | None:  # noqa: ARG002 - as below
        """How another process opens what this open store holds: "module:function", awaited with
        one text, and that text. None if only one process may open it."""
        return None

    async def damage(self, store: Store, old: str, new: str) -> bool:  # noqa: ARG002 - as below
        """Write ``new`` where this open store keeps ``old``, of the same length, behind its back;
        False if nobody can."""
        return False

    def trips(self, store: Store) -> int:
        """How often commits of this store have gone to its engine and back, in all. Without a
        network: how often they have read or written."""
        count: int = getattr(store, "trips")  # noqa: B009 - it is no part of the port
        return count

    async def reopen(self, store: Store) -> Store | None:  # noqa: ARG002 - for backends to use
        """A second opening of what this (closed) store wrote; None if it forgets."""
        return None


async def second_handle(contract: Contract, store: Store) -> Store:
    """Another handle on the same; SkipTest, saying why, if there can be none."""
    other = await contract.open_second(store)
    if other is None:
        raise SkipTest("this store is opened once at a time")
    return other


def clause(body: Callable[[C, Store], Awaitable[None]]) -> Callable[[C], None]:
    """Turn ``async def test_x(self, store)`` into a test that any runner can call."""

    async def with_store(contract: C) -> None:
        store = await contract.open_store()
        try:
            await body(contract, store)
        finally:
            await store.close()

    # Without functools.wraps: pytest would look through it and ask for a fixture "store".
    def test(contract: C) -> None:
        asyncio.run(with_store(contract))

    test.__name__ = body.__name__
    test.__qualname__ = body.__qualname__
    test.__module__ = body.__module__
    test.__doc__ = body.__doc__
    return test


async def refusal(store: Store, batch: Batch, error: type[E]) -> E:
    """The error with which the store refuses this batch; an AssertionError if it does not."""
    return await failure(store.commit(batch), error)


async def failure(call: Awaitable[object], error: type[E]) -> E:
    """The error that this call ends with; an AssertionError if it succeeds."""
    try:
        answer = await call
    except error as raised:
        return raised
    raise AssertionError(f"expected {error.__name__}, got the answer {answer!r}")
