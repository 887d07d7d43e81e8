"""Thirty faults of the world around it: a disk that is full, broken or slow, a clock that jumps, a
model and an embedder that are away, slow or lying, a wire that is cut. Under each of them, the same
twelve promises."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import urlsplit

from proof import disk, services
from proof.family import Broken, ProofFamily, Trial
from standfast import AsyncMemory, Memory, StandfastError
from standfast.stores.sqlite import doctor
from standfast.testing.scripted import ScriptedServer
from tests.requirements.learning_world import model_at
from tests.serving import served

ANN, BOB = "user:ann", "user:bob"
STEPS = 8
INVARIANTS = (
    "what was acknowledged is there",
    "a message and its turn are both there or neither",
    "the log has no gap",
    "nothing is there twice",
    "what could not be kept was said",
    "a look is answered or refused aloud",
    "another tenant's memories are as they were",
    "what was derived comes from what is there",
    "every hit is of the store's own vector space",
    "what is said again is skipped",
    "the journal is in order",
    "the file is sound, and it writes again",
)
CLOCK = {
    "clock jumps ahead": (1, 40, 400),
    "clock jumps back": (-1, -40, -400),
    "clock stands still": (0,),
    "clock passes 2038": (4300,),
}
KINDS = (*disk.KINDS, *CLOCK, *services.MODEL, *services.EMBEDDER, *services.WIRE)
# Faults that nobody can promise anything under, and why. They are no cells.
NOT_PROMISED = {
    "a disk that says it has synced and has not": "what was acknowledged was never there",
    "bits that flip inside of a page": "a row that does not fit its checksum is refused",
    "memory that flips bits": "no program notices its own",
    "somebody who writes into the file with another program": "the doctor names what does not fit",
}


@dataclass(slots=True)
class Life:
    """One memory in trouble: what it acknowledged, and how its clock goes."""

    kind: str
    file: Path
    dice: random.Random
    kept: dict[str, str] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)
    shift: timedelta = timedelta()
    ticks: Iterator[int] = field(default_factory=count)

    def clock(self) -> datetime:
        stands = self.kind == "clock stands still"
        passed = timedelta() if stands else timedelta(seconds=next(self.ticks))
        return datetime(2026, 5, 3, tzinfo=UTC) + self.shift + passed

    def options(self) -> dict[str, Any]:
        return {"embedder": "hashing/64", "background": False, "clock": self.clock}


def attempt(seed: int, folder: Path) -> Trial:
    dice = random.Random(seed)
    kind = disk.KINDS[-seed % len(disk.KINDS)] if seed < 0 else KINDS[seed % len(KINDS)]
    life = Life(kind, folder / "memory.db", dice)
    with Memory.open(str(life.file), **life.options()) as memory:
        memory.remember("Bob keeps bees", scope=BOB)
        memory.observe("chat", ["I keep bees"], scope=BOB)
        memory.maintain(force=True)  # so that nothing of Bob's is due
    others = _others(life)
    hits = asyncio.run(_way_of(kind)(life))
    if not hits:
        return Trial(units=0, figures=(("did not strike", 1),))
    asyncio.run(_check(life))
    if _others(life) != others:
        raise Broken(f"{kind}: another tenant's memories changed")
    return Trial(units=len(INVARIANTS), figures=((kind, 1),))


def _way_of(kind: str) -> Any:
    ways = ((disk.KINDS, _on_disk), (CLOCK, _by_clock), (services.MODEL, _by_model),
            (services.EMBEDDER, _by_embedder), (services.WIRE, _by_wire))  # fmt: skip
    return next(way for kinds, way in ways if kind in kinds)


async def _on_disk(life: Life) -> int:
    with disk.faulty(life.dice) as trouble:
        async with await AsyncMemory.open(str(life.file), **life.options()) as memory:
            await _live(memory, life, lambda on: setattr(trouble, "kind", life.kind if on else ""))
    return trouble.hits


async def _by_clock(life: Life) -> int:
    def turn(on: bool) -> None:
        if on:
            life.shift += timedelta(days=life.dice.choice(CLOCK[life.kind]))

    async with await AsyncMemory.open(str(life.file), **life.options()) as memory:
        await _live(memory, life, turn)
    return 1


async def _by_model(life: Life) -> int:
    from standfast.models.providers.llm import wire

    wire.load("openai-compatible")  # takes a second, which is no part of an answer's time
    with ScriptedServer() as server, model_at(server):
        server.otherwise = services.answering(life.kind)
        async with await AsyncMemory.open(str(life.file), **life.options()) as memory:
            models = memory._engine.models
            assert models is not None
            models._patience = replace(
                models._patience, tries=1, seconds=2 if life.kind == "model hangs" else 5
            )
            await _live(memory, life, lambda _: None)
            await memory.maintain(scope=ANN, force=True, retry=True)
        return len(server.requests)


async def _by_embedder(life: Life) -> int:
    embedder = services.TroubledEmbedder(local=life.dice.random() < 0.5)
    changed = life.kind == "embedder changed"

    def turn(on: bool) -> None:
        embedder.kind = life.kind if on and not changed else ""

    options = {**life.options(), "embedder": embedder}
    async with await AsyncMemory.open(str(life.file), **options) as memory:
        await _live(memory, life, turn)
        await memory.maintain(scope=ANN)
    if changed:  # another program comes with another embedder: the store keeps to its own
        async with await AsyncMemory.open(
            str(life.file), **{**life.options(), "embedder": "hashing/128"}
        ) as memory:
            await _live(memory, life, turn, prefix="other")
    return 1 if changed else embedder.hits


async def _by_wire(life: Life) -> int:
    with served(str(life.file), embedder="hashing/64") as server:
        port = urlsplit(server.url).port or 0
        secret = server.key(ANN)
        async with AsyncExitStack() as stack:
            cable, near = await stack.enter_async_context(services.wired(port, life.dice))
            memory = await AsyncMemory.connect(f"http://127.0.0.1:{near}", secret, timeout=5)
            await stack.enter_async_context(memory)
            await _live(memory, life, lambda on: setattr(cable, "kind", life.kind if on else ""))
            return cable.hits


async def _live(memory: AsyncMemory, life: Life, turn: Any, prefix: str = "") -> None:
    await _write(memory, life, f"{prefix}before")
    await _say(memory, life, f"{prefix}first")
    for step in range(STEPS):
        turn(True)
        await _write(memory, life, f"{prefix}step{step}")
        await _say(memory, life, f"{prefix}m{step}")
        await _look(memory)
    turn(False)
    if not await _write(memory, life, f"{prefix}after"):
        raise Broken(f"{life.kind}: it does not write again")


async def _write(memory: AsyncMemory, life: Life, name: str) -> bool:
    """Whether it was acknowledged as durable; only our own errors may say no."""
    text = f"Fact {name} of Ann is number {len(name)}"
    try:
        receipt = await memory.remember(text, scope=ANN)
    except StandfastError as error:
        _in_one_line(error)
        return False
    item = receipt.items[0]
    if item.status == "stored":
        life.kept[item.id] = text
    elif item.status not in ("volatile", "merged", "superseded", "disputed"):
        raise Broken(f"{name}: {item.status}, {item.reason}")
    return item.status == "stored"


async def _say(memory: AsyncMemory, life: Life, id_: str) -> None:
    message = {"role": "user", "content": f"My number {id_} is {len(life.said)}", "id": id_}
    try:
        receipt = await memory.observe("chat", [message], scope=ANN)
    except StandfastError as error:
        _in_one_line(error)
        return
    if receipt.items[0].status == "stored":
        life.said.append(id_)


async def _look(memory: AsyncMemory) -> None:
    try:
        answer = await memory.recall("fact of Ann", scope=ANN)
    except StandfastError as error:
        _in_one_line(error)
        return
    for hit in answer.hits:
        if hit.similarity is not None and not -1.01 <= hit.similarity <= 1.01:
            raise Broken(f"a similarity of {hit.similarity}")


def _in_one_line(error: StandfastError) -> None:
    if not str(error) or "\n" in str(error):
        raise Broken(f"not one line: {str(error)[:200]!r}")


async def _check(life: Life) -> None:
    async with await AsyncMemory.open(str(life.file), **life.options()) as memory:
        await _check_records(memory, life)
        await _check_messages(memory, life)
        await _check_journal(memory, life)
        await _look(memory)
    report = doctor.check(life.file)
    if not report.is_sound:
        raise Broken(f"{life.kind}: {report.findings[0].text}")


async def _check_records(memory: AsyncMemory, life: Life) -> None:
    found = {record.id: record.text for record in await memory.get(list(life.kept))}
    if lost := life.kept.keys() - found.keys():
        raise Broken(f"{life.kind}: {len(lost)} of {len(life.kept)} acknowledged are lost")
    page = await memory.records(scope=ANN, limit=500)
    texts = Counter(one.text for one in page.items if one.status == "active" and one.type != "turn")
    if max(texts.values(), default=1) > 1:
        raise Broken(f"{life.kind}: {texts.most_common(1)[0][0]!r} is there twice")
    known = {record.id for record in page.items}
    for record in page.items:
        if missing := set(record.derived_from) - known:
            raise Broken(f"{life.kind}: {record.id} comes from {missing}, which are not there")


async def _check_messages(memory: AsyncMemory, life: Life) -> None:
    log = (await memory.messages("chat", scope=ANN, limit=500)).items
    ids = Counter(message.id for message in log)
    if lost := [id_ for id_ in life.said if ids[id_] != 1]:
        raise Broken(f"{life.kind}: messages {lost} are lost or doubled")
    if [message.seq for message in log] != list(range(1, len(log) + 1)):
        raise Broken(f"{life.kind}: the log has a gap")
    turns = (await memory.records(scope=ANN, types=["turn"], limit=500)).items
    spoken = Counter(id_ for turn in turns for id_ in turn.lineage)
    if spoken != ids:
        raise Broken(f"{life.kind}: {len(ids)} messages, {len(spoken)} with a turn")
    if log:
        first = log[0]
        again = {"role": "user", "content": first.text, "id": first.id}
        receipt = await memory.observe("chat", [again], scope=ANN)
        if receipt.items[0].status != "skipped":
            raise Broken(f"{life.kind}: said again it is {receipt.items[0].status}")


async def _check_journal(memory: AsyncMemory, life: Life) -> None:
    numbers = [entry.seq for entry in (await memory.changes(scope=ANN, limit=500)).items]
    if numbers != sorted(set(numbers), reverse=True):
        raise Broken(f"{life.kind}: the journal is out of order")


def _others(life: Life) -> list[bytes]:
    """Bob's export, without what says when it was made."""
    target = life.file.with_suffix(".jsonl")
    with Memory.open(str(life.file), **life.options()) as memory:
        memory.export_to(target, scope=BOB)
    return target.read_bytes().splitlines()[1:-1]


@contextmanager
def careless_commit() -> Iterator[None]:
    """Errors of the disk are taken for success."""
    from standfast.stores.sqlite import writer

    honest = writer.Writer._recover

    def careless(self: Any, error: Exception, committing: bool) -> Any:
        honest(self, error, committing)
        return None

    with mock.patch.object(writer.Writer, "_recover", careless):
        yield


FAMILY = ProofFamily(
    name="faults",
    promise=f"Under each of {len(KINDS)} faults around it, all {len(INVARIANTS)} invariants hold.",
    unit="cells",
    target=10 * len(KINDS) * len(INVARIANTS),
    attempt=attempt,
    mutant=careless_commit,
    mutant_said="a writer that takes an error of the disk for success",
    parallel=True,
    not_promised=tuple(NOT_PROMISED.items()),
)
