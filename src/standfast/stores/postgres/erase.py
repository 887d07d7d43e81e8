"""Removing rows, and silencing the journal about what was erased."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from standfast.index.codes import micros
from standfast.stores import touches
from standfast.stores.commit import Changes
from standfast.stores.postgres.connection import Db
from standfast.stores.postgres.held import Numbers

ERASED_MAX = 10_000  # per scope
EVERYTHING = 0  # as the key of an erased record: load the scope anew

# A record with all that hangs on it, and word for the search indexes of every process.
_RECORDS_GONE = (
    "WITH gone AS (DELETE FROM record WHERE root = %(root)s AND {which} RETURNING scope, key, id),"
    " vectors AS (DELETE FROM embedding USING gone WHERE embedding.root = %(root)s"
    " AND embedding.record = gone.key),"
    " origins AS (DELETE FROM lineage USING gone WHERE lineage.root = %(root)s"
    " AND lineage.record = gone.key),"
    " sources AS (DELETE FROM relation USING gone WHERE relation.root = %(root)s"
    " AND relation.source = gone.id),"
    " targets AS (DELETE FROM relation USING gone WHERE relation.root = %(root)s"
    " AND relation.target = gone.id),"
    " places AS (INSERT INTO scope (root, path, stamp) SELECT DISTINCT %(root)s, scope,"
    " %(stamp)s::bigint FROM gone ON CONFLICT (root, path) DO UPDATE SET stamp = excluded.stamp)"
    " INSERT INTO erased (root, scope, stamp, record)"
    " SELECT %(root)s, scope, %(stamp)s, key FROM gone"
)
_CROWDED = (
    "WITH crowded AS (SELECT scope, max(stamp) AS stamp FROM erased WHERE root = %(root)s"
    " GROUP BY scope HAVING count(*) > %(most)s),"
    " dropped AS (DELETE FROM erased USING crowded WHERE erased.root = %(root)s"
    " AND erased.scope = crowded.scope AND erased.record <> %(all)s)"
    " INSERT INTO erased (root, scope, stamp, record) SELECT %(root)s, scope, stamp, %(all)s"
    " FROM crowded ON CONFLICT DO NOTHING"
)
_PRUNED = (
    "WITH gone AS (DELETE FROM journal WHERE root = %(root)s AND seq = ANY(%(seqs)s) RETURNING 1)"
    " UPDATE root SET pruned = pruned + (SELECT count(*) FROM gone) WHERE name = %(root)s"
)


def remove(db: Db, changes: Changes, numbers: Numbers) -> None:
    """What the batch drops; the root's stamp has been raised if a record is among it."""
    batch, root = changes.batch, changes.batch.root
    at = {"root": root, "stamp": numbers.stamp}
    if batch.sweep:
        _sweep(db, changes, numbers)
    if batch.drop_space:
        _drop_space(db, batch.drop_space, root, numbers.stamp)
    if changes.pruned:
        seqs = {"root": root, "seqs": [*changes.pruned]}
        db.execute("DELETE FROM touch WHERE root = %(root)s AND seq = ANY(%(seqs)s)", seqs)
        db.execute(_PRUNED, seqs)
    if changes.records_gone:
        sql = _RECORDS_GONE.format(which="id = ANY(%(ids)s)")
        db.execute(sql, {**at, "ids": [*changes.records_gone]})
    for table, name in (("session", "id"), ("message", "session"), ("summary", "session")):
        _delete(db, table, ("scope", name), changes.sessions_gone, root)
    _delete(db, "message", ("scope", "session", "id"), changes.messages_gone, root)
    _delete(db, "summary", ("id",), [(id_,) for id_ in changes.summaries_gone], root)
    _delete(db, "item", ("scope", "namespace", "key"), changes.items_gone, root)


def _delete(
    db: Db, table: str, names: Sequence[str], gone: Sequence[Sequence[str]], root: str
) -> None:
    if not gone:
        return
    given = [list(column) for column in zip(*gone, strict=True)]
    same = " AND ".join(f"{table}.{name} = gone.{name}" for name in names)
    db.execute(
        f"DELETE FROM {table} USING unnest({', '.join(['%s::text[]'] * len(names))})"
        f" AS gone ({', '.join(names)}) WHERE {table}.root = %s AND {same}",
        (*given, root),
    )


def _sweep(db: Db, changes: Changes, numbers: Numbers) -> None:
    """Drop what expired in this root."""
    root, now = changes.batch.root, micros(changes.batch.at)
    if numbers.sweeps:
        given: dict[str, Any] = {"root": root, "stamp": numbers.stamp, "now": now}
        db.execute(_RECORDS_GONE.format(which="expires_at <= %(now)s"), given)
        db.execute(_CROWDED, {"root": root, "most": ERASED_MAX, "all": EVERYTHING})
    for table in ("message", "item"):
        db.execute(
            f"DELETE FROM {table} WHERE root = %s AND expires_at <= %s",
            (root, now),
        )


def _drop_space(db: Db, space: str, root: str, stamp: int) -> None:
    """Every vector of a space, in this root only; other roots are left to their own batches."""
    db.execute("DELETE FROM embedding WHERE root = %s AND space = %s", (root, space))
    db.execute("UPDATE record SET space = NULL WHERE root = %s AND space = %s", (root, space))
    db.execute("UPDATE scope SET stamp = %s WHERE root = %s", (stamp, root))
    db.execute(
        "INSERT INTO erased (root, scope, stamp, record) SELECT root, path, %s, %s FROM scope"
        " WHERE root = %s ON CONFLICT DO NOTHING",
        (stamp, EVERYTHING, root),
    )


# The journal

# For each kind of thing, where it is mentioned. A relation is journalled as "source kind target".
_MENTIONS = {
    "record": (
        "touch.ref = gone.name AND touch.kind IN (0, 7)",
        "touch.ref > gone.name || ' ' AND touch.ref < gone.name || '!' AND touch.kind = 4",
        "touch.also = gone.name AND touch.kind = 4",
    ),
    "summary": ("touch.ref = gone.name AND touch.kind = 3",),
    "message": (
        "touch.ref = gone.name AND touch.also = gone.session AND touch.scope = gone.scope"
        " AND touch.kind = 1",
    ),
    "session": (
        "touch.also = gone.name AND touch.scope = gone.scope AND touch.kind IN (1, 2, 3, 6)",
    ),
    "item": ("touch.ref = gone.name AND touch.scope = gone.scope AND touch.kind = 5",),
}


# A summary's own id stays: we gave it.
_RENAMED = ", ref = CASE touch.kind WHEN 3 THEN touch.ref ELSE %s END, also = NULL"


def silence(db: Db, changes: Changes) -> None:
    """The journal says no more about these things than that they were touched."""
    for (kind, left), gone in touches.to_silence(changes.silenced).items():
        given = [list(column) for column in zip(*gone, strict=True)]
        said = "(touch.before IS NOT NULL OR touch.after IS NOT NULL)"
        for mention in _MENTIONS[kind]:
            db.execute(
                f"UPDATE touch SET before = NULL, after = NULL{_RENAMED if left else ''}"
                " FROM unnest(%s::text[], %s::text[], %s::text[]) AS gone (scope, session, name)"
                f" WHERE touch.root = %s AND {mention} AND {'true' if left else said}",
                (*([left] if left else []), *given, changes.batch.root),
            )
