"""LangGraph stores: the file of its SqliteStore, or its items as JSON or JSON lines. What comes in
is found again by ``standfast.adapters.langgraph.StandfastStore``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from standfast.adapters.importers.databases import database, is_database
from standfast.adapters.importers.files import json_items, json_lines, opened
from standfast.adapters.importers.values import Foreign, ForeignRecord, LeftOut
from standfast.adapters.importers.values import ReaderWish as Wish
from standfast.adapters.namespaces import (
    NAME,
    SCOPE,
    TEXT_CHARACTERS_MAX,
    Namespace,
    key_of,
    prefix_tags,
    readable,
    scope_pairs,
)
from standfast.adapters.shelf import KEPT, key_tags
from standfast.errors import Invalid
from standfast.scopes import PAIRS_MAX

TABLE = "store"
COLUMNS = ("prefix", "key", "value", "created_at", "updated_at", "expires_at", "ttl_minutes")


def read_langgraph(wish: Wish) -> Iterator[Foreign]:
    if is_database(wish.path):
        with database(wish.path, TABLE) as db:
            db.needs(TABLE, *COLUMNS[:3])
            for row in db.rows(TABLE, COLUMNS):
                yield _item(tuple(str(row["prefix"]).split(".")), row, _value(row["value"]))
        return
    name = str(wish.path)
    with opened(wish.path) as file:
        if wish.path.suffix in (".jsonl", ".ndjson"):
            found: Iterable[Any] = (one for _, one in json_lines(file, name))
        else:
            found = json_items(file, name, partial=wish.partial)
        for one in found:
            listed = one.get("items") if isinstance(one, Mapping) else None
            for item in listed if isinstance(listed, list) else [one]:
                if not isinstance(item, Mapping) or not isinstance(item.get("namespace"), list):
                    raise Invalid(f"{name} is no list of items with namespace, key and value")
                yield _item(tuple(map(str, item["namespace"])), item, item.get("value"))


def _value(text: Any) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return None


def _item(namespace: Namespace, row: Mapping[str, Any], value: Any) -> Foreign:
    key = str(row.get("key"))
    if not isinstance(value, Mapping):
        return LeftOut(what=key_of(namespace, key), why="its value is no JSON object")
    about: dict[str, Any] = {
        "namespace": list(namespace),
        "key": key,
        "value": dict(value),
        "indexed": True,
    }
    if row.get("ttl_minutes"):
        about["ttl"] = row["ttl_minutes"]
    kind, _, id_ = SCOPE.partition(":")
    return ForeignRecord(
        id=key_of(namespace, key),
        text=(readable(value) or key)[:TEXT_CHARACTERS_MAX],
        kind="episodic",
        owner=((kind, id_), *scope_pairs(namespace)[: PAIRS_MAX - 1]),
        tags=(*key_tags(NAME, key_of(namespace, key)), *prefix_tags(namespace)),
        created=row.get("created_at"),
        updated=row.get("updated_at"),
        expires=row.get("expires_at"),
        data={NAME: about, **KEPT},
        exact=True,
    )
