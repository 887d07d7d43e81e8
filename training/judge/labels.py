"""``python -m training.judge.labels [FILE...]``: check judged pairs and count them.

One block a line, as ``BRIEF.md`` says: an old statement and later messages, each with what it does.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from training import labelled

RELATIONS = ("SAME", "REFINES", "REPLACES", "ENDS", "DOUBT", "ADDS", "TOUCHES")


class Pair(NamedTuple):
    old: str
    before: str  # the line that the later message follows
    new: str
    relation: str
    language: str


def parse(line: str) -> list[Pair]:
    """ValueError: what is wrong with the block."""
    row = json.loads(line)
    pairs = []
    for relation, new, before in row["later"]:
        if relation not in RELATIONS:
            raise ValueError(f"no relation {relation!r}")
        if not (row["old"].strip() and new.strip()):
            raise ValueError("an empty text")
        pairs.append(Pair(row["old"], before or "", new, relation, row.get("lang", "en")))
    return pairs


def describe(paths: Sequence[Path]) -> str:
    found = [pair for pairs in labelled.read(paths, parse) for pair in pairs]
    relations = Counter(one.relation for one in found)
    languages = Counter(one.language for one in found)
    return f"{len(found)} pairs; {dict(relations.most_common())}; {dict(languages.most_common())}"


if __name__ == "__main__":
    sys.exit(labelled.report(sys.argv[1:], Path(__file__).parent, describe))
