"""The same store on other engines, and encrypted, beside a plain file: loading, searching, writing.

Servers are named on the command line (``--store postgresql://...``); what is written there is
erased afterwards.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bench.filling import GivenVectors, batch_of, fill_timed, query_of
from bench.report import Result, Table, ms, times
from bench.running import Bench
from bench.texts import Question
from bench.timing import Contender, Times, race
from recollect.memory import AsyncMemory
from recollect.ports import Store
from recollect.stores.sqlite.cipher import CAN_ENCRYPT
from recollect.wiring import open_engine, read_settings

SCOPE = "user:bench"
RECORDS_MAX = 10_000
SINGLE = 40
PLAIN, ENCRYPTED = "SQLite", "SQLite, encrypted"


async def run(bench: Bench) -> Result:
    count = min(bench.sizes.hybrid, RECORDS_MAX)
    questions = bench.corpus.questions(bench.sizes.questions)
    measured: dict[str, tuple[Times, Times, Times]] = {}
    with bench.desk() as desk:
        for name, address, key in _places(bench, desk):
            bench.say(f"engines: {name}")
            async with _opened(address, key, questions) as store:
                measured[name] = await _measured(bench, store, count, questions)
        sizes = {one: (desk / f"{one}.db").stat().st_size for one in ("plain", "encrypted")
                 if (desk / f"{one}.db").exists()}  # fmt: skip
    plain = measured[PLAIN]
    rows = [
        (name, *(part for one, base in zip(each, plain, strict=True)
                 for part in (ms(one.median), times(one.median / base.median))))
        for name, each in measured.items()
    ]  # fmt: skip
    columns = ("engine", "batch of 100", "ratio", "warm search", "ratio", "one commit", "ratio")
    note = f"{count:,} records in one scope, searched through the index of the process."
    if len(sizes) == 2:
        note += f" The encrypted file is {sizes['encrypted'] / sizes['plain']:.3f} times as large."
    return Result("engines", [Table("Engines", columns, rows, note)], [])


def _places(bench: Bench, desk: Path) -> list[tuple[str, str, str]]:
    """Name, address, and the file of its key."""
    found = [(PLAIN, str(desk / "plain.db"), "")]
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


async def _measured(
    bench: Bench, store: Store, count: int, questions: list[Question]
) -> tuple[Times, Times, Times]:
    loaded = await fill_timed(bench, store, SCOPE, 0, count)

    async def search(question: Question) -> object:
        return await store.search(query_of(question, SCOPE))

    found = await race([Contender("search", answer_async=search)], questions, bench.sizes.rounds)
    written = Times()
    for first, chunk in bench.corpus.records(count, count + SINGLE, 1):
        batch = batch_of(SCOPE, first, chunk)
        with written.one():
            await store.commit(batch)
    return loaded, found["search"], written
