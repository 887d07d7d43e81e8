"""The knowledge graph of the reference MCP memory server, kept as records.

Entities, what was observed about them and the relations between them are records of their own, so
that each is found by words and meaning and can be erased by itself. Names, shapes and what each
operation returns are those of the reference server; observations keep their order.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from standfast.adapters.shelf import TICK, KeyShelf, Placed, key_tags, part_of, tag_of, utc_now
from standfast.errors import Invalid, NotFound
from standfast.memory.sync import Memory
from standfast.types import Record, Status, Type

NAME = "graph"
SHOWN: tuple[Status, ...] = ("active", "disputed")
FOUND_MAX = 50
FIELDS = ({"name", "entityType"}, {"entity", "content"}, {"from", "to", "relationType"})
TYPES: Mapping[str, Type] = {"entity": "entity", "observation": "fact", "relation": "fact"}

Entity = dict[str, Any]
Edge = dict[str, str]
Graph = dict[str, list[Any]]


class KnowledgeGraph:
    """One graph in one scope; without a scope, in the handle's own."""

    def __init__(self, memory: Memory, *, scope: str | None = None) -> None:
        self._shelf = KeyShelf(memory, NAME, fits=_is_part)
        self._scope = scope
        self._last = datetime.min.replace(tzinfo=UTC)

    def create_entities(self, entities: Sequence[Mapping[str, Any]]) -> list[Entity]:
        """Those of them that were not there. What was observed is written first: an entity that
        is there has all that it was made with."""
        wanted = [_entity(one) for one in entities]
        known = {part["name"] for _, part in self._parts("entity")}
        made = [one for one in wanted if one["name"] not in known]
        for one in made:
            self._observe(one["name"], one["observations"])
            self._put("entity", {"name": one["name"], "entityType": one["entityType"]})
        return made

    def create_relations(self, relations: Sequence[Mapping[str, Any]]) -> list[Edge]:
        wanted = [_edge(one) for one in relations]
        known = [part for _, part in self._parts("relation")]
        made = [one for one in wanted if one not in known]
        for one in made:
            self._put("relation", one)
        return made

    def add_observations(self, observations: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """NotFound, before anything is written, if one of the entities is not there."""
        wanted = [(_text(one, "entityName"), _texts(one, "contents")) for one in observations]
        entities = {one["name"]: one for one in self.read_graph()["entities"]}
        for name, _ in wanted:
            if name not in entities:
                raise NotFound(f"Entity with name {name} not found")
        results = []
        for name, contents in wanted:
            known = entities[name]["observations"]
            added = [content for content in contents if content not in known]
            self._observe(name, added)
            known += added
            results.append({"entityName": name, "addedObservations": added})
        return results

    def delete_entities(self, names: Sequence[str]) -> None:
        """With what was observed about them and their relations; for good."""
        gone = set(names)
        self._erase_if(lambda part: bool(gone & set(_names(part))))

    def delete_observations(self, deletions: Sequence[Mapping[str, Any]]) -> None:
        gone = {
            (_text(one, "entityName"), content)
            for one in deletions
            for content in _texts(one, "observations")
        }
        self._erase_if(lambda part: (part.get("entity"), part.get("content")) in gone)

    def delete_relations(self, relations: Sequence[Mapping[str, Any]]) -> None:
        gone = [_edge(one) for one in relations]
        self._erase_if(lambda part: "from" in part and part in gone)

    def read_graph(self) -> Graph:
        graph: Graph = {"entities": [], "relations": []}
        observed: dict[str, list[str]] = {}
        for _, part in self._parts():
            if "entityType" in part:
                graph["entities"].append({**part, "observations": []})
            elif "content" in part:
                observed.setdefault(part["entity"], []).append(part["content"])
            else:
                graph["relations"].append(part)
        for entity in graph["entities"]:
            entity["observations"] = observed.get(entity["name"], [])
        return graph

    def search_nodes(self, query: str) -> Graph:
        """Those that hold the very words; if none does, those that come near in words or
        meaning."""
        if not isinstance(query, str):
            raise Invalid("query must be text")
        graph = self.read_graph()
        asked = query.lower()
        names = {one["name"] for one in graph["entities"] if asked in _searched(one)}
        if not names and query.strip():
            names = self._recalled(query)
        return _around(graph, names)

    def open_nodes(self, names: Sequence[str]) -> Graph:
        return _around(self.read_graph(), set(names))

    def _recalled(self, query: str) -> set[str]:
        answer = self._shelf.memory.recall(
            query,
            scope=self._scope,
            tags=(self._shelf.tag("all"),),
            statuses=SHOWN,
            limit=FOUND_MAX,
        )
        own = [hit.record for hit in answer.hits if self._shelf.holds(hit.record)]
        return {name for record in own for name in _names(_part(record))}

    # Records

    def _observe(self, name: str, contents: Iterable[str]) -> None:
        for content in contents:
            self._put("observation", {"entity": name, "content": content})

    def _put(self, kind: str, about: Mapping[str, str]) -> None:
        self._shelf.put(
            Placed(
                scope=self._scope,
                key=graph_key(kind, about),
                text=graph_text(kind, about),
                data={NAME: dict(about)},
                tags=(tag_of(NAME, "kind", kind),),
                type=TYPES[kind],
                created=self._moment(),
            )
        )

    def _moment(self) -> datetime:
        """Each later than the one before, so that what was observed keeps its order."""
        self._last = max(utc_now(), self._last + TICK)
        return self._last

    def _parts(self, kind: str = "") -> Iterator[tuple[Record, dict[str, str]]]:
        tag = self._shelf.tag("kind", kind) if kind else self._shelf.tag("all")
        found = list(self._shelf.tagged(self._scope, tag, statuses=SHOWN))
        for record in sorted(found, key=lambda one: (one.at, one.id)):
            yield record, _part(record)

    def _erase_if(self, chosen: Callable[[Mapping[str, str]], bool]) -> None:
        """In every version, also what waits for review."""
        tag = self._shelf.tag("all")
        found = self._shelf.everything(self._scope, tag)
        self._shelf.erase([record for record in found if chosen(_part(record))])


def graph_key(kind: str, about: Mapping[str, str]) -> str:
    """An entity is named by its name alone; everything else by all that it says."""
    names = [about["name"]] if kind == "entity" else list(about.values())
    return json.dumps([kind, *names], ensure_ascii=False)


def graph_text(kind: str, about: Mapping[str, str]) -> str:
    """What it is found by."""
    if kind == "entity":
        told = f"{about['name']} ({about['entityType']})"
    elif kind == "relation":
        told = f"{about['from']} {about['relationType'].replace('_', ' ')} {about['to']}"
    else:
        name, content = about["entity"], about["content"]
        told = content if name.lower() in content.lower() else f"{name}: {content}"
    return told if told.strip() else kind


def graph_tags(kind: str, about: Mapping[str, str]) -> Iterator[str]:
    yield from key_tags(NAME, graph_key(kind, about))
    yield tag_of(NAME, "kind", kind)


def _part(record: Record) -> dict[str, str]:
    return {name: one for name, one in part_of(record, NAME).items() if isinstance(one, str)}


def _is_part(part: Mapping[str, Any]) -> bool:
    known = any(part.keys() == fields for fields in FIELDS)
    return known and all(isinstance(one, str) for one in part.values())


def _names(part: Mapping[str, str]) -> Iterator[str]:
    yield from (part[field] for field in ("name", "entity", "from", "to") if field in part)


def _searched(entity: Entity) -> str:
    return "\n".join((entity["name"], entity["entityType"], *entity["observations"])).lower()


def _around(graph: Graph, names: set[str]) -> Graph:
    """The named entities, and the relations that touch one of them."""
    entities = [one for one in graph["entities"] if one["name"] in names]
    there = {one["name"] for one in entities}
    edges = [one for one in graph["relations"] if one["from"] in there or one["to"] in there]
    return {"entities": entities, "relations": edges}


def _entity(one: Mapping[str, Any]) -> Entity:
    observations = list(dict.fromkeys(_texts(one, "observations")))
    named = {field: _text(one, field) for field in ("name", "entityType")}
    return {**named, "observations": observations}


def _edge(one: Mapping[str, Any]) -> Edge:
    return {field: _text(one, field) for field in ("from", "to", "relationType")}


def _text(one: Mapping[str, Any], field: str) -> str:
    value = one.get(field) if isinstance(one, Mapping) else None
    if not isinstance(value, str):
        raise Invalid(f"{field} must be text")
    return value


def _texts(one: Mapping[str, Any], field: str) -> list[str]:
    value = one.get(field) if isinstance(one, Mapping) else None
    if not isinstance(value, list | tuple) or not all(isinstance(part, str) for part in value):
        raise Invalid(f"{field} must be a list of texts")
    return list(value)
