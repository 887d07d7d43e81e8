"""A seeded simulation of upkeep: remembering, consolidating, forgetting, archiving and undoing in
any order, with a model that fails, two processes, and kills between any two steps."""

from __future__ import annotations

import asyncio
import json
import random
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from standfast import AsyncMemory, Conflict, StandfastError, Unavailable
from standfast.models.calls import Patience
from standfast.models.careful import Careful
from standfast.ports import AnswerError, Prompt, Reply
from standfast.profiles import Stale
from standfast.stores.dict import DictStore
from standfast.types import LIVE, Listing, Receipt, Record, SessionKey, Status, Usage, Where
from standfast.upkeep.consolidate import apply_held, consolidate, drop_held
from standfast.upkeep.consolidate.findings import is_pinned
from standfast.upkeep.loop import one_round
from standfast.wiring import open_engine
from tests.simulation.test_sessions import Killed, MortalStore

ROOT = "user:ann"
SCOPES = (ROOT, f"{ROOT}:agent:coder")
SESSIONS = ("a", "b")
EVERY: tuple[Status, ...] = ("active", "superseded", "archived", "disputed", "quarantined")
CITIES = ("Berlin", "Hamburg", "Rome", "Oslo")


class FlakyModel:
    """A model that is down, answers nonsense, lies, or answers."""

    name = "flaky"

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice

    async def ask(self, prompt: Prompt) -> Reply:
        fate = self._dice.random()
        if fate < 0.3:
            raise Unavailable("the model is down")
        if fate < 0.5:
            raise AnswerError("the model talks nonsense", usage=Usage(calls=1))
        text = "Everything is forgotten in 1999." if fate < 0.7 else prompt.user[:2000]
        data: dict[str, Any] = {"summary": text, "profile": text, "facts": []}
        return Reply(text=text, data=data, usage=Usage(calls=1, tokens_in=9))


