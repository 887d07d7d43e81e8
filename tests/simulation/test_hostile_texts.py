"""Twice the text takes twice the time, whatever stands in it and whichever verb it is for."""

from __future__ import annotations

import asyncio
import inspect
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from standfast.errors import StandfastError
from standfast.memory import AsyncMemory
from tests.simulation.hostile import (
    FREE,
    READS,
    SHAPES,
    VERBS,
    Shape,
    arguments,
    cost,
    cost_of_reading,
    shapes,
)

TIMES_MAX = 2.6
SIZE = 8_000  # and twice that
READ_SIZE = 100_000
TELLING_SECONDS = 0.05  # what takes less says more about the machine than about the text
ROUNDS = 5
EVERYWHERE = "every argument of every verb"
SAMPLE = 25  # every so many shapes, in a quick run


async def grown(memory: AsyncMemory, verb: str, shape: Shape, size: int) -> tuple[float, float]:
    """What twice the size costs, and how many times as much that is: the best of five."""
    numbers = count()
    best = [float("inf"), float("inf")]
    for _ in range(ROUNDS):
        for place, text in enumerate((shape.text(size), shape.text(2 * size))):
            scope = f"user:{verb.replace(' ', '-')}-{shape.number}-{next(numbers)}"
            best[place] = min(best[place], await cost(memory, VERBS[verb], text, scope))
        if best[1] < TELLING_SECONDS or best[1] / best[0] < TIMES_MAX:
            break  # a smaller one is not asked for
    return best[1], best[1] / best[0]


async def measured(chosen: list[Shape], verbs: list[str]) -> list[str]:
    wrong = []
    async with await AsyncMemory.open("dict:", embedder="hashing", background=False) as memory:
        for verb in verbs:
            await cost(memory, VERBS[verb], "a first one, to load what is needed", "user:first")
            for shape in chosen:
                seconds, times = await grown(memory, verb, shape, SIZE)
                if seconds > TELLING_SECONDS and times > TIMES_MAX:
                    wrong.append(f"{verb}: {times:.1f} times for {shape} ({seconds:.2f} s)")
    return wrong


def test_X12_there_are_two_hundred_shapes() -> None:
    texts = {shape.text(200) for shape in shapes()}
    assert len(texts) == SHAPES


@pytest.mark.parametrize("verb", VERBS)
def test_X12_a_hostile_text_takes_linear_time(verb: str, proving: bool) -> None:
    every = SAMPLE * (8 if verb == EVERYWHERE else 1)  # that one is a hundred calls
    chosen = list(shapes())[:: 1 if proving else every]
    assert asyncio.run(measured(chosen, [verb])) == []


def test_X12_every_text_that_a_verb_takes_is_tried() -> None:
    """Whoever adds a verb, or a text to one, adds it to those that are made hostile."""
    mark = "zorkmid"
    seen: set[tuple[str, str]] = set()

    class Watching:
        def __init__(self, memory: AsyncMemory) -> None:
            self._memory = memory

        def __getattr__(self, name: str) -> Any:
            verb = getattr(self._memory, name)

            def call(*given: Any, **named: Any) -> Any:
                bound = inspect.signature(verb).bind(*given, **named).arguments
                seen.update((name, one) for one, value in bound.items() if mark in repr(value))
                return verb(*given, **named)

            return call

    async def main() -> None:
        async with await AsyncMemory.open("dict:", embedder="hashing", background=False) as memory:
            watched: Any = Watching(memory)
            for number, (verb, say) in enumerate(VERBS.items()):
                if verb == EVERYWHERE:
                    continue
                with suppress(StandfastError):  # it was asked
                    await say(watched, f"Ann keeps a {mark} {number}", f"user:tried-{number}")

    asyncio.run(main())
    free = {(verb, one) for verb, one, kind in arguments() if kind.startswith(FREE)}
    assert free - seen == set()


@pytest.mark.parametrize("what", READS)
def test_X12_a_hostile_file_or_body_takes_linear_time(
    what: str, proving: bool, tmp_path: Path
) -> None:
    read, wrong = READS[what], []
    read("a first one, to load what is needed", tmp_path)
    for shape in list(shapes())[:: 1 if proving else 4 * SAMPLE]:
        best = [float("inf"), float("inf")]
        for _ in range(ROUNDS):
            for place, size in enumerate((READ_SIZE, 2 * READ_SIZE)):
                spent = cost_of_reading(read, shape.text(size), tmp_path)
                best[place] = min(best[place], spent)
            if best[1] < 2 * TELLING_SECONDS or best[1] / best[0] < TIMES_MAX:
                break
        else:
            wrong.append(f"{best[1] / best[0]:.1f} times for {shape} ({best[1]:.2f} s)")
    assert wrong == []


@pytest.mark.parametrize("text", ["&#65;", "on Monday ", 'said: "', "Ann and ", "&lt;"])
def test_X12_a_short_text_does_not_wait_for_its_long_neighbours(text: str) -> None:
    """Three long statements that differ in a word took ten seconds each, then 37."""

    async def main() -> float:
        async with await AsyncMemory.open("dict:", embedder="hashing", background=False) as memory:
            spent = 0.0
            for end in ("", " more", " 5", " 6 more"):
                say = VERBS["remember"]
                spent = await cost(memory, say, text * (160_000 // len(text)) + end, "user:ann")
            return spent

    assert asyncio.run(main()) < 5
