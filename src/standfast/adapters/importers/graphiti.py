"""Zep and Graphiti: nodes, edges and episodes as JSON, in one object or as JSON lines.

An edge is a fact with its times: when it began and ceased to be true becomes when it is valid,
and one that was replaced comes in as superseded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from standfast.adapters.importers.files import json_items, json_lines, opened
from standfast.adapters.importers.values import (
    Conversation,
    Foreign,
    ForeignRecord,
    LeftOut,
    Remark,
    listed,
)
from standfast.adapters.importers.values import ReaderWish as Wish
from standfast.errors import Invalid

PARTS = {
    "nodes": "node",
    "entity_nodes": "node",
    "entities": "node",
    "edges": "edge",
    "entity_edges": "edge",
    "facts": "edge",
    "episodes": "episode",
    "episodic_nodes": "episode",
    "messages": "episode",
}


def read_graphiti(wish: Wish) -> Iterator[Foreign]:
    name = str(wish.path)
    with opened(wish.path) as file:
        if wish.path.suffix in (".jsonl", ".ndjson"):
            found: Iterable[Any] = (one for _, one in json_lines(file, name, partial=wish.partial))
        else:
            found = json_items(file, name, partial=wish.partial)
        for one in found:
            for kind, part in _parts(one, name):
                yield _part(kind, part)


def _parts(one: Any, name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if not isinstance(one, Mapping):
        raise Invalid(f"{name} is no graph of Zep or Graphiti: it holds a {type(one).__name__}")
    parts = [(PARTS[key], part) for key, value in one.items() if key in PARTS
              for part in listed(value)]  # fmt: skip
    if not parts:
        parts = [(_kind(one), one)]
    for kind, part in parts:
        if not kind or not isinstance(part, Mapping):
            raise Invalid(f"{name} is no graph of Zep or Graphiti: one part is no node and no edge")
        yield kind, part


def _kind(one: Mapping[str, Any]) -> str:
    if "fact" in one:
        return "edge"
    if "content" in one:
        return "episode"
    return "node" if "name" in one else ""


def _part(kind: str, one: Mapping[str, Any]) -> Foreign:
    return {"edge": _edge, "node": _node, "episode": _episode}[kind](one)


def _owner(one: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    group = str(one.get("group_id") or one.get("user_id") or "").strip()
    return (("user", group),) if group else ()


def _edge(one: Mapping[str, Any]) -> Foreign:
    text = one.get("fact")
    id_ = str(one.get("uuid") or text)
    if not isinstance(text, str) or not text.strip():
        return LeftOut(what=id_, why="an edge without a fact")
    replaced = one.get("expired_at")
    return ForeignRecord(
        id=id_,
        text=text,
        owner=_owner(one),
        tags=(str(one["name"])[:200],) if one.get("name") else (),
        created=one.get("created_at"),
        valid_from=one.get("valid_at"),
        valid_to=_after(one.get("invalid_at"), one.get("valid_at")),
        retired=replaced,
        superseded=bool(replaced),
        data={
            "source_node": one.get("source_node_uuid"),
            "target_node": one.get("target_node_uuid"),
            "episodes": listed(one.get("episodes")),
        },
    )


def _after(end: Any, start: Any) -> Any:
    """A fact that ended when it began has no time in which it was true."""
    return end if end and str(end) > str(start or "") else None


def _node(one: Mapping[str, Any]) -> Foreign:
    name, summary = str(one.get("name") or ""), str(one.get("summary") or "")
    if not summary.strip():
        return LeftOut(what=str(one.get("uuid") or name), why="a node of which nothing is said")
    told = summary if name.lower() in summary.lower() else f"{name}: {summary}"
    return ForeignRecord(
        id=str(one.get("uuid") or name),
        text=told,
        type="entity",
        owner=_owner(one),
        tags=tuple(str(label) for label in listed(one.get("labels")) if label != "Entity"),
        created=one.get("created_at"),
        data={"name": name},
    )


def _episode(one: Mapping[str, Any]) -> Foreign:
    at = one.get("valid_at") or one.get("created_at")
    id_ = str(one.get("uuid") or at)
    content = one.get("content")
    if not isinstance(content, str) or not content.strip():
        return LeftOut(what=id_, why="an episode without content")
    role, author = str(one.get("role_type") or one.get("role") or ""), str(one.get("name") or "")
    spoken = one.get("source") in (None, "message")
    if not role:
        speaker, colon, said = content.partition(":")
        if spoken and colon and len(speaker) <= 60 and "\n" not in speaker:
            author, content = speaker.strip(" ()"), said.strip() or content
    known = (
        role if role in ("user", "assistant", "system", "tool") else "user" if spoken else "note"
    )
    return Conversation(
        id=str(
            one.get("session_id")
            or one.get("thread_id")
            or one.get("source_description")
            or "episodes"
        ),
        at=at,
        owner=_owner(one),
        remarks=[Remark(id=id_, role=known, content=content, at=at, author=author[:200])],
    )
