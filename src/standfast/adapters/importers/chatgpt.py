"""ChatGPT's data export: the archive as it came, its folder, or ``conversations.json`` alone.

A conversation there is a tree: an answer that was asked for again or a question that was edited
begins another branch. The branch that was shown last is imported, the others are counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from standfast.adapters.importers.files import CONVERSATIONS, MEMORIES, exported
from standfast.adapters.importers.values import (
    Conversation,
    Foreign,
    ForeignRecord,
    LeftOut,
    Remark,
    named,
)
from standfast.adapters.importers.values import ReaderWish as Wish
from standfast.errors import Invalid

ROLES = {"user": "user", "assistant": "assistant", "tool": "tool", "system": "system"}
HIDDEN = "is_visually_hidden_from_conversation"


def read_chatgpt(wish: Wish) -> Iterator[Foreign]:
    for path, member, one in exported(wish.path, "ChatGPT", partial=wish.partial):
        yield from _memory(one) if member == MEMORIES else _conversation(one, path)


def _conversation(one: Any, path: Path) -> Iterator[Foreign]:
    if not isinstance(one, Mapping) or not isinstance(one.get("mapping"), Mapping):
        raise Invalid(f"{path} is not ChatGPT's {CONVERSATIONS}: a conversation has no mapping")
    id_ = str(one.get("conversation_id") or one.get("id") or one.get("create_time"))
    nodes: Mapping[str, Any] = one["mapping"]
    shown = _branch(nodes, one.get("current_node"))
    inside = {str(node.get("id")) for node in shown}
    for key, node in nodes.items():
        message = node.get("message") if isinstance(node, Mapping) and key not in inside else None
        if isinstance(message, Mapping) and _text(message) and not _is_hidden(message):
            yield LeftOut(what=f"{id_}/{key}", why="another branch of its conversation")
    yield Conversation(
        id=id_,
        title=str(one.get("title") or ""),
        at=one.get("create_time"),
        remarks=_remarks(shown),
    )


def _branch(nodes: Mapping[str, Any], last: Any) -> list[Mapping[str, Any]]:
    """From the first message to the one that was shown last."""
    if not isinstance(last, str) or last not in nodes:
        parents = {str(node.get("parent")) for node in nodes.values() if isinstance(node, Mapping)}
        leaves = [key for key in nodes if key not in parents]
        last = max(leaves, key=lambda key: _time(nodes[key]), default=None)
    found: list[Mapping[str, Any]] = []
    seen: set[Any] = set()
    while isinstance(last, str) and last not in seen and isinstance(nodes.get(last), Mapping):
        seen.add(last)
        found.append({**nodes[last], "id": last})
        last = nodes[last].get("parent")
    return found[::-1]


def _time(node: Any) -> float:
    message = node.get("message") if isinstance(node, Mapping) else None
    at = message.get("create_time") if isinstance(message, Mapping) else None
    return at if isinstance(at, int | float) else 0.0


def _remarks(nodes: list[Mapping[str, Any]]) -> Iterator[Remark | LeftOut]:
    for node in nodes:
        message = node.get("message")
        if not isinstance(message, Mapping):
            continue
        id_ = str(message.get("id") or node["id"])
        text = _text(message)
        if not text or _is_hidden(message):
            if text:
                yield LeftOut(what=id_, why="hidden in its conversation")
            continue
        author = named(message.get("author"))
        role = ROLES.get(str(author.get("role")), "note")
        more = {
            name: message[name] for name in ("recipient",) if message.get(name) not in ("all", None)
        }
        metadata = message.get("metadata")
        if isinstance(metadata, Mapping) and metadata.get("model_slug"):
            more["model"] = metadata["model_slug"]
        yield Remark(
            id=id_,
            role=role,
            content=text,
            at=message.get("create_time"),
            author=str(author.get("name") or ""),
            more={"imported": more} if more else {},
        )


def _is_hidden(message: Mapping[str, Any]) -> bool:
    metadata = message.get("metadata")
    return isinstance(metadata, Mapping) and metadata.get(HIDDEN) is True


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if not isinstance(content, Mapping):
        return content if isinstance(content, str) else ""
    parts = content.get("parts")
    if isinstance(parts, list):
        return "\n".join(filter(None, map(_part, parts))).strip()
    told = [content.get(name) for name in ("text", "result", "user_profile", "user_instructions")]
    return "\n".join(part for part in told if isinstance(part, str) and part.strip()).strip()


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        return ""
    if isinstance(part.get("text"), str):
        return str(part["text"])
    kind = str(part.get("content_type") or "attachment").removesuffix("_asset_pointer")
    return f"[{kind.replace('_', ' ')}]"


def _memory(one: Any) -> Iterator[Foreign]:
    if isinstance(one, Mapping) and isinstance(one.get("memories"), list):
        for part in one["memories"]:
            yield from _memory(part)
        return
    about = one if isinstance(one, Mapping) else {"content": one}
    text = next(
        (about[n] for n in ("content", "text", "memory") if isinstance(about.get(n), str)), ""
    )
    yield ForeignRecord(
        id=str(about.get("id") or text),
        text=text,
        created=about.get("created_at") or about.get("created_timestamp"),
        updated=about.get("updated_at"),
    )
