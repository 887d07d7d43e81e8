"""What a search found, in columns: more is compared than shown, so a ``Hit`` is made only of what
somebody looks at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from standfast.ports import FeedRecord, LaterRecord
from standfast.types import Hit, Record, Why

Array = NDArray[Any]

_NOT_A_NUMBER = float("nan")


class FoundHits(Sequence[Hit]):
    """Hits as one column for each number; called as in ``Hit``, NaN where that has None."""

    __slots__ = (
        "after_question",
        "coverage",
        "keyword",
        "keyword_around",
        "lift",
        "lift_around",
        "read",
        "similarity",
    )

    def __init__(
        self,
        *,
        read: Sequence[FeedRecord],
        similarity: Array,
        keyword: Array,
        coverage: Array,
        lift: Array,
        keyword_around: Array,
        lift_around: Array,
        after_question: Sequence[bool],
    ) -> None:
        self.read = read
        self.similarity = similarity
        self.keyword = keyword
        self.coverage = coverage
        self.lift = lift
        self.keyword_around = keyword_around
        self.lift_around = lift_around
        self.after_question = after_question

    @property
    def records(self) -> list[Record]:
        """All of them, whole."""
        return [one.record() for one in self.read]

    @classmethod
    def of(cls, hits: Iterable[Hit]) -> FoundHits:
        """Columns of hits; of what has them already, those."""
        if isinstance(hits, FoundHits):
            return hits
        hits = list(hits)
        return cls(
            read=[LaterRecord(partial(_record_of, hit)) for hit in hits],
            similarity=_numbers([hit.similarity for hit in hits]),
            keyword=_numbers([hit.keyword for hit in hits]),
            coverage=_numbers([hit.coverage for hit in hits]),
            lift=_numbers([hit.lift for hit in hits]),
            keyword_around=_numbers([hit.keyword_around for hit in hits]),
            lift_around=_numbers([hit.lift_around for hit in hits]),
            after_question=[hit.after_question for hit in hits],
        )

    def taken(self, places: Sequence[int]) -> FoundHits:
        """Only those, in this order."""
        rows = np.array(places, dtype=np.int64)
        return FoundHits(
            read=[self.read[place] for place in places],
            similarity=self.similarity[rows],
            keyword=self.keyword[rows],
            coverage=self.coverage[rows],
            lift=self.lift[rows],
            keyword_around=self.keyword_around[rows],
            lift_around=self.lift_around[rows],
            after_question=[self.after_question[place] for place in places],
        )

    def hit(self, place: int, score: float = 0.0, why: tuple[Why, ...] = ()) -> Hit:
        return Hit(
            record=self.read[place].record(),
            similarity=number_or_none(self.similarity.item(place)),
            keyword=self.keyword.item(place),
            coverage=self.coverage.item(place),
            lift=number_or_none(self.lift.item(place)),
            keyword_around=self.keyword_around.item(place),
            lift_around=number_or_none(self.lift_around.item(place)),
            after_question=self.after_question[place],
            score=score,
            why=why,
        )

    def __len__(self) -> int:
        return len(self.read)

    @overload
    def __getitem__(self, place: int) -> Hit: ...

    @overload
    def __getitem__(self, place: slice) -> list[Hit]: ...

    def __getitem__(self, place: int | slice) -> Hit | list[Hit]:
        if isinstance(place, slice):
            return [self.hit(one) for one in range(*place.indices(len(self)))]
        return self.hit(range(len(self))[place])

    def __iter__(self) -> Iterator[Hit]:
        return map(self.hit, range(len(self)))

    def __eq__(self, other: object) -> bool:
        """As lists of hits are equal."""
        return isinstance(other, (list, FoundHits)) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # as that of a list

    def __repr__(self) -> str:
        return repr(list(self))


def _numbers(values: Sequence[float | None]) -> Array:
    return np.array([_NOT_A_NUMBER if one is None else one for one in values], dtype=np.float64)


def number_or_none(number: float) -> float | None:
    """None where a column has NaN."""
    return None if number != number else number


def _record_of(hit: Hit) -> Record:
    return hit.record
