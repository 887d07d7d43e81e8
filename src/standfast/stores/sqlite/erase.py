"""Removing rows, and silencing the journal about what was erased."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw

from standfast.index.codes import micros
from standfast.stores import touches
from standfast.stores.commit import Changes
from standfast.stores.rows import to_json
from standfast.stores.sqlite import due
from standfast.stores.sqlite.connection import select
from standfast.stores.sqlite.feed import EVERYTHING
from standfast.stores.sqlite.held import Keys

ERASED_MAX = 10_000  # per scope

_GONE = "FROM json_each(?) AS gone CROSS JOIN scope ON scope.path = gone.value ->> 0"


def remove(db: apsw.Connection, changes: Changes, keys: Keys) -> None:
    """What the batch drops; the root's stamp has been raised if a record is among it."""
    if changes.batch.sweep and keys.root is not None:
        _sweep(db, changes, keys)
    if changes.batch.drop_space and keys.root is not None:
        _drop_space(db, changes.batch.drop_space, keys)
    if changes.pruned:
        _prune(db, changes, keys)
    if changes.records_gone:
        _delete(db, "record WHERE id IN (SELECT value FROM json_each(?))", [*changes.records_gone])
    if changes.sessions_gone:  # their messages go by their foreign key
        for table, name in (("session", "id"), ("summary", "session")):
            _delete(
                db,
                f"{table} WHERE (scope, {name}) IN (SELECT scope.pk, gone.value ->> 1 {_GONE})",
                changes.sessions_gone,
            )
    if changes.messages_gone:
        _delete(
            db,
            f"message WHERE (session, id) IN (SELECT session.pk, gone.value ->> 2 {_GONE}"
            " CROSS JOIN session ON session.scope = scope.pk AND session.id = gone.value ->> 1)",
            changes.messages_gone,
        )
    if changes.summaries_gone:
        _delete(db, "summary WHERE id IN (SELECT value FROM json_each(?))", changes.summaries_gone)
    if changes.items_gone:
        _delete(
            db,
            "item WHERE (root, namespace, scope, key) IN"
            f" (SELECT scope.root, gone.value ->> 1, scope.pk, gone.value ->> 2 {_GONE})",
            changes.items_gone,
        )


def _delete(db: apsw.Connection, what: str, gone: Sequence[Any]) -> None:
    db.execute(f"DELETE FROM {what}", (to_json(gone),))


# The messages that have expired in a root, among few and among many of other roots.
_OF_FEW = (
    "pk IN (SELECT message.pk FROM message CROSS JOIN session ON session.pk = message.session"
    " CROSS JOIN scope ON scope.pk = session.scope"
    " WHERE message.expires_at <= ?1 AND scope.root = ?2)"
)
_OF_MANY = f"expires_at <= ?1 AND session IN {due.SESSIONS_OF_ROOT.format(root='?2')}"


def _sweep(db: apsw.Connection, changes: Changes, keys: Keys) -> None:
    """Drop what expired in this root."""
    bindings = (micros(changes.batch.at), keys.root)
    if keys.sweeps:
        db.execute("DELETE FROM record WHERE expires_at <= ? AND root = ?", bindings)
        _tidy(db, keys)
    which = _OF_MANY if due.has_many_expired(db, bindings[0]) else _OF_FEW
    db.execute(f"DELETE FROM message WHERE {which}", bindings)
    db.execute("DELETE FROM item WHERE expires_at <= ? AND root = ?", bindings)


def _prune(db: apsw.Connection, changes: Changes, keys: Keys) -> None:
    """Drop entries of the journal, and count them."""
    doomed = [(keys.root, seq) for seq in changes.pruned]
    db.executemany("DELETE FROM touch WHERE root = ? AND seq = ?", doomed)
    before = db.total_changes()
    db.executemany("DELETE FROM journal WHERE root = ? AND seq = ?", doomed)
    dropped = db.total_changes() - before
    db.execute("UPDATE upkeep SET pruned = pruned + ? WHERE root = ?", (dropped, keys.root))


