"""mem0: what ``get_all`` or an export gave (JSON or JSON lines), the folder of its Qdrant, or its
history database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from standfast.adapters.importers import qdrant
from standfast.adapters.importers.databases import database, is_database
from standfast.adapters.importers.files import json_items, json_lines, opened
from standfast.adapters.importers.values import Foreign, ForeignLink, ForeignRecord, LeftOut
from standfast.adapters.importers.values import ReaderWish as Wish
from standfast.errors import Invalid

NAME = "mem0"
OWNERS = ("user_id", "agent_id", "run_id")
PAYLOAD = (*OWNERS, "actor_id", "created_at", "data", "expiration_date", "hash", "role",
           "text_lemmatized", "updated_at")  # fmt: skip
HISTORY = "history"
HISTORY_COLUMNS = ("memory_id", "old_memory", "new_memory", "event", "created_at", "updated_at",
                   "is_deleted", "actor_id", "role")  # fmt: skip


def read_mem0(wish: Wish) -> Iterator[Foreign]:
    path = wish.path
    if path.is_dir():
        yield from _folder(path)
        return
    if is_database(path):
        yield from _database(path)
        return
    with opened(path) as file:
        if path.suffix in (".jsonl", ".ndjson"):
            found: Iterable[Any] = (value for _, value in json_lines(file, str(path)))
        else:
            found = json_items(file, str(path), partial=wish.partial)
        for value in found:
            yield from _items(value, path)


def _items(value: Any, path: Path) -> Iterator[Foreign]:
    """A memory, or a page of them."""
    if isinstance(value, Mapping):
        for name in ("results", "memories"):
            if isinstance(value.get(name), list):
                for one in value[name]:
                    yield from _items(one, path)
                return
    text = value.get("memory") or value.get("data") if isinstance(value, Mapping) else None
    if not isinstance(text, str):
        raise Invalid(f"{path} is no list of mem0's memories: one of them has no memory")
    yield _memory(value, text)


def _memory(one: Mapping[str, Any], text: str) -> ForeignRecord:
    metadata = one.get("metadata") if isinstance(one.get("metadata"), Mapping) else {}
    about: dict[str, Any] = {"metadata": dict(metadata or {})}
    about |= {name: one[name] for name in ("role", "actor_id", "expiration_date") if one.get(name)}
    if one.get("created_at"):
        about["created_at"] = one["created_at"]
    categories = one.get("categories")
    return ForeignRecord(
        id=str(one.get("id") or text),
        text=text,
        owner=tuple((name[:-3], str(one[name])) for name in OWNERS if one.get(name)),
        tags=tuple(map(str, categories)) if isinstance(categories, list) else (),
        author=str(one.get("actor_id") or ""),
        created=one.get("created_at"),
        updated=one.get("updated_at") or one.get("created_at"),
        expires=_end_of(one.get("expiration_date")),
        data={NAME: about},
    )


def _end_of(day: Any) -> str | None:
    return f"{day}T23:59:59+00:00" if isinstance(day, str) and len(day) == 10 else None


def _folder(path: Path) -> Iterator[Foreign]:
    found = qdrant.files_of(path)
    if not found:
        raise Invalid(
            f"{path} is no folder of Qdrant; write Memory.get_all() to a JSON file, or name mem0's "
            "history.db"
        )
    for file in found:
        yield from _points(file)


def _database(path: Path) -> Iterator[Foreign]:
    with database(path, qdrant.TABLE) as db:
        points = qdrant.has_points(db)
    yield from _points(path) if points else _history(path)


def _points(path: Path) -> Iterator[Foreign]:
    """mem0 keeps fields of its own and the metadata side by side."""
    for id_, payload in qdrant.payloads(path):
        text = payload.get("data")
        if not isinstance(text, str) or not text.strip():
            yield LeftOut(what=id_, why="there is no text in it")
            continue
        metadata = {name: value for name, value in payload.items() if name not in PAYLOAD}
        yield _memory({**payload, "id": id_, "metadata": metadata}, text)


def _history(path: Path) -> Iterator[Foreign]:
    """Every version of every memory; whose it is, mem0 keeps elsewhere."""
    with database(path, HISTORY) as db:
        db.needs(HISTORY, *HISTORY_COLUMNS[:4])
        rows = db.rows(HISTORY, HISTORY_COLUMNS, by="memory_id")
        for id_, versions in groupby(rows, key=lambda row: str(row["memory_id"])):
            yield from _versions(id_, list(versions))


def _versions(id_: str, rows: list[Mapping[str, Any]]) -> Iterator[Foreign]:
    if rows[-1].get("is_deleted") or rows[-1].get("event") == "DELETE":
        yield LeftOut(what=id_, why="deleted in mem0")
        return
    told = [row for row in rows if isinstance(row.get("new_memory"), str)]
    for number, row in enumerate(told):
        last = number == len(told) - 1
        changed = row.get("updated_at") or row.get("created_at")
        after = None if last else told[number + 1].get("updated_at") or changed
        about = {name: row[name] for name in ("role", "actor_id") if row.get(name)}
        yield ForeignRecord(
            id=id_ if last else f"{id_}#{number}",
            text=row["new_memory"],
            author=str(row.get("actor_id") or ""),
            created=told[0].get("created_at"),
            updated=changed,
            retired=after,
            superseded=not last,
            data={NAME: {"metadata": {}, **about}},
        )
        if number:
            before = f"{id_}#{number - 1}"
            yield ForeignLink(
                source=id_ if last else f"{id_}#{number}", target=before, kind="supersedes"
            )
