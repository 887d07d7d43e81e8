"""Stores as numbers: which texts a question may find, and which it should."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from training.stores import KINDS, Store

Numbers = NDArray[np.int64]

ROLES = frozenset(("", "user", "assistant"))


@dataclass(slots=True)
class Example:
    """One store. Texts and questions are numbers of texts in a list."""

    source: str
    plain: Numbers  # turns as they were said
    named: Numbers  # the same with their speakers, as the product embeds them
    questions: Numbers
    kinds: Numbers  # of the questions, places in KINDS
    evidence: NDArray[np.bool_]  # questions x turns


class Library:
    """All texts that were seen, each once."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        found = self._numbers.setdefault(text, len(self.texts))
        if found == len(self.texts):
            self.texts.append(text)
        return found


def spoken(speaker: str, text: str) -> str:
    """As ``standfast.index.vectors.embedding_text`` has it."""
    return text if speaker in ROLES else f'{speaker} said, "{text}"'


def example(store: Store, library: Library) -> Example:
    turns = [turn for session in store.sessions for turn in session]
    starts = np.concatenate([[0], np.cumsum([len(session) for session in store.sessions])])
    evidence = np.zeros((len(store.questions), len(turns)), dtype=np.bool_)
    for row, asked in enumerate(store.questions):
        for place in asked.evidence:
            evidence[row, starts[place.session] + place.turn] = True
    number = library.number
    return Example(
        source=store.source,
        plain=np.array([number(turn.text) for turn in turns]),
        named=np.array([number(spoken(*turn)) for turn in turns]),
        questions=np.array([number(asked.text) for asked in store.questions]),
        kinds=np.array([KINDS.index(asked.kind) for asked in store.questions]),
        evidence=evidence,
    )


@dataclass(frozen=True, slots=True)
class Visit:
    """Some questions of an example."""

    example: Example
    rows: Numbers


def visits(
    examples: Sequence[Example], shares: dict[str, float], rows_max: int, rng: random.Random
) -> Iterator[Visit]:
    """Each question as often as its source's share says, in no order. A source is named whole
    or up to its first hyphen; "" is any other."""
    found: list[Visit] = []
    for one in examples:
        family = one.source.partition("-")[0]
        share_of = shares.get(one.source, shares.get(family, shares.get("", 1.0)))
        rows: list[int] = []
        for _ in range(math.floor(share_of + rng.random())):
            again = list(range(len(one.questions)))
            rng.shuffle(again)
            rows += again
        for start in range(0, len(rows), rows_max):
            part = sorted(set(rows[start : start + rows_max]))
            found.append(Visit(one, np.array(part)))
    rng.shuffle(found)
    return iter(found)
