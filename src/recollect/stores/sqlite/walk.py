"""Walking through everything that a query can see, by id, upwards or downwards; and counting it."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice

import apsw
import numpy as np

from recollect.scopes import visible_from
from recollect.stores.sqlite.connection import select
from recollect.stores.sqlite.index import Array, ScopeIndex
from recollect.stores.sqlite.rows import KINDS, STATUSES, TYPES, code, micros, to_json
from recollect.stores.sqlite.scoring import Share
from recollect.types import Kind, Query, Status, Type

BY_ID = ("id", "newest")
PAGE = 500
BEHIND_ALL = "\U0010ffff"  # no id is greater


def visible_scopes(db: apsw.Connection, query: Query) -> dict[int, int]:
    """Key and stamp of every visible scope that ever held a record."""
    named = query.scopes if query.exact else visible_from(query.scopes)
    sql = "SELECT pk, stamp FROM scope WHERE stamp > 0 AND path"
    found = dict(select(db, f"{sql} IN (SELECT value FROM json_each(?))", to_json(list(named))))
    if query.descend:
        for scope in query.scopes:  # ";" follows ":"
            found.update(select(db, f"{sql} > ? AND path < ?", scope + ":", scope + ";"))
    return found


def listed_by_id(db: apsw.Connection, shares: Sequence[Share], query: Query) -> list[int]:
    """Walk the ids of all scopes at once and stop when there are enough."""
    walks = [_walk(db, share.index, share.passing, query) for share in shares]
    merged = heapq.merge(*walks, reverse=query.order == "newest")
    return [pk for _, pk in islice(merged, query.limit)]


def _walk(
    db: apsw.Connection, index: ScopeIndex, passing: Array, query: Query
) -> Iterator[tuple[str, int]]:
    beyond, after = _beyond(query)
    sql = f"SELECT id, pk FROM record WHERE scope = ? AND {beyond} LIMIT {PAGE}"
    while page := select(db, sql, index.scope, after):
        for id_, pk in page:
            if passing[index.rows_of(np.array([pk]))].any():
                yield id_, pk
        after = page[-1][0]


def _beyond(query: Query) -> tuple[str, str]:
    """The condition and order behind the last id that is known, and that id."""
    if query.order == "newest":
        return "id < ? ORDER BY id DESC", query.after or BEHIND_ALL
    return "id > ? ORDER BY id", query.after


def is_walk(query: Query) -> bool:
    """By id with no other filter than scope and status: what walks through everything, and must
    not load an index of everything to do it."""
    plain = Query(
        scopes=query.scopes,
        now=query.now,
        descend=query.descend,
        exact=query.exact,
        statuses=query.statuses,
        order=query.order,
        after=query.after,
        limit=query.limit,
    )
    return query.order in BY_ID and query == plain


def walked(db: apsw.Connection, query: Query) -> list[int]:
    """The records' keys. One cursor a scope, read only as far as the page needs of it."""
    statuses = to_json([code(STATUSES, status) for status in query.statuses or STATUSES])
    beyond, after = _beyond(query)
    sql = (
        "SELECT id, pk FROM record WHERE scope = ?1"
        " AND status IN (SELECT value FROM json_each(?3))"
        f" AND (expires_at IS NULL OR expires_at > ?4) AND {beyond.replace('?', '?2')} LIMIT ?5"
    )
    rest = (after, statuses, micros(query.now), query.limit)
    cursors = [db.execute(sql, (scope, *rest)) for scope in visible_scopes(db, query)]
    try:
        merged = heapq.merge(*cursors, reverse=query.order == "newest")
        return [pk for _, pk in islice(merged, query.limit)]
    finally:
        for cursor in cursors:
            cursor.close(force=True)


def counts(
    db: apsw.Connection, scopes: Sequence[str], now: datetime, *, descend: bool
) -> dict[tuple[Kind, Type, Status], int]:
    seen = visible_scopes(db, Query(scopes=tuple(scopes), now=now, descend=descend))
    rows = db.execute(
        "SELECT kind, type, status, count(*) FROM record"
        " WHERE scope IN (SELECT value FROM json_each(?))"
        " AND (expires_at IS NULL OR expires_at > ?) GROUP BY kind, type, status",
        (str(list(seen)), micros(now)),
    )
    return {(KINDS[kind], TYPES[type_], STATUSES[one]): n for kind, type_, one, n in rows}
