"""Going through records without an index in memory: by id, by key, and counting them."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from datetime import datetime
from itertools import islice

import apsw

from standfast.errors import Invalid
from standfast.index.codes import KINDS, STATUSES, TYPES, code, micros
from standfast.index.filters import ordered, passes
from standfast.scopes import root_of, visible_from
from standfast.stores.rows import RECORD_WITH_SCOPE, damaged, record_of, to_json
from standfast.stores.sqlite.connection import select
from standfast.stores.sqlite.feed import SqliteFeed
from standfast.types import Find, Kind, Listing, Record, Status, Type, Where

BEHIND_ALL = "\U0010ffff"  # no id is greater


def _visible(db: apsw.Connection, where: Where) -> list[int]:
    """The key of every visible scope that ever held a record."""
    named = where.scopes if where.exact else visible_from(where.scopes)
    sql = "SELECT pk FROM scope WHERE stamp > 0 AND path IN (SELECT value FROM json_each(?))"
    bindings = [to_json(list(named))]
    for scope in where.scopes if where.descend else ():  # ";" follows ":"
        sql += " UNION SELECT pk FROM scope WHERE stamp > 0 AND path > ? AND path < ?"
        bindings += [scope + ":", scope + ";"]
    return [pk for (pk,) in select(db, sql, *bindings)]


def walked(db: apsw.Connection, asked: Listing) -> list[Record]:
    """One cursor a scope, read only as far as the page needs of it."""
    statuses = to_json([code(STATUSES, one) for one in asked.where.statuses or STATUSES])
    beyond, after = "id > ?2 ORDER BY id", asked.after
    if asked.order == "newest":
        beyond, after = "id < ?2 ORDER BY id DESC", asked.after or BEHIND_ALL
    sql = (
        "SELECT id, pk FROM record WHERE scope = ?1"
        " AND status IN (SELECT value FROM json_each(?3))"
        f" AND (expires_at IS NULL OR expires_at > ?4) AND {beyond} LIMIT ?5"
    )
    rest = (after, statuses, micros(asked.where.now), asked.limit)
    cursors = [db.execute(sql, (scope, *rest)) for scope in _visible(db, asked.where)]
    try:
        merged = heapq.merge(*cursors, reverse=asked.order == "newest")
        keys = [pk for _, pk in islice(merged, asked.limit)]
    finally:
        for cursor in cursors:
            cursor.close(force=True)
    feed = SqliteFeed(db)
    found = feed.records(keys, "")
    if feed.damaged:  # a page that is too short would be taken for the last one
        raise damaged(feed.damaged[0])
    return [found[key].record() for key in keys]


# For each key of ``Find`` the records that have it, along its index.
_KEYED = {
    # Hashes are in two indexes; a record that is no copy is found by its own id.
    "hashes": (
        "SELECT pk FROM (SELECT pk FROM record WHERE single = 1"
        " AND root = {root} AND hash IN {values} UNION ALL SELECT pk FROM record WHERE single = 0"
        " AND hash <> '' AND root = {root} AND hash IN {values})"
    ),
    "origins": (
        "SELECT pk FROM (SELECT pk FROM record WHERE origin <> '' AND origin <> id"
        " AND root = {root} AND origin IN {values} UNION ALL SELECT pk FROM record"
        " WHERE origin = id AND root = {root} AND id IN {values})"
    ),
    "lineage": (
        "SELECT record FROM lineage WHERE root = {root} AND source = 0 AND ref IN {values}"
    ),
    "derived_from": (
        "SELECT record FROM lineage WHERE root = {root} AND source = 1 AND ref IN {values}"
    ),
}


def found(db: apsw.Connection, asked: Find) -> list[Record]:
    """By key, in one statement; what else is asked for is seen in the records themselves."""
    root = root_of(asked.where.scopes[0])
    parts, bindings = [], []
    for name, sql in _KEYED.items():
        values = getattr(asked, name)
        if values:
            parts.append(
                sql.format(
                    root="(SELECT pk FROM root WHERE name = ?)",
                    values="(SELECT value FROM json_each(?))",
                )
            )
            bindings += [root, to_json(list(values))] * sql.count("{root}")
    if not parts:
        raise Invalid("nothing to find records by; name a key, or ask for a listing")
    rows = db.execute(
        f"SELECT {RECORD_WITH_SCOPE} FROM record JOIN scope ON scope.pk = record.scope"
        f" WHERE record.pk IN ({' INTERSECT '.join(parts)})",
        bindings,
    ).fetchall()
    return ordered((one for one in map(record_of, rows) if passes(one, asked.where)), asked)


def counts(
    db: apsw.Connection, scopes: Sequence[str], now: datetime, *, descend: bool
) -> dict[tuple[Kind, Type, Status], int]:
    seen = _visible(db, Where(scopes=tuple(scopes), now=now, descend=descend))
    rows = db.execute(
        "SELECT kind, type, status, count(*) FROM record"
        " WHERE scope IN (SELECT value FROM json_each(?))"
        " AND (expires_at IS NULL OR expires_at > ?) GROUP BY kind, type, status",
        (str(seen), micros(now)),
    )
    return {(KINDS[kind], TYPES[type_], STATUSES[one]): n for kind, type_, one, n in rows}


def tally(db: apsw.Connection, root: str, now: datetime) -> dict[tuple[str, Status], int]:
    rows = db.execute(
        "SELECT scope.path, record.status, count(*) FROM record"
        " JOIN scope ON scope.pk = record.scope"
        " WHERE scope.root = (SELECT pk FROM root WHERE name = ?)"
        " AND (record.expires_at IS NULL OR record.expires_at > ?) GROUP BY 1, 2",
        (root, micros(now)),
    )
    return {(path, STATUSES[status]): number for path, status, number in rows}
