"""Many writers at once: what group commit is worth."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median

from bench.baselines import BareFile
from bench.filling import batch_of
from bench.report import Result, Table, at_least, number, times
from bench.running import Bench
from bench.texts import Chunk
from standfast.memory import AsyncMemory
from standfast.stores.sqlite import SqliteStore
from standfast.wiring import open_engine

GROUPS = {"groups": 256, "groups of one": 1}
REMEMBER, REMEMBER_APART, COMMIT = (
    "remember, all into one scope",
    "remember, each into its own user's scope",
    "store.commit of one record",
)
BARE = "bare SQLite, one row and its words per transaction"

Write = Callable[[int, int], Awaitable[object]]  # by writer and turn


async def run(bench: Bench) -> Result:
    rates: dict[tuple[str, str], list[float]] = {}
    with bench.desk() as desk:
        bare = []
        for round_ in range(bench.sizes.rounds):
            bench.say(f"concurrent: round {round_ + 1} of {bench.sizes.rounds}")
            for group, group_max in GROUPS.items():
                for what in (REMEMBER, REMEMBER_APART, COMMIT):
                    path = desk / f"{len(rates)}-{round_}-{group_max}-{what[:12]}.db"
                    rate = await _rate(bench, path, group_max, what)
                    rates.setdefault((what, group), []).append(rate)
            bare.append(_bare_rate(bench, desk / f"bare{round_}.db"))
    return _result(bench, {key: median(found) for key, found in rates.items()}, median(bare))


async def _rate(bench: Bench, path: Path, group_max: int, what: str) -> float:
    """Writes per second of all writers together."""
    sizes = bench.sizes
    records = _records(bench)
    store = await SqliteStore.open(path, group_max=group_max)
    engine = await open_engine("dict:", embedder="hashing")
    engine.store = store
    memory = AsyncMemory(engine)

    async def remember(writer: int, turn: int) -> None:
        scope = f"user:{writer}" if what == REMEMBER_APART else "user:all"
        text = records[writer * sizes.writes + turn].texts[0]
        receipt = await memory.remember(text, scope=scope)
        # Made-up words now and then say that something has changed: both are kept.
        assert receipt.items[0].status in ("stored", "disputed"), receipt

    async def commit(writer: int, turn: int) -> None:
        place = writer * sizes.writes + turn
        await store.commit(batch_of("user:all", place, records[place]))

    try:
        await memory.remember("Something to open the file with.", scope="user:warm")
        return await _together(sizes.writers, sizes.writes, commit if what == COMMIT else remember)
    finally:
        await memory.close()
        await store.close()


async def _together(writers: int, writes: int, write: Write) -> float:
    async def one_writer(writer: int) -> None:
        for turn in range(writes):
            await write(writer, turn)

    began = time.perf_counter()
    await asyncio.gather(*(one_writer(writer) for writer in range(writers)))
    return writers * writes / (time.perf_counter() - began)


def _records(bench: Bench) -> list[Chunk]:
    count = bench.sizes.writers * bench.sizes.writes
    return [chunk for _, chunk in bench.corpus.records(0, count, 1)]


def _bare_rate(bench: Bench, path: Path) -> float:
    bare = BareFile(path)
    records = _records(bench)
    began = time.perf_counter()
    for place, chunk in enumerate(records):
        bare.add(place, chunk)
    rate = len(records) / (time.perf_counter() - began)
    bare.close()
    return rate


def _result(bench: Bench, rates: dict[tuple[str, str], float], bare: float) -> Result:
    rows, claims = [], []
    writers = bench.sizes.writers
    for what in (REMEMBER, REMEMBER_APART, COMMIT):
        grouped, single = (rates[what, group] for group in GROUPS)
        rows.append((what, number(grouped), number(single), times(grouped / single)))
        claims.append(
            at_least(f"{writers} at once, {what}: beside groups of one", grouped / single, 2)
        )
    rows.append((BARE, "", number(bare), ""))
    columns = (
        f"{writers} writers at once",
        "writes/s, group commit",
        "writes/s, groups of one",
        "ratio",
    )
    note = (
        "Every write is synced to the disk before it is answered. The hashing embedder makes the "
        "vectors of remember. The bare line has one writer: SQLite writes one after the other."
    )
    return Result("concurrent", [Table("Concurrent writes", columns, rows, note)], claims)
