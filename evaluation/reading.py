"""``python -m evaluation.reading [FILES]``: how the reader in the box marks labelled messages.

FILES hold messages as ``training/reader/BRIEF.md`` says. Without any: those of ``training/reader``
that the reader was not trained on (``HELD``), English and other languages apart. The clauses are
what the product believes: above the thresholds, and nothing of pasted passages.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from standfast.understanding.reading.clauses import Clause
from standfast.understanding.reading.foreign import foreign_ranges, is_foreign
from standfast.understanding.reading.reader import Reader, Reading
from standfast.wiring.reader import boxed_reader, why_no_reader
from training.reader.examples import read
from training.reader.labels import Labelled
from training.reader.measure import confusion, details, scores, summary

HELD = ("v5", "v8")
FOLDER = Path(__file__).parent.parent / "training" / "reader" / "data"
COLUMNS = ("exact", "overlap", "told kept", "orders kept", "kept wrongly", "orders made up",
           "foreign kept")  # fmt: skip

Found = tuple[Labelled, Sequence[Clause]]


async def marked(reader: Reader, messages: Sequence[Labelled]) -> list[Found]:
    """The clauses of each message as learning sees them."""
    foreign = [foreign_ranges(one.text) for one in messages]
    asked = [
        Reading(text=one.text, previous=one.before, foreign=ranges)
        for one, ranges in zip(messages, foreign, strict=True)
    ]
    found = await reader.read(asked)
    return [
        (message, [one for one in clauses if not is_foreign(one.start, one.end, ranges)])
        for message, clauses, ranges in zip(messages, found, foreign, strict=True)
    ]


def table(rows: dict[str, Sequence[Found]]) -> str:
    lines = [f"{'':<10}{'messages':>9}" + "".join(f"{name:>16}" for name in COLUMNS)]
    for name, found in rows.items():
        values = summary(found)
        cells = "".join(f"{values[column]!s:>16}" for column in COLUMNS)
        lines.append(f"{name:<10}{len(found):>9}{cells}")
    return "\n".join(lines)


def report(found: Sequence[Found]) -> dict[str, Any]:
    return {
        "labels": {label: scores(found, label) for label in ("FACT", "PREF", "ORDER")},
        "told about a clause": details(found),
        "confusion": confusion(found),
    }


def by_language(found: Sequence[Found]) -> dict[str, Sequence[Found]]:
    languages = sorted({message.language for message, _ in found})
    rows = {name: [one for one in found if one[0].language == name] for name in languages}
    return {"all": found, **rows}


def main(arguments: Sequence[str] | None = None) -> int:
    named = sys.argv[1:] if arguments is None else arguments
    if trouble := why_no_reader():
        print(f"error: {trouble}", file=sys.stderr)
        return 2
    paths = [Path(one) for one in named] or [FOLDER / f"{name}.jsonl" for name in HELD]
    try:
        messages = [message for _, message in read(paths)]
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    found = asyncio.run(marked(boxed_reader(), messages))
    print(table(by_language(found)))
    for name, values in report(found).items():
        print(f"{name}:")
        for key, value in values.items():
            print(f"  {key}: {json.dumps(value)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
