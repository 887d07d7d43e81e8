"""What writing and recalling cost as a scope grows, beside bare SQLite and numpy."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import apsw
import numpy as np

from bench.baselines import SCOPE, BareFile, any_of, nearest_by_numpy, words_of
from bench.filling import BATCH, NOW, GivenVectors, fill_timed
from bench.fresh import start
from bench.report import (
    Claim,
    Result,
    Series,
    Table,
    at_most,
    exponent,
    mib,
    ms,
    number,
    power,
)
from bench.running import Bench
from bench.texts import DIMENSIONS, Array, Chunk, Question
from bench.timing import Contender, Times, bytes_of, files_of, forget_cached_pages, race
from standfast.engine import Engine
from standfast.memory import AsyncMemory
from standfast.upkeep.background import save_indexes
from standfast.wiring import open_engine

RECENT_BATCHES = 100  # the cost of a batch "at N" is that of the last ones before
SINGLE_WRITES = 20
SINGLE_FROM = 50_000_000  # numbers of records that no filling reaches
STARTS = 3
SIDES = {"ours": "standfast", "bare": "bare SQLite + numpy"}  # of a point
RECALL_MS = {100_000: 15.0, 1_000_000: 120.0}  # at the median, on two cores


@dataclass(slots=True)
class Side:
    """One contender at one size; times in seconds."""

    batch: float
    throughput: float  # records per second since the size before
    single: float
    recall: float
    recall_p95: float
    first: float
    first_cold: float
    memory: int
    memory_peak: int
    size: int
    first_unsaved: float = float("nan")  # the first answer where no index was saved


@dataclass(slots=True)
class Point:
    records: int
    ours: Side
    bare: Side


@dataclass(frozen=True, slots=True)
class Written:
    """What was timed in this process while a file grew from one size to the next."""

    span: tuple[int, int]
    batches: Times
    single: Times
    recalls: Times


async def measured(bench: Bench) -> list[Point]:
    """All points; measured once, for both parts that show them."""
    if "growth" not in bench.memo:
        with bench.desk() as desk:
            bench.memo["growth"] = await _grow(bench, desk)
    points: list[Point] = bench.memo["growth"]
    return points


async def _grow(bench: Bench, desk: Path) -> list[Point]:
    questions = bench.corpus.questions(bench.sizes.questions)
    embedder = GivenVectors.of(questions)
    engine = await open_engine(desk / "ours.db", embedder=embedder)
    bare = _Bare(desk / "bare.db", max(bench.sizes.growth) + SINGLE_WRITES * 10)
    points: list[Point] = []
    start_ = 0
    try:
        for end in bench.sizes.growth:
            bench.say(f"growth: {end:,} records")
            singles = _singles(bench, len(points))
            ours = await _our_side(bench, engine, desk, (start_, end), singles, questions)
            theirs = await bare.side(bench, (start_, end), singles, questions)
            points.append(Point(end, ours, theirs))
            start_ = end
    finally:
        await engine.store.close()
        bare.file.close()
    return points


def _singles(bench: Bench, series: int) -> list[Chunk]:
    first = SINGLE_FROM + series * 1000
    return [one for _, one in bench.corpus.records(first, first + SINGLE_WRITES, 1)]


async def _our_side(
    bench: Bench,
    engine: Engine,
    desk: Path,
    span: tuple[int, int],
    singles: list[Chunk],
    questions: list[Question],
) -> Side:
    memory = AsyncMemory(engine)
    batches = await fill_timed(bench, engine.store, SCOPE, *span)

    async def recall(question: Question) -> object:
        return await memory.recall(question.text, scope=SCOPE, now=NOW)

    asked = Contender("ours", answer_async=recall)
    recalls = (await race([asked], questions, rounds=1))["ours"]
    single = Times()
    for chunk in singles:
        assert isinstance(engine.embedder, GivenVectors)
        engine.embedder.learn(chunk)
        with single.one():
            await memory.remember(chunk.texts[0], scope=SCOPE)
    written = Written(span, batches, single, recalls)
    path = desk / "ours.db"
    with closing(apsw.Connection(str(path))) as db:
        db.execute("DELETE FROM snapshot")  # of the size before
    unsaved = start("standfast", path, SCOPE, questions[:10])["first"]
    await save_indexes(engine)
    return replace(_side(path, "standfast", written, questions), first_unsaved=unsaved)


class _Bare:
    """The baseline with its matrix in memory, as a program would hold it."""

    def __init__(self, path: Path, most: int) -> None:
        self.file = BareFile(path)
        self._matrix: Array = np.empty((most, DIMENSIONS), dtype="<f4")
        self._count = 0

    def _add(self, times: Times, chunk: Chunk) -> None:
        with times.one():
            self.file.add(self._count, chunk)
            end = self._count + len(chunk.texts)
            self._matrix[self._count : end] = chunk.vectors
            self._count = end

    async def side(
        self, bench: Bench, span: tuple[int, int], singles: list[Chunk], questions: list[Question]
    ) -> Side:
        batches, single = Times(), Times()
        for first, chunk in bench.corpus.records(*span, BATCH):
            bench.count("written into the baseline", first, span[1])
            self._add(batches, chunk)

        def answer(question: Question) -> object:
            near = nearest_by_numpy(
                self._matrix[: self._count], np.frombuffer(question.vector, dtype="<f4")
            )
            return near, self.file.by_words(any_of(words_of(question.text, stop_words=False)))

        recalls = (await race([Contender("bare", answer)], questions, rounds=1))["bare"]
        for chunk in singles:
            self._add(single, chunk)
        written = Written(span, batches, single, recalls)
        return _side(self.file.path, "bare", written, questions)


def _side(path: Path, kind: str, done: Written, questions: list[Question]) -> Side:
    starts = [start(kind, path, SCOPE, questions[:10]) for _ in range(STARTS)]
    cold = forget_cached_pages(path)
    return Side(
        batch=Times(done.batches.seconds[-RECENT_BATCHES:]).median,
        throughput=(done.span[1] - done.span[0]) / sum(done.batches.seconds),
        single=done.single.median,
        recall=done.recalls.median,
        recall_p95=done.recalls.p95,
        first=Times([one["first"] for one in starts]).median,
        first_cold=start(kind, path, SCOPE, questions[:10])["first"] if cold else float("nan"),
        memory=max(one["now"] for one in starts),
        memory_peak=max(one["peak"] for one in starts),
        size=bytes_of(files_of(path)),
    )


async def run(bench: Bench) -> Result:
    points = await measured(bench)
    columns = (
        "records", "", "batch of 100", "one durable write", "recall median", "recall p95",
        "new process, first answer", "memory", "file",
    )  # fmt: skip
    rows = [
        (number(point.records), name, *_cells(getattr(point, side)))
        for point in points
        for side, name in SIDES.items()
    ]
    note = (
        "standfast: AsyncMemory.remember and recall with vectors given beforehand. Bare: a plain "
        "table with float32 blobs, FTS5 (words OR-ed, without stop words) and one numpy product; "
        "no duplicates, scopes, journal, versions or expiry. Memory is that of a new process "
        "after ten answers."
    )
    table = Table("Cost against the number of records in one scope", columns, rows, note)
    return Result("growth", [table, _exponents(points)], _claims(points), _series(points))


# Whatever the table above has a column of.
GROWN = {
    "batch of 100": "batch",
    "one durable write": "single",
    "recall median": "recall",
    "recall p95": "recall_p95",
    "new process, first answer": "first",
    "memory": "memory",
    "file": "size",
}
LARGE = 10_000  # from which on little is left of what every call costs


def _exponents(points: list[Point]) -> Table:
    large = [point for point in points if point.records >= LARGE] or points
    rows = [
        (what, *(power(_exponent(some, side, field)) for side in SIDES for some in (points, large)))
        for what, field in GROWN.items()
    ]
    whole, above = f"from {number(points[0].records)}", f"from {number(large[0].records)}"
    columns = (
        "grows with the power",
        *(f"{name}, {part}" for name in SIDES.values() for part in (whole, above)),
    )
    note = (
        "The slope of a straight line through the logarithms of the table above: 0 does not depend "
        "on the number of records, 1 grows in proportion to it."
    )
    return Table("How it grows", columns, rows, note)


def _exponent(points: list[Point], side: str, field: str) -> float:
    return exponent([(point.records, getattr(getattr(point, side), field)) for point in points])


def _claims(points: list[Point]) -> list[Claim]:
    return [
        at_most(
            f"one recall among {number(point.records)} records, its vector given",
            point.ours.recall * 1000,
            RECALL_MS[point.records],
            "{:.1f} ms",
        )
        for point in points
        if point.records in RECALL_MS
    ]


def _cells(side: Side) -> tuple[str, ...]:
    spans = (side.batch, side.single, side.recall, side.recall_p95, side.first)
    return (*map(ms, spans), mib(side.memory), mib(side.size))


PANELS = {
    "one recall (median)": ("recall", "ms", 1000),
    "one durable write": ("single", "ms", 1000),
    "new process, first answer": ("first", "s", 1),
    "memory of a new process": ("memory", "MiB", 2**-20),
}


def _series(points: list[Point]) -> list[Series]:
    return [
        Series(
            panel,
            name,
            unit,
            [(point.records, asdict(getattr(point, side))[field] * factor) for point in points],
        )
        for panel, (field, unit, factor) in PANELS.items()
        for side, name in SIDES.items()
    ]