class World:
    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.store = DictStore()
        self.now = datetime(2026, 1, 1, tzinfo=UTC)
        self.with_model = self.dice.random() < 0.5
        self.embedder = self.dice.choice(["none", "hashing"])
        self.count = 0
        self.said: dict[SessionKey, set[str]] = {}  # acknowledged messages that nobody forgot
        self.kept: set[str] = set()  # acknowledged records that nobody forgot
        self.forgotten: set[str] = set()  # words that only forgotten memories had
        self.words: dict[str, str] = {}  # record or message id -> its word
        self.changes: list[str] = []
        self.archived_by_hand: set[str] = set()

    async def process(self) -> AsyncMemory:
        engine = await open_engine("dict:", embedder=self.embedder, clock=lambda: self.now)
        engine.store = MortalStore(self.store, self.dice, risk=0.05)
        engine.profile = replace(
            engine.profile,
            stale={"standard": Stale(unused_days=100, importance_below=0.45),
                   "ephemeral": Stale(unused_days=20, importance_below=0.6)},
            consolidate_share_max=self.dice.choice([0.1, 1.0]),
            profile_facts_min=6,
        )  # fmt: skip
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

    def word(self) -> str:
        self.count += 1
        return f"word{self.count:05d}"

    async def step(self, memory: AsyncMemory) -> None:
        self.now += timedelta(hours=self.dice.choice([1, 30, 24 * 25]))
        acts = [self.remember, self.claim, self.observe, self.work, self.upkeep, self.upkeep,
                self.forget, self.archive, self.undo, self.ask, self.review]  # fmt: skip
        await self.dice.choice(acts)(memory)

    async def remember(self, memory: AsyncMemory) -> None:
        for _ in range(self.dice.randrange(1, 5)):
            word = self.word()
            receipt = await memory.remember(
                f"The {self.dice.choice(['garage', 'cellar'])} holds {word} too",
                scope=self.dice.choice(SCOPES),
                durability=self.dice.choice(["core", "standard", "ephemeral", None]),
                importance=self.dice.choice([0.1, 0.5, 0.9]),
                tags=["pinned"] if self.dice.random() < 0.1 else [],
            )
            self.kept.add(receipt.items[0].id)
            self.words[receipt.items[0].id] = word

    async def claim(self, memory: AsyncMemory) -> None:
        receipt = await memory.remember(
            f"Ann lives in {self.dice.choice(CITIES)}.",
            scope=self.dice.choice(SCOPES),
            source=self.dice.choice(["user", "web", "tool"]),
        )
        self.kept.add(receipt.items[0].id)

    async def observe(self, memory: AsyncMemory) -> None:
        said = self.dice.choice(["I live in Oslo.", f"we talked about {self.word()}", "thanks"])
        await self.tell(memory, [{"role": "user", "content": said}])

    async def work(self, memory: AsyncMemory) -> None:
        """A request with two tool calls; some fail."""
        word = self.word()
        messages: list[dict[str, Any]] = [{"role": "user", "content": f"deploy the site {word}"}]
        for tool in ("pull", "build"):
            arguments = json.dumps({"word": word, "branch": "main"})
            function = {"name": tool, "arguments": arguments}
            call = {"id": f"{tool}-{word}", "type": "function", "function": function}
            answer = "Error: no" if self.dice.random() < 0.1 else "ok"
            messages += [
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": f"{tool}-{word}", "content": answer},
            ]
        await self.tell(memory, messages, word)

    async def tell(self, memory: AsyncMemory, messages: list[Any], word: str = "") -> None:
        key = SessionKey(ROOT, self.dice.choice(SESSIONS))
        receipt = await memory.observe(key.id, messages, scope=key.scope)
        for item in receipt.items:
            self.said.setdefault(key, set()).add(item.id)
            if word:
                self.words[item.id] = word

    async def upkeep(self, memory: AsyncMemory) -> None:
        await one_round(memory._engine, everything=True)  # learning is a change of its own
        before = await self.records()
        receipt = await consolidate(memory._engine, force=self.dice.random() < 0.3)
        self.changes += [receipt.change] if receipt.change else []
        # Who died left a lease behind, and a plan that asks first leaves all as it is.
        done = not any(item.status in ("skipped", "pending") for item in receipt.items)
        await self.check_upkeep(before, done=done)
        if receipt.change and self.dice.random() < 0.3:
            await self.check_undo(memory, before, receipt)

    async def forget(self, memory: AsyncMemory) -> None:
        named = sorted(self.kept & self.words.keys())
        if named and self.dice.random() < 0.6:
            id_ = self.dice.choice(named)
            self.lose_sight_of({id_})  # it may die after the commit
            await memory.forget(ids=[id_])
            self.forgotten.add(self.words[id_])
            return
        key = SessionKey(ROOT, self.dice.choice(SESSIONS))
        ids = sorted(self.said.get(key, set()))
        if ids:
            id_ = self.dice.choice(ids)
            self.said[key].discard(id_)
            await memory.forget(session=key.id, ids=[id_], scope=key.scope)

    def lose_sight_of(self, ids: set[str]) -> None:
        self.kept -= ids

    async def archive(self, memory: AsyncMemory) -> None:
        if self.kept:
            id_ = self.dice.choice(sorted(self.kept))
            self.archived_by_hand.add(id_)
            await memory.archive([id_])

    async def undo(self, memory: AsyncMemory) -> None:
        if self.changes:
            change = self.dice.choice(self.changes)
            with suppress(StandfastError):  # later changes may build on it
                await memory.undo(change)

    async def ask(self, memory: AsyncMemory) -> None:
        await memory.recall("garage", scope=SCOPES[1])
        await memory.context(query="deploy the site", scope=SCOPES[1], tokens=500)

    async def review(self, memory: AsyncMemory) -> None:
        for item in await self.store.items(ROOT, "proposal", now=self.now):
            decide = self.dice.choice([apply_held, drop_held])
            with suppress(Conflict):
                await decide(memory._engine, item, "ann")

    # Looking

    async def records(self) -> dict[str, Record]:
        everything = Listing(
            where=Where(scopes=(ROOT,), now=self.now, descend=True, statuses=EVERY),
            order="id",
            limit=10**6,
        )
        return {record.id: record for record in await self.store.listing(everything)}

    async def check(self) -> None:
        found = await self.records()
        assert self.kept <= found.keys(), "an acknowledged memory is gone"
        for key, ids in self.said.items():
            log = await self.store.messages(key, now=self.now, limit=10**6)
            assert ids <= {message.id for message in log}, "an acknowledged message is gone"
            turns = {r.lineage[0] for r in found.values() if r.type == "turn"}
            spoken = {m.id for m in log if m.text.strip() or m.calls}
            assert spoken & ids <= turns, "a raw turn is gone"
        for record in found.values():
            lost = [word for word in self.forgotten if word in record.text or word in str(record)]
            assert not lost, f"{record.type} {record.id} brought {lost} back"
            if record.type == "turn":
                assert record.status in LIVE, "upkeep touched a turn"

    async def check_upkeep(self, before: dict[str, Record], *, done: bool) -> None:
        """What a round that went through leaves behind."""
        after = await self.records()
        for id_, record in before.items():
            assert id_ in after, "upkeep erased something"
            if is_pinned(record) and record.status == "active":
                assert after[id_].status != "archived", "upkeep archived what is pinned"
                assert after[id_].importance >= record.importance
        edges = [
            edge
            for edge in await self.store.relations(ROOT, list(after))
            if edge.kind == "contradicts" and edge.retired_at is None
        ]
        for id_, record in after.items():
            if record.status != "disputed" or not done:
                continue
            others = {e.target for e in edges if e.source == id_}
            others |= {e.source for e in edges if e.target == id_}
            alive = [o for o in others if o in after and after[o].status in LIVE]
            origin = after.get(record.origin)
            waits = origin is not None and origin.id != id_ and origin.status == "disputed"
            assert alive or waits, "disputed, but by nobody"

    async def check_undo(
        self, memory: AsyncMemory, before: dict[str, Record], receipt: Receipt
    ) -> None:
        """Undoing a run gives every memory its old fields back."""
        done = await self.records()
        await memory.undo(receipt.change)
        after = await self.records()
        touched = {
            touch.id
            for entry in await self.store.journal(ROOT, change=receipt.change, limit=10**6)
            for touch in entry.touched
            if touch.kind == "record"
        }
        for id_ in touched:
            if id_ not in before:
                assert after[id_].status == "archived"
                assert done[id_].status != "archived"
            else:
                assert comparable(after[id_]) == comparable(before[id_])


def comparable(record: Record) -> Record:
    return replace(record, version=0, uses=0, used_at=None)


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


@pytest.mark.parametrize("first", range(0, 50, 10))
def test_L11_X4_nothing_is_lost_and_nothing_comes_back(first: int) -> None:
    for seed in range(first, first + 10):
        run(seed)


@pytest.mark.proof
@pytest.mark.parametrize("first", range(1000, 3000, 50))
def test_L11_X4_nothing_is_lost_in_two_thousand_histories(first: int) -> None:
    for seed in range(first, first + 50):
        run(seed)
