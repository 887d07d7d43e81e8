"""Making anew what is derived from the rows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from zlib import crc32

import apsw

from standfast.index.derived import labels_blob, terms_blob
from standfast.stores.rows import (
    RECORD_WITH_SCOPE,
    SESSION_COLUMNS,
    SUMMARY_COLUMNS,
    cursors_json,
    lineage_rows,
    read_record,
)
from standfast.stores.sqlite.connection import select
from standfast.stores.sqlite.feed import EVERYTHING

CHUNK = 1000


def rebuild_terms(db: apsw.Connection) -> None:
    """Cut all texts into words again. The caller has begun a transaction."""
    renew_indexes(db)
    sql = "SELECT pk, text, author, tags, data FROM record WHERE pk > ? ORDER BY pk LIMIT ?"
    for rows in pages(db, sql):
        for pk, text, author, tags, data in rows:
            words, terms = terms_blob(text, author)
            db.execute(
                "UPDATE record SET words = ?, terms = ?, labels = ? WHERE pk = ?",
                (words, terms, labels_blob(_tags(tags), json.loads(data)), pk),
            )


def _tags(text: str) -> list[str]:
    return [str(tag) for tag in json.loads(text)]


VECTORS = (
    "SELECT vector.pk, record.id, f32, vector.checksum FROM vector"
    " JOIN record ON record.pk = vector.record WHERE vector.pk > ? ORDER BY vector.pk LIMIT ?"
)


def is_whole(vector: bytes, checksum: int | None) -> bool:
    """Is a vector as it was written? Those of old files have no checksum: nobody knows."""
    return checksum is None or crc32(vector) == checksum


def rebuild_vectors(db: apsw.Connection) -> None:
    """Drop vectors that are not as they were written; records without one are embedded again."""
    for rows in pages(db, VECTORS):
        for pk, id_, vector, checksum in rows:
            if not is_whole(vector, checksum):
                db.execute("DELETE FROM vector WHERE pk = ?", (pk,))
                db.execute("UPDATE record SET space = NULL WHERE id = ?", (id_,))


def rebuild_lineage(db: apsw.Connection) -> None:
    db.execute("DELETE FROM lineage")
    sql = (
        f"SELECT record.pk, record.root, {RECORD_WITH_SCOPE} FROM record"
        " JOIN scope ON scope.pk = record.scope WHERE record.pk > ? ORDER BY record.pk LIMIT ?"
    )
    for rows in pages(db, sql):
        for pk, root, *columns in rows:
            found = lineage_rows(root, pk, read_record(columns))
            db.executemany("INSERT INTO lineage VALUES (?, ?, ?, ?)", found)


def rebuild_cursors(db: apsw.Connection) -> None:
    db.execute(
        "UPDATE cursor SET behind ="
        " (SELECT last_seq FROM session WHERE session.pk = cursor.session) > seq"
    )


def renew_indexes(db: apsw.Connection) -> None:
    """Make every process load its search indexes anew."""
    db.execute("UPDATE root SET stamp = stamp + 1")
    db.execute(
        "UPDATE scope SET stamp = (SELECT stamp FROM root WHERE root.pk = scope.root)"
        " WHERE stamp > 0"
    )
    db.execute("DELETE FROM erased")
    db.execute("INSERT INTO erased SELECT pk, stamp, ? FROM scope WHERE stamp > 0", (EVERYTHING,))


def pages(db: apsw.Connection, sql: str) -> Iterator[list[tuple[Any, ...]]]:
    """Rows behind the last key seen, some at a time; the key is the first column."""
    last = 0
    while rows := select(db, sql, last, CHUNK):
        yield rows
        last = rows[-1][0]


# For each kind of ``rows.sealed`` the key of its row, and the row.
_IN_SCOPE = " JOIN scope ON scope.pk = {0}.scope"
_SEALED = {
    "session": (
        "session.pk",
        f"session.{SESSION_COLUMNS.replace(', ', ', session.')}, (SELECT json_group_object("
        "reader, seq) FROM cursor WHERE cursor.session = session.pk), session.checksum",
        "session" + _IN_SCOPE,
    ),
    "summary": (
        "summary.pk",
        f"session, {SUMMARY_COLUMNS}, checksum",
        "summary" + _IN_SCOPE,
    ),
    "relation": (
        "json_array(relation.source, relation.target, relation.kind)",
        "source.id, target.id, relation.kind, relation.learned_at, relation.retired_at,"
        " relation.version, relation.lineage, relation.checksum",
        "relation" + _IN_SCOPE + " JOIN record AS source ON source.pk = relation.source"
        " JOIN record AS target ON target.pk = relation.target",
    ),
    "item": (
        "json_array(item.root, namespace, item.scope, key)",
        "namespace, key, value, expires_at, version, checksum",
        "item" + _IN_SCOPE,
    ),
}


def sealed_rows(
    db: apsw.Connection, what: str, scope: str | None = None
) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Every row of such a kind, of one scope if it is named, with its key in front."""
    key, columns, table = _SEALED[what]
    where = "" if scope is None else " WHERE scope.path = ?"
    sql = f"SELECT {key}, scope.path, {columns} FROM {table.format(what)}{where}"
    for at, *row in db.execute(sql, () if scope is None else (scope,)):
        if what == "session":
            row[-2] = cursors_json(json.loads(row[-2]))
        yield at, tuple(row)
