"""``python -m evaluation.forms``: are standing wishes found by what they are about, is all of
something found where all is asked for, and what happened at a time by that time, whenever it was
told? Prints recall by kind, for the questions that tuning may look at and for those that it may
not."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from evaluation.forms.talks import Asked, TalkStore, stores, told
from evaluation.scores import score
from standfast import AsyncMemory
from standfast.errors import StandfastError

LIMIT = 10
SCOPE = "user:talks"
PACKET_TOKENS = 1200


@dataclass(frozen=True, slots=True)
class Judged:
    asked: Asked
    found: tuple[str, ...]
    packed: frozenset[str]

    def recall(self, k: int) -> float:
        return len(self.asked.wanted & set(self.found[:k])) / len(self.asked.wanted)

    @property
    def in_packet(self) -> float:
        return len(self.asked.wanted & self.packed) / len(self.asked.wanted)


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evaluation.forms", description=__doc__)
    add = parser.add_argument
    add("--embedder", default="recall-2", help="recall-2 (default), minilm, hashing or none")
    add("--profile", default="default", help="the profile to measure")
    add("--failed", action="store_true", help="also show what was missed, tuning half only")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    options = build_parser().parse_args(arguments)
    try:
        how = (options.embedder, options.profile)
        judged = asyncio.run(judge(*how, stores()))
        times = asyncio.run(judge(*how, told()))
    except StandfastError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if options.failed:
        for one in (*judged, *times):
            if not one.asked.held_back and one.recall(LIMIT) < 1:
                print(f"  {one.recall(LIMIT):.2f} {one.asked.kind}: {one.asked.text}")
    print(report(judged))
    print(report(times, "times told about, ", (1, 2)))
    return 0


async def judge(embedder: str, profile: str, asked_of: Iterable[TalkStore]) -> list[Judged]:
    """Every question of every store, at the defaults but for the limit."""
    found: list[Judged] = []
    for store in asked_of:
        async with await AsyncMemory.open(
            "dict:", embedder=embedder, profile=profile, background=False
        ) as memory:
            await _fill(memory, store)
            found += [await _ask(memory, store, asked) for asked in store.questions]
    return found


async def _fill(memory: AsyncMemory, store: TalkStore) -> None:
    for session, said in groupby(store.messages, key=lambda one: one.session):
        messages = [{"role": s.role, "content": s.text, "id": s.id, "at": s.at} for s in said]
        await memory.observe(session, messages, scope=SCOPE)


async def _ask(memory: AsyncMemory, store: TalkStore, asked: Asked) -> Judged:
    answer = await memory.recall(asked.text, scope=SCOPE, limit=LIMIT, now=store.asked_at)
    packet = await memory.context(
        query=asked.text, scope=SCOPE, tokens=PACKET_TOKENS, now=store.asked_at
    )
    ids = dict.fromkeys(id_ for hit in answer.hits for id_ in hit.record.lineage)
    packed = frozenset(id_ for hit in packet.hits for id_ in hit.record.lineage)
    return Judged(asked, tuple(ids), packed)


def report(judged: Sequence[Judged], of: str = "", at: tuple[int, int] = (5, LIMIT)) -> str:
    lines = []
    for title, held_back in (("may be tuned on", False), ("held back", True)):
        half = [one for one in judged if one.asked.held_back == held_back]
        if not half:
            continue
        heads = "".join(f"{f'recall@{k}':>19}" for k in at)
        lines.append(f"== forms, {of}{title}: {len(half)} questions")
        lines.append(f"  {'':<12}{'cases':>6}{heads}{'in packet':>19}")
        for kind in ("all", *sorted({one.asked.kind for one in half})):
            some = [one for one in half if kind in ("all", one.asked.kind)]
            values = [[one.recall(k) for one in some] for k in at]
            cells = [score(column) for column in (*values, [one.in_packet for one in some])]
            lines.append(f"  {kind:<12}{len(some):>6}{''.join(f'{cell!s:>19}' for cell in cells)}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
