"""What should be done now, read off the state of the rows along their indexes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from standfast.index.codes import micros
from standfast.stores.postgres.connection import Db
from standfast.types import Work, WorkKind

_ALIVE = "(record.expires_at IS NULL OR record.expires_at > %(now)s)"
_LIVE = "record.status IN (0, 3, 4)"  # the very words of the partial index
_ITS_ROOT = "{root}"  # where the condition stands, if one root is asked for


def _part(id_: str, detail: str, rest: str) -> str:
    """One kind of work; each has its own limit, so that none hides another."""
    return f"SELECT root, scope, {id_}, {detail} FROM {rest} LIMIT %(limit)s"


def _unembedded(condition: str) -> str:
    """Records whose newest vector is of another space; few of them have one of this space too. In
    the order of their index: else a planner that believes in many goes through all there are."""
    missing = (
        "NOT EXISTS (SELECT 1 FROM embedding WHERE embedding.root = record.root"
        " AND embedding.scope = record.scope AND embedding.space = %(space)s"
        " AND embedding.record = record.key)"
    )
    rest = (
        f"record WHERE record.space {condition} AND {_ALIVE} AND {missing}{_ITS_ROOT}"
        " ORDER BY record.space, record.root"
    )
    return _part("record.id", "''", rest)


def _expired(table: str, order: str) -> str:
    """The first to expire, along their index: whoever looks for them in their order goes through
    the whole table, of all tenants."""
    first = (
        f"SELECT * FROM {table} WHERE expires_at <= %(now)s{_ITS_ROOT}"
        " ORDER BY expires_at LIMIT %(limit)s"
    )
    return f"({first}) AS {table} ORDER BY {order}"


_PARTS: dict[WorkKind, tuple[str, ...]] = {
    "expire": (
        _part("id", "'record'", _expired("record", "id")),
        _part("id", "'message'", _expired("message", "scope, session, id")),
        _part("namespace || '/' || key", "'item'", _expired("item", "scope, namespace, key")),
    ),
    "fold": (
        _part(
            "id",
            "reader.key",
            "session CROSS JOIN LATERAL json_each_text(session.cursors) AS reader"
            f" WHERE session.behind AND reader.value::bigint < session.last_seq{_ITS_ROOT}"
            " AND (%(reader)s = '' OR reader.key = %(reader)s)"
            ' ORDER BY scope, id, reader.key COLLATE "C"',
        ),
    ),
    "embed": (
        _unembedded("IS NULL"),
        _unembedded("< %(space)s"),
        _unembedded("> %(space)s"),
    ),
    "review": (
        _part(
            "id",
            "''",
            f"record WHERE {_LIVE} AND review_at <= %(now)s AND review_at IS NOT NULL AND {_ALIVE}"
            f"{_ITS_ROOT}",
        ),
    ),
}


def due(
    db: Db,
    now: datetime,
    root: str | None,
    kinds: Sequence[WorkKind],
    space: str,
    reader: str,
    limit: int,
) -> list[Work]:
    """Expired rows first, then lagging readers, records without vector, records to review."""
    given: dict[str, Any] = {"now": micros(now), "limit": max(0, limit)}
    given |= {"space": space, "reader": reader}
    given |= {"root": root} if root is not None else {}
    its_root = " AND root = %(root)s" if root is not None else ""
    kinds = ("fold",) if reader else kinds
    asked = [kind for kind in _PARTS if not kinds or kind in kinds]
    parts = [(kind, sql) for kind in asked if kind != "embed" or space for sql in _PARTS[kind]]
    with db.pipeline():
        cursors = [(kind, db.execute(sql.format(root=its_root), given)) for kind, sql in parts]
        rows = [(kind, row) for kind, cursor in cursors for row in cursor.fetchall()]
    return [
        Work(kind=kind, root=its, scope=scope, id=id_, detail=detail)
        for kind, (its, scope, id_, detail) in rows[: max(0, limit)]
    ]
