"""A seeded simulation of learning: people talk, forget, undo, archive, revoke and decide while two
processes learn, with a model that fails or lies, and kills between any two steps, in any order."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from itertools import combinations
from pathlib import Path

import pytest

from standfast import AsyncMemory
from standfast.text.claim import claim_from_data
from standfast.text.messages import turn_id
from standfast.types import LIVE, Message, Record, SessionKey
from tests.simulation.learning_world import KEYS, ROOT, ZOE, Killed, World

STEPS = 30
FAR = timedelta(days=400)  # every lease and every pause is over by then


class History:
    """One run: steps in any order, and what must hold after each of them."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.world = World(seed, folder)
        self.processes: list[AsyncMemory] = []
        self.unmet = False  # two wrote at once, and no upkeep has seen both yet

    async def run(self) -> None:
        world = self.world
        self.processes = [await world.process(), await world.process()]
        for number in range(STEPS):
            world.now += timedelta(seconds=world.dice.choice([1, 90, 4000, 200_000]))
            together = not world.on_disk and world.dice.random() < 0.3
            self.unmet = self.unmet or together
            await self.step([0, 1] if together else [world.dice.randrange(2)])
            if not world.on_disk or number % 6 == 0:
                await self.check()
        await self.come_to_rest()
        for memory in self.processes:
            await world.drop(memory)

    async def step(self, places: list[int]) -> None:
        """One process does something, or both do something at once."""
        world = self.world
        taking_back = [
            world.forget, world.forget_fact, world.undo, world.archive, world.revoke, world.resolve
        ]  # fmt: skip
        acts = [
            world.observe, world.observe, world.observe, world.observe, world.learn, world.learn,
            world.maintain, world.maintain, *taking_back, world.undo, world.end, world.remember,
            world.send_again, world.ask,
        ]  # fmt: skip
        world.upkept = False
        chosen = [world.dice.choice(acts) for _ in places]
        if len(places) == 2:
            chosen[0] = world.dice.choice([world.learn, world.maintain])
            chosen[1] = world.dice.choice([*acts, *taking_back, *taking_back])
        doing = [act(self.processes[place]) for act, place in zip(chosen, places, strict=True)]
        for place, done in zip(
            places, await asyncio.gather(*doing, return_exceptions=True), strict=True
        ):
            if isinstance(done, Killed):
                await world.drop(self.processes[place])
                self.processes[place] = await world.process()
            elif done is not None:
                raise done
        if len(places) == 1 and world.upkept:
            self.unmet = False

    async def come_to_rest(self) -> None:
        """With a model that behaves and nobody dying, all that is left is learned."""
        world = self.world
        world.model.sober, world.risk = True, 0.0
        for memory in self.processes:
            memory._engine.store._risk = 0.0
        for key, id_ in sorted(world.ledger.unsure):  # whoever died on the way says it again
            await self.processes[0].forget(session=key.id, scope=key.scope, ids=[id_])
            world.ledger.forgotten.add((key, id_))
        world.ledger.unsure.clear()
        for _ in range(2):
            world.now += FAR
            receipt = await self.processes[0].maintain(force=True, retry=True)
        self.unmet = False
        await self.check()
        for key in KEYS:
            place, end = await world.place(key)
            assert place == end, f"session {key.id} was never learned from to its end"
        held = [item for item in receipt.items if item.status in ("skipped", "pending")]
        await self.check_disputes(done=not held)

    # What must hold

    async def check(self) -> None:
        records = await self.world.records()
        logs = {key: await self.world.log(key) for key in KEYS}
        for key in KEYS[:3]:
            await self.check_log(key, logs[key], records)
        self.check_sources(records, logs)
        self.check_forgotten(records, logs)
        self.check_tenants(records, await self.world.records(ZOE))
        if not self.unmet:
            self.check_exclusive(list(records.values()))

    async def check_log(
        self, key: SessionKey, log: list[Message], records: dict[str, Record]
    ) -> None:
        ledger, there = self.world.ledger, {message.id for message in log}
        gone = {id_ for where, id_ in ledger.forgotten | ledger.unsure if where == key}
        assert ledger.said[key] - gone <= there, "an acknowledged message is lost"
        assert not {id_ for where, id_ in ledger.forgotten if where == key} & there
        place, _ = await self.world.place(key)
        for message in log:
            turn = records.get(turn_id(key.scope, key.id, message.id))
            assert turn is not None, "a message has lost its turn"
            if (key, message.id) not in ledger.retired:
                assert turn.status in LIVE, "a raw turn is retired"
            if message.seq <= place and not ledger.undone:
                assert turn.data.get("learning"), "passed by without a word"

    def check_sources(
        self, records: dict[str, Record], logs: dict[SessionKey, list[Message]]
    ) -> None:
        there = {(key, message.id) for key, log in logs.items() for message in log}
        there |= self.world.ledger.unsure
        for record in records.values():
            lost = [id_ for id_ in record.lineage if (record.session_key, id_) not in there]
            assert not lost, f"{record.type} {record.text!r} outlives its messages {lost}"
            lost = [id_ for id_ in record.derived_from if id_ not in records]
            assert not lost, f"{record.type} {record.text!r} outlives its sources {lost}"

    def check_forgotten(
        self, records: dict[str, Record], logs: dict[SessionKey, list[Message]]
    ) -> None:
        ledger = self.world.ledger
        dead = ledger.dead_words() - {ledger.words.get(one, "") for one in ledger.unsure}
        texts = [f"{record.text} {record.data}" for record in records.values()]
        texts += [message.text for log in logs.values() for message in log]
        back = [word for word in dead if any(word in text for text in texts)]
        assert not back, f"forgotten, and known again: {back}"
        said = {(key, message.id): message for key, log in logs.items() for message in log}
        for record in records.values():
            since = ledger.facts_gone.get((record.scope, record.text))
            sources = [(record.session_key, id_) for id_ in record.lineage]
            told = [said[one] for one in sources if one in said]
            assert since is None or not told or any(one.at > since for one in told)
            if record.type not in ("turn", "episode") and record.status in ("active", "disputed"):
                assert not [word for word in ledger.injected if word in record.text]

    def check_tenants(self, ours: dict[str, Record], hers: dict[str, Record]) -> None:
        words = self.world.ledger.words
        of_zoe = {word for (key, _), word in words.items() if key.scope == ZOE}
        of_ann = {word for (key, _), word in words.items() if key.scope != ZOE}
        for records, foreign in ((ours, of_zoe - of_ann), (hers, of_ann - of_zoe)):
            for record in records.values():
                assert not [word for word in foreign if word in record.text]

    def check_exclusive(self, records: list[Record]) -> None:
        """Nobody believes two things at once that cannot both be true."""
        active = [one for one in records if one.kind == "semantic" and one.status == "active"]
        for one, other in combinations(active, 2):
            if one.scope == other.scope and speak_against(one, other):
                shown = [(r.text, r.author, r.valid_from, r.valid_to) for r in (one, other)]
                raise AssertionError(f"both are believed: {shown}")

    async def check_disputes(self, *, done: bool) -> None:
        records = await self.world.records()
        edges = [
            edge
            for edge in await self.world.store.relations(ROOT, list(records))
            if edge.kind == "contradicts" and edge.retired_at is None
        ]
        for id_, record in records.items():
            if record.status != "disputed" or not done:
                continue
            others = {e.target if e.source == id_ else e.source for e in edges if id_ in ends(e)}
            alive = [one for one in others if one in records and records[one].status in LIVE]
            origin = records.get(record.origin)
            waits = origin is not None and origin.id != id_ and origin.status == "disputed"
            assert alive or waits, f"disputed, but by nobody: {record.text!r}"


