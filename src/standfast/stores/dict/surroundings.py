"""The neighbours of turns, found by sorting."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from standfast.index.neighbours import around
from standfast.stores.dict.tables import Row

Places = Sequence[tuple[float, Row]]  # neighbours with the weights of their places, nearest first


class RowsAround(NamedTuple):
    """The neighbours of a turn."""

    before: Places = ()
    after: Places = ()

    @property
    def places(self) -> Places:
        return (*self.before, *self.after)


def conversations(rows: Iterable[Row]) -> list[list[Row]]:
    """Turns by scope and session, each in the order of time; of one moment as they came."""
    found: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        record = row.record
        if record.type == "turn" and record.session:
            key = (record.scope, record.session_scope, record.session)
            found.setdefault(key, []).append(row)
    return [sorted(turns, key=lambda row: row.record.at) for turns in found.values()]


def neighbours(rows: Iterable[Row]) -> Mapping[str, RowsAround]:
    """By record id; what has none is left out."""
    found: dict[str, RowsAround] = {}
    for turns in conversations(rows):
        records = [row.record for row in turns]
        for place, record in enumerate(records):
            near = around(records, place)
            if near.places:
                before = [(weight, turns[other]) for weight, other in near.before]
                after = [(weight, turns[other]) for weight, other in near.after]
                found[record.id] = RowsAround(before, after)
    return found
