"""The points of a Qdrant that lived in a folder: what mem0 keeps its memories in by default.

Qdrant's client pickles them. A pickle can name any function to be called, so nothing that it names
is looked up here: whatever class it asks for, it gets an empty one that does nothing.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from standfast.adapters.importers.databases import ForeignDatabase, database
from standfast.errors import Invalid

TABLE, COLUMNS = "points", ("id", "point")
POINT_BYTES_MAX = 4 << 20  # one byte of a pickle can make a list of 80
VALUES_MAX = 100_000  # in one payload; a small pickle can name one list a million times


def files_of(folder: Path) -> list[Path]:
    """The collections in a folder, or in the folder ``qdrant`` in it."""
    return sorted(
        file
        for home in (folder, folder / "qdrant")
        for file in home.glob("collection/*/storage.sqlite")
    )


def has_points(db: ForeignDatabase) -> bool:
    return set(COLUMNS) <= db.columns(TABLE)


def payloads(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The id and the payload of every point of a collection."""
    with database(path, TABLE) as db:
        db.needs(TABLE, *COLUMNS)
        for row in db.rows(TABLE, ("point",)):
            yield _point(row["point"], path)


def _point(pickled: Any, path: Path) -> tuple[str, dict[str, Any]]:
    trouble = Invalid(f"{path} holds something that is no point of Qdrant")
    if not isinstance(pickled, bytes) or len(pickled) > POINT_BYTES_MAX:
        raise trouble
    try:
        state = _Reader(io.BytesIO(pickled)).load().state["__dict__"]
        id_, payload = state["id"], state["payload"]
    except Exception:  # a pickle can raise anything
        raise trouble from None
    if not isinstance(id_, str | int) or not isinstance(payload, Mapping):
        raise trouble
    plain = _plain(payload, [VALUES_MAX])
    if not isinstance(plain, dict):
        raise trouble
    return str(id_), plain


class InertObject:
    """Stands for an object of a class that is not here; keeps what it was to be filled with."""

    def __init__(self, *_: object, **__: object) -> None:
        self.state: Any = {}

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _Reader(pickle._Unpickler):
    """In Python, not in C: that one reserves as much memory as a pickle asks for."""

    def find_class(self, module: str, name: str) -> type[InertObject]:  # noqa: ARG002
        return InertObject


def _plain(value: Any, left: list[int]) -> Any:
    """What JSON can hold; Invalid if it is endless."""
    left[0] -= 1
    if left[0] < 0:
        raise Invalid("a payload of Qdrant is too large to be read")
    if isinstance(value, Mapping):
        return {str(name): _plain(part, left) for name, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(part, left) for part in value]
    return value if isinstance(value, str | int | float | bool | None) else None