def ends(edge: object) -> tuple[str, str]:
    return edge.source, edge.target


def speak_against(one: Record, other: Record) -> bool:
    """Told apart from the code that judges: same subject, same slot, and not both."""
    a, b = claim_from_data(one.data), claim_from_data(other.data)
    if a is None or b is None or (a.subject, a.slot) != (b.subject, b.slot):
        return False
    if a.subject.startswith("user") and one.author != other.author:
        return False
    if is_over_before(one, other) or is_over_before(other, one):
        return False
    if max(one.at, other.at) > max(one.learned_at, other.learned_at):
        return False  # one of them is still to come
    if a.value == b.value:
        return a.negated != b.negated
    return a.exclusive and b.exclusive and not (a.negated or b.negated)


def is_over_before(one: Record, other: Record) -> bool:
    if one.valid_to is None:
        return False
    return other.valid_from is not None and other.valid_from >= one.valid_to


def run(seed: int, folder: Path) -> None:
    asyncio.run(History(seed, folder).run())


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_X4_L6_learning_survives_whatever_happens_when(first: int, tmp_path: Path) -> None:
    for seed in range(first, first + 10):
        run(seed, tmp_path)


@pytest.mark.proof
@pytest.mark.parametrize("first", range(1000, 2000, 25))
def test_X4_L6_learning_survives_a_thousand_histories(first: int, tmp_path: Path) -> None:
    for seed in range(first, first + 25):
        run(seed, tmp_path)
