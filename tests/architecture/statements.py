"""Which statements belong to a verb."""

from __future__ import annotations

# A thread that reads for the first time opens a connection; whether one does is chance.
_OPENING = (
    "PRAGMA synchronous",
    "PRAGMA foreign_keys",
    "PRAGMA secure_delete",
    "PRAGMA temp_store",
    "PRAGMA mmap_size",
    "PRAGMA query_only",
    "SELECT count(*) FROM sqlite_schema",
)


def is_of_a_verb(statement: str) -> bool:
    return not statement.lstrip().startswith(_OPENING)
