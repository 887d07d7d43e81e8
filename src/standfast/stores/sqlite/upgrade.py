"""What the migrations have to do beside their SQL.

The second schema: what the store knows about itself moves out of items and journal.

Moving the items is part of the migration's own transaction. Dropping what the journal says of
leases, tries, budgets, quotas and long work is not: an old file may hold millions of such entries,
and one transaction over all of them would fill the log. They go in small commits, each of which
says how far it came, so that whoever is killed in between goes on there at the next opening. At
the end the file is vacuumed if a quarter of it has become free; where there is no room for that,
its free pages are used again by what comes next.

The fourth schema: checksums of the rows that had none.

What is written here is about files of one moment in the past: it never changes with the program.
"""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import apsw

from standfast.stores.rows import checksum, cursors_json
from standfast.stores.sqlite.connection import roll_back, select

ENTRIES_AT_ONCE = 5000
WORTH_A_VACUUM = 0.25  # of the file
PLACE = "shrink"  # in the table meta: how far the journal was gone through

_SYSTEM = "system:store"
_OF_TENANTS = ("lease", "work", "usage", "budget")
_ITEM = 5  # a touch of this kind
_DAY = len("2026-01-01")


def move_items(db: apsw.Connection) -> None:
    """Cells instead of items; part of the migration's transaction."""
    db.execute(
        "INSERT INTO upkeep (root) SELECT pk FROM root WHERE head > 0 AND name <> ?", (_SYSTEM,)
    )
    moved = {key: (until, value) for key, until, value in _cells(db)}
    db.executemany(
        "INSERT INTO registry (key, expires_at, value) VALUES (?, ?, ?)",
        [(key, *rest) for key, rest in sorted(moved.items())],
    )
    db.execute(
        "DELETE FROM item WHERE root = (SELECT pk FROM root WHERE name = ?)"
        " OR namespace IN (SELECT value FROM json_each(?))",
        (_SYSTEM, json.dumps(_OF_TENANTS)),
    )
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, '0 0')", (PLACE,))


def _cells(db: apsw.Connection) -> Iterator[tuple[str, int | None, str]]:
    """Leases and marks run out by themselves: nobody who took one is there any more."""
    rows = select(
        db,
        "SELECT root.name, namespace, scope.path, key, expires_at, value FROM item"
        " JOIN root ON root.pk = item.root JOIN scope ON scope.pk = item.scope"
        " WHERE root.name = ? OR namespace IN ('work', 'usage', 'budget')",
        _SYSTEM,
    )
    spent: dict[tuple[str, str], list[tuple[str, str, int | None, Any]]] = {}
    for root, namespace, scope, key, until, value in rows:
        if namespace in ("usage", "budget"):
            day = spent.setdefault((root, key[:_DAY]), [])
            day.append((namespace, key[_DAY + 1 :], until, json.loads(value)))
        elif namespace == "work":
            yield f"work\t{root}\t{scope}\t{key}", until, value
        elif namespace == "device":
            told = {"scope": json.loads(value), "mapped_by": ""}
            yield f"device\t{key}", until, json.dumps(told)
        elif namespace == "quota":
            day_of, _, name = key.partition("/")
            yield f"quota\t{day_of}\t{name}", until, value
        elif namespace in ("key", "space", "job", "consolidated", "brought-back"):
            yield f"{namespace}\t{key}", until, value
    for (root, day_of), parts in spent.items():
        yield f"budget\t{root}\t{day_of}", max(p[2] or 0 for p in parts), _day(parts)


def _day(parts: list[tuple[str, str, int | None, Any]]) -> str:
    """The total and its parts together; where there was no total, the sum."""
    by = {what: value for namespace, what, _, value in parts if namespace == "usage"}
    totals = [value for namespace, _, _, value in parts if namespace == "budget"]
    names = ("calls", "tokens_in", "tokens_out", "cost")
    total = totals[0] if totals else {n: sum(one[n] for one in by.values()) for n in names}
    return json.dumps({**total, "by": by, "last": ""})


_SCOPE = "(SELECT path FROM scope WHERE pk = {0}.scope)"
_SEALED = {
    "session": "id, last_seq, channel, policy, state, started_at, ended_at, version,"
    " sorted_cursors((SELECT json_group_object(reader, seq) FROM cursor"
    " WHERE cursor.session = session.pk))",
    "summary": "session, id, from_seq, to_seq, how, learned_at, lineage, text",
    "relation": "(SELECT id FROM record WHERE pk = relation.source),"
    " (SELECT id FROM record WHERE pk = relation.target), kind, learned_at, retired_at, version,"
    " lineage",
    "item": "namespace, key, value, expires_at, version",
}


