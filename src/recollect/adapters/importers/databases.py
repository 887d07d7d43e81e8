"""Reading a SQLite file of somebody else, without changing a byte of it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from recollect.errors import Invalid, NotFound, Unavailable

MAGIC = b"SQLite format 3\0"


def is_database(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


@contextmanager
def database(path: Path) -> Iterator[ForeignDatabase]:
    """A copy of it with its write-ahead log: reading such a file in place may write to it."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy.db"
        try:
            shutil.copyfile(path, copy)
            log = path.with_name(path.name + "-wal")
            if log.exists():
                shutil.copyfile(log, copy.with_name(copy.name + "-wal"))
            connection = apsw.Connection(str(copy))
        except FileNotFoundError:
            raise NotFound(f"there is no file {path}") from None
        except (OSError, apsw.Error) as error:
            raise Unavailable(f"cannot read {path}: {error}") from None
        try:
            yield ForeignDatabase(connection, path)
        except apsw.Error as error:
            raise Invalid(f"{path} is damaged or no database: {error}") from None
        finally:
            connection.close()


class ForeignDatabase:
    """Tables and rows by name."""

    def __init__(self, connection: apsw.Connection, path: Path) -> None:
        self._connection, self._path = connection, path

    def columns(self, table: str) -> set[str]:
        found = self._connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
        return {str(name) for (name,) in found}

    def needs(self, table: str, *columns: str) -> None:
        """Invalid, if this is not the kind of file that was named."""
        missing = set(columns) - self.columns(table)
        if missing:
            raise Invalid(
                f"{self._path} has no table {table} with {', '.join(columns)}; "
                "is it the right kind of file?"
            )

    def rows(self, table: str, order: str) -> Iterator[dict[str, Any]]:
        names = sorted(self.columns(table))
        listed = ", ".join(f'"{name}"' for name in names)
        for row in self._connection.execute(f'SELECT {listed} FROM "{table}" ORDER BY {order}'):
            yield dict(zip(names, row, strict=True))
