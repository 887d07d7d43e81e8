"""Searches and listings: what the index does not know is looked up here."""

from __future__ import annotations

from collections.abc import Iterator

import apsw

from recollect.errors import Invalid
from recollect.index import search as indexed
from recollect.index.cache import IndexCache
from recollect.scopes import root_of
from recollect.stores.sqlite.connection import select
from recollect.stores.sqlite.feed import SqliteFeed
from recollect.stores.sqlite.rows import to_json
from recollect.stores.sqlite.walk import is_walk, visible_scopes, walked
from recollect.types import Hit, Query


def search(db: apsw.Connection, cache: IndexCache, query: Query) -> list[Hit]:
    """The caller has begun a transaction but read nothing yet."""
    if len({root_of(scope) for scope in query.scopes}) > 1:
        raise Invalid("a query names scopes of one root; ask each root by itself")
    if query.limit <= 0 or not query.scopes:
        return []
    if not query.text and query.vector is None and is_walk(query):
        return walked(db, query)
    feed = SqliteFeed(db)
    return indexed.search(feed, cache, query, lambda: list(_looked_up(db, query)))


def _looked_up(db: apsw.Connection, query: Query) -> Iterator[list[int]]:
    """The records that pass each filter which no index holds."""
    root = "(SELECT pk FROM root WHERE name = ?)"
    name = root_of(query.scopes[0])
    for column, values in (("hash", query.hashes), ("origin", query.origins)):
        if values:
            sql = (
                f"SELECT pk FROM record WHERE {column} <> '' AND root = {root}"
                f" AND {column} IN (SELECT value FROM json_each(?))"
            )
            found = select(db, sql, name, to_json([value for value in values if value]))
            if "" in values:  # in no index, because few ask for it
                sql = (
                    "SELECT pk FROM record WHERE scope IN (SELECT value FROM json_each(?))"
                    f" AND {column} = ''"
                )
                found += select(db, sql, str(visible_scopes(db, query)))
            yield [pk for (pk,) in found]
    for source, refs in enumerate((query.lineage, query.derived_from)):
        if refs:
            sql = (
                f"SELECT record FROM lineage WHERE root = {root} AND source = ?"
                " AND ref IN (SELECT value FROM json_each(?))"
            )
            yield [pk for (pk,) in select(db, sql, name, source, to_json(list(refs)))]
