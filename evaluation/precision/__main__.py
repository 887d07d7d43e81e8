"""``python -m evaluation.precision``: how much of what is returned answers, and what is missed.

A case is passed where exactly what answers came back. Prints passed cases, precision and recall by
kind of question, for the questions that tuning may look at and for those that it may not.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluation.precision.worlds import (
    BOTH,
    CHATS,
    FILE,
    LATER,
    MISSES,
    SIDES,
    Asked,
    World,
    worlds,
)
from evaluation.scores import score
from standfast import AsyncMemory
from standfast.errors import StandfastError
from standfast.ports import Embedder

LIMIT = 10
# The files of which one half may be tuned on, and what is said of them.
HALVED = {
    FILE: "",
    MISSES: "near misses, ",
    SIDES: "sides, ",
    CHATS: "chats, ",
    BOTH: "several answers, ",
}


@dataclass(frozen=True, slots=True)
class Judged:
    asked: Asked
    found: tuple[str, ...]
    scores: tuple[float, ...]

    @property
    def passed(self) -> bool:
        return set(self.found) == set(self.asked.wanted)

    @property
    def precision(self) -> float:
        right = len(set(self.found) & set(self.asked.wanted))
        return right / len(self.found) if self.found else float(not self.asked.wanted)

    @property
    def recall(self) -> float:
        right = len(set(self.found) & set(self.asked.wanted))
        return right / len(self.asked.wanted) if self.asked.wanted else 1.0


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evaluation.precision", description=__doc__)
    add = parser.add_argument
    add("--embedder", default="recall-2", help="recall-2 (default), minilm, hashing or none")
    add("--profile", default="default", help="the profile to measure")
    add("--threshold", type=float, help="the least score, instead of the profile's")
    add("--failed", action="store_true", help="also show what went wrong, tuning half only")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    options = build_parser().parse_args(arguments)
    how = (options.embedder, options.profile, options.threshold)
    try:
        judged = {file: asyncio.run(judge(*how, file=file)) for file in (*HALVED, LATER)}
    except StandfastError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    later = judged.pop(LATER)
    if options.failed:
        some = _half([one for found in judged.values() for one in found], False)
        print("\n".join(wrong(one) for one in some if not one.passed))
    for file, found in judged.items():
        print(report(found, HALVED[file]))
    print("\n".join(_table("written after the rules, never tuned on", later)))
    return 0


async def judge(
    embedder: str | Embedder, profile: str, threshold: float | None = None, *, file: Path = FILE
) -> list[Judged]:
    """Every question of every world, at the defaults of ``recall``."""
    found: list[Judged] = []
    for world in worlds(file):
        async with await AsyncMemory.open(
            "dict:", embedder=embedder, profile=profile, background=False
        ) as memory:
            ids = await _filled(memory, world)
            for asked in world.questions:
                answer = await memory.recall(
                    asked.text, scope=asked.scope, limit=LIMIT, threshold=threshold
                )
                hits = [hit for hit in answer.hits if hit.record.id in ids]
                names = tuple(ids[hit.record.id] for hit in hits)
                found.append(Judged(asked, names, tuple(hit.score for hit in hits)))
    return found


async def _filled(memory: AsyncMemory, world: World) -> Mapping[str, str]:
    """The ids of the records, and the names that they have in the world."""
    replaces = dict(world.replaced)
    records: dict[str, str] = {}
    for one in world.memories:
        old = records.get(replaces.get(one.id, ""))
        receipt = await memory.remember(one.text, scope=one.scope, tags=one.tags, supersedes=old)
        records[one.id] = receipt.items[0].id
    return {record: name for name, record in records.items()}


def wrong(one: Judged) -> str:
    scored = [f"{n} {s:.2f}" for n, s in zip(one.found, one.scores, strict=True)]
    wanted = " ".join(one.asked.wanted) or "nothing"
    return f"  {one.asked.kind}: {one.asked.text!r} wants {wanted}, got {', '.join(scored)}"


def _half(judged: Sequence[Judged], held_back: bool) -> list[Judged]:
    return [one for one in judged if one.asked.held_back == held_back]


def report(judged: Sequence[Judged], of: str = "") -> str:
    halves = ((f"{of}may be tuned on", False), (f"{of}held back", True))
    return "\n".join(line for title, held in halves for line in _table(title, _half(judged, held)))


def _table(title: str, judged: Sequence[Judged]) -> list[str]:
    lines = [f"== precision, {title}: {len(judged)} questions"]
    lines.append(f"  {'':<12}{'cases':>6}{'passed':>18}{'precision':>18}{'recall':>18}")
    for kind in ("all", *sorted({one.asked.kind for one in judged})):
        some = [one for one in judged if kind in ("all", one.asked.kind)]
        values = zip(*((float(x.passed), x.precision, x.recall) for x in some), strict=True)
        cells = "".join(f"{score(list(column))!s:>18}" for column in values)
        lines.append(f"  {kind:<12}{len(some):>6}{cells}")
    empty = [one for one in judged if not one.asked.wanted]
    something = sum(bool(one.found) for one in empty)
    return [*lines, f"  returned something for nothing: {something} of {len(empty)}"]


if __name__ == "__main__":
    sys.exit(main())
