"""The schema of a file, compared with the one that this version writes.

A trigger, a view or a table that somebody else put into the file works on every commit, and a
constraint that is gone guards nothing: no checksum of a row tells of either.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

import apsw

from standfast import compat
from standfast.stores.report import Defect
from standfast.stores.sqlite.connection import select
from standfast.stores.sqlite.migrate import schema

Objects = Mapping[tuple[str, str], tuple[str, str]]  # (type, name) -> its table, its SQL

_ALL = "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema"
# SQLite's own, made by ANALYZE: they steer its planner and nothing else.
_STATISTICS: Objects = {
    ("table", "sqlite_stat1"): ("sqlite_stat1", "CREATE TABLE sqlite_stat1(tbl,idx,stat)"),
    ("table", "sqlite_stat4"): (
        "sqlite_stat4",
        "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)",
    ),
}


def schema_defects(db: apsw.Connection) -> Iterator[Defect]:
    """What is in the schema and not ours, what is changed, and what is missing."""
    found, ours = _objects(db), _expected()
    for one, definition in found.items():
        if definition in (*_forms(ours.get(one)), _STATISTICS.get(one)):
            continue
        if one in ours:
            text = f"the {_named(one)} is not as standfast makes it; restore a backup"
        else:
            text = f"the {_named(one)} is not of standfast; {_remedy(*one)}"
        yield Defect(part="schema", text=text)
    for one in ours.keys() - found.keys():
        text = f"the {_named(one)} is missing; restore a backup"
        yield Defect(part="schema", text=text)


def _forms(ours: tuple[str, str] | None) -> Iterator[tuple[str, str]]:
    """A trigger's words name the program, by whichever of its names made the file."""
    if ours is not None:
        table, sql = ours
        yield from ((table, form) for form in compat.forms(sql))


def _objects(db: apsw.Connection) -> Objects:
    return {
        (str(kind), str(name)): (str(table), " ".join(str(sql).split()))
        for kind, name, table, sql in select(db, _ALL)
    }


@cache
def _expected() -> Objects:
    db = apsw.Connection(":memory:")
    try:
        db.execute(schema()).fetchall()
        return _objects(db)
    finally:
        db.close()


def _named(one: tuple[str, str]) -> str:
    kind, name = one
    return f"{kind} {_quoted(name)}"


def _remedy(kind: str, name: str) -> str:
    if kind not in ("table", "index", "trigger", "view"):
        return "restore a backup"
    return (
        f"if you did not make it, restore a backup; to remove it: DROP {kind.upper()} "
        + _quoted(name)
    )


def _quoted(name: str) -> str:
    """By SQLite's own rule, on one line whatever is in it."""
    plain = name if name.isprintable() else ascii(name)[1:-1]
    return '"' + plain.replace('"', '""') + '"'
