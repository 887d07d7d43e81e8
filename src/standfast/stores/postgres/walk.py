"""Going through records without an index in memory: by id, by key, and counting them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from standfast.errors import Invalid
from standfast.index.codes import KINDS, STATUSES, TYPES, code, micros
from standfast.index.filters import ordered, passes
from standfast.scopes import root_of, visible_from
from standfast.stores.postgres.connection import Db, select
from standfast.stores.postgres.held import RECORD_COLUMNS, as_record
from standfast.types import Find, Kind, Listing, Record, Status, Type, Where

BEHIND_ALL = "\U0010ffff"  # no id is greater


def visible(where: Where) -> tuple[str, list[Any]]:
    """A condition on ``scope``, and what it is given."""
    named = where.scopes if where.exact else visible_from(where.scopes)
    sql, given = "(scope = ANY(%s)", list[Any]([sorted(named)])
    for scope in where.scopes if where.descend else ():  # ";" follows ":"
        sql += " OR (scope > %s AND scope < %s)"
        given += [scope + ":", scope + ";"]
    return f"{sql})", given


def walked(db: Db, asked: Listing) -> list[Record]:
    """Along the index of each scope, as far as the page needs of it."""
    root, where = root_of(asked.where.scopes[0]), asked.where
    statuses = [code(STATUSES, one) for one in where.statuses or STATUSES]
    beyond, after, down = "id > %s", asked.after, ""
    if asked.order == "newest":
        beyond, after, down = "id < %s", asked.after or BEHIND_ALL, " DESC"
    seen, given = visible(where)
    paths = seen.replace("scope", "path")
    sql = (
        f"SELECT {RECORD_COLUMNS} FROM"
        f" (SELECT DISTINCT path FROM scope WHERE root = %s AND {paths}) AS place"
        " CROSS JOIN LATERAL (SELECT * FROM record WHERE root = %s"
        " AND record.scope = place.path AND status = ANY(%s::smallint[])"
        f" AND (expires_at IS NULL OR expires_at > %s) AND {beyond} ORDER BY id{down} LIMIT %s)"
        f" AS record ORDER BY record.id{down} LIMIT %s"
    )
    rest = (root, statuses, micros(where.now), after, asked.limit, asked.limit)
    return [as_record(row) for row in select(db, sql, root, *given, *rest)]


# For each key of ``Find`` the records that have it, along its index.
_KEYED = {
    "hashes": "SELECT key FROM record WHERE hash <> '' AND root = %s AND hash = ANY(%s)",
    "origins": "SELECT key FROM record WHERE origin <> '' AND root = %s AND origin = ANY(%s)",
    "lineage": "SELECT record FROM lineage WHERE root = %s AND source = 0 AND ref = ANY(%s)",
    "derived_from": "SELECT record FROM lineage WHERE root = %s AND source = 1 AND ref = ANY(%s)",
}


def found(db: Db, asked: Find) -> list[Record]:
    """By key, in one statement; what else is asked for is seen in the records themselves."""
    root = root_of(asked.where.scopes[0])
    named = {name: [*getattr(asked, name)] for name in _KEYED if getattr(asked, name)}
    if not named:
        raise Invalid("nothing to find records by; name a key, or ask for a listing")
    keys = " INTERSECT ".join(_KEYED[name] for name in named)
    given = [part for values in named.values() for part in (root, values)]
    sql = f"SELECT {RECORD_COLUMNS} FROM record WHERE root = %s AND key IN ({keys})"
    rows = select(db, sql, root, *given)
    return ordered((one for one in map(as_record, rows) if passes(one, asked.where)), asked)


def counts(
    db: Db, scopes: Sequence[str], now: datetime, *, descend: bool
) -> dict[tuple[Kind, Type, Status], int]:
    if not scopes:
        return {}
    roots = sorted({root_of(scope) for scope in scopes})
    seen, given = visible(Where(scopes=tuple(scopes), now=now, descend=descend))
    rows = select(
        db,
        f"SELECT kind, type, status, count(*) FROM record WHERE root = ANY(%s) AND {seen}"
        " AND (expires_at IS NULL OR expires_at > %s) GROUP BY kind, type, status",
        *(roots, *given, micros(now)),
    )
    return {(KINDS[kind], TYPES[type_], STATUSES[one]): n for kind, type_, one, n in rows}
