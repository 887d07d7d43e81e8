"""The reference MCP memory server's ``memory.json`` (JSON lines). What comes in is the graph that
``standfast mcp --tools reference`` shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from standfast.adapters.importers.files import json_lines, opened
from standfast.adapters.importers.values import Foreign, ForeignRecord, LeftOut
from standfast.adapters.importers.values import ReaderWish as Wish
from standfast.adapters.knowledge_graph import NAME, TYPES, graph_key, graph_tags, graph_text
from standfast.adapters.shelf import KEPT
from standfast.errors import Invalid


def read_memory_json(wish: Wish) -> Iterator[Foreign]:
    name = str(wish.path)
    with opened(wish.path) as file:
        for number, one in json_lines(file, name, partial=wish.partial):
            if not isinstance(one, Mapping):
                raise Invalid(f"line {number} of {name} is no entity and no relation")
            yield from _line(one, number)


def _line(one: Mapping[str, Any], number: int) -> Iterator[Foreign]:
    kind = one.get("type")
    if kind == "entity" and isinstance(one.get("name"), str):
        name = one["name"]
        about = {"name": name, "entityType": str(one.get("entityType", ""))}
        observations = one.get("observations")
        for content in observations if isinstance(observations, list) else ():
            if isinstance(content, str):
                yield _record("observation", {"entity": name, "content": content})
        yield _record("entity", about)
    elif kind == "relation" and all(isinstance(one.get(f), str) for f in ("from", "to")):
        fields = ("from", "to", "relationType")
        yield _record("relation", {field: str(one.get(field, "")) for field in fields})
    else:
        yield LeftOut(what=f"line {number}", why=f"it is a {str(kind)[:40]!r}, which is unknown")


def _record(kind: str, about: dict[str, str]) -> ForeignRecord:
    return ForeignRecord(
        id=graph_key(kind, about),
        text=graph_text(kind, about),
        type=TYPES[kind],
        kind="episodic",
        tags=tuple(graph_tags(kind, about)),
        data={NAME: about, **KEPT},
        exact=True,
    )
