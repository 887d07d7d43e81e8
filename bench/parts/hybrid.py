"""A hybrid search in one large scope, beside the least that any such search must do."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from bench.baselines import (
    SCOPE,
    VECTOR_LIMIT,
    BareFile,
    VectorTable,
    any_of,
    nearest_by_simd,
    rounded,
    words_of,
)
from bench.filling import NOW, GivenVectors, fill, query_of
from bench.report import Claim, Result, Table, at_least, at_most, ms, number, times
from bench.running import Bench
from bench.texts import Array, Question
from bench.timing import Contender, Times, race
from standfast.engine import Engine
from standfast.memory import AsyncMemory
from standfast.wiring import open_engine

SEARCH, RECALL = "standfast: store.search", "standfast: AsyncMemory.recall"
PRUNED = "FTS5, the rarest 4 words"
PLAIN = "FTS5, every word but stop words"
NAIVE = "FTS5, every word"
INT8, FLOAT32 = "simsimd scan, int8", "simsimd scan, float32"
VEC0 = "sqlite-vec, float32"


async def run(bench: Bench) -> Result:
    with bench.desk() as desk:
        questions = bench.corpus.questions(bench.sizes.questions)
        engine = await open_engine(desk / "ours.db", embedder=GivenVectors.of(questions))
        try:
            bench.say(f"hybrid: writing {bench.sizes.hybrid:,} records")
            await fill(bench, engine.store, SCOPE, 0, bench.sizes.hybrid)
            return await _against_baselines(bench, desk, engine, questions)
        finally:
            await engine.store.close()


async def _against_baselines(
    bench: Bench, desk: Path, engine: Engine, questions: list[Question]
) -> Result:
    bench.say("hybrid: writing the baselines")
    bare = BareFile(desk / "bare.db")
    table = VectorTable(desk / "vec.db") if VectorTable.is_installed() else None
    for first, chunk in bench.corpus.records(0, bench.sizes.hybrid, 1000):
        bare.add(first, chunk)
        if table:
            table.add(first, chunk)
    matrix = bare.matrix()
    contenders = [*_ours(engine), *_words(bare, questions), *_scans(matrix)]
    if table:
        contenders.append(Contender(VEC0, lambda question: table.nearest(question.vector)))
    bench.say("hybrid: asking")
    measured = await race(contenders, questions, bench.sizes.rounds)
    agreeing = await _agreeing(engine, matrix, questions)
    bare.close()
    if table:
        table.close()
    return _result(bench.sizes.hybrid, measured, agreeing)


def _ours(engine: Engine) -> list[Contender]:
    memory = AsyncMemory(engine)

    async def search(question: Question) -> object:
        return await engine.store.search(query_of(question, SCOPE))

    async def recall(question: Question) -> object:
        return await memory.recall(question.text, scope=SCOPE, now=NOW)

    return [Contender(SEARCH, answer_async=search), Contender(RECALL, answer_async=recall)]


def _words(bare: BareFile, questions: list[Question]) -> list[Contender]:
    """Expressions are made beforehand: only the query itself is timed."""
    forms = {
        PRUNED: {one.text: bare.rarest(one.text) for one in questions},
        PLAIN: {one.text: any_of(words_of(one.text, stop_words=False)) for one in questions},
        NAIVE: {one.text: any_of(words_of(one.text, stop_words=True)) for one in questions},
    }

    def ask(name: str, question: Question) -> object:
        return bare.by_words(forms[name][question.text])

    return [Contender(name, partial(ask, name)) for name in forms]


def _scans(matrix: Array) -> list[Contender]:
    small = rounded(matrix)

    def int8(question: Question) -> object:
        return nearest_by_simd(small, rounded(np.frombuffer(question.vector, dtype="<f4")))

    def float32(question: Question) -> object:
        return nearest_by_simd(matrix, np.frombuffer(question.vector, dtype="<f4"))

    return [Contender(INT8, int8), Contender(FLOAT32, float32)]


async def _agreeing(engine: Engine, matrix: Array, questions: list[Question]) -> float:
    """The share of the truly nearest records that the store finds."""
    found = wanted = 0
    for question in questions:
        exact = matrix @ np.frombuffer(question.vector, dtype="<f4")
        nearest = set(np.argsort(-exact)[:VECTOR_LIMIT].tolist())
        hits = await engine.store.search(query_of(question, SCOPE))
        numbers = {int(hit.record.id.rpartition("-")[2]) for hit in hits}
        found += len(nearest & numbers)
        wanted += len(nearest)
    return found / wanted


def _result(records: int, measured: dict[str, Times], agreeing: float) -> Result:
    ours, recall = measured[SEARCH].median, measured[RECALL].median
    least = measured[PRUNED].median + measured[INT8].median
    rows = [
        (name, ms(one.median), ms(one.p95), times(ours / one.median))
        for name, one in measured.items()
    ]
    rows.append(("**FTS5 pruned + int8 scan**", ms(least), "", times(ours / least)))
    claims = [
        at_most(
            f"search of {number(records)} records beside FTS5 pruned + int8 scan", ours / least, 2
        ),
        at_most("the whole recall beside the same", recall / least, 1.6),
    ]
    if VEC0 in measured:
        slow = measured[VEC0].median + measured[NAIVE].median
        kinder = measured[VEC0].median + measured[PLAIN].median
        rows.append(("**sqlite-vec + FTS5, every word**", ms(slow), "", times(ours / slow)))
        rows.append(
            ("**sqlite-vec + FTS5 without stop words**", ms(kinder), "", times(ours / kinder))
        )
        claims.append(at_least("search faster than sqlite-vec + FTS5, every word", slow / ours, 5))
    claims.append(_complete(agreeing))
    note = (
        "Query embedding is not part of it. Baselines answer with row numbers only; standfast with "
        "whole records, both scores, scopes, filters and expiry. "
        "Ratio: store.search to the line; below 1 it is faster."
    )
    if VEC0 not in measured:
        note += " sqlite-vec is not installed and was left out."
    columns = ("what", "median", "p95", "store.search is")
    title = f"Hybrid search, one scope of {number(records)} records"
    return Result("hybrid", [Table(title, columns, rows, note)], claims)


def _complete(agreeing: float) -> Claim:
    what = f"the {VECTOR_LIMIT} truly nearest vectors found"
    return Claim(what, f"{agreeing:.2%}", "100.00%", agreeing == 1)
