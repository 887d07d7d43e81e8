"""A seeded simulation of sessions: random turns, a model that fails, two processes, kills between
any two steps."""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from standfast import AsyncMemory, Unavailable
from standfast.models.careful import Careful, Patience
from standfast.packet.buffers import CONSUMED, PENDING
from standfast.ports import AnswerError, Prompt, Reply
from standfast.stores.dict import DictStore
from standfast.types import Batch, Listing, SessionKey, Usage, Where
from standfast.wiring import open_engine

SCOPE = "project:web"
PROFILES = ("otto", "openmotoko", "agtos", "autobot", "default")
CITIES = ("Berlin", "Rome", "Oslo")


class Killed(BaseException):
    """The process died here. Not an Exception: no handler of ours may survive it."""


class MortalStore:
    """A process's view of the shared store. Once in a while the process dies right before a
    commit, or right after it, when the caller has not heard of it yet."""

    def __init__(self, store: DictStore, dice: random.Random, risk: float) -> None:
        self._store, self._dice, self._risk = store, dice, risk

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def commit(self, batch: Batch) -> int:
        fate = self._dice.random()
        if fate < self._risk / 2:
            raise Killed
        seq = await self._store.commit(batch)
        if fate < self._risk:
            raise Killed
        return seq

    async def close(self) -> None:
        """The store outlives the process."""


class FlakyModel:
    """A model that is down, talks nonsense or answers, as the dice fall."""

    name = "flaky"

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice

    async def ask(self, prompt: Prompt) -> Reply:
        fate = self._dice.random()
        if fate < 0.2:
            raise Unavailable("the model is down")
        if fate < 0.4:
            raise AnswerError("the model talks nonsense", usage=Usage(calls=1))
        summary = f"summary of {len(prompt.user)} characters"
        data = self._facts() if prompt.operation == "extract" else {"summary": summary}
        return Reply(text=summary, data=data, usage=Usage(calls=1, tokens_in=9))

    def _facts(self) -> dict[str, Any]:
        """What some message says, what none says, and handles that may or may not exist."""
        handle = f"t{self._dice.randrange(1, 9)}"
        home = f"The user lives in {self._dice.choice(CITIES)}."
        links = self._dice.choice(["", "supersedes k1", "supports k2", "contradicts f2"])
        return {"facts": [{"text": home, "from": handle, "links": links}], "skip": "t1: talk"}


