"""Draw lessons that the rules learn from conversations nobody here wrote, to be judged by reading.

    python scripts/judge_learning.py DATA [--seed 1] [--count 100]

DATA is a folder with ``locomo/locomo10.json`` (or that file itself): conversations with
sessions, each with its date. Nothing of it is stored: the sample goes to the screen, each
lesson with the turn it came from, and a last line says how many lessons 100 turns give.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from standfast.text.claims import extract
from standfast.text.claims.lessons import Lesson
from standfast.types import Message

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


def learned(data: Path) -> tuple[list[tuple[Lesson, Message]], int]:
    """Every lesson with its turn, and the number of turns."""
    lessons: list[tuple[Lesson, Message]] = []
    count = 0
    for conversation in conversations(data):
        for session in turns(conversation):
            count += len(session)
            for index, message in enumerate(session):
                before = session[max(0, index - CONTEXT_TURNS) : index]
                found = extract([message], earlier=before)
                lessons += [(lesson, message) for lesson in found.lessons]
    return lessons, count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else "")
    parser.add_argument("data", type=Path, help="folder with locomo/locomo10.json, or the file")
    parser.add_argument("--seed", type=int, default=1, help="which sample to draw")
    parser.add_argument("--count", type=int, default=100, help="how many lessons to draw")
    asked = parser.parse_args()
    lessons, count = learned(asked.data)
    sample = random.Random(asked.seed).sample(lessons, min(asked.count, len(lessons)))
    for number, (lesson, message) in enumerate(sample, 1):
        slot = f"{lesson.claim.slot} = {lesson.claim.value}" if lesson.claim else lesson.tags[0]
        print(f"{number:3} {lesson.text}   [{lesson.type}, {slot}]")
        print(f"    {message.at:%a %Y-%m-%d} {message.author}: {message.text}\n")
    share = 100 * len(lessons) / max(count, 1)
    print(f"{len(lessons)} lessons from {count} turns, {share:.1f} for 100 turns")


if __name__ == "__main__":
    main()
