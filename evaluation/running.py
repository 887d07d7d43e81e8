"""All cases of a set, in one process or several."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from bench.places import BY_INDEX, BY_ITSELF, fresh, kind_of, with_options
from evaluation.asking import Outcome, Task, ask_case
from evaluation.cases import Case, DataError
from evaluation.vectors import CachedEmbedder
from standfast.errors import StandfastError
from standfast.ports import Embedder
from standfast.wiring import open_engine, read_settings

WAITING_PER_JOB = 2  # cases on their way: a haystack takes megabytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How to run a set."""

    set: str
    task: Task
    embedder: str
    jobs: int
    cache: Path | None
    store: str = ""  # an engine, on which each case gets a place of its own; "": files
    native: bool = False  # is it the engine that searches, and not the index?


_embedders: dict[tuple[str, Path | None, int], Embedder | None] = {}


async def embedder_named(name: str, cache: Path | None, threads: int) -> Embedder | None:
    """By the product's own wiring, with a cache around it; loaded once in a process."""
    key = (name, cache, threads)
    if key not in _embedders:
        settings = read_settings({"STANDFAST_MODEL_THREADS": str(threads)})
        engine = await open_engine("dict:", embedder=name, settings=settings)
        inner = engine.embedder
        await engine.store.close()
        _embedders[key] = CachedEmbedder(inner, cache) if inner and cache else inner
    return _embedders[key]


def limited(cases: Iterable[Case], limit: int | None) -> Iterator[Case]:
    """The first ``limit`` questions."""
    left = limit
    for case in cases:
        if left is None:
            yield case
        elif left <= 0:
            return
        else:
            questions = case.questions[:left]
            left -= len(questions)
            yield replace(case, questions=questions)


def run(
    plan: Plan, cases: Iterable[Case], told: Callable[[int, int], None]
) -> tuple[list[Outcome], int, int]:
    """The outcomes, the number of messages and of stores. ``told`` hears of progress."""
    outcomes: list[Outcome] = []
    messages = stores = 0
    for case, found in _answered(plan, cases):
        outcomes += found
        messages += len(case.messages)
        stores += 1
        told(stores, len(outcomes))
    return outcomes, messages, stores


def _answered(plan: Plan, cases: Iterable[Case]) -> Iterator[tuple[Case, list[Outcome]]]:
    if plan.jobs == 1:
        for case in cases:
            yield case, answer(plan, case)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(plan.jobs, mp_context=context) as pool:
        under_way: dict[Future[list[Outcome]], Case] = {}
        try:
            for case in cases:
                if len(under_way) >= plan.jobs * WAITING_PER_JOB:
                    yield from _finished(under_way)
                under_way[pool.submit(answer, plan, case)] = case
            while under_way:
                yield from _finished(under_way)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _finished(
    under_way: dict[Future[list[Outcome]], Case],
) -> Sequence[tuple[Case, list[Outcome]]]:
    done, _ = wait(under_way, return_when=FIRST_COMPLETED)
    return [(under_way.pop(future), future.result()) for future in done]


_numbers = count()


def answer(plan: Plan, case: Case) -> list[Outcome]:
    """One case, in this process."""
    return asyncio.run(_answer(plan, case))


async def _answer(plan: Plan, case: Case) -> list[Outcome]:
    threads = max(1, (os.cpu_count() or 1) // plan.jobs)
    try:
        embedder = await embedder_named(plan.embedder, plan.cache, threads)
        with _place(plan) as place:
            return await ask_case(plan.set, case, plan.task, embedder, place)
    except StandfastError as error:
        raise DataError(f"{plan.set}, case {case.id}: {error}") from error


@contextmanager
def _place(plan: Plan) -> Iterator[str]:
    """Where nothing has been yet; gone afterwards."""
    if plan.store:
        with fresh(plan.store) as place:
            how = BY_ITSELF if plan.native else BY_INDEX
            yield with_options(place, **how[kind_of(place)])
        return
    with tempfile.TemporaryDirectory() as folder:
        yield str(Path(folder) / f"{next(_numbers)}.db")
