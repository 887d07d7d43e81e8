"""Which rows of an index a filter lets pass."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from standfast.index.codes import DURABILITIES, KINDS, SOURCES, STATUSES, TYPES, code, micros
from standfast.index.derived import label_of
from standfast.index.scope import Array, ScopeIndex
from standfast.types import Where

_QUARANTINED = code(STATUSES, "quarantined")


class RowFilter:
    """A filter, prepared once and then applied to each scope's index."""

    def __init__(self, where: Where) -> None:
        self._where = where
        self._labels = [label_of(tag) for tag in where.tags]
        self._tagged = [
            (quantifier, [label_of(tag) for tag in tags])
            for field, quantifier, tags in where.matching
            if field == "tags"
        ]
        self._codes = {
            name: _table(names, asked)
            for name, names, asked in (
                ("kind", KINDS, where.kinds),
                ("type", TYPES, where.types),
                ("source", SOURCES, where.sources),
                ("durability", DURABILITIES, where.durabilities),
            )
            if asked
        }

    def passing(self, index: ScopeIndex, alive: Array | None) -> Array:
        """A mask over the rows of the index."""
        mask = np.ones(index.size, dtype=bool) if alive is None else alive.copy()
        for name, table in self._codes.items():
            _keep(mask, index, name, table)
        if self._labels:
            mask &= _only(index.labelled(self._labels), index.size)
        for quantifier, labels in self._tagged:
            mask &= _tagged(index, quantifier, labels)
        if self._where.authors:
            mask &= index.named("author", self._where.authors)
        if self._where.session:
            mask &= index.named("session", (self._where.session,))
        self._by_time(index, mask)
        return mask

    def _by_time(self, index: ScopeIndex, mask: Array) -> None:
        where = self._where
        if where.since is not None:
            mask &= index.happened_at() >= micros(where.since)
        if where.until is not None:
            mask &= index.happened_at() < micros(where.until)
        if where.as_of is not None or where.known_at is not None:
            self._as_it_was(index, mask)
        elif where.statuses:
            _keep(mask, index, "status", _table(STATUSES, where.statuses))

    def _as_it_was(self, index: ScopeIndex, mask: Array) -> None:
        """The four times decide: true at ``as_of``, believed at ``known_at``."""
        where = self._where
        mask &= index.column("status") != _QUARANTINED
        mask &= index.column("retired_at") > micros(where.known_at or where.now)
        if where.known_at is not None:
            mask &= index.column("learned_at") <= micros(where.known_at)
        if where.as_of is not None:
            as_of = micros(where.as_of)
            mask &= index.column("valid_from") <= as_of
            mask &= index.column("valid_to") > as_of


def _keep(mask: Array, index: ScopeIndex, name: str, table: Array) -> None:
    """Only rows whose code the table has; where all have the same, none is looked at."""
    same = index.same(name)
    if same is None:
        mask &= table.take(index.column(name))
    elif not table[same]:
        mask[:] = False


def _table(names: Sequence[str], asked: Sequence[str]) -> Array:
    """For each code: was it asked for? Not to be written to."""
    return _table_once(tuple(names), tuple(asked))


@lru_cache(maxsize=64)
def _table_once(names: tuple[str, ...], asked: tuple[str, ...]) -> Array:
    table = np.zeros(256, dtype=bool)
    table[[code(names, name) for name in asked]] = True
    return table


def _tagged(index: ScopeIndex, quantifier: str, labels: Sequence[int]) -> Array:
    if quantifier == "all":
        mask = np.ones(index.size, dtype=bool)
        for label in labels:
            mask &= _only(index.labelled([label]), index.size)
        return mask
    found = _only(index.labelled(labels), index.size)
    return found if quantifier == "any" else ~found


def _only(rows: Array, size: int) -> Array:
    mask = np.zeros(size, dtype=bool)
    mask[rows] = True
    return mask
