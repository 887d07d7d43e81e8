"""What readers make of the files of others: conversations, statements and links, and what they
leave out. A reader knows its format and nothing of a store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from standfast.text.inputs import When
from standfast.types import Kind, RelationKind, Type
from standfast.types.frozen import frozen


@frozen
class Remark:
    """One message as others kept it. ``id`` is its own in that file; ``more`` is what else was
    known about it and must not be lost."""

    id: str
    role: str
    content: Any
    at: When | None = None
    author: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)


@frozen
class Conversation:
    """A session. ``remarks`` are read while they are written: it may be a generator."""

    id: str
    remarks: Iterable[Remark | LeftOut]
    title: str = ""
    at: When | None = None
    owner: tuple[tuple[str, str], ...] = ()
    author: str = ""  # of what the user says, where a remark does not tell


@frozen
class ForeignRecord:
    """One statement. ``owner`` are the pairs of the scope it belongs to there, ``created`` when
    it was first known, ``updated`` when this version was; ``exact`` ones are never merged. One that
    was ``superseded`` there was ``retired`` then, or is now."""

    id: str
    text: str
    type: Type = "fact"
    kind: Kind | None = None
    owner: tuple[tuple[str, str], ...] = ()
    tags: tuple[str, ...] = ()
    author: str = ""
    importance: float = 0.5
    created: When | None = None
    updated: When | None = None
    valid_from: When | None = None
    valid_to: When | None = None
    retired: When | None = None
    expires: When | None = None
    superseded: bool = False
    data: Mapping[str, Any] = field(default_factory=dict)
    exact: bool = False


@frozen
class ForeignLink:
    """An edge between two statements of the file, by their ids there."""

    source: str
    target: str
    kind: RelationKind
    owner: tuple[tuple[str, str], ...] = ()


@frozen
class LeftOut:
    """Something that is not imported, and why. The same reason is counted, not repeated."""

    what: str
    why: str


Foreign = Conversation | ForeignRecord | ForeignLink | LeftOut


@frozen
class ReaderWish:
    """What the caller said about a file. ``partial``: take what is there of one that was cut off.
    ``fields``: where a table has what, as ``{"text": "note"}``."""

    path: Path
    partial: bool = False
    fields: Mapping[str, str] = field(default_factory=dict)


def words(value: Any) -> Iterator[str]:
    """The texts in a list of texts, or in one text with commas."""
    if isinstance(value, str):
        value = value.split(",")
    for part in value if isinstance(value, list | tuple) else ():
        if isinstance(part, str) and part.strip():
            yield part.strip()


def listed(value: Any) -> list[Any]:
    """A list as it is; nothing of what is none."""
    return value if isinstance(value, list) else []


def named(value: Any) -> Mapping[str, Any]:
    """A mapping as it is; nothing of what is none."""
    return value if isinstance(value, Mapping) else {}