class World:
    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.store = DictStore()
        self.now = datetime(2026, 1, 1, tzinfo=UTC)
        self.profile = self.dice.choice(PROFILES)
        self.with_model = self.dice.random() < 0.5
        self.said: dict[str, list[str]] = {"a": [], "b": []}  # acknowledged message ids
        self.waiting: set[str] = set()
        self.consumed: set[str] = set()
        self.cursors: dict[tuple[SessionKey, str], int] = {}
        self.count = 0

    async def process(self) -> AsyncMemory:
        engine = await open_engine(
            "dict:", profile=self.profile, embedder="none", clock=lambda: self.now
        )
        engine.store = MortalStore(self.store, self.dice, risk=0.1)
        if self.with_model:
            engine.models = Careful(
                {"": FlakyModel(self.dice)},
                store=engine.store,
                clock=engine.clock,
                new_id=engine.new_id,
                chance=self.dice.random,
                patience=Patience(tries=1),
            )
        return AsyncMemory(engine)

    def message(self) -> dict[str, Any]:
        self.count += 1
        id_ = f"m{self.count:05d}"
        kind = self.dice.random()
        if kind < 0.15:
            call = {"id": id_, "type": "function", "function": {"name": "run", "arguments": "{}"}}
            return {"id": id_, "role": "assistant", "content": None, "tool_calls": [call]}
        if kind < 0.3:
            answered = f"m{max(self.count - 1, 0):05d}"
            return {"id": id_, "role": "tool", "tool_call_id": answered, "content": f"ok {id_}"}
        if kind < 0.45:
            return {"id": id_, "role": "user", "content": f"I live in {self.dice.choice(CITIES)}."}
        role = self.dice.choice(["user", "assistant"])
        return {"id": id_, "role": role, "content": f"{role} says {id_} " + "word " * 20}

    async def step(self, memory: AsyncMemory) -> None:
        self.now += timedelta(seconds=self.dice.randrange(1, 600))
        session = self.dice.choice("ab")
        act = self.dice.random()
        if act < 0.5:
            messages = [self.message() for _ in range(self.dice.randrange(1, 9))]
            receipt = await memory.observe(session, messages, scope=SCOPE)
            self.said[session] += [item.id for item in receipt.items if item.status == "stored"]
        elif act < 0.6:
            messages = [self.message() for _ in range(self.dice.randrange(1, 30))]
            await memory.observe("channel", messages, scope=SCOPE, pending=True)
            self.waiting |= {message["id"] for message in messages}
        elif act < 0.75:
            packet = await memory.context(session=session, scope=SCOPE, tokens=3000)
            if self.dice.random() < 0.5:
                # It may die after the commit: whoever confirms has seen them either way.
                self.consumed |= {message.id for message in packet.pending}
                await memory.confirm(packet)
        elif act < 0.8:
            with suppress(Exception):
                await memory.end(session, scope=SCOPE, outcome="done")
        else:
            await memory.maintain()

    async def check(self) -> None:
        for session, said in self.said.items():
            key = SessionKey(SCOPE, session)
            log = await self.store.messages(key, now=self.now, limit=10**6)
            ids = [message.id for message in log]
            assert not [id_ for id_ in said if id_ not in ids], "an acknowledged message is lost"
            assert len(set(ids)) == len(ids)
            await self.check_summaries(key, ids)
        await self.check_pending()
        await self.check_learned()

    async def check_learned(self) -> None:
        """Nothing is known that nobody said, and nothing is believed more than who said it."""
        query = Listing(
            where=Where(scopes=(SCOPE,), now=self.now, kinds=("semantic",)), limit=10**6
        )
        believed = await self.store.listing(query)
        for record in (one for one in believed if one.lineage):
            sources = await self.store.messages(
                record.session_key, now=self.now, ids=record.lineage, limit=100
            )
            assert {one.id for one in sources} == set(record.lineage)
            assert record.trust <= min(one.trust for one in sources)
            assert any(
                city in one.text for one in sources for city in CITIES if city in record.text
            )

    async def check_summaries(self, key: SessionKey, ids: list[str]) -> None:
        """The chain has no hole and no overlap, and what is behind it is still in the log."""
        chain = await self.store.summaries(key, limit=10**6)
        for before, after in zip([None, *chain], chain, strict=False):
            assert after.from_seq == (before.to_seq + 1 if before else 1)
            assert after.text.strip()
        covered = [id_ for summary in chain for id_ in summary.lineage]
        recent = await self.store.messages(
            key, now=self.now, after=chain[-1].to_seq if chain else 0, limit=10**6
        )
        assert covered + [message.id for message in recent] == ids
        for session in await self.store.sessions(root="project:web", keys=(key,)):
            for reader, place in session.cursors.items():
                assert place >= self.cursors.get((key, reader), 0), "a cursor went back"
                self.cursors[key, reader] = place

    async def check_pending(self) -> None:
        key = SessionKey(SCOPE, PENDING)
        sessions = await self.store.sessions("project:web", (key,))
        if not sessions:
            return
        after = sessions[0].cursors.get(CONSUMED, 0)
        left = await self.store.messages(key, now=self.now, after=after, limit=10**6)
        folded = {id_ for s in await self.store.summaries(key, limit=10**6) for id_ in s.lineage}
        there = {message.id for message in left}
        gone = self.waiting - there - self.consumed - folded
        assert not gone, "a pending message was neither delivered nor folded"


def run(seed: int) -> None:
    async def simulate() -> None:
        world = World(seed)
        processes = [await world.process(), await world.process()]
        for _ in range(40):
            place = world.dice.randrange(2)
            try:
                await world.step(processes[place])
            except Killed:
                processes[place] = await world.process()
            await world.check()

    asyncio.run(simulate())


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_X4_no_message_is_lost_whatever_dies_when(first: int) -> None:
    for seed in range(first, first + 10):
        run(seed)


@pytest.mark.proof
@pytest.mark.parametrize("first", range(1000, 3000, 50))
def test_X4_no_message_is_lost_in_two_thousand_histories(first: int) -> None:
    for seed in range(first, first + 50):
        run(seed)
