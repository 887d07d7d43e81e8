"""What should be done now, read off the state of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import apsw

from recollect.index.codes import micros
from recollect.scopes import root_of
from recollect.types import Work, WorkKind

_RECORD = "SELECT scope.path, record.id FROM record JOIN scope ON scope.pk = record.scope"
_ALIVE = "(record.expires_at IS NULL OR record.expires_at > ?)"
_LIVE = "record.status IN (0, 3, 4)"  # the very words of the partial indexes


def due(
    db: apsw.Connection, now: datetime, kinds: Sequence[WorkKind], space: str, limit: int
) -> list[Work]:
    """Expired rows first, then lagging readers, records without vector, records to review."""
    limit, at = max(0, limit), micros(now)
    asked = set(kinds) or {"expire", "fold", "embed", "review"}
    work: list[Work] = []
    if "expire" in asked:
        work += _expired(db, at, limit)
    if "fold" in asked and len(work) < limit:
        work += _lagging(db, limit)
    if "embed" in asked and space and len(work) < limit:
        work += _unembedded(db, at, space, limit)
    if "review" in asked and len(work) < limit:
        work += _to_review(db, at, limit)
    return work[:limit]


def _work(kind: WorkKind, scope: str, id_: str, detail: str = "") -> Work:
    return Work(kind=kind, root=root_of(scope), scope=scope, id=id_, detail=detail)


def _expired(db: apsw.Connection, at: int, limit: int) -> list[Work]:
    work = []
    for detail, sql in (
        ("record", f"{_RECORD} WHERE record.expires_at <= ? ORDER BY record.id LIMIT ?"),
        (
            "message",
            "SELECT scope.path, message.id FROM message"
            " JOIN session ON session.pk = message.session JOIN scope ON scope.pk = session.scope"
            " WHERE message.expires_at <= ? ORDER BY scope.path, session.id, message.id LIMIT ?",
        ),
        (
            "item",
            "SELECT scope.path, namespace || '/' || key FROM item"
            " JOIN scope ON scope.pk = item.scope WHERE item.expires_at <= ?"
            " ORDER BY scope.path, namespace, key LIMIT ?",
        ),
    ):
        rows = db.execute(sql, (at, limit))
        work += [_work("expire", scope, id_, detail) for scope, id_ in rows]
    return work


def _lagging(db: apsw.Connection, limit: int) -> list[Work]:
    rows = db.execute(
        "SELECT scope.path, session.id, cursor.reader FROM cursor"
        " JOIN session ON session.pk = cursor.session JOIN scope ON scope.pk = session.scope"
        " WHERE cursor.behind = 1 ORDER BY scope.path, session.id, cursor.reader LIMIT ?",
        (limit,),
    )
    return [_work("fold", scope, id_, reader) for scope, id_, reader in rows]


def _unembedded(db: apsw.Connection, at: int, space: str, limit: int) -> list[Work]:
    """Records whose newest vector is of another space; few of them have one of this space too."""
    pk = db.execute("SELECT pk FROM space WHERE name = ?", (space,)).get
    work: list[Work] = []
    ranges = ("IS NULL", "IS NOT NULL") if pk is None else ("IS NULL", f"< {pk}", f"> {pk}")
    for condition in ranges:
        rows = db.execute(
            f"{_RECORD} WHERE record.space {condition} AND {_ALIVE}"
            " AND NOT EXISTS"
            " (SELECT 1 FROM vector WHERE vector.record = record.pk AND vector.space IS ?)"
            " LIMIT ?",
            (at, pk, limit - len(work)),
        )
        work += [_work("embed", scope, id_) for scope, id_ in rows]
    return work


def _to_review(db: apsw.Connection, at: int, limit: int) -> list[Work]:
    rows = db.execute(
        f"{_RECORD} WHERE {_LIVE} AND record.review_at <= ? AND record.review_at IS NOT NULL"
        f" AND {_ALIVE} LIMIT ?",
        (at, at, limit),
    )
    return [_work("review", scope, id_) for scope, id_ in rows]
