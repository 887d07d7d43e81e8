"""Bringing a file to the newest schema, and refusing one that does not fit."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import resources

import apsw

from standfast import compat
from standfast.errors import Incompatible, Unavailable
from standfast.stores.sqlite import upgrade
from standfast.stores.sqlite.connection import (
    APPLICATION_ID,
    roll_back,
    select,
    use_write_ahead_log,
)
from standfast.stores.sqlite.foreign_triggers import check_triggers
from standfast.stores.sqlite.rebuild import rebuild_terms
from standfast.text import analysis
from standfast.types.frozen import frozen

# Of a new file. Of the usual 4096 bytes two vectors of 384 numbers leave a quarter unused.
PAGE_BYTES = 8192

# What SQL alone cannot say, in the same transaction.
_STEPS: dict[int, Callable[[apsw.Connection], None]] = {
    2: upgrade.move_items,
    4: upgrade.seal_rows,
}


@frozen(kw_only=False)
class Migration:
    number: int
    name: str
    sql: str

    @property
    def sha256(self) -> str:
        return _hash(self.sql)

    def made(self, sha256: str | None) -> bool:
        """Is it this one, under whichever name of ours? None: it was not applied yet."""
        return sha256 is None or sha256 in map(_hash, compat.forms(self.sql))


def _hash(sql: str) -> str:
    return hashlib.sha256(sql.encode()).hexdigest()


@cache
def migrations() -> tuple[Migration, ...]:
    """The numbered files, in order, without gaps."""
    folder = resources.files(__package__) / "migrations"
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".sql")), key=_name)
    return tuple(
        Migration(int(file.name.split("_")[0]), file.name, file.read_text(encoding="utf-8"))
        for file in files
    )


def _name(file: object) -> str:
    return str(getattr(file, "name", ""))


def schema() -> str:
    return (resources.files(__package__) / "schema.sql").read_text(encoding="utf-8")


def bring_up_to_date(connection: apsw.Connection, path: str) -> None:
    """Make a new file ours, migrate an older one, leave a foreign or newer one untouched."""
    known = len(migrations())
    version = _version(connection, path)
    check_triggers(connection, path)
    if version == known:
        check_hashes(connection, path)
    elif connection.readonly("main"):
        raise Unavailable(f"{path} is read-only and must be written once to be brought up to date")
    else:
        if version == 0:
            connection.pragma("page_size", PAGE_BYTES)
        use_write_ahead_log(connection)
        _migrate(connection, path)
    if connection.pragma("journal_mode") != "wal" and not connection.readonly("main"):
        use_write_ahead_log(connection)
    if not connection.readonly("main"):
        upgrade.go_on(connection)
        _give_id(connection)
    _check_analyser(connection, path)


def _version(connection: apsw.Connection, path: str) -> int:
    """How many migrations the file has seen; Incompatible if it is not one of ours."""
    application = connection.pragma("application_id")
    version = int(connection.pragma("user_version"))
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").get
    if application == 0 and version == 0 and tables == 0:
        return 0
    if application != APPLICATION_ID:
        raise Incompatible(f"{path} belongs to another program; name another file")
    if version > len(migrations()):
        raise Incompatible(
            f"{path} was made by a newer standfast (schema {version}, this one knows "
            f"{len(migrations())}); upgrade standfast"
        )
    return version


def check_hashes(connection: apsw.Connection, path: str) -> None:
    """Incompatible if the file was built by migrations that differ from ours."""
    applied = dict(select(connection, "SELECT number, sha256 FROM migration"))
    for migration in migrations():
        if not migration.made(applied.get(migration.number)):
            raise Incompatible(
                f"{path} was built with another {migration.name} than this standfast has; "
                "use the version that made it"
            )


def _migrate(connection: apsw.Connection, path: str) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = _version(connection, path)  # another program may have been quicker
        if version == 0:
            connection.execute(schema()).fetchall()
            _write_analyser(connection)
        else:
            check_hashes(connection, path)
            for migration in migrations()[version:]:
                connection.execute(migration.sql).fetchall()
                if migration.number in _STEPS:
                    _STEPS[migration.number](connection)
        _note(connection, version)
        connection.execute("COMMIT")
    except BaseException:
        roll_back(connection)
        raise


def _note(connection: apsw.Connection, version: int) -> None:
    now = time.time_ns() // 1000
    for migration in migrations()[version:]:
        connection.execute(
            "INSERT INTO migration VALUES (?, ?, ?, ?)",
            (migration.number, migration.name, migration.sha256, now),
        )
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {len(migrations())}")


def _write_analyser(connection: apsw.Connection) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO meta VALUES ('analyser', ?)", (str(analysis.ANALYSER_VERSION),)
    )


def store_id(connection: apsw.Connection) -> str:
    """Which store this is: drawn by lot once, and kept by every copy of the file. "" for a file
    that could only be read since there are ids."""
    found: str | None = connection.execute("SELECT value FROM meta WHERE key = 'store'").get
    return found or ""


def _give_id(connection: apsw.Connection) -> None:
    if not store_id(connection):
        with suppress(apsw.BusyError):  # somebody writes for long: whoever opens it next
            connection.execute(
                "INSERT OR IGNORE INTO meta VALUES ('store', lower(hex(randomblob(16))))"
            )


def _check_analyser(connection: apsw.Connection, path: str) -> None:
    """Words are cut by the program: when its way of cutting changed, they are cut again."""
    if _has_current_words(connection):
        return
    if connection.readonly("main"):
        raise Unavailable(f"{path} is read-only and its word index is old; open it writable once")
    connection.execute("BEGIN IMMEDIATE")
    try:
        if not _has_current_words(connection):
            rebuild_terms(connection)
            _write_analyser(connection)
        connection.execute("COMMIT")
    except BaseException:
        roll_back(connection)
        raise


def _has_current_words(connection: apsw.Connection) -> bool:
    stored = connection.execute("SELECT value FROM meta WHERE key = 'analyser'").get
    return bool(stored == str(analysis.ANALYSER_VERSION))
