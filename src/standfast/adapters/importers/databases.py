"""Reading a SQLite file of somebody else, which is hostile code: views, triggers, generated columns
and names are written by whoever made it, and SQLite runs what it finds.

So nothing of it runs. A private copy is opened read only; only ordinary columns of the ordinary
tables that an importer names are read, in the order of their rows; and no more rows, bytes and time
are taken than an honest file of that size can need.
(See https://sqlite.org/security.html#untrusted_sqlite_database_files.)
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from standfast.adapters.importers.database_copies import database_copy
from standfast.errors import Invalid

MAGIC = b"SQLite format 3\0"
ROW_BYTES_MIN = 2  # no row takes less than 4 of a file, and some are read twice
SIZE_TIMES_MAX = 4  # values that a column has by default take none of it
BYTES_MIN = 16 << 20
VALUE_BYTES_MAX = 512 << 20
SECONDS_MIN = 60
BYTES_PER_SECOND = 1 << 20
STEPS_BETWEEN_LOOKS = 1000
# Of the connection: what is larger is refused by SQLite itself.
LIMITS = {
    apsw.SQLITE_LIMIT_ATTACHED: 0,
    apsw.SQLITE_LIMIT_SQL_LENGTH: 100_000,
    apsw.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    apsw.SQLITE_LIMIT_VDBE_OP: 25_000,
    apsw.SQLITE_LIMIT_WORKER_THREADS: 0,
}
SWITCHES = {
    apsw.SQLITE_DBCONFIG_DEFENSIVE: 1,
    apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA: 0,
    apsw.SQLITE_DBCONFIG_ENABLE_VIEW: 0,
    apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER: 0,
}
SCHEMA = "sqlite_master"  # as the authorizer calls it

Row = dict[str, Any]


def is_database(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


@contextmanager
def database(path: Path, *tables: str) -> Iterator[ForeignDatabase]:
    """A copy of it, of which nothing but these tables can be read."""
    with database_copy(path) as (address, size):
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        try:
            connection = apsw.Connection(address, flags=flags)
            try:
                _restrict(connection, size, {SCHEMA, *tables})
                yield ForeignDatabase(connection, path, size)
            finally:
                connection.close()
        except apsw.InterruptError:
            raise Invalid(f"{path} takes far more time than its size needs") from None
        except apsw.TooBigError:
            raise Invalid(f"{path} holds a value that is larger than the file") from None
        except apsw.Error as error:
            raise Invalid(f"{path} is damaged or no database: {error}") from None


def _restrict(connection: apsw.Connection, size: int, tables: set[str]) -> None:
    for switch, value in SWITCHES.items():
        connection.config(switch, value)
    for limit, most in LIMITS.items():
        connection.limit(limit, most)
    connection.limit(apsw.SQLITE_LIMIT_LENGTH, min(max(size, 1 << 20), VALUE_BYTES_MAX))
    connection.pragma("cell_size_check", True)
    connection.pragma("temp_store", 2)  # in memory: there is no file to write
    pragmas = {"table_xinfo"}

    def allows(
        action: int, name: str | None, _: str | None, __: str | None, inside: str | None
    ) -> int:
        """Inside of a view or trigger nothing is read, whatever the schema calls it."""
        allowed = inside is None and (
            action == apsw.SQLITE_SELECT
            or (action == apsw.SQLITE_READ and name in tables)
            or (action == apsw.SQLITE_PRAGMA and name in pragmas)
        )
        return int(apsw.SQLITE_OK if allowed else apsw.SQLITE_DENY)

    connection.authorizer = allows


class ForeignDatabase:
    """Ordinary tables and their rows, by name."""

    def __init__(self, connection: apsw.Connection, path: Path, size: int) -> None:
        self._connection, self._path = connection, path
        self._rows_left = size // ROW_BYTES_MIN
        self._bytes_left = max(size * SIZE_TIMES_MAX, BYTES_MIN)
        self._seconds_left = SECONDS_MIN + size / BYTES_PER_SECOND
        self._until = 0.0
        connection.set_progress_handler(self._is_late, STEPS_BETWEEN_LOOKS)

    def _is_late(self) -> bool:
        return time.monotonic() > self._until

    def columns(self, table: str) -> set[str]:
        """Those that are stored; none of a view, a virtual table or a table that is not there."""
        asked = "SELECT rootpage, sql FROM sqlite_schema WHERE type = 'table' AND name = ?"
        for root, sql in self._stepped(asked, (table,)):
            if root and str(sql).upper().startswith("CREATE TABLE "):
                told = list(self._stepped(f"PRAGMA table_xinfo({quoted(table)})"))
                names = {str(name) for _, name, *_, hidden in told if not hidden}
                # One of that name would have to be sorted, in memory.
                return names if "rowid" not in map(str.lower, names) else set()
        return set()

    def needs(self, table: str, *columns: str) -> None:
        """Invalid, if this is not the kind of file that was named."""
        missing = set(columns) - self.columns(table)
        if missing:
            raise Invalid(
                f"{self._path} has no table {table} with {', '.join(columns)}; "
                "is it the right kind of file?"
            )

    def rows(self, table: str, columns: Sequence[str], *, by: str = "") -> Iterator[Row]:
        """The rows as they were put there, with those of the columns that there are; those that
        are equal in the column ``by`` side by side."""
        known = self.columns(table)
        names = [name for name in columns if name in known]
        listed = ", ".join(map(quoted, names))
        every = f"SELECT {listed} FROM {quoted(table)} NOT INDEXED"
        if not by:
            for row in self._stepped(f"{every} ORDER BY rowid"):
                yield dict(zip(names, row, strict=True))
            return
        # Not sorted by SQLite: it would hold all of it in memory, or write it to a file.
        keys = f"SELECT {quoted(by)}, rowid FROM {quoted(table)} NOT INDEXED ORDER BY rowid"
        for _, id_ in sorted((str(key), id_) for key, id_ in self._stepped(keys)):
            for row in self._stepped(f"{every} WHERE rowid = ?", (id_,)):
                yield dict(zip(names, row, strict=True))

    def _stepped(self, sql: str, values: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
        """Row by row, as long as there are rows, bytes and time left. Only SQLite's own time
        counts, not that of whoever reads."""
        cursor = self._connection.cursor()
        began = time.monotonic()
        self._until = began + self._seconds_left
        cursor.execute(sql, values)
        while True:
            row = next(cursor, None)
            self._seconds_left -= time.monotonic() - began
            if row is None:
                return
            self._count(row)
            yield row
            began = time.monotonic()
            self._until = began + self._seconds_left

    def _count(self, row: tuple[Any, ...]) -> None:
        self._rows_left -= 1
        self._bytes_left -= sum(len(value) for value in row if isinstance(value, str | bytes))
        if self._rows_left < 0 or self._bytes_left < 0:
            raise Invalid(f"{self._path} holds more than a file of its size can; is it damaged?")


def quoted(name: str) -> str:
    """An identifier by SQLite's own rule."""
    return '"' + name.replace('"', '""') + '"'
