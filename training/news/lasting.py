"""Sentences that tell something worth knowing for months, and others, from the open sets and lives.

Lasting are the first statements of the open sets and what the open lives must know; not lasting are
the tricky turns, everyday turns without a fact, and ``sets/moments.txt``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from evaluation.learning.cases import FOLDER, SetName, load_all
from evaluation.learning.lives import lives
from evaluation.learning.report import OPEN
from standfast.lifecycle.merge.claims.sentences import plain, sentences

STATED: tuple[SetName, ...] = ("pairs", "corrections", "harmless")


@dataclass(frozen=True, slots=True)
class Said:
    text: str
    lasts: bool
    group: str


def statements(text: str) -> list[str]:
    return [one.text for one in sentences(plain(text)) if not one.question]


def _open(name: SetName) -> Iterator[tuple[str, bool]]:
    """The first words of the user's in each open case, and whether a fact is in them."""
    for case in load_all(name):
        if case.lang == "en" and (not case.later or case.half in OPEN):
            told = [turn.text for turn in case.turns if turn.role == "user"]
            if len(told) == 1 or name in STATED:
                yield told[0], bool(case.believe or case.also)


def examples() -> list[Said]:
    found: list[Said] = []
    for name in (*STATED, "everyday"):
        for text, fact in _open(name):
            parts = statements(text)
            if len(parts) == 1 or not (fact or name in STATED):
                lasts = fact or name in STATED
                found += [Said(part, lasts, part) for part in parts]
    found += [Said(part, False, part) for text, _ in _open("tricky") for part in statements(text)]
    moments = (FOLDER / "moments.txt").read_text("utf-8").splitlines()
    found += [Said(line, False, line) for line in moments]
    for life in lives():
        lines = [text for _, said in life.sessions for role, text in said if role == "user"]
        for part in (part for line in lines for part in statements(line)):
            if any(re.search(form, part) for form in (*life.holds, *life.gone)):
                found.append(Said(part, True, life.name))
    return found
