"""``python -m training.judge.unrelated PAIRS OUT``: statements and messages of different people.

A memory asks its judge about the nearest of what it knows, and most of that has nothing to do with
what was said now: such pairs nobody writes. Each message of the judged pairs is held against old
statements of other blocks in its language, neither far away nor so near that it may be about the
same thing; what one person says in a talk, against what they said shortly before of other things.
OUT receives one JSON array a line: the old statement, the message, and the line before it.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from standfast.models.local import box
from standfast.models.local.recall import BoxedEmbedder
from standfast.understanding.reading.clauses import KEPT
from training.judge.labels import Pair, parse
from training.reader.examples import read as read_messages
from training.reader.labels import Labelled

NEAR, TOO_NEAR = 0.11, 0.34  # cosines: half of the real changes are above the second
DRAWN = 12
EACH = 1  # old statements for a message
# Files of labelled messages in which the same people go on, each of them for about so many lines.
TALKS = ("x10", "x11", "x12")
TALK, TALK_EACH = 10, 4
MESSAGES = Path(__file__).parent.parent / "reader" / "data"

Floats = NDArray[np.float32]


def read(paths: Sequence[Path]) -> list[Pair]:
    lines = [line for path in paths for line in path.read_text("utf-8").splitlines()]
    return [one for line in lines if line.strip() for one in parse(line)]


def vectors(texts: Sequence[str]) -> Floats:
    embedder = BoxedEmbedder(box.place() or Path(), threads=2)
    found = np.array(asyncio.run(embedder.embed(texts)), np.float32)
    length: Floats = np.linalg.norm(found, axis=1, keepdims=True).astype(np.float32)
    return np.divide(found, length)


def unrelated(pairs: Sequence[Pair], dice: random.Random) -> Iterator[tuple[str, str]]:
    olds = list(dict.fromkeys(one.old for one in pairs))
    language = {one.old: one.language for one in pairs}
    by_language: dict[str, list[int]] = {}
    for place, old in enumerate(olds):
        by_language.setdefault(language[old], []).append(place)
    known, said = vectors(olds), vectors([one.new for one in pairs])
    for one, vector in zip(pairs, said, strict=True):
        others = by_language[one.language]
        drawn = dice.sample(others, min(DRAWN, len(others)))
        cosines = {place: float(known[place] @ vector) for place in drawn}
        fit = [place for place in drawn if NEAR <= cosines[place] < TOO_NEAR]
        fit = [place for place in fit if olds[place] != one.old]
        for place in sorted(fit, key=cosines.__getitem__, reverse=True)[:EACH]:
            yield olds[place], one.new


def within_talks(messages: Sequence[Labelled], dice: random.Random) -> Iterator[list[str]]:
    """What one person said of different things: clauses of a talk, not near each other."""
    clauses = [
        (number, message.text[span.start : span.end], message)
        for number, message in enumerate(messages)
        for span in message.spans
        if span.label in KEPT
    ]
    known = vectors([text for _, text, _ in clauses])
    for place, (number, new, message) in enumerate(clauses):
        before = [at for at in range(place) if 0 < number - clauses[at][0] <= TALK]
        fit = [at for at in before if float(known[at] @ known[place]) < TOO_NEAR]
        for at in dice.sample(fit, min(TALK_EACH, len(fit))):
            yield [clauses[at][1], new, message.before]


def main(arguments: Sequence[str] | None = None) -> int:
    named = [Path(one) for one in (sys.argv[1:] if arguments is None else arguments)]
    if len(named) != 2:
        print("error: say PAIRS and OUT (see the docstring)", file=sys.stderr)
        return 2
    folder, out = named
    out.mkdir(parents=True, exist_ok=True)
    talks = [message for _, message in read_messages([MESSAGES / f"{one}.jsonl" for one in TALKS])]
    lines = [json.dumps(one, ensure_ascii=False) for one in within_talks(talks, random.Random(0))]
    (out / "talks.jsonl").write_text("\n".join([*lines, ""]), "utf-8")
    print(f"talks: {len(lines)}")
    for path in sorted(folder.glob("*.jsonl")):
        found = unrelated(read([path]), random.Random(0))
        lines = [json.dumps(one, ensure_ascii=False) for one in found]
        (out / path.name).write_text("\n".join([*lines, ""]), "utf-8")
        print(f"{path.name}: {len(lines)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
