"""The same store on other engines, encrypted, and without checksums, beside a plain file: loading,
searching, writing.

Servers are named on the command line (``--store postgresql://...``); what is written there is
erased afterwards.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Awaitable
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

from bench.filling import BATCH, GivenVectors, batch_of, query_of
from bench.report import Result, Table, ms, times
from bench.running import Bench
from bench.texts import Question
from bench.timing import Contender, Times, race
from standfast.memory import AsyncMemory
from standfast.ports import Store
from standfast.stores import rows
from standfast.stores.sqlite.cipher import CAN_ENCRYPT
from standfast.wiring import open_engine, read_settings

SCOPE = "user:bench"
RECORDS_MAX = 10_000
SINGLE = 40
PLAIN, ENCRYPTED, UNSEALED = "SQLite", "SQLite, encrypted", "SQLite, without checksums"


async def run(bench: Bench) -> Result:
    """By turns: whatever the machine does besides, it does to all of them."""
    count = min(bench.sizes.hybrid, RECORDS_MAX)
    questions = bench.corpus.questions(bench.sizes.questions)
    with bench.desk() as desk:
        async with AsyncExitStack() as stack:
            rivals = []
            for name, address, key in _places(bench, desk):
                store = await stack.enter_async_context(_opened(address, key, questions))
                rivals.append(Rival(name, store))
            await _load(bench, rivals, count)
            await _search(bench, rivals, questions)
            await _write_singly(bench, rivals, count)
        sizes = {one: (desk / f"{one}.db").stat().st_size for one in ("plain", "encrypted")
                 if (desk / f"{one}.db").exists()}  # fmt: skip
    plain = rivals[0].measured
    told = [
        (rival.name, *(part for one, base in zip(rival.measured, plain, strict=True)
                       for part in (ms(one.median), times(one.median / base.median))))
        for rival in rivals
    ]  # fmt: skip
    columns = ("engine", "batch of 100", "ratio", "warm search", "ratio", "one commit", "ratio")
    note = f"{count:,} records in one scope, searched through the index of the process."
    if len(sizes) == 2:
        note += f" The encrypted file is {sizes['encrypted'] / sizes['plain']:.3f} times as large."
    return Result("engines", [Table("Engines", columns, told, note)], [])


@dataclass(slots=True)
class Rival:
    """A store, and how long it took to load, to search and to write one record."""

    name: str
    store: Store
    measured: tuple[Times, Times, Times] = field(
        default_factory=lambda: (Times(), Times(), Times())
    )

    async def does(self, work: Awaitable[object]) -> None:
        """One thing at a time, so what is left out is left out for this one alone."""
        with _without_checksums() if self.name == UNSEALED else nullcontext():
            await work


def _without_checksums() -> AbstractContextManager[object]:
    """Rows carry the same eight bytes, whatever they say: nothing is computed, all compare."""
    return patch.object(rows, "checksum", lambda *_: bytes(rows.CHECKSUM_BYTES))


async def _load(bench: Bench, rivals: list[Rival], count: int) -> None:
    for first, chunk in bench.corpus.records(0, count, BATCH):
        bench.count("written", first, count)
        for rival in rivals:
            batch = batch_of(SCOPE, first, chunk)
            with rival.measured[0].one():
                await rival.does(rival.store.commit(batch))


async def _search(bench: Bench, rivals: list[Rival], questions: list[Question]) -> None:
    def contender(rival: Rival) -> Contender:
        async def search(question: Question) -> None:
            await rival.does(rival.store.search(query_of(question, SCOPE)))

        return Contender(rival.name, answer_async=search)

    found = await race(list(map(contender, rivals)), questions, bench.sizes.rounds)
    for rival in rivals:
        rival.measured[1].seconds += found[rival.name].seconds


async def _write_singly(bench: Bench, rivals: list[Rival], count: int) -> None:
    for first, chunk in bench.corpus.records(count, count + SINGLE, 1):
        for rival in rivals:
            batch = batch_of(SCOPE, first, chunk)
            with rival.measured[2].one():
                await rival.does(rival.store.commit(batch))


def _places(bench: Bench, desk: Path) -> list[tuple[str, str, str]]:
    """Name, address, and the file of its key."""
    found = [(PLAIN, str(desk / "plain.db"), ""), (UNSEALED, str(desk / "unsealed.db"), "")]
    if CAN_ENCRYPT:
        key = desk / "key"
        key.touch(0o600)  # one that others may read is refused
        key.write_text(secrets.token_hex(32), "ascii")
        found.append((ENCRYPTED, str(desk / "encrypted.db"), str(key)))
    return [*found, *((one.partition("://")[0], one, "") for one in bench.stores)]


@asynccontextmanager
async def _opened(address: str, key: str, questions: list[Question]) -> AsyncIterator[Store]:
    settings = read_settings(key_file=key or None)
    engine = await open_engine(address, embedder=GivenVectors.of(questions), settings=settings)
    memory = AsyncMemory(engine)
    try:
        yield engine.store
        if "://" in address:
            await memory.forget(scope=SCOPE, descend=True)
    finally:
        await memory.close()
