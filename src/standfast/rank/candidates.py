"""Candidates on their way through the stages: scores in columns, and what each stage did, from
which the reasons of the few that are shown are put into words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter, eq
from typing import Any, NamedTuple

import numpy as np

from standfast.index.found import Array, FoundHits, number_or_none
from standfast.rank.places import OUTSIDE, is_outside
from standfast.types import Durability, Hit, Record, Why

# In words, or how to put it: of a hundred candidates a few are told.
Detail = str | Callable[["Board", int], str]
Reason = tuple[str, float, Detail]  # the stage, what it added, why


class Columns(NamedTuple):
    """What a ``Glance`` tells, of all candidates; called and in the order as there."""

    id: Sequence[str] = ()
    scope: Sequence[str] = ()
    kind: Sequence[str] = ()
    type: Sequence[str] = ()
    source: Sequence[str] = ()
    durability: Sequence[Durability] = ()
    importance: Sequence[float] = ()
    at: Sequence[int] = ()
    author: Sequence[str] = ()
    origin: Sequence[str] = ()
    session: Sequence[str] = ()
    hash: Sequence[str] = ()
    tagged: Sequence[bool] = ()
    text: Sequence[str] = ()


class Board:
    """All candidates of one question, one row each. A stage adds to the scores of all rows, or to
    those of some."""

    __slots__ = (
        "_some",
        "_steps",
        "columns",
        "found",
        "glances",
        "nearly",
        "scores",
        "tagged",
    )

    def __init__(self, found: FoundHits, nearly: Sequence[float] = ()) -> None:
        self.found = found
        self.nearly = nearly  # the share of the query's words that a row holds, or nearly so
        self.scores = np.zeros(len(found))
        self.glances = [one.glance for one in found.read]
        self.columns = Columns(*zip(*self.glances, strict=True))
        self.tagged = rows_of(self.columns.tagged)
        self._steps: list[tuple[str, Array, Detail] | Mapping[int, list[Reason]]] = []
        self._some: dict[int, list[Reason]] | None = None

    def add_all(self, stage: str, values: Array, detail: Detail = "") -> None:
        """NaN: the stage does nothing to that row."""
        self.scores = np.where(np.isnan(values), self.scores, self.scores + values)
        self._steps.append((stage, values, detail))
        self._some = None

    def add(self, row: int, stage: str, value: float, detail: Detail = "") -> None:
        self.scores[row] += value
        if self._some is None:
            self._some = {}
            self._steps.append(self._some)
        self._some.setdefault(row, []).append((stage, value, detail))

    def best(self) -> float:
        return float(self.scores.max()) if len(self.scores) else 0.0

    def why(self, row: int) -> list[Reason]:
        """In the order of the stages."""
        reasons: list[Reason] = []
        for step in self._steps:
            if isinstance(step, tuple):
                stage, values, detail = step
                value = values.item(row)
                reasons += [(stage, value, detail)] if value == value else []
            else:
                reasons += step.get(row, ())
        return reasons

    @property
    def copied(self) -> bool:
        """May two of them be copies of one? See ``drop_copies``."""
        told = [*filter(None, self.columns.origin), *filter(None, self.columns.hash)]
        return len(told) > len(frozenset(told))

    def candidates(self) -> list[Candidate]:
        """One for each row, unordered."""
        return [Candidate(self, score, row) for row, score in enumerate(self.scores.tolist())]


class Candidate:
    """A hit with its score: a row of a board, or one that came along."""

    __slots__ = ("_board", "_more", "_record", "_row", "covered", "glance", "lent", "score")

    def __init__(
        self, of: Board | Hit, score: float = 0.0, row: int = 0, lent: float | None = None
    ) -> None:
        self._board = board = Board(FoundHits.of((of,))) if isinstance(of, Hit) else of
        self._row = row
        self._record: Record | None = None
        self.glance = board.glances[row]
        self._more: tuple[Reason, ...] = ()
        self.score = score
        self.lent = lent  # how similar that is which it came along with
        self.covered: tuple[Candidate, ...] = ()  # the turns that it stands for

    @property
    def record(self) -> Record:
        """Whole. Of most candidates nobody wants more than a glance."""
        if self._record is None:
            self._record = self._board.found.read[self._row].record()
        return self._record

    @property
    def is_outside(self) -> bool:
        """The word of a page or a tool alone? Of most a glance tells that it is not."""
        return self.glance.source in OUTSIDE and is_outside(self.record)

    @property
    def coverage(self) -> float:
        return self._board.found.coverage.item(self._row)  # type: ignore[no-any-return]

    @property
    def similarity(self) -> float | None:
        return number_or_none(self._board.found.similarity.item(self._row))

    @property
    def lift(self) -> float | None:
        return number_or_none(self._board.found.lift.item(self._row))

    @property
    def why(self) -> list[Reason]:
        return [*self._board.why(self._row), *self._more]

    def add(self, stage: str, value: float, detail: Detail = "") -> None:
        self.score += value
        self._more = (*self._more, (stage, value, detail))

    def as_hit(self) -> Hit:
        reasons = tuple(
            [
                Why(stage=stage, value=value, detail=self._told(detail))
                for stage, value, detail in self.why
            ]
        )
        return self._board.found.hit(self._row, self.score, reasons)

    def _told(self, detail: Detail) -> str:
        return detail if isinstance(detail, str) else detail(self._board, self._row)


Candidates = list[Candidate]


def order(candidate: Candidate) -> tuple[float, int, str]:
    """Best first; of equals the more recent."""
    seen = candidate.glance
    return -candidate.score, -seen.at, seen.id


def in_order(candidates: Iterable[Candidate]) -> list[Candidate]:
    """The same as sorting by ``order``, which only equals need."""
    ranked = sorted(candidates, key=_score, reverse=True)
    scores = list(map(_score, ranked))
    return sorted(ranked, key=order) if any(map(eq, scores, scores[1:])) else ranked


_score = attrgetter("score")


def rows_of(values: Iterable[Any]) -> list[int]:
    """The rows for which it is true."""
    return [row for row, value in enumerate(values) if value]
