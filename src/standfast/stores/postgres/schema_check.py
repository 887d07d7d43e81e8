"""The schema of a database, compared with the one that this version writes: that is made beside it,
in a transaction that is rolled back, and the server describes both in the same words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from psycopg import errors

from standfast.stores.postgres.connection import SCHEMA, Db, is_spread, select
from standfast.stores.postgres.migrate import MIGRATION_TABLE, migrations
from standfast.stores.report import Defect

Objects = Mapping[tuple[str, str], str]  # (what, name) -> how the server describes it

_SCRATCH = "standfast_doctor"
# What runs with every write or read, whoever made it.
_CODE = """
SELECT 'trigger', tgname || ' on ' || relname, pg_get_triggerdef(pg_trigger.oid)
  FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
  WHERE relnamespace = %(schema)s::regnamespace AND NOT tgisinternal
UNION ALL SELECT 'rule', rulename || ' on ' || relname, pg_get_ruledef(pg_rewrite.oid)
  FROM pg_rewrite JOIN pg_class ON pg_class.oid = ev_class
  WHERE relnamespace = %(schema)s::regnamespace AND rulename <> '_RETURN'
UNION ALL SELECT 'policy', polname || ' on ' || relname,
    coalesce(pg_get_expr(polqual, polrelid), '')
  FROM pg_policy JOIN pg_class ON pg_class.oid = polrelid
  WHERE relnamespace = %(schema)s::regnamespace
UNION ALL SELECT 'function', proname, pg_get_functiondef(oid)
  FROM pg_proc WHERE pronamespace = %(schema)s::regnamespace AND prokind IN ('f', 'p')
    AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE classid = 'pg_proc'::regclass
      AND objid = pg_proc.oid AND deptype = 'e')
"""
_REST = """
UNION ALL SELECT 'column', relname || '.' || attname,
    concat_ws(' ', format_type(atttypid, atttypmod),
    CASE WHEN attnotnull THEN 'NOT NULL' END, pg_get_expr(adbin, adrelid))
  FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
  LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
  WHERE relnamespace = %(schema)s::regnamespace AND relkind IN ('r', 'p', 'f', 'v', 'm')
    AND attnum > 0 AND NOT attisdropped
UNION ALL SELECT 'view', relname, pg_get_viewdef(oid)
  FROM pg_class WHERE relnamespace = %(schema)s::regnamespace AND relkind IN ('v', 'm')
UNION ALL SELECT 'index', relname, pg_get_indexdef(oid)
  FROM pg_class WHERE relnamespace = %(schema)s::regnamespace AND relkind = 'i'
UNION ALL SELECT 'constraint', conname || ' on ' || relname, pg_get_constraintdef(pg_constraint.oid)
  FROM pg_constraint JOIN pg_class ON pg_class.oid = conrelid
  WHERE relnamespace = %(schema)s::regnamespace AND contype <> 'n'
"""


def schema_defects(db: Db) -> Iterator[Defect]:
    """What is in the schema and not ours, what is changed, and what is missing. Of a store that is
    spread over shards, and for a user who may make no schema, only what runs as code."""
    ours = {} if is_spread(db) else _expected(db)
    everything = bool(ours)
    found = _objects(db, SCHEMA, everything=everything)
    for one, definition in found.items():
        if one in ours and definition != ours[one]:
            text = "is not as standfast makes it; restore a backup"
            yield Defect(part="schema", text=f"the {_named(one)} {text}")
        elif one not in ours and not _is_of_a_shard(*one):
            text = "is not of standfast; if you did not make it, restore a backup, else drop it"
            yield Defect(part="schema", text=f"the {_named(one)} {text}")
    for one in ours.keys() - found.keys():
        text = f"the {_named(one)} is missing; restore a backup"
        yield Defect(part="schema", text=text)


def foreign_code(db: Db) -> Iterator[Defect]:
    """Triggers, rules, policies and functions: reading alone tells those."""
    for one in _objects(db, SCHEMA, everything=False):
        if not _is_of_a_shard(*one):
            yield Defect(part="schema", text=f"the {_named(one)} is not of standfast")


def _objects(db: Db, schema: str, *, everything: bool) -> Objects:
    rows = db.execute(_CODE + (_REST if everything else ""), {"schema": schema}).fetchall()
    return {
        (what, name): told.replace(f"{_SCRATCH}.", "").replace(f"{SCHEMA}.", "")
        for what, name, told in rows
    }


def _expected(db: Db) -> Objects:
    """Of this version; empty where this user may make no schema."""
    [(path,)] = select(db, "SELECT current_setting('search_path')")
    try:
        with db.transaction(force_rollback=True):
            db.execute(f"CREATE SCHEMA {_SCRATCH}")
            db.execute(
                "SELECT set_config('search_path', %s, true)", (path.replace(SCHEMA, _SCRATCH, 1),)
            )
            db.execute(MIGRATION_TABLE.format(_SCRATCH))
            for migration in migrations():
                db.execute(migration.sql.encode())
            return _objects(db, _SCRATCH, everything=True)
    except errors.InsufficientPrivilege:
        return {}


def _is_of_a_shard(what: str, name: str) -> bool:
    """What ``spread`` makes there."""
    from standfast.stores.postgres.spread import REPLACED

    ours = {("function", f"replace_{table}") for table in REPLACED}
    return (what, name) in ours | {("trigger", f"replaced on {table}") for table in REPLACED}


def _named(one: tuple[str, str]) -> str:
    what, name = one
    return f"{what} {name if name.isprintable() else ascii(name)[1:-1]}"
