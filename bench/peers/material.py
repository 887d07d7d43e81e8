"""The same work for everybody: texts, vectors, scopes, and questions whose answers are known.

Most records are background. For every question ten records are planted: their texts hold some of
its words, their vectors lie around the same point. They are the known neighbours; the exact top
ten are the nearest by cosine among all records of the question's scope.
Needs nothing but numpy, because it is imported in every peer's environment.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.texts import SEED, Array, Corpus

QUESTIONS = 50
PLANTED = 10  # per question
TOP = 10
PLANTED_WORDS = 3
# Around a point of length 1. Question and planted record then have a cosine of about 0.55, and in
# 100,000 records some of the background are as near: by vectors alone 85 % can be found.
SPREAD = 0.9
SINGLE_FROM = 40_000_000  # numbers of records that no filling reaches
SINGLE_SCOPE = "single"


@dataclass(frozen=True, slots=True)
class Rows:
    """Records to write, all of one scope."""

    scope: str
    numbers: list[int]
    texts: list[str]
    vectors: Array


@dataclass(frozen=True, slots=True)
class Asked:
    """One question; ``planted`` and ``exact`` are numbers of records."""

    text: str
    scope: str
    vector: Array
    planted: frozenset[int]
    exact: frozenset[int]


class Material:
    """``records`` records in ``scopes`` scopes."""

    def __init__(self, records: int, scopes: int) -> None:
        if records < QUESTIONS * PLANTED:
            raise ValueError(f"at least {QUESTIONS * PLANTED} records are needed")
        self.records = records
        self.scopes = scopes
        self._corpus = Corpus()
        self._points = self._corpus.questions(QUESTIONS, series=5)

    def scope(self, number: int) -> str:
        return f"u{number % self.scopes}"

    def rows(self, size: int) -> Iterator[Rows]:
        """Everything, in pieces of one scope and at most ``size`` records."""
        for first, chunk in self._corpus.records(0, self.records, 1000):
            texts, vectors = list(chunk.texts), chunk.vectors.copy()
            numbers = np.arange(first, first + len(texts))
            self._plant(numbers, texts, vectors)
            owners = np.array([self._owner(int(number)) for number in numbers])
            for scope in range(self.scopes):
                places = np.flatnonzero(owners == scope)
                for start in range(0, len(places), size):
                    some = places[start : start + size]
                    yield Rows(
                        f"u{scope}",
                        numbers[some].tolist(),
                        [texts[place] for place in some],
                        vectors[some],
                    )

    def single(self, count: int) -> Iterator[Rows]:
        """Records to write one by one, in a scope that nobody asks."""
        for first, chunk in self._corpus.records(SINGLE_FROM, SINGLE_FROM + count, 1):
            yield Rows(SINGLE_SCOPE, [first], list(chunk.texts), chunk.vectors)

    def _owner(self, number: int) -> int:
        planted = number < QUESTIONS * PLANTED
        return (number // PLANTED if planted else number) % self.scopes

    def _plant(self, numbers: Array, texts: list[str], vectors: Array) -> None:
        for place, number in enumerate(numbers.tolist()):
            if number >= QUESTIONS * PLANTED:
                return
            rng = np.random.default_rng((SEED, 6, number))
            point = self._points[number // PLANTED]
            words = rng.permutation(_content(point.text))[:PLANTED_WORDS]
            texts[place] = f"{texts[place][:-1]} {' '.join(words)}."
            vectors[place] = _near(rng, point.vector)

    def questions(self) -> list[Asked]:
        """With the exact top ten, which takes one look at everything."""
        vectors = [
            _near(np.random.default_rng((SEED, 7, place)), point.vector)
            for place, point in enumerate(self._points)
        ]
        exact = self._exact(vectors)
        return [
            Asked(
                text=point.text,
                scope=self.scope(place),
                vector=vectors[place],
                planted=frozenset(range(place * PLANTED, (place + 1) * PLANTED)),
                exact=exact[place],
            )
            for place, point in enumerate(self._points)
        ]

    def _exact(self, vectors: Sequence[Array]) -> list[frozenset[int]]:
        best: list[list[tuple[float, int]]] = [[] for _ in vectors]
        for rows in self.rows(1000):
            products = rows.vectors @ np.stack(vectors).T
            for place in range(len(vectors)):
                if rows.scope == self.scope(place):
                    found = zip(products[:, place].tolist(), rows.numbers, strict=True)
                    best[place] = sorted([*best[place], *found], reverse=True)[:TOP]
        return [frozenset(number for _, number in found) for found in best]


def _content(question: str) -> list[str]:
    """The words of a question behind its three function words."""
    return question.rstrip("?").split()[3:]


def _near(rng: np.random.Generator, point: bytes) -> Array:
    centre = np.frombuffer(point, dtype="<f4")
    noise = rng.standard_normal(len(centre)).astype("<f4")
    moved: Array = centre + noise * np.float32(SPREAD / np.linalg.norm(noise))
    unit: Array = (moved / np.linalg.norm(moved)).astype("<f4")
    return unit


def write_questions(questions: Sequence[Asked], folder: Path) -> None:
    rows = [
        {
            "text": one.text,
            "scope": one.scope,
            "planted": sorted(one.planted),
            "exact": sorted(one.exact),
        }
        for one in questions
    ]
    np.save(folder / "questions.npy", np.stack([one.vector for one in questions]))
    (folder / "questions.json").write_text(json.dumps(rows), "utf-8")


def read_questions(folder: Path) -> list[Asked]:
    vectors = np.load(folder / "questions.npy")
    rows = json.loads((folder / "questions.json").read_text("utf-8"))
    return [
        Asked(
            text=row["text"],
            scope=row["scope"],
            vector=vector,
            planted=frozenset(row["planted"]),
            exact=frozenset(row["exact"]),
        )
        for row, vector in zip(rows, vectors, strict=True)
    ]
