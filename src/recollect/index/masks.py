"""Which rows of an index a query lets pass."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recollect.index.codes import DURABILITIES, KINDS, SOURCES, STATUSES, TYPES, code, micros
from recollect.index.derived import label_of
from recollect.index.scope import Array, ScopeIndex
from recollect.types import Query

_QUARANTINED = code(STATUSES, "quarantined")


class RowFilter:
    """A query's filters, looked up once and then applied to each scope's index."""

    def __init__(self, query: Query, among: Sequence[Sequence[int]]) -> None:
        """``among``: keys of records, of which one in each list must be."""
        self._query = query
        self._labels = [label_of(tag) for tag in query.tags]
        self._codes = {
            name: _table(names, asked)
            for name, names, asked in (
                ("kind", KINDS, query.kinds),
                ("type", TYPES, query.types),
                ("source", SOURCES, query.sources),
                ("durability", DURABILITIES, query.durabilities),
            )
            if asked
        }
        self._keys = [np.array(keys, dtype=np.int64) for keys in among]

    def passing(self, index: ScopeIndex, alive: Array | None) -> Array:
        """A mask over the rows of the index."""
        mask = np.ones(index.size, dtype=bool) if alive is None else alive.copy()
        for name, table in self._codes.items():
            mask &= table.take(index.column(name))
        if self._labels:
            mask &= _only(index.labelled(self._labels), index.size)
        if self._query.authors:
            mask &= index.named("author", self._query.authors)
        if self._query.session:
            mask &= index.named("session", (self._query.session,))
        for keys in self._keys:
            mask &= _only(index.rows_of(keys), index.size)
        self._by_time(index, mask)
        return mask

    def _by_time(self, index: ScopeIndex, mask: Array) -> None:
        query = self._query
        if query.since is not None:
            mask &= index.happened_at() >= micros(query.since)
        if query.until is not None:
            mask &= index.happened_at() < micros(query.until)
        if query.as_of is not None or query.known_at is not None:
            self._as_it_was(index, mask)
        elif query.statuses:
            mask &= _table(STATUSES, query.statuses).take(index.column("status"))

    def _as_it_was(self, index: ScopeIndex, mask: Array) -> None:
        """The four times decide: true at ``as_of``, believed at ``known_at``."""
        query = self._query
        mask &= index.column("status") != _QUARANTINED
        mask &= index.column("retired_at") > micros(query.known_at or query.now)
        if query.known_at is not None:
            mask &= index.column("learned_at") <= micros(query.known_at)
        if query.as_of is not None:
            as_of = micros(query.as_of)
            mask &= index.column("valid_from") <= as_of
            mask &= index.column("valid_to") > as_of


def _table(names: Sequence[str], asked: Sequence[str]) -> Array:
    """For each code: was it asked for?"""
    table = np.zeros(256, dtype=bool)
    table[[code(names, name) for name in asked]] = True
    return table


def _only(rows: Array, size: int) -> Array:
    mask = np.zeros(size, dtype=bool)
    mask[rows] = True
    return mask
