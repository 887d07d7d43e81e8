"""One batch on its way into the file: integer keys, stamps, and what the journal will say."""

from __future__ import annotations

from typing import Any

import apsw

from recollect.scopes import root_of
from recollect.stores.batches import takes_a_number as takes_a_number_of
from recollect.stores.sqlite.rows import TOUCHES, code, micros, plain, to_json
from recollect.types import Batch, Touch

TOUCHES_AT_ONCE = 16
_TOUCH = "(?, ?, ?, ?, ?, ?, ?, ?, ?)"


class Ledger:
    """Lives as long as one savepoint: nothing it remembers outlasts a rollback."""

    def __init__(self, db: apsw.Connection, batch: Batch) -> None:
        self.db = db
        self.batch = batch
        self.at = micros(batch.at)
        self._roots: dict[str, int] = {}
        self._scopes: dict[str, int] = {}
        self._stamps: dict[int, int] = {}
        self._stamped: set[int] = set()
        self._head = 0  # the batch's number in the journal, once it has one
        self._touched: list[tuple[Any, ...]] = []
        self.space: tuple[int, int] | None = None  # of the batch's vectors: key, dimensions
        # Records of this batch that are new: key, scope and path by id.
        self.made: dict[str, tuple[int, int, str]] = {}

    @property
    def root(self) -> int:
        """The key of the batch's root, made on first need."""
        return self.root_of(self.batch.root)

    def earlier(self) -> int | None:
        """The number under which the journal has this batch already."""
        row = self.get(
            "SELECT pk, (SELECT seq FROM journal WHERE batch = ? AND root = root.pk) FROM root"
            " WHERE name = ?",
            self.batch.id,
            self.batch.root,
        )
        if row is None:
            return None
        self._roots[self.batch.root] = row[0]
        return None if row[1] is None else int(row[1])

    def find_root(self) -> int | None:
        """The key of the batch's root, if it exists."""
        found: int | None = self.get("SELECT pk FROM root WHERE name = ?", self.batch.root)
        return found

    def root_of(self, scope: str) -> int:
        """The key of a scope's root, made on first need."""
        name = root_of(scope)
        if name not in self._roots:
            found = self.get("SELECT pk FROM root WHERE name = ?", name)
            if found is None:
                self.db.execute("INSERT INTO root (name) VALUES (?)", (plain(name),))
                found = self.db.last_insert_rowid()
            self._roots[name] = found
        return self._roots[name]

    def scope(self, path: str) -> int:
        """The key of a scope, made on first need."""
        if path not in self._scopes:
            found = self.get("SELECT pk FROM scope WHERE path = ?", path)
            if found is None:
                keys = (self.root_of(path), plain(path))
                self.db.execute("INSERT INTO scope (root, path) VALUES (?, ?)", keys)
                found = self.db.last_insert_rowid()
            self._scopes[path] = found
        return self._scopes[path]

    def stamp(self, root: int, scope: int) -> int:
        """The number under which search indexes find what changes now in this scope."""
        if root not in self._stamps:
            takes_a_number = root == self.root and takes_a_number_of(self.batch)
            self._stamps[root], head = self.get(
                "UPDATE root SET stamp = stamp + 1, head = head + ? WHERE pk = ?"
                " RETURNING stamp, head",
                int(takes_a_number),
                root,
            )
            self._head = head if takes_a_number else self._head
        stamp = self._stamps[root]
        if scope not in self._stamped:
            self._stamped.add(scope)
            self.db.execute("UPDATE scope SET stamp = ? WHERE pk = ?", (stamp, scope))
        return stamp

    def get(self, sql: str, *bindings: Any) -> Any:
        """The first row, as a bare value if it has one column; None if there is none."""
        return self.db.execute(sql, bindings).get

    def touch(self, touch: Touch, *, also: str | None = None) -> None:
        """Note it for the journal. ``also``: a second thing that it mentions."""
        self._touched.append(
            (
                code(TOUCHES, touch.kind),
                self.scope(touch.scope),
                touch.id,
                also,
                None if touch.before is None else to_json(touch.before),
                None if touch.after is None else to_json(touch.after),
            )
        )

    def write_journal(self) -> int:
        """Add the batch's entry and return its number."""
        batch = self.batch
        seq: int = self._head or self.get(
            "UPDATE root SET head = head + 1 WHERE pk = ? RETURNING head", self.root
        )
        self.db.execute(
            "INSERT INTO journal VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                self.root,
                seq,
                self.at,
                plain(batch.id),
                plain(batch.change or batch.id),
                plain(batch.reason),
                plain(batch.actor),
            ),
        )
        rows = [(self.root, seq, place, *touch) for place, touch in enumerate(self._touched)]
        for start in range(0, len(rows), TOUCHES_AT_ONCE):
            part = rows[start : start + TOUCHES_AT_ONCE]
            self.db.execute(
                f"INSERT INTO touch VALUES {', '.join([_TOUCH] * len(part))}",
                [value for row in part for value in row],
            )
        return seq
