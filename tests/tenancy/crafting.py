"""Export files that somebody wrote by hand."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import Any

from standfast.scopes import root_of
from standfast.types import Entry, Record
from standfast.types.serial import FORMAT, NAMES, TYPES, VERSION, Value, json_line, line_of

AT = datetime(2026, 1, 1, tzinfo=UTC)


def file_of(*values: Value, scopes: tuple[str, ...] = ()) -> bytes:
    """A whole and sound file; without ``scopes`` its header names those of its lines."""
    named = scopes or tuple(sorted({_root(value) for value in values}))
    head = {"format": FORMAT, "version": VERSION, "at": AT.isoformat(), "scopes": list(named)}
    body = json_line(head) + b"".join(map(line_of, values))
    names = [NAMES[type(value)] for value in values]
    end: dict[str, Any] = {"type": "end", "counts": {name: names.count(name) for name in TYPES}}
    return body + json_line({**end, "sha256": hashlib.sha256(body).hexdigest()})


def _root(value: Value) -> str:
    return value.root if isinstance(value, Entry) else root_of(value.scope)


def record(scope: str, id_: str, text: str = "crafted", **fields: Any) -> Record:
    return Record(
        id=id_, scope=scope, kind="semantic", type="fact", text=text, learned_at=AT, **fields
    )
