"""Bringing a database to the newest shape, and refusing one that does not fit.

The numbered files run one at a time under a lock of the database, each in the same transaction as
the note that it ran: whoever is killed leaves the shape before or after it, and whoever comes
second waits and finds it done. A server of an older standfast goes on with the columns it knows:
a migration that it could not live with raises ``oldest`` in the table ``meta``; then it refuses.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from functools import cache
from importlib import resources
from typing import Any

from psycopg import errors, sql

from standfast import compat
from standfast.errors import Incompatible, Unavailable
from standfast.index.derived import labels_blob, terms_blob
from standfast.stores.postgres.connection import (
    SCHEMA,
    DatabasePlace,
    Db,
    PackedHashes,
    connect,
    from_text,
    is_spread,
    roll_back,
    select,
)
from standfast.stores.postgres.held import SEALED_ROWS, told_row
from standfast.stores.rows import checksum
from standfast.text import analysis
from standfast.types.frozen import frozen

OLDEST_SERVER = 150_000
LOCK = compat.POSTGRES_LOCK
REBUILT_AT_ONCE = 1000
MIGRATION_TABLE = (
    "CREATE TABLE IF NOT EXISTS {}.migration (number INTEGER PRIMARY KEY,"
    " name TEXT NOT NULL, sha256 TEXT NOT NULL, applied_at TIMESTAMPTZ NOT NULL DEFAULT now())"
)


@frozen(kw_only=False)
class PostgresMigration:
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
def migrations() -> tuple[PostgresMigration, ...]:
    """The numbered files, in order, without gaps."""
    folder = resources.files(__package__) / "migrations"
    files = {file.name: file for file in folder.iterdir() if file.name.endswith(".sql")}
    return tuple(
        PostgresMigration(int(name.split("_")[0]), name, file.read_text(encoding="utf-8"))
        for name, file in sorted(files.items())
    )


def bring_up_to_date(place: DatabasePlace) -> Db:
    """Make an empty database ours, migrate an older one, leave a newer one untouched. Answers with
    the connection."""
    db = connect(place)
    try:
        _check_server(db, place)
        if _applied(db) is None and _rename_schema(db, place):
            db.close()
            return bring_up_to_date(place)
        if not _is_current(db, place):
            if is_spread(db):
                raise Incompatible(
                    f"{place.name} is spread over shards and cannot be changed by itself; open "
                    "every shard with this version, make a new front with "
                    "standfast.stores.postgres.spread.spread, or go on with the older standfast"
                )
            _migrate(db, place)
        _check_analyser(db)
    except BaseException:
        db.close()
        raise
    return db


def _rename_schema(db: Db, place: DatabasePlace) -> bool:
    """What was made under an earlier name of ours becomes the schema of today, all of it or
    nothing."""
    for name in compat.POSTGRES_SCHEMAS[1:]:
        [(table,)] = select(db, "SELECT to_regclass(%s)::text", f"{name}.migration")
        if table is None:
            continue
        names = sql.Identifier(name), sql.Identifier(SCHEMA)
        try:
            db.execute(sql.SQL("ALTER SCHEMA {} RENAME TO {}").format(*names))
        except (errors.InvalidSchemaName, errors.DuplicateSchema):
            pass  # another program was quicker
        except errors.InsufficientPrivilege:
            raise Unavailable(
                f"{place.user or 'this user'} may not rename a schema in {place.name}; run as its "
                f"owner: ALTER SCHEMA {name} RENAME TO {SCHEMA}",
                lasting=True,
            ) from None
        return True
    return False


def _check_server(db: Db, place: DatabasePlace) -> None:
    version = db.info.server_version
    if version < OLDEST_SERVER:
        raise Incompatible(
            f"{place.name} is PostgreSQL {version // 10000}; standfast needs 15 or newer"
        )
    [(encoding,)] = select(db, "SHOW server_encoding")
    if encoding != "UTF8":
        raise Incompatible(
            f"{place.name} keeps its texts as {encoding}; create the database with ENCODING 'UTF8'"
        )


def _applied(db: Db) -> dict[int, str] | None:
    """Which migrations it has seen: number -> hash; None if it is not one of ours."""
    [(table,)] = select(db, "SELECT to_regclass(%s)::text", f"{SCHEMA}.migration")
    if table is None:
        return None
    return dict(select(db, f"SELECT number, sha256 FROM {SCHEMA}.migration"))


def _is_current(db: Db, place: DatabasePlace) -> bool:
    """Incompatible if it was made by others, or must be left to newer ones."""
    applied = _applied(db)
    if applied is None:
        return False
    for migration in migrations():
        if not migration.made(applied.get(migration.number)):
            raise Incompatible(
                f"{place.name} was built with another {migration.name} than this standfast has; "
                "use the version that made it"
            )
    known = len(migrations())
    if max(applied, default=0) > known:
        [oldest] = select(db, "SELECT value FROM meta WHERE key = 'oldest'") or [("1",)]
        if int(oldest[0]) > known:
            raise Incompatible(
                f"{place.name} was changed by a newer standfast (schema {max(applied)}, this one "
                f"knows {known}); upgrade standfast"
            )
    return len(applied) >= known


def _migrate(db: Db, place: DatabasePlace) -> None:
    db.execute("SELECT pg_advisory_lock(%s)", (LOCK,))
    try:
        if _applied(db) is None:
            _make_schema(db, place)
        for migration in migrations():
            if migration.number not in (_applied(db) or {}):
                _run(db, migration)
        _is_current(db, place)
    finally:
        if not db.closed:
            roll_back(db)
            db.execute("SELECT pg_advisory_unlock(%s)", (LOCK,))


def _make_schema(db: Db, place: DatabasePlace) -> None:
    """The schema, the extension and the table of migrations."""
    user = place.user or "this user"
    try:
        db.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(SCHEMA)))
    except errors.InsufficientPrivilege:
        raise Unavailable(
            f"{user} may not create a schema in {place.name}; run as its owner: "
            f'GRANT CREATE ON DATABASE "{place.database}" TO "{user}"',
            lasting=True,
        ) from None
    _make_extension(db, place)
    db.execute(MIGRATION_TABLE.format(SCHEMA))


def _make_extension(db: Db, place: DatabasePlace) -> None:
    if select(db, "SELECT 1 FROM pg_extension WHERE extname = 'vector'"):
        return
    try:
        db.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except errors.InsufficientPrivilege:
        raise Unavailable(
            f"{place.name} has pgvector, but this user may not switch it on; run as an "
            "administrator of the database: CREATE EXTENSION vector",
            lasting=True,
        ) from None
    except (errors.FeatureNotSupported, errors.UndefinedFile):
        raise Incompatible(
            f"{place.name} has no pgvector; install it on the server (package "
            "postgresql-NN-pgvector), then try again"
        ) from None
    # From here on this connection must find it.
    db.execute(
        "SELECT set_config('search_path', concat_ws(', ', %s::text, (SELECT quote_ident(nspname)"
        " FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace"
        " WHERE extname = 'vector')), false)",
        (SCHEMA,),
    )


def _run(db: Db, migration: PostgresMigration) -> None:
    """All of it or nothing."""
    with db.transaction():
        db.execute(migration.sql.encode())
        if migration.number in _STEPS:
            _STEPS[migration.number](db)
        db.execute(
            "INSERT INTO migration (number, name, sha256) VALUES (%s, %s, %s)",
            (migration.number, migration.name, migration.sha256),
        )


# For each kind of sealed row its key; what else is needed is in ``held.SEALED_ROWS``.
_SEALED_KEYS = {
    "session": ("scope", "id"),
    "summary": ("scope", "session", "id"),
    "relation": ("scope", "source", "target", "kind"),
    "item": ("scope", "namespace", "key"),
}


def _seal_rows(db: Db) -> None:
    """As ``stores.rows.sealed`` does: into a table of its own, and from there in one statement."""
    for what, key in _SEALED_KEYS.items():
        columns = ", ".join(f"{name} {'SMALLINT' if name == 'kind' else 'TEXT'}" for name in key)
        db.execute(f"CREATE TEMP TABLE seal ({columns}, checksum BYTEA) ON COMMIT DROP")
        with db.cursor(name="every") as every, db.cursor() as cursor:
            every.itersize = REBUILT_AT_ONCE
            rows = every.execute(SEALED_ROWS[what])
            while some := rows.fetchmany(REBUILT_AT_ONCE):
                told = [told_row(what, row) for row in some]
                with cursor.copy("COPY seal FROM STDIN") as copy:
                    for row in told:
                        copy.write_row((*row[: len(key)], checksum(*row[:-1])))
        same = " AND ".join(f"{what}.{name} = seal.{name}" for name in key)
        db.execute(f"UPDATE {what} SET checksum = seal.checksum FROM seal WHERE {same}")
        db.execute("DROP TABLE seal")


# What SQL alone cannot say, in the same transaction.
_STEPS: dict[int, Callable[[Db], None]] = {2: _seal_rows}


# Words are cut by the program: when its way of cutting changed, they are cut again.


def _check_analyser(db: Db) -> None:
    if _has_current_words(db):
        return
    db.execute("SELECT pg_advisory_lock(%s)", (LOCK,))
    try:
        if not _has_current_words(db):
            cut_again(db)
            db.execute(
                "INSERT INTO meta VALUES ('analyser', %s)"
                " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                (str(analysis.ANALYSER_VERSION),),
            )
    finally:
        if not db.closed:
            roll_back(db)
            db.execute("SELECT pg_advisory_unlock(%s)", (LOCK,))


def _has_current_words(db: Db) -> bool:
    stored = select(db, "SELECT value FROM meta WHERE key = 'analyser'")
    return stored == [(str(analysis.ANALYSER_VERSION),)]


def cut_again(db: Db) -> None:
    """The words and labels of every record, root by root. Each is locked like by a commit, and
    its indexes load anew."""
    for (root,) in select(db, "SELECT name FROM root ORDER BY name"):
        with db.transaction():
            [(stamp,)] = select(
                db, "UPDATE root SET stamp = stamp + 1 WHERE name = %s RETURNING stamp", root
            )
            after = -1
            while rows := select(
                db,
                "SELECT key, text, author, tags, data FROM record WHERE root = %s AND key > %s"
                " ORDER BY key LIMIT %s",
                *(root, after, REBUILT_AT_ONCE),
            ):
                _write_words(db, root, stamp, rows)
                after = rows[-1][0]
            db.execute(
                "INSERT INTO scope (root, path, stamp) SELECT DISTINCT root, scope, %s FROM record"
                " WHERE root = %s ON CONFLICT (root, path) DO UPDATE SET stamp = excluded.stamp",
                (stamp, root),
            )


def _write_words(db: Db, root: str, stamp: int, rows: list[tuple[Any, ...]]) -> None:
    new = []
    for key, text, author, tags, data in rows:
        words, terms = terms_blob(from_text(text), author)
        labels = labels_blob(json.loads(tags), json.loads(data))
        new.append((words, terms, PackedHashes(terms), labels, stamp, root, key))
    with db.cursor() as cursor:
        cursor.executemany(
            "UPDATE record SET words = %s, terms = %s, hashes = %s, labels = %s, changed = %s"
            " WHERE root = %s AND key = %s",
            new,
        )
