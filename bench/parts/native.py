"""Searches by the engine itself, on servers that ``--store`` names: how many of the exact best ten
they find, and what they take beside a search through the index of the process."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial

from bench.filling import fill, query_of
from bench.places import BY_INDEX, BY_ITSELF, fresh, kind_of, with_options
from bench.report import Claim, Result, Table, ms, nothing_named
from bench.running import Bench
from bench.texts import Question
from bench.timing import Contender, race
from standfast.ports import NativeHits, Store
from standfast.testing.clauses.quality import TOP, best
from standfast.types import Hit
from standfast.wiring import open_engine

RECORDS_MAX = 100_000
SCOPES = 100
ROOT = "org:bench"
TIMED_MAX = 30  # questions whose time is taken; all count for what is found
RECALL_MIN = 0.95
COLUMNS = (
    "engine",
    "records",
    "best ten by words",
    "by meaning",
    "native",
    "through the index",
    "loaded a second",
)


async def run(bench: Bench) -> Result:
    rows: list[tuple[str, ...]] = []
    claims: list[Claim] = []
    for address in bench.stores:
        for scopes in (1, SCOPES) if kind_of(address) in BY_ITSELF else ():
            bench.say(f"native: {kind_of(address)}, {scopes} scopes")
            with fresh(address) as place:
                await _measured(bench, place, scopes, rows, claims)
    if not rows:
        return Result("native", [nothing_named("Native search")], [])
    note = (
        f"Shares of the exact best {TOP} that the engine finds, on average; "
        f"limit {TOP}, medians. The index of the process is warm."
    )
    return Result("native", [Table("Native search beside exact", COLUMNS, rows, note)], claims)


async def _measured(
    bench: Bench, place: str, scopes: int, rows: list[tuple[str, ...]], claims: list[Claim]
) -> None:
    count, kind = min(bench.sizes.hybrid, RECORDS_MAX), kind_of(place)
    questions = bench.corpus.questions(bench.sizes.questions)
    asked = ROOT if scopes == 1 else f"{ROOT}:agent:a7"
    async with _opened(with_options(place, **BY_ITSELF[kind])) as native:
        began = time.perf_counter()
        for number in range(scopes):
            scope = ROOT if scopes == 1 else f"{ROOT}:agent:a{number}"
            each = count // scopes
            await fill(bench, native, scope, number * each, (number + 1) * each)
        rate = count / (time.perf_counter() - began)
        async with _opened(with_options(place, **BY_INDEX[kind])) as exact:
            words, meaning = await _recall(native, exact, questions, asked)
            took = await race(
                [
                    Contender(name, answer_async=partial(_found, store, scope=asked))
                    for name, store in (("native", native), ("exact", exact))
                ],
                questions[:TIMED_MAX],
                bench.sizes.rounds,
            )
    where = "one scope" if scopes == 1 else f"{scopes} scopes"
    shares = (f"{words:.3f}", f"{meaning:.3f}")
    medians = (ms(took["native"].median), ms(took["exact"].median))
    rows.append((kind, f"{count:,} in {where}", *shares, *medians, f"{rate:.0f}"))
    least = min(words, meaning)
    what = f"share of the exact best ten that {kind} finds, {where}"
    claims.append(Claim(what, f"{least:.3f}", f">= {RECALL_MIN}", least >= RECALL_MIN))


@asynccontextmanager
async def _opened(address: str) -> AsyncIterator[Store]:
    engine = await open_engine(address, embedder="none")
    try:
        yield engine.store
    finally:
        await engine.store.close()


async def _found(store: Store, question: Question, scope: str) -> Sequence[Hit]:
    return await store.search(replace(query_of(question, scope), limit=TOP))


async def _recall(
    native: Store, exact: Store, questions: Sequence[Question], scope: str
) -> tuple[float, float]:
    """Of the best by words and of those by meaning."""
    shares: tuple[list[float], list[float]] = ([], [])
    for question in questions:
        found, right = await _found(native, question, scope), await _found(exact, question, scope)
        assert isinstance(found, NativeHits), "the engine did not search by itself"
        assert not isinstance(right, NativeHits), "this is not the index of the process"
        for arm, got, wanted in zip(shares, best(found), best(right), strict=True):
            if wanted:
                arm.append(len(wanted & got) / len(wanted))
    words, meaning = (sum(arm) / len(arm) for arm in shares)
    return words, meaning
