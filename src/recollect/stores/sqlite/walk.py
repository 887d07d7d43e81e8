"""Walking through everything that a query can see, by id, upwards or downwards; and counting it."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from datetime import datetime
from itertools import islice

import apsw

from recollect.index.codes import KINDS, STATUSES, TYPES, code, micros
from recollect.scopes import visible_from
from recollect.stores.sqlite.connection import select
from recollect.stores.sqlite.feed import SqliteFeed
from recollect.stores.sqlite.rows import to_json
from recollect.types import Hit, Kind, Query, Status, Type

BY_ID = ("id", "newest")
BEHIND_ALL = "\U0010ffff"  # no id is greater


def visible_scopes(db: apsw.Connection, query: Query) -> list[int]:
    """The key of every visible scope that ever held a record."""
    named = query.scopes if query.exact else visible_from(query.scopes)
    sql = "SELECT pk FROM scope WHERE stamp > 0 AND path IN (SELECT value FROM json_each(?))"
    bindings = [to_json(list(named))]
    for scope in query.scopes if query.descend else ():  # ";" follows ":"
        sql += " UNION SELECT pk FROM scope WHERE stamp > 0 AND path > ? AND path < ?"
        bindings += [scope + ":", scope + ";"]
    return [pk for (pk,) in select(db, sql, *bindings)]


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


def walked(db: apsw.Connection, query: Query) -> list[Hit]:
    """One cursor a scope, read only as far as the page needs of it."""
    statuses = to_json([code(STATUSES, status) for status in query.statuses or STATUSES])
    beyond, after = "id > ?2 ORDER BY id", query.after
    if query.order == "newest":
        beyond, after = "id < ?2 ORDER BY id DESC", query.after or BEHIND_ALL
    sql = (
        "SELECT id, pk FROM record WHERE scope = ?1"
        " AND status IN (SELECT value FROM json_each(?3))"
        f" AND (expires_at IS NULL OR expires_at > ?4) AND {beyond} LIMIT ?5"
    )
    rest = (after, statuses, micros(query.now), query.limit)
    cursors = [db.execute(sql, (scope, *rest)) for scope in visible_scopes(db, query)]
    try:
        merged = heapq.merge(*cursors, reverse=query.order == "newest")
        keys = [pk for _, pk in islice(merged, query.limit)]
    finally:
        for cursor in cursors:
            cursor.close(force=True)
    found = SqliteFeed(db).records(keys, "")
    return [Hit(record=found[key].record()) for key in keys]


def counts(
    db: apsw.Connection, scopes: Sequence[str], now: datetime, *, descend: bool
) -> dict[tuple[Kind, Type, Status], int]:
    seen = visible_scopes(db, Query(scopes=tuple(scopes), now=now, descend=descend))
    rows = db.execute(
        "SELECT kind, type, status, count(*) FROM record"
        " WHERE scope IN (SELECT value FROM json_each(?))"
        " AND (expires_at IS NULL OR expires_at > ?) GROUP BY kind, type, status",
        (str(seen), micros(now)),
    )
    return {(KINDS[kind], TYPES[type_], STATUSES[one]): n for kind, type_, one, n in rows}
