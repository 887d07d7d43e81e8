"""Forgetting while upkeep derives: what is erased does not live on in what is made of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from standfast import Memory
from standfast.types import Batch
from standfast.upkeep.consolidate import consolidate
from standfast.upkeep.leases import hold
from standfast.verbs.forget import forget
from standfast.verbs.selection import Selection
from tests.requirements.conftest import OpenMemory
from tests.requirements.test_consolidation import engine_of, heavy, lines, record, run
from tests.requirements.test_procedures import ANN, deploy, learned

Wanted = Callable[[Batch], bool]


def before_commit(engine: Any, wanted: Wanted, act: Callable[[], Awaitable[Any]]) -> None:
    """Once, right before a commit of that kind lands, somebody else does something."""
    inner = engine.store.commit
    done = False

    async def commit(batch: Batch) -> int:
        nonlocal done
        if not done and wanted(batch):
            done = True
            await act()
        seq: int = await inner(batch)
        return seq

    engine.store.commit = commit


def makes(type_: str) -> Wanted:
    return lambda batch: any(r.type == type_ and not r.version for r in batch.records)


@pytest.mark.parametrize("what", ["profile", "procedure"])
def test_X1_what_is_forgotten_while_it_is_being_derived_from(
    open_memory: OpenMemory, what: str
) -> None:
    memory = open_memory(background=False)
    engine = engine_of(memory)
    if what == "profile":
        selection = Selection(ids=heavy(memory, 25)[:1])
    else:
        ids = [deploy(memory, "s", n).items[0].id for n in range(3)]
        selection = Selection(session="s", ids=ids[:1], scope=ANN)
    made = "summary" if what == "profile" else "procedure"
    before_commit(engine, makes(made), lambda: forget(engine, selection, actor=""))
    receipt = run(memory, consolidate(engine))
    assert not [item for item in receipt.items if item.reason.startswith(what)], lines(receipt)
    assert_nothing_made(memory, what)
    later = run(memory, consolidate(engine))
    assert (what in lines(later)) == (what == "profile"), "24 facts are enough, two runs are not"


def assert_nothing_made(memory: Memory, what: str) -> None:
    if what == "procedure":
        assert learned(memory) == []
        return
    found = memory.recall("Profile", scope=ANN, types=["summary"], limit=50).hits
    assert found == ()


def test_X1_what_was_derived_while_it_was_being_forgotten_goes_too(
    open_memory: OpenMemory,
) -> None:
    memory = open_memory(background=False)
    engine = engine_of(memory)
    ids = heavy(memory, 25)

    def erases(batch: Batch) -> bool:
        return any(erase.kind == "record" for erase in batch.erase)

    before_commit(engine, erases, lambda: consolidate(engine))
    receipt = run(memory, forget(engine, Selection(ids=ids[:1]), actor=""))
    assert len(receipt.items) == 2, "the fact, and the profile that was made of it"
    assert_nothing_made(memory, "profile")
    assert record(memory, ids[1]).status == "active"


def test_X1_who_is_stopped_while_taking_a_lease_keeps_nobody_out(open_memory: OpenMemory) -> None:
    """A process that ends at that very moment and is started again has nothing to wait for."""
    memory = open_memory(background=False)
    engine = engine_of(memory)
    registry = engine.store.registry
    put = registry.put

    async def main() -> bool:
        entered, go_on = asyncio.Event(), asyncio.Event()

        async def written(*args: Any, **kwargs: Any) -> Any:
            entered.set()
            await go_on.wait()
            return await put(*args, **kwargs)

        async def slow_put(*args: Any, **kwargs: Any) -> Any:  # as a store's own writer does it
            return await asyncio.shield(asyncio.ensure_future(written(*args, **kwargs)))

        registry.put = slow_put
        taking = asyncio.create_task(hold(engine, engine.store, ANN, "work", 300, "first"))
        await entered.wait()
        registry.put = put
        taking.cancel()
        await asyncio.sleep(0)
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await taking
        await asyncio.sleep(0.05)  # a write that nobody waits for any more would be done by now
        return await hold(engine, engine.store, ANN, "work", 300, "second")

    assert run(memory, main())
