"""Learning while somebody forgets, in the one moment that counts: right before its commit."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from standfast import AsyncMemory, Conflict, Invalid
from standfast.changes import Change
from standfast.engine import Engine
from standfast.models.calls import Patience
from standfast.models.careful import Careful
from standfast.ports import Prompt, Reply
from standfast.stores.dict import DictStore
from standfast.types import Batch, Erase, Listing, Record, Relation, Where
from standfast.wiring import open_engine

ANN = "user:ann"
Meanwhile = Callable[[], Awaitable[Any]]


class BusyStore:
    """Something happens right before the first commit whose reason begins so."""

    def __init__(self, store: DictStore) -> None:
        self.inner, self.reason, self.meanwhile = store, "", None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def before(self, reason: str, meanwhile: Meanwhile) -> None:
        self.reason, self.meanwhile = reason, meanwhile

    async def commit(self, batch: Batch) -> int:
        if self.meanwhile is not None and batch.reason.startswith(self.reason):
            meanwhile, self.meanwhile = self.meanwhile, None
            await meanwhile()
        return await self.inner.commit(batch)


class Namer:
    """A model that calls the bike by the name it knows, though nothing links the two afterwards."""

    name = "namer"

    async def ask(self, prompt: Prompt) -> Reply:
        fact = {"text": "Rex, the bike, broke down.", "from": "t2", "links": "enriches k1"}
        first = {"text": "Ann's bike's name is Rex.", "from": "t1"}
        return Reply(text="", data={"facts": [fact if "[t2]" in prompt.user else first]})


async def opened(*, model: bool = False) -> tuple[AsyncMemory, BusyStore, Engine]:
    engine = await open_engine("dict:", embedder="hashing")
    engine.store = store = BusyStore(DictStore())
    if model:
        engine.models = Careful(
            {"": Namer()},
            store=engine.store,
            clock=engine.clock,
            new_id=engine.new_id,
            chance=lambda: 0.5,
            patience=Patience(tries=1),
        )
    return AsyncMemory(engine), store, engine


async def known(engine: Engine) -> list[Record]:
    every = ("active", "superseded", "archived", "disputed", "quarantined")
    query = Listing(
        where=Where(scopes=(ANN,), now=engine.now(), kinds=("semantic",), statuses=every),
        limit=100,
    )
    return await engine.store.listing(query)


def test_X10_X4_a_fact_does_not_outlive_the_memory_whose_name_it_uses() -> None:
    async def play() -> None:
        memory, store, engine = await opened(model=True)
        message = {"id": "m1", "role": "user", "content": "My bike's name is Rex."}
        await memory.observe("chat", [message], scope=ANN, author="Ann")
        await memory.maintain()
        assert [record.text for record in await known(engine)] == ["Ann's bike's name is Rex."]
        await memory.observe("chat", ["The bike broke down."], scope=ANN, author="Ann")
        store.before("learn", lambda: memory.forget(session="chat", scope=ANN, ids=["m1"]))
        await memory.maintain()
        assert not [record.text for record in await known(engine) if "Rex" in record.text]
        session = (await store.sessions(ANN))[0]
        assert session.cursors["extract"] == session.last_seq

    asyncio.run(play())


def test_X4_an_edge_to_something_erased_meanwhile_is_looked_at_again() -> None:
    """A record of an agent replaces the organisation's for itself: only an edge says so, and
    the other end may be gone by the time it is written."""

    async def play() -> None:
        memory, store, _ = await opened()
        above = (await memory.remember("Ann lives in Berlin.", scope=ANN)).items[0].id
        store.before("supersede", lambda: memory.forget(ids=[above]))
        receipt = await memory.remember("Ann lives in Rome.", scope=f"{ANN}:agent:x")
        assert [(item.status, item.reason) for item in receipt.items] == [("stored", "")]

    asyncio.run(play())


def test_X4_the_engine_tells_a_lost_end_from_a_wrong_request() -> None:
    async def play() -> None:
        memory, _, engine = await opened()
        there = (await memory.remember("Ann lives in Berlin.", scope=ANN)).items[0].id
        edge = Relation(
            scope=ANN, source=there, target="gone", kind="supports", learned_at=engine.now()
        )
        change = Change(engine, ANN, "test")
        with pytest.raises(Conflict, match="gone"):
            await change.commit(relations=(edge,))
        wrong = Change(engine, "user:bob", "test")
        with pytest.raises(Invalid):
            await wrong.commit(vectors={there: b"1234"})

    asyncio.run(play())


def test_X4_what_can_never_be_written_keeps_no_other_session_waiting() -> None:
    async def play() -> None:
        memory, store, engine = await opened()
        await memory.observe("a", ["I live in Rome."], scope=ANN, author="Ann")
        await memory.observe("b", ["I work at Eni."], scope=ANN, author="Ann")

        refused: list[str] = []

        async def refuse() -> None:
            """What was learned, what the rules alone learn, and that the message is unread."""
            refused.append("again")
            if len(refused) < 3:
                store.before("learn", refuse)
            raise Invalid("this store takes no such thing")

        store.before("learn", refuse)
        receipt = await memory.maintain()
        assert [item.reason for item in receipt.items if item.status == "failed"] == [
            "this store takes no such thing"
        ]
        assert [record.text for record in await known(engine)] == ["Ann works at Eni."]
        await memory.maintain()
        assert len(await known(engine)) == 2, "it was not tried again"

    asyncio.run(play())


def test_X6_L11_what_two_wrote_at_the_same_moment_is_found_by_upkeep() -> None:
    """Neither saw the other's, so neither was compared; no row of one is a row of the other."""

    async def play() -> None:
        memory, store, engine = await opened()
        store.before("remember", lambda: memory.remember("Ann lives in Rome.", scope=ANN))
        await memory.remember("Ann lives in Berlin.", scope=ANN)
        assert [record.status for record in await known(engine)] == ["active", "active"]
        shown = await memory.maintain(dry_run=True)
        assert [item.reason.partition(":")[0] for item in shown.items] == ["would dispute"]
        receipt = await memory.maintain()
        assert [item.status for item in receipt.items] == ["disputed"]
        assert {record.status for record in await known(engine)} == {"disputed"}
        (waiting,) = await memory.review(scope=ANN)
        assert len(waiting.touches) == 1
        await memory.undo(receipt.change)
        assert {record.status for record in await known(engine)} == {"active"}

    asyncio.run(play())


def test_X10_whoever_died_while_forgetting_says_it_again() -> None:
    """The message is gone already, and what was learned from it in the last moment is not."""

    async def play() -> None:
        memory, _, engine = await opened()
        message = {"id": "m1", "role": "user", "content": "I like tea."}
        receipt = await memory.observe("chat", [message], scope=ANN, author="Ann")
        await memory.maintain()
        assert len(await known(engine)) == 1
        gone = (
            Erase(kind="message", scope=ANN, session="chat", id="m1"),
            Erase(kind="record", scope=ANN, id=receipt.items[0].record),
        )
        await engine.store.commit(Change(engine, ANN, "forget").batch(erase=gone))
        again = await memory.forget(session="chat", scope=ANN, ids=["m1"])
        assert [item.status for item in again.items] == ["erased"]
        assert await known(engine) == []

    asyncio.run(play())
