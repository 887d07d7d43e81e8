"""The neighbours of turns, found by sorting; what ``neighbours`` says, written for reading."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from recollect.index.neighbours import AFTER, BEFORE, PAUSE_SECONDS
from recollect.stores.dict.tables import Row

Places = Sequence[tuple[float, Row]]  # neighbours with the weights of their places, nearest first


class Around(NamedTuple):
    """The neighbours of a turn."""

    before: Places = ()
    after: Places = ()

    @property
    def places(self) -> Places:
        return (*self.before, *self.after)


def conversations(rows: Iterable[Row]) -> list[list[Row]]:
    """Turns by scope and session, each in the order of time; of one moment in that of ids."""
    found: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        record = row.record
        if record.type == "turn" and record.session:
            key = (record.scope, record.session_scope, record.session)
            found.setdefault(key, []).append(row)
    return [
        sorted(turns, key=lambda row: (row.record.at, row.record.id)) for turns in found.values()
    ]


def neighbours(rows: Iterable[Row]) -> Mapping[str, Around]:
    """By record id; what has none is left out."""
    found: dict[str, Around] = {}
    for turns in conversations(rows):
        for place, row in enumerate(turns):
            before = _reach(row, reversed(turns[:place]), BEFORE)
            around = Around(before, _reach(row, turns[place + 1 :], AFTER))
            if any(_speaker(other) != _speaker(row) for _, other in around.places):
                found[row.record.id] = around
    return found


def _reach(row: Row, others: Iterable[Row], weights: Sequence[float]) -> Places:
    reached: list[tuple[float, Row]] = []
    last = row
    for weight, other in zip(weights, others, strict=False):
        pause = abs((other.record.at - last.record.at).total_seconds())
        if pause > PAUSE_SECONDS:
            break
        reached.append((weight, other))
        last = other
    return reached


def _speaker(row: Row) -> tuple[str, str]:
    return row.record.source, row.record.author
