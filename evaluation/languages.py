"""``python -m evaluation.languages``: search in thirteen languages, through the public interface.

Each store holds the memories of one language and the English ones: messages are observed,
statements remembered. Each memory is asked for in its own language and in English, both times in
other words. Prints how often it is among the first five, and first, with plain cosine beside it.
The pairs are development sets: tuning may look at them.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evaluation.running import embedder_named
from evaluation.scores import score
from standfast import AsyncMemory
from standfast.errors import StandfastError, Unavailable
from standfast.ports import Embedder
from training import labelled
from training.languages.pairs import Asked, parse

DATA = Path(__file__).parents[1] / "training" / "languages" / "data"
FILES = ("p1.jsonl", "p2.jsonl")
SCOPE = "user:languages"
ENGLISH = "en"
FIRST = 5
QUESTIONS = ("same", "english")
RECALL, COSINE = "recall", "cosine"


@dataclass(frozen=True, slots=True)
class Judged:
    """The place at which a memory was found, from 0; None: it was not among the first five."""

    language: str
    question: str  # one of QUESTIONS
    system: str  # RECALL or COSINE
    place: int | None


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m evaluation.languages", description=__doc__)
    add = parser.add_argument
    add("files", type=Path, nargs="*", default=[DATA / file for file in FILES],
        help="files of pairs (default: the development sets)")  # fmt: skip
    add("--embedder", default="recall-2", help="recall-2 (default), minilm or hashing")
    add("--profile", default="default", help="the profile to measure")
    add("--language", action="append", help="this language; may be repeated")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    options = build_parser().parse_args(arguments)
    try:
        stores = stores_of(list(labelled.read(options.files, parse)), options.language or ())
        judged = asyncio.run(judge(options.embedder, options.profile, stores))
    except (StandfastError, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(report(judged))
    return 0


def stores_of(pairs: Sequence[Asked], only: Sequence[str] = ()) -> Mapping[str, Sequence[Asked]]:
    """By language its own memories and then the English ones."""
    languages = sorted({one.language for one in pairs} - {ENGLISH})
    if unknown := set(only) - set(languages):
        raise ValueError(f"no memories in {', '.join(sorted(unknown))}: {', '.join(languages)}")
    english = [one for one in pairs if one.language == ENGLISH]
    return {
        language: [one for one in pairs if one.language == language] + english
        for language in languages
        if not only or language in only
    }


async def judge(
    embedder: str | Embedder, profile: str, stores: Mapping[str, Sequence[Asked]]
) -> list[Judged]:
    network = embedder
    if isinstance(network, str):
        network = await embedder_named(network, None, 1) or ""
    if isinstance(network, str):
        raise Unavailable(f"{embedder} gives no vectors to compare with")
    found: list[Judged] = []
    for language, pairs in stores.items():
        asked = [one for one in pairs if one.language == language]
        found += await _by_cosine(network, language, pairs, asked)
        async with await AsyncMemory.open(
            "dict:", embedder=embedder, profile=profile, background=False
        ) as memory:
            await _fill(memory, pairs)
            found += await _by_recall(memory, language, asked)
    return found


async def _by_cosine(
    network: Embedder, language: str, pairs: Sequence[Asked], asked: Sequence[Asked]
) -> list[Judged]:
    matrix = np.asarray(await network.embed([one.memory for one in pairs]))
    found = []
    for question in QUESTIONS:
        rows = np.asarray(await network.embed([getattr(one, question) for one in asked]))
        for one, cosines in zip(asked, rows @ matrix.T, strict=True):
            best = [pairs[place].memory for place in np.argsort(-cosines)[:FIRST]]
            found.append(Judged(language, question, COSINE, _place(one, best)))
    return found


async def _fill(memory: AsyncMemory, pairs: Sequence[Asked]) -> None:
    """Each message is a conversation of its own: they have nothing to do with each other."""
    for number, one in enumerate(pairs):
        if one.is_message:
            said = [{"role": "user", "content": one.memory}]
            await memory.observe(f"talk-{number}", said, scope=SCOPE)
        else:
            await memory.remember(one.memory, scope=SCOPE)


async def _by_recall(memory: AsyncMemory, language: str, asked: Sequence[Asked]) -> list[Judged]:
    found = []
    for question in QUESTIONS:
        for one in asked:
            answer = await memory.recall(getattr(one, question), scope=SCOPE, limit=FIRST)
            texts = [hit.record.text for hit in answer.hits]
            found.append(Judged(language, question, RECALL, _place(one, texts)))
    return found


def _place(one: Asked, texts: Sequence[str]) -> int | None:
    return texts.index(one.memory) if one.memory in texts else None


def report(judged: Sequence[Judged]) -> str:
    heads = [f"{question}, {system}" for question in QUESTIONS for system in (RECALL, COSINE)]
    lines = ["== languages, development sets: among the first five / first, in percent"]
    lines.append(f"  {'':<6}{'n':>5}" + "".join(f"{head:>18}" for head in heads))
    for language in sorted({one.language for one in judged}):
        lines.append(_row(language, [one for one in judged if one.language == language]))
    lines.append(_row("all", judged))
    for question in QUESTIONS:
        some = of(judged, question)
        values = [float(one.place is not None) for one in some]
        lines.append(f"  {question}: {score(values)}, {sum(values):.0f} of {len(values)}")
    return "\n".join(lines)


def _row(name: str, judged: Sequence[Judged]) -> str:
    groups = [of(judged, one, system) for one in QUESTIONS for system in (RECALL, COSINE)]
    return f"  {name:<6}{len(groups[0]):>5}" + "".join(f"{_cell(one):>18}" for one in groups)


def of(judged: Sequence[Judged], question: str, system: str = RECALL) -> list[Judged]:
    return [one for one in judged if (one.question, one.system) == (question, system)]


def _cell(judged: Sequence[Judged]) -> str:
    there = sum(one.place is not None for one in judged) / len(judged)
    first = sum(one.place == 0 for one in judged) / len(judged)
    return f"{100 * there:.1f} / {100 * first:.1f}"


if __name__ == "__main__":
    sys.exit(main())