def seal_rows(db: apsw.Connection) -> None:
    """As ``stores.rows.sealed`` does; part of the migration's transaction. These tables are small
    beside those of records and messages."""
    db.create_scalar_function("seal", checksum)
    db.create_scalar_function("sorted_cursors", _sorted_cursors)
    for table, columns in _SEALED.items():
        db.execute(f"UPDATE {table} SET checksum = seal({_SCOPE.format(table)}, {columns})")
    for name in ("seal", "sorted_cursors"):
        db.create_scalar_function(name, None)


def _sorted_cursors(*told: Any) -> str:
    return cursors_json(json.loads(told[0]))


def go_on(db: apsw.Connection) -> None:
    """Shrink the journal from where somebody stopped; nothing if it is done."""
    while place := db.execute("SELECT value FROM meta WHERE key = ?", (PLACE,)).get:
        if place == "vacuum":
            _vacuum(db)
            db.execute("DELETE FROM meta WHERE key = ?", (PLACE,))
        else:
            _drop_some(db)


def _drop_some(db: apsw.Connection) -> None:
    """One commit; who else has the file open may do the next one."""
    db.execute("BEGIN IMMEDIATE")
    try:
        place = db.execute("SELECT value FROM meta WHERE key = ?", (PLACE,)).get
        if place and place != "vacuum":
            root, seq = map(int, place.split())
            rows = _page(db, root, seq)
            doomed = [(root, seq) for root, seq, goes in rows if goes]
            db.executemany("DELETE FROM touch WHERE root = ? AND seq = ?", doomed)
            db.executemany("DELETE FROM journal WHERE root = ? AND seq = ?", doomed)
            db.executemany(
                "UPDATE upkeep SET pruned = pruned + ? WHERE root = ?",
                [(count, pk) for pk, count in Counter(pk for pk, _ in doomed).items()],
            )
            if not rows:
                _drop_system_root(db)
            now_at = f"{rows[-1][0]} {rows[-1][1]}" if rows else "vacuum"
            db.execute("UPDATE meta SET value = ? WHERE key = ?", (now_at, PLACE))
        db.execute("COMMIT")
    finally:
        roll_back(db)


def _page(db: apsw.Connection, root: int, seq: int) -> list[tuple[Any, ...]]:
    """The next entries, and whether each goes: it speaks of nothing but passing items. The last
    entry of a tenant stays, so that its journal ends where its number says."""
    return select(
        db,
        "SELECT journal.root, journal.seq, root.name = ?1 OR (journal.reason IN ('lease', 'work',"
        " 'usage') AND journal.seq < root.head AND NOT EXISTS (SELECT 1 FROM touch"
        " WHERE touch.root = journal.root AND touch.seq = journal.seq AND NOT (kind = ?2 AND"
        " substr(ref, 1, instr(ref, '/') - 1) IN (SELECT value FROM json_each(?3)))))"
        " FROM journal JOIN root ON root.pk = journal.root"
        " WHERE (journal.root, journal.seq) > (?4, ?5)"
        " ORDER BY journal.root, journal.seq LIMIT ?6",
        _SYSTEM,
        _ITEM,
        json.dumps(_OF_TENANTS),
        root,
        seq,
        ENTRIES_AT_ONCE,
    )


def _drop_system_root(db: apsw.Connection) -> None:
    root = "(SELECT pk FROM root WHERE name = ?)"
    db.execute(
        f"DELETE FROM erased WHERE scope IN (SELECT pk FROM scope WHERE root = {root})", (_SYSTEM,)
    )
    db.execute(f"DELETE FROM scope WHERE root = {root}", (_SYSTEM,))
    db.execute("DELETE FROM root WHERE name = ?", (_SYSTEM,))


def _vacuum(db: apsw.Connection) -> None:
    free, pages = int(db.pragma("freelist_count")), int(db.pragma("page_count"))
    if free < WORTH_A_VACUUM * pages:
        return
    # Without room for a copy, or while somebody reads, the free pages stay and are used again.
    with contextlib.suppress(apsw.FullError, apsw.BusyError, apsw.LockedError):
        db.execute("VACUUM")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
