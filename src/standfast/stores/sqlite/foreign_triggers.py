"""Triggers that somebody else put into a file: SQLite would run them with every write, so that one
could keep a copy of what is forgotten, or never end. A file with one is read, and never written."""

from __future__ import annotations

from functools import cache
from importlib import resources

import apsw

from standfast import compat
from standfast.errors import Incompatible


class ForeignTrigger(Incompatible):
    """The file has a trigger that no version of standfast makes."""


def check_triggers(connection: apsw.Connection, path: str) -> None:
    """ForeignTrigger if there is one. By its whole text: a name says nothing."""
    found = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
    for name, sql in found.fetchall():
        if _plain(str(sql)) not in _ours():
            shown = str(name) if str(name).isprintable() else ascii(name)[1:-1]
            raise ForeignTrigger(
                f'{path} has a trigger that is not of standfast ("{shown}") and would run with '
                "every write; restore a backup, or remove it with DROP TRIGGER if it is yours"
            )


@cache
def _ours() -> frozenset[str]:
    """Every trigger of this schema and of those before it, as SQLite keeps it."""
    folder = resources.files(__package__)
    files = [folder / "schema.sql", *(folder / "migrations").iterdir()]
    written = [file.read_text(encoding="utf-8") for file in files if file.name.endswith(".sql")]
    texts = [_plain(form) for sql in written for form in compat.forms(sql)]
    return frozenset(
        begun.partition(_END)[0] + _END.rstrip(";")
        for text in texts
        for begun in map(_BEGIN.__add__, text.split(_BEGIN)[1:])
    )


_BEGIN, _END = "CREATE TRIGGER ", " END;"


def _plain(sql: str) -> str:
    return " ".join(sql.split())