def _tidy(db: apsw.Connection, keys: Keys) -> None:
    """Keep the list of what is gone short; indexes that missed it load the scope anew."""
    crowded = select(
        db,
        "SELECT erased.scope, max(erased.stamp) FROM scope JOIN erased ON erased.scope = scope.pk"
        " WHERE scope.root = ? AND scope.stamp = ? GROUP BY erased.scope HAVING count(*) > ?",
        keys.root,
        keys.stamp,
        ERASED_MAX,
    )
    for scope, stamp in crowded:
        db.execute("DELETE FROM erased WHERE scope = ?", (scope,))
        db.execute("INSERT INTO erased VALUES (?, ?, ?)", (scope, stamp, EVERYTHING))


def _drop_space(db: apsw.Connection, name: str, keys: Keys) -> None:
    """Every vector of a space, in this root only; other roots are left to their own batches."""
    space = db.execute("SELECT pk FROM space WHERE name = ?", (name,)).get
    if space is None:
        return
    scopes = "(SELECT pk FROM scope WHERE root = ?1)"
    for sql in (
        "DELETE FROM vector WHERE space = ?2 AND record IN"
        f" (SELECT pk FROM record WHERE scope IN {scopes})",
        f"UPDATE record SET space = NULL WHERE scope IN {scopes} AND space = ?2",
    ):
        db.execute(sql, (keys.root, space))
    stamp = (keys.root, keys.stamp)
    db.execute("UPDATE scope SET stamp = ?2 WHERE root = ?1", stamp)
    db.execute(
        f"INSERT OR IGNORE INTO erased SELECT pk, ?2, {EVERYTHING} FROM scope WHERE root = ?1",
        stamp,
    )


# The journal

# For each kind of thing, where it is mentioned. A relation is journalled as "source kind target".
_MENTIONS = {
    "record": (
        "touch ON touch.ref = gone.value ->> 2 AND kind IN (0, 7)",
        "touch ON touch.ref > (gone.value ->> 2) || ' ' AND touch.ref < (gone.value ->> 2) || '!'"
        " AND kind = 4",
        "touch ON touch.also = gone.value ->> 2 AND touch.also IS NOT NULL AND kind = 4",
    ),
    "summary": ("touch ON touch.ref = gone.value ->> 2 AND kind = 3",),
    "message": (
        "scope ON scope.path = gone.value ->> 0 CROSS JOIN touch ON touch.ref = gone.value ->> 2"
        " AND touch.also = gone.value ->> 1 AND touch.scope = scope.pk AND kind = 1",
    ),
    "session": (
        "scope ON scope.path = gone.value ->> 0 CROSS JOIN touch ON touch.also = gone.value ->> 2"
        " AND touch.also IS NOT NULL AND touch.scope = scope.pk AND kind IN (1, 2, 3, 6)",
    ),
    "item": (
        "scope ON scope.path = gone.value ->> 0 CROSS JOIN touch ON touch.ref = gone.value ->> 2"
        " AND touch.scope = scope.pk AND kind = 5",
    ),
}


# A summary's own id stays: we gave it.
_RENAMED = ", ref = CASE kind WHEN 3 THEN ref ELSE ?3 END, also = NULL"


def silence(db: apsw.Connection, changes: Changes, keys: Keys) -> None:
    """The journal says no more about these things than that they were touched."""
    if not changes.silenced:
        return
    for (kind, left), gone in touches.to_silence(changes.silenced).items():
        for mention in _MENTIONS[kind]:
            db.execute(
                f"UPDATE touch SET before = NULL, after = NULL{_RENAMED if left else ''}"
                " WHERE root = ?1"
                " AND (seq, place) IN (SELECT seq, place FROM json_each(?2) AS gone"
                # "+root": without the plus SQLite would walk through the root's whole journal.
                f" CROSS JOIN {mention} WHERE +touch.root = ?1"
                " AND (?3 <> '' OR before IS NOT NULL OR after IS NOT NULL))",
                (keys.root, to_json(gone), left),
            )
