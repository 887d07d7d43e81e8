"""Removing rows with everything that hangs on them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from recollect.stores import touches
from recollect.stores.sqlite.connection import select
from recollect.stores.sqlite.index import EVERYTHING
from recollect.stores.sqlite.ledger import Ledger
from recollect.types import Erase

ERASED_MAX = 10_000  # per scope
# "+root": without the plus SQLite would walk through the root's whole journal.
_WIPE = "UPDATE touch SET before = NULL, after = NULL WHERE +root = ? AND "


def drop_record(ledger: Ledger, pk: int) -> int:
    """Remove a record with its words, vectors, lineage and relations; its scope."""
    root, scope, lineage, derived_from = ledger.get(
        "SELECT root, scope, lineage, derived_from FROM record WHERE pk = ?", pk
    )
    made_from = [(0, ref) for ref in json.loads(lineage)]
    made_from += [(1, ref) for ref in json.loads(derived_from)]
    ledger.db.executemany(
        "DELETE FROM lineage WHERE root = ? AND source = ? AND ref = ? AND record = ?",
        [(root, source, ref, pk) for source, ref in made_from],
    )
    ledger.db.execute(
        "DELETE FROM quantised WHERE scope = ? AND space IN (SELECT pk FROM space) AND record = ?",
        (scope, pk),
    )
    ledger.db.execute("DELETE FROM record WHERE pk = ?", (pk,))  # and vectors, relations
    stamp = ledger.stamp(root, scope)
    ledger.db.execute("INSERT INTO erased VALUES (?, ?, ?)", (scope, stamp, pk))
    return int(scope)


def sweep(ledger: Ledger) -> None:
    """Drop what expired in this root."""
    root = ledger.find_root()
    bindings = (ledger.at, root)
    expired = "SELECT pk FROM record WHERE expires_at <= ? AND root = ?"
    scopes = {drop_record(ledger, pk) for (pk,) in select(ledger.db, expired, *bindings)}
    for scope in scopes:
        _tidy(ledger, scope)
    ledger.db.execute(
        "DELETE FROM message WHERE pk IN (SELECT message.pk FROM message"
        " JOIN session ON session.pk = message.session JOIN scope ON scope.pk = session.scope"
        " WHERE message.expires_at <= ? AND scope.root = ?)",
        bindings,
    )
    ledger.db.execute("DELETE FROM item WHERE expires_at <= ? AND +root = ?", bindings)


def prune(ledger: Ledger, numbers: Sequence[int]) -> None:
    """Drop entries of the journal, never the last one, and count them."""
    root = ledger.find_root()
    head = ledger.get("SELECT head FROM root WHERE pk = ?", root)
    doomed = [(root, seq) for seq in numbers if seq < (head or 0)]
    ledger.db.executemany("DELETE FROM touch WHERE root = ? AND seq = ?", doomed)
    before = ledger.db.total_changes()
    ledger.db.executemany("DELETE FROM journal WHERE root = ? AND seq = ?", doomed)
    dropped = ledger.db.total_changes() - before
    ledger.db.execute("UPDATE upkeep SET pruned = pruned + ? WHERE root = ?", (dropped, root))


def _tidy(ledger: Ledger, scope: int) -> None:
    """Keep the list of what is gone short; indexes that missed it load the scope anew."""
    if ledger.get("SELECT count(*) FROM erased WHERE scope = ?", scope) > ERASED_MAX:
        stamp = ledger.get("SELECT max(stamp) FROM erased WHERE scope = ?", scope)
        ledger.db.execute("DELETE FROM erased WHERE scope = ?", (scope,))
        ledger.db.execute("INSERT INTO erased VALUES (?, ?, ?)", (scope, stamp, EVERYTHING))


def erase(ledger: Ledger, erase: Erase) -> None:
    """Remove it, silence the journal about it, and note that it was erased."""
    match erase.kind:
        case "record":
            path = _erase_record(ledger, erase)
        case "summary":
            path = _erase_summary(ledger, erase)
        case "message":
            path = _erase_message(ledger, erase)
        case "session":
            path = _erase_session(ledger, erase)
        case "item":
            path = _erase_item(ledger, erase)
    ledger.touch(touches.touch_erased(erase, path or erase.scope or ledger.batch.root))


def _wipe(ledger: Ledger, condition: str, *bindings: Any) -> None:
    ledger.db.execute(_WIPE + condition, (ledger.root, *bindings))


def _erase_record(ledger: Ledger, erase: Erase) -> str:
    row = ledger.get(
        "SELECT record.pk, scope.path FROM record JOIN scope ON scope.pk = record.scope"
        " WHERE record.id = ? AND record.root = ?",
        erase.id,
        ledger.root,
    )
    if row is not None:
        drop_record(ledger, row[0])
    _wipe(ledger, "ref = ? AND kind IN (0, 7)", erase.id)
    # A relation is journalled as "source kind target".
    _wipe(ledger, "ref > ? AND ref < ? AND kind = 4", erase.id + " ", erase.id + "!")
    _wipe(ledger, "also = ? AND also IS NOT NULL AND kind = 4", erase.id)
    return row[1] if row is not None else ""


def _erase_summary(ledger: Ledger, erase: Erase) -> str:
    row = ledger.get(
        "SELECT summary.pk, scope.path FROM summary JOIN scope ON scope.pk = summary.scope"
        " WHERE summary.id = ? AND scope.root = ?",
        erase.id,
        ledger.root,
    )
    if row is not None:
        ledger.db.execute("DELETE FROM summary WHERE pk = ?", (row[0],))
    _wipe(ledger, "ref = ? AND kind = 3", erase.id)
    return row[1] if row is not None else ""


def _erase_message(ledger: Ledger, erase: Erase) -> str:
    scope = ledger.scope(erase.scope)
    ledger.db.execute(
        "DELETE FROM message WHERE id = ?"
        " AND session = (SELECT pk FROM session WHERE scope = ? AND id = ?)",
        (erase.id, scope, erase.session),
    )
    _wipe(ledger, "ref = ? AND kind = 1 AND scope = ? AND also = ?", erase.id, scope, erase.session)
    return erase.scope


def _erase_session(ledger: Ledger, erase: Erase) -> str:
    key = (ledger.scope(erase.scope), erase.id)
    ledger.db.execute("DELETE FROM session WHERE scope = ? AND id = ?", key)  # and its messages
    ledger.db.execute("DELETE FROM summary WHERE scope = ? AND session = ?", key)
    _wipe(
        ledger,
        "also = ? AND also IS NOT NULL AND scope = ? AND kind IN (1, 2, 3, 6)",
        erase.id,
        key[0],
    )
    return erase.scope


def _erase_item(ledger: Ledger, erase: Erase) -> str:
    scope = ledger.scope(erase.scope)
    ledger.db.execute(
        "DELETE FROM item WHERE root = ? AND namespace = ? AND scope = ? AND key = ?",
        (ledger.root, erase.namespace, scope, erase.id),
    )
    _wipe(ledger, "ref = ? AND kind = 5 AND scope = ?", f"{erase.namespace}/{erase.id}", scope)
    return erase.scope
