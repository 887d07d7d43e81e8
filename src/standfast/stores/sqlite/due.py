"""What should be done now, read off the state of the rows in one statement along their indexes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import apsw

from standfast.index.codes import micros
from standfast.scopes import root_of
from standfast.types import Work, WorkKind

# :space is the one in which every record should have a vector, :reader the only one, or "".
_ALIVE = "(record.expires_at IS NULL OR record.expires_at > :now)"
_LIVE = "record.status IN (0, 3, 4)"  # the very words of the partial indexes
_SPACE = "(SELECT pk FROM space WHERE name = :space)"
# Where the condition stands, if one root is asked for. What was told of one root may be many rows
# of others away: indexes of such rows begin with their root, and those of messages, which know
# only their session, are asked session by session where more than so many have expired.
_ITS_ROOT, _ITS_RECORDS, _ITS_MESSAGES, _ITS_ITEMS = "{root}", "{records}", "{messages}", "{items}"
FEW_MESSAGES = 100
SESSIONS_OF_ROOT = (
    "(SELECT session.pk FROM scope CROSS JOIN session ON session.scope = scope.pk"
    " WHERE scope.root = {root})"
)
# CROSS and +: else SQLite walks through all scopes, or all records, to have them in order.
_SESSION = "CROSS JOIN scope ON scope.pk = session.scope"
_RECORD = "record CROSS JOIN scope ON scope.pk = record.scope"
_MESSAGE = f"message CROSS JOIN session ON session.pk = message.session {_SESSION}"
_CURSOR = f"cursor CROSS JOIN session ON session.pk = cursor.session {_SESSION}"


def _part(place: int, kind: WorkKind, id_: str, detail: str, rest: str) -> str:
    """One kind of work; each has its own limit, so that none hides another."""
    columns = f"{place} AS place, '{kind}' AS kind, scope.path, {id_}, {detail}"
    return f"SELECT * FROM (SELECT {columns} FROM {rest} LIMIT :limit)"


def _unembedded(place: int, condition: str) -> str:
    """Records whose newest vector is of another space; few of them have one of this space too."""
    missing = (
        "NOT EXISTS (SELECT 1 FROM vector"
        f" WHERE vector.record = record.pk AND vector.space IS {_SPACE})"
    )
    rest = f"{_RECORD} WHERE record.space {condition} AND {_ALIVE} AND {missing}{_ITS_RECORDS}"
    return _part(place, "embed", "record.id", "''", rest)


_PARTS: dict[WorkKind, tuple[str, ...]] = {
    "expire": (
        _part(
            0,
            "expire",
            "record.id",
            "'record'",
            f"{_RECORD} WHERE record.expires_at <= :now{_ITS_RECORDS} ORDER BY +record.id",
        ),
        _part(
            1,
            "expire",
            "message.id",
            "'message'",
            f"{_MESSAGE} WHERE message.expires_at <= :now{_ITS_MESSAGES}"
            " ORDER BY scope.path, session.id, message.id",
        ),
        _part(
            2,
            "expire",
            "namespace || '/' || key",
            "'item'",
            "item CROSS JOIN scope ON scope.pk = item.scope"
            f" WHERE item.expires_at <= :now{_ITS_ITEMS}"
            " ORDER BY scope.path, namespace, key",
        ),
    ),
    "fold": (
        _part(
            3,
            "fold",
            "session.id",
            "cursor.reader",
            f"{_CURSOR} WHERE cursor.behind = 1 AND :reader IN ('', cursor.reader){_ITS_ROOT}"
            " ORDER BY scope.path, session.id, cursor.reader",
        ),
    ),
    "embed": (
        _unembedded(4, "IS NULL"),
        _unembedded(5, f"< coalesce({_SPACE}, 0)"),
        _unembedded(6, f"> coalesce({_SPACE}, 0)"),
    ),
    "review": (
        _part(
            7,
            "review",
            "record.id",
            "''",
            f"{_RECORD} WHERE {_LIVE} AND record.review_at <= :now"
            f" AND record.review_at IS NOT NULL AND {_ALIVE}{_ITS_RECORDS}",
        ),
    ),
}


def due(
    db: apsw.Connection,
    now: datetime,
    root: str | None,
    kinds: Sequence[WorkKind],
    space: str,
    reader: str,
    limit: int,
) -> list[Work]:
    """Expired rows first, then lagging readers, records without vector, records to review."""
    kinds = ("fold",) if reader else kinds
    asked = [kind for kind in _PARTS if not kinds or kind in kinds]
    parts = [part for kind in asked if kind != "embed" or space for part in _PARTS[kind]]
    if not parts:
        return []
    at = micros(now)
    sql = " UNION ALL ".join(parts)
    sql = sql.format_map(_conditions(db, at, root, messages=_ITS_MESSAGES in sql))
    given = {"now": at, "limit": max(0, limit), "space": space, "root": root, "reader": reader}
    # Rows of one part come in its order; which part comes first is not promised.
    rows = sorted(db.execute(sql, given), key=lambda row: int(row[0]))
    return [
        Work(kind=kind, root=root_of(scope), scope=scope, id=id_, detail=detail)
        for _, kind, scope, id_, detail in rows[: max(0, limit)]
    ]


def has_many_expired(db: apsw.Connection, at: int) -> bool:
    """Would looking through all messages that have expired take long?"""
    some = "SELECT 1 FROM message WHERE expires_at <= ? LIMIT ?"
    found = db.execute(f"SELECT count(*) FROM ({some})", (at, FEW_MESSAGES)).get
    return bool(found == FEW_MESSAGES)


def _conditions(
    db: apsw.Connection, at: int, root: str | None, *, messages: bool
) -> dict[str, str]:
    if root is None:
        return dict.fromkeys(("root", "records", "messages", "items"), "")
    its = "(SELECT pk FROM root WHERE name = :root)"
    its_messages = f" AND scope.root = {its}"
    if messages and has_many_expired(db, at):
        its_messages = f" AND message.session IN {SESSIONS_OF_ROOT.format(root=its)}"
    return {
        "root": f" AND scope.root = {its}",
        "records": f" AND record.root = {its}",
        "messages": its_messages,
        "items": f" AND item.root = {its}",
    }
