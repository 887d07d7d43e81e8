"""Questions that writers wrote: about one memory in two languages, and about a dozen lines."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

from training.languages import pairs
from training.languages.pairs import parse
from training.stores import ANSWER, Asked, Place, Store, Turn

ANSWERS = Path(__file__).parent.parent / "answers" / "data"


def asked_in_english(path: Path, rng: random.Random) -> Iterator[Store]:
    """One store for each language and one of all: every memory is asked for in its own language
    and in English."""
    rows = [parse(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    for language in sorted({row.language for row in rows}):
        yield _store(f"asked-{language}", [row for row in rows if row.language == language])
    rng.shuffle(rows)
    for start in range(0, len(rows), 65):
        yield _store("asked-mixed", rows[start : start + 65])


def _store(source: str, rows: list[pairs.Asked]) -> Store:
    turns = [Turn("", row.memory) for row in rows]
    questions = [
        Asked(text, [Place(0, number)], ANSWER)
        for number, row in enumerate(rows)
        for text in (row.same, row.english)
    ]
    return Store(source, [turns], questions)


def answered(rng: random.Random) -> Iterator[Store]:
    """Blocks of lines that look alike, six blocks a store."""
    blocks = [
        json.loads(line)
        for path in sorted(ANSWERS.glob("*.jsonl"))
        for line in path.read_text("utf-8").splitlines()
        if line.strip()
    ]
    rng.shuffle(blocks)
    for start in range(0, len(blocks), 6):
        some = blocks[start : start + 6]
        yield Store(
            "answers",
            [[Turn("user", line) for line in block["lines"]] for block in some],
            [
                Asked(question, [Place(number, place) for place in places], ANSWER)
                for number, block in enumerate(some)
                for question, places, _ in block["questions"]
                if places
            ],
        )
