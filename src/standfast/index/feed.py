"""For stores that feed the index: a record as the index sees it."""

from __future__ import annotations

from standfast.index.codes import (
    DURABILITIES,
    KINDS,
    NEVER_BEGAN,
    NEVER_ENDS,
    SOURCES,
    STATUSES,
    TYPES,
    code,
    micros,
)
from standfast.index.derived import labels_blob, terms_blob
from standfast.ports import IndexRow
from standfast.types import Record


def index_row(key: int, record: Record) -> IndexRow:
    """With the words of its text cut out, which takes most of the time: keep it, if you can."""
    words, terms = terms_blob(record.text, record.author)
    return IndexRow(
        key=key,
        id=record.id.encode(),
        kind=code(KINDS, record.kind),
        type=code(TYPES, record.type),
        status=code(STATUSES, record.status),
        source=code(SOURCES, record.source),
        durability=code(DURABILITIES, record.durability),
        importance=record.importance,
        learned_at=micros(record.learned_at),
        retired_at=NEVER_ENDS if record.retired_at is None else micros(record.retired_at),
        valid_from=NEVER_BEGAN if record.valid_from is None else micros(record.valid_from),
        valid_to=NEVER_ENDS if record.valid_to is None else micros(record.valid_to),
        expires_at=NEVER_ENDS if record.expires_at is None else micros(record.expires_at),
        words=words,
        author=record.author,
        session=record.session,
        session_scope=record.session_scope,
        labels=labels_blob(record.tags, record.data),
        terms=terms,
    )
