"""Draw statements that are learned from conversations nobody here wrote, to be judged by reading.

    python scripts/judge_learning.py DATA [--seed 1] [--count 100]

DATA is a folder with ``locomo/locomo10.json`` (or that file itself): conversations with
sessions, each with its date. Nothing of it is stored: the sample goes to the screen, each
lesson with the turn it came from, and a last line says how many statements 100 turns give.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from standfast.testing.reader import statements_in
from standfast.types import Message
from standfast.understanding.reading.statements import LearnedStatement
from standfast.wiring.reader import boxed_reader

TIME_FORMATS = ("%I:%M %p on %d %B, %Y", "%I:%M %p on %d %b, %Y")
CONTEXT_TURNS = 6


def conversations(data: Path) -> list[dict[str, Any]]:
    path = data / "locomo" / "locomo10.json" if data.is_dir() else data
    found: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))
    return found


def time_of(written: str) -> datetime | None:
    for form in TIME_FORMATS:
        try:
            return datetime.strptime(written.strip(), form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None


def turns(conversation: dict[str, Any]) -> Iterator[list[Message]]:
    """The sessions of one conversation as messages of two people."""
    talk = conversation["conversation"]
    number = 1
    while f"session_{number}_date_time" in talk:
        at = time_of(talk[f"session_{number}_date_time"])
        if at is not None:
            yield [
                Message(
                    id=f"{conversation['sample_id']} {turn['dia_id']}",
                    scope="judged",
                    session=str(number),
                    role="user",
                    text=turn["text"],
                    at=at,
                    author=turn["speaker"],
                )
                for turn in talk.get(f"session_{number}") or []
            ]
        number += 1


def learned(data: Path) -> tuple[list[tuple[LearnedStatement, Message]], int]:
    """Every statement with its turn, and the number of turns."""
    statements: list[tuple[LearnedStatement, Message]] = []
    count = 0
    for conversation in conversations(data):
        for session in turns(conversation):
            count += len(session)
            for index, message in enumerate(session):
                before = session[max(0, index - CONTEXT_TURNS) : index]
                found = statements_in(boxed_reader(), [message], before=before)
                statements += [(one, message) for one in found]
    return statements, count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else "")
    parser.add_argument("data", type=Path, help="folder with locomo/locomo10.json, or the file")
    parser.add_argument("--seed", type=int, default=1, help="which sample to draw")
    parser.add_argument("--count", type=int, default=100, help="how many statements to draw")
    asked = parser.parse_args()
    statements, count = learned(asked.data)
    sample = random.Random(asked.seed).sample(statements, min(asked.count, len(statements)))
    for number, (statement, message) in enumerate(sample, 1):
        print(f"{number:3} {statement.text}   [{statement.type}, {', '.join(statement.tags)}]")
        print(f"    {message.at:%a %Y-%m-%d} {message.author}: {message.text}\n")
    share = 100 * len(statements) / max(count, 1)
    print(f"{len(statements)} statements from {count} turns, {share:.1f} for 100 turns")


if __name__ == "__main__":
    main()
