"""``python -m training.languages.pairs [FILE...]``: check memories and their questions.

One JSON object a line, as ``BRIEF.md`` says. ``p1`` and ``p2`` are for development (40 a language,
the English ones are what stands beside), ``p3`` is for training.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from training import labelled


class Asked(NamedTuple):
    language: str
    memory: str
    same: str  # a question in the memory's language, in other words
    english: str  # another one in English
    is_message: bool  # as somebody typed it; else a statement


def parse(line: str) -> Asked:
    """ValueError: what is wrong with the line."""
    row = json.loads(line)
    texts = row["lang"], row["memory"], row["same"], row["english"]
    if not all(text.strip() for text in texts):
        raise ValueError("an empty text")
    return Asked(*texts, is_message=row["kind"] == "message")


def describe(paths: Sequence[Path]) -> str:
    found = list(labelled.read(paths, parse))
    if len({one.memory for one in found}) < len(found):
        raise ValueError("a memory stands there twice")
    return f"{len(found)} pairs; {dict(Counter(one.language for one in found).most_common())}"


if __name__ == "__main__":
    sys.exit(labelled.report(sys.argv[1:], Path(__file__).parent, describe))
