"""Which rows of an index a query lets pass."""

from __future__ import annotations

from collections.abc import Sequence

import apsw
import numpy as np

from recollect.stores.sqlite.connection import select
from recollect.stores.sqlite.derived import label_of
from recollect.stores.sqlite.index import Array, ScopeIndex
from recollect.stores.sqlite.rows import (
    DURABILITIES,
    KINDS,
    SOURCES,
    STATUSES,
    TYPES,
    code,
    micros,
    to_json,
)
from recollect.types import Query

_QUARANTINED = code(STATUSES, "quarantined")


class RowFilter:
    """A query's filters, looked up once and then applied to each scope's index."""

    def __init__(self, db: apsw.Connection, query: Query, root: int, scopes: Sequence[int]) -> None:
        self._query = query
        self._scopes = scopes
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
        self._keys = self._look_up(db, root)

    def _look_up(self, db: apsw.Connection, root: int) -> list[Array]:
        """The records that pass each filter which no index holds."""
        query = self._query
        asked = {
            "author": query.authors,
            "hash": query.hashes,
            "origin": query.origins,
            "session": (query.session,) if query.session else (),
        }
        found = [self._holding(db, name, values, root) for name, values in asked.items() if values]
        for source, refs in enumerate((query.lineage, query.derived_from)):
            if refs:
                sql = (
                    "SELECT record FROM lineage WHERE root = ? AND source = ?"
                    " AND ref IN (SELECT value FROM json_each(?))"
                )
                found.append(_keys(db, sql, root, source, to_json(list(refs))))
        return found

    def _holding(self, db: apsw.Connection, name: str, values: Sequence[str], root: int) -> Array:
        sql = (
            f"SELECT pk FROM record WHERE {name} <> '' AND root = ?"
            f" AND {name} IN (SELECT value FROM json_each(?))"
        )
        parts = [_keys(db, sql, root, to_json([value for value in values if value]))]
        if "" in values:  # in no index, because few ask for it
            sql = f"SELECT pk FROM record WHERE scope = ? AND {name} = ''"
            parts += [_keys(db, sql, scope) for scope in self._scopes]
        return np.concatenate(parts)

    def passing(self, index: ScopeIndex, alive: Array | None) -> Array:
        """A mask over the rows of the index."""
        mask = np.ones(index.size, dtype=bool) if alive is None else alive.copy()
        for name, table in self._codes.items():
            mask &= table.take(index.column(name))
        if self._labels:
            mask &= _only(index.labelled(self._labels), index.size)
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


def _keys(db: apsw.Connection, sql: str, *bindings: object) -> Array:
    rows = select(db, sql, *bindings)
    return np.array([pk for (pk,) in rows], dtype=np.int64)
