"""Opening the file: who may, how, and whether it is ours at all."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import quote

import apsw

from standfast import compat
from standfast.errors import Incompatible, Unavailable
from standfast.stores.sqlite.cipher import unlock
from standfast.types.files import check_is_file

APPLICATION_ID = compat.SQLITE_APPLICATION_ID
OLDEST_LIBRARY = (3, 51, 3)  # older ones may corrupt a WAL that two programs share
BUSY_MILLISECONDS = 30_000
STATEMENTS_KEPT = 256  # ready to run again

# Closing any descriptor of a file drops all locks this process holds on it, SQLite's included.
# So nothing here opens an existing store except through SQLite, and creation is one at a time.
_CREATING = threading.Lock()


def check_library() -> None:
    version = apsw.sqlite_lib_version()
    if tuple(int(part) for part in version.split(".")[:3]) < OLDEST_LIBRARY:
        raise Incompatible(
            f"SQLite {version} can damage files that several programs share; "
            f"install apsw {'.'.join(map(str, OLDEST_LIBRARY))} or newer"
        )


def create_private(path: str) -> None:
    """Make an empty file for its owner only, unless there is one. SQLite gives the write-ahead
    log the same mode."""
    with _CREATING:
        if os.path.exists(path):
            return
        try:
            Path(path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with contextlib.suppress(FileExistsError):  # another program was quicker
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except (FileExistsError, NotADirectoryError):
            raise Unavailable(f"cannot create {path}: its folder is a file") from None
        except OSError as error:
            raise Unavailable(f"cannot create {path}: {error.strerror or error}") from error


def connect(path: str) -> apsw.Connection:
    """A connection to an existing file. Falls back to reading only, if that is all we may."""
    if os.path.isdir(path):
        raise Incompatible(f"{path} is a folder; name a file")
    check_is_file(path)
    connection = apsw.Connection(
        path, flags=apsw.SQLITE_OPEN_READWRITE, statementcachesize=STATEMENTS_KEPT
    )
    try:
        unlock(connection, path)
        _set_up(connection)
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        return connection
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        connection.close()
    except BaseException:
        connection.close()
        raise
    return _connect_to_still_file(path)


def _connect_to_still_file(path: str) -> apsw.Connection:
    """For a folder in which no log can be made: right as long as no log is waiting."""
    log = path + "-wal"
    if os.path.exists(log) and os.path.getsize(log):
        raise Unavailable(f"{path} lies in a read-only folder and was not closed; copy it first")
    connection = apsw.Connection(
        f"file:{quote(os.path.abspath(path))}?immutable=1",
        flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI,
    )
    unlock(connection, path)
    _set_up(connection)
    return connection


def _set_up(connection: apsw.Connection) -> None:
    # Until the file is known to be ours, closing it must not touch it.
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    # Else SQLite looks at the values bound to a statement, and plans it anew each time it runs.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    # The file's views are for other programs. One in the place of a table could never end.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    connection.set_busy_timeout(BUSY_MILLISECONDS)
    connection.execute(
        "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON;"
        "PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 0"
    ).fetchall()


def connect_reader(path: str) -> apsw.Connection:
    """A connection to a file that is known to be ours; it cannot write."""
    connection = connect(path)
    _adopt(connection)
    # Twice the usual: the inner pages of large tables stay, whatever rows are read between.
    connection.execute("PRAGMA query_only = ON; PRAGMA cache_size = -4000").fetchall()
    return connection


def connect_writer(path: str) -> apsw.Connection:
    connection = connect(path)
    if connection.readonly("main"):
        connection.close()
        raise Unavailable(f"{path} is read-only; make the file and its folder writable")
    _adopt(connection)
    connection.execute(
        "PRAGMA cache_size = -16000; PRAGMA journal_size_limit = 67108864"
    ).fetchall()
    triggers = resources.files(__package__) / "triggers.sql"
    connection.execute(triggers.read_text(encoding="utf-8")).fetchall()
    return connection


def _adopt(connection: apsw.Connection) -> None:
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)


def use_write_ahead_log(connection: apsw.Connection) -> None:
    """Two programs may switch a new file at once; SQLite does not wait for that by itself."""
    deadline = time.monotonic() + BUSY_MILLISECONDS / 1000
    while True:
        try:
            mode = connection.pragma("journal_mode", "wal")
        except (apsw.BusyError, apsw.LockedError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
            continue
        if mode != "wal":
            raise Unavailable(
                f"{connection.filename} lies on a file system without shared memory "
                "(a network drive?); put it on a local disk"
            )
        return


def select(connection: apsw.Connection, sql: str, *bindings: Any) -> list[tuple[Any, ...]]:
    """All rows of a query."""
    return connection.execute(sql, bindings).fetchall()


@contextmanager
def snapshot(connection: apsw.Connection) -> Iterator[None]:
    """Everything read inside is of one moment: that of the first read."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        roll_back(connection)


def roll_back(connection: apsw.Connection) -> None:
    """Some failures end the transaction by themselves."""
    if connection.in_transaction:
        connection.execute("ROLLBACK")
