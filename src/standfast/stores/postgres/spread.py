"""Spreading a store over several PostgreSQL servers: hash partitions by root, each a foreign table.

One database, the front, is the one that is opened. It has the tables without rows: every root's
rows lie in one of the shards, which have the same schema with all its keys and indexes. A commit
is one transaction on the front and on one shard. The registry, and which spaces of vectors there
are, stay on the front.

A foreign table has no keys that the front knows, so it cannot take ``ON CONFLICT ... DO UPDATE``:
the front leaves that away (``connection.SpreadCursor``), and a trigger of the shard replaces the
row, which the lock of its root makes safe.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from psycopg import errors, sql

from standfast import compat
from standfast.errors import Incompatible, Invalid, Unavailable
from standfast.stores.postgres.connection import SCHEMA, DatabasePlace, Db, is_spread, select
from standfast.stores.postgres.failures import speaking_of
from standfast.stores.postgres.migrate import bring_up_to_date

# Every table with rows of roots, by the column that says whose; and the keys of those whose rows
# are replaced.
TABLES = {
    "root": "name",
    **dict.fromkeys(
        (
            "scope", "session", "message", "summary", "record", "lineage", "relation",
            "embedding", "erased", "item", "journal", "touch",
        ),
        "root",
    ),
}  # fmt: skip
REPLACED = {
    "scope": ("root", "path"),
    "session": ("root", "scope", "id"),
    "relation": ("root", "source", "kind", "target"),
    "embedding": ("root", "scope", "space", "record"),
    "item": ("root", "namespace", "scope", "key"),
}
_SERVER_OPTIONS = {
    "extensions": "vector",
    "batch_size": "100",
    "fetch_size": "1000",
    "async_capable": "true",
}


def spread(address: str, shards: Sequence[str]) -> None:
    """Make the database of ``address`` the front of these, once. All must be empty. The user of
    each shard's address is the one that the front comes as.

    Invalid: no shards, or one twice. Incompatible: something is in one of them already.
    Unavailable: one cannot be reached, or a right is missing.
    """
    places = [DatabasePlace(shard) for shard in shards]
    front = DatabasePlace(address)
    names = [place.name for place in (front, *places)]
    if not places or len(set(names)) < len(names):
        raise Invalid("name the front and at least one shard, each another database")
    for place in places:
        with speaking_of(place.name):
            _prepare_shard(place)
    with speaking_of(front.name):
        _prepare_front(front, places)


def _empty(place: DatabasePlace) -> Db:
    db = bring_up_to_date(place)
    try:
        if db.execute("SELECT 1 FROM root LIMIT 1").fetchall():
            raise Incompatible(
                f"{place.name} holds memories already; spread an empty database, then copy them "
                "with: standfast migrate"
            )
        if is_spread(db):
            raise Incompatible(f"{place.name} is spread already")
    except BaseException:
        db.close()
        raise
    return db


def _prepare_shard(place: DatabasePlace) -> None:
    with _empty(place) as db, db.transaction():
        for table, key in REPLACED.items():
            same = " AND ".join(f"{name} = NEW.{name}" for name in key)
            db.execute(
                f"CREATE OR REPLACE FUNCTION {SCHEMA}.replace_{table}() RETURNS trigger"
                f" LANGUAGE plpgsql AS 'BEGIN DELETE FROM {SCHEMA}.{table} WHERE {same};"
                " RETURN NEW; END'"
            )
            db.execute(
                f"CREATE OR REPLACE TRIGGER replaced BEFORE INSERT ON {SCHEMA}.{table}"
                f" FOR EACH ROW EXECUTE FUNCTION {SCHEMA}.replace_{table}()"
            )


def _prepare_front(front: DatabasePlace, places: Sequence[DatabasePlace]) -> None:
    with _empty(front) as db, db.transaction():
        try:
            db.execute("CREATE EXTENSION IF NOT EXISTS postgres_fdw")
            for number, place in enumerate(places):
                _make_server(db, compat.POSTGRES_SHARD.format(number), place)
        except errors.InsufficientPrivilege as error:
            raise Unavailable(
                f"{front.name}: {error.diag.message_primary}; run as an administrator: CREATE "
                "EXTENSION postgres_fdw; GRANT USAGE ON FOREIGN DATA WRAPPER postgres_fdw TO "
                f'"{front.user}"',
                lasting=True,
            ) from None
        views = select(
            db,
            "SELECT relname, pg_get_viewdef(oid) FROM pg_class WHERE relkind = 'v'"
            " AND relnamespace = %s::regnamespace ORDER BY oid",
            SCHEMA,
        )
        for view, _ in reversed(views):
            db.execute(_named("DROP VIEW {}", view))
        for table, column in TABLES.items():
            _spread_table(db, table, column, len(places))
        for view, told in views:
            db.execute(
                _named("CREATE VIEW {} AS " + told.replace("{", "{{").replace("}", "}}"), view)
            )


def _make_server(db: Db, server: str, place: DatabasePlace) -> None:
    given = place.options
    options = {"host": given.get("host", "localhost"), "port": given.get("port", "5432")}
    options |= {"dbname": place.database, **_SERVER_OPTIONS}
    secret = {name: given[name] for name in ("user", "password") if given.get(name)}
    db.execute(
        sql.SQL("CREATE SERVER {} FOREIGN DATA WRAPPER postgres_fdw OPTIONS ({})").format(
            sql.Identifier(server), _options(options)
        )
    )
    db.execute(
        sql.SQL("CREATE USER MAPPING FOR CURRENT_USER SERVER {} OPTIONS ({})").format(
            sql.Identifier(server), _options(secret)
        )
    )


def _options(given: dict[str, Any]) -> sql.Composed:
    parts = [
        sql.SQL("{} {}").format(sql.Identifier(name), sql.Literal(str(value)))
        for name, value in given.items()
    ]
    return sql.SQL(", ").join(parts)


def _spread_table(db: Db, table: str, column: str, shards: int) -> None:
    db.execute(f"ALTER TABLE {table} RENAME TO {table}_was")
    db.execute(
        f"CREATE TABLE {table} (LIKE {table}_was INCLUDING DEFAULTS) PARTITION BY HASH ({column})"
    )
    db.execute(f"DROP TABLE {table}_was")
    for number in range(shards):
        shard = compat.POSTGRES_SHARD.format(number)
        db.execute(
            f"CREATE FOREIGN TABLE {table}_{number} PARTITION OF {table}"
            f" FOR VALUES WITH (MODULUS {shards}, REMAINDER {number}) SERVER {shard}"
            f" OPTIONS (schema_name '{SCHEMA}', table_name '{table}')"
        )


def _named(text: str, name: str) -> sql.Composed:
    return sql.SQL(text).format(sql.Identifier(name))
