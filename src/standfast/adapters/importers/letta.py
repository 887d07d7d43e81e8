"""Letta's agent files (``.af``), of both the older shape with one agent and the newer with many."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from standfast.adapters.importers.files import opened, whole_json
from standfast.adapters.importers.values import (
    Conversation,
    Foreign,
    ForeignRecord,
    LeftOut,
    Remark,
    listed,
    named,
    words,
)
from standfast.adapters.importers.values import ReaderWish as Wish
from standfast.errors import Invalid

ARCHIVAL = ("archival_memory", "passages", "archival_passages")


def read_letta(wish: Wish) -> Iterator[Foreign]:
    name = str(wish.path)
    with opened(wish.path) as file:
        whole = whole_json(file, name)
    if not isinstance(whole, Mapping):
        raise Invalid(f"{name} is no agent file of Letta")
    agents = whole.get("agents")
    if not isinstance(agents, list):
        agents = [whole]
    if not any(
        isinstance(one, Mapping) and ({"messages", "core_memory"} & one.keys()) for one in agents
    ):
        raise Invalid(f"{name} is no agent file of Letta: it has no agents with messages")
    blocks = {str(b.get("id")): b for b in listed(whole.get("blocks")) if isinstance(b, Mapping)}
    for agent in agents:
        if isinstance(agent, Mapping):
            yield from _agent(agent, blocks)
    for part in ("tools", "files", "sources", "mcp_servers", "groups"):
        for one in listed(whole.get(part)):
            what = str(one.get("name") or one.get("id")) if isinstance(one, Mapping) else part
            yield LeftOut(what=what, why=f"{part} are no memories")


def _agent(agent: Mapping[str, Any], blocks: Mapping[str, Any]) -> Iterator[Foreign]:
    id_ = str(agent.get("id") or agent.get("name") or "agent")
    owner = (("agent", str(agent.get("name") or id_)),)
    chosen = [blocks[str(one)] for one in listed(agent.get("block_ids")) if str(one) in blocks]
    own = agent.get("core_memory") or named(agent.get("memory")).get("blocks") or chosen
    for number, block in enumerate(listed(own)):
        if isinstance(block, Mapping) and str(block.get("value") or "").strip():
            label = str(block.get("label") or f"block {number}")
            yield ForeignRecord(
                id=f"{id_}/block/{block.get('id') or label}",
                text=str(block["value"]),
                owner=owner,
                tags=("core-memory", label[:200]),
                importance=0.8,
                data={"label": label, "description": str(block.get("description") or "")},
            )
    for field in ARCHIVAL:
        for number, one in enumerate(listed(agent.get(field))):
            yield _passage(one, f"{id_}/archive/{number}", owner)
    messages = agent.get("messages")
    if isinstance(messages, list) and messages:
        yield Conversation(
            id=id_,
            title=str(agent.get("name") or ""),
            at=_time(messages[0]) or agent.get("created_at"),
            owner=owner,
            remarks=_remarks(messages),
        )


def _passage(one: Any, id_: str, owner: tuple[tuple[str, str], ...]) -> Foreign:
    text = one.get("text") or one.get("content") if isinstance(one, Mapping) else one
    about = one if isinstance(one, Mapping) else {}
    return ForeignRecord(
        id=str(about.get("id") or id_),
        text=text if isinstance(text, str) else "",
        owner=owner,
        tags=tuple(words(about.get("tags"))),
        created=about.get("created_at"),
    )


def _time(message: Any) -> Any:
    return (
        message.get("created_at") or message.get("date") if isinstance(message, Mapping) else None
    )


def _remarks(messages: list[Any]) -> Iterator[Remark | LeftOut]:
    for number, message in enumerate(messages):
        if not isinstance(message, Mapping):
            yield LeftOut(what=f"message {number}", why="it is no message")
            continue
        id_ = str(message.get("id") or number)
        role = str(message.get("role") or "note")
        content = message.get("content", message.get("text"))
        calls = message.get("tool_calls")
        if role == "user" and _is_event(content):
            yield LeftOut(what=id_, why="a heartbeat or another event, said by nobody")
            continue
        if not content and not calls:
            yield LeftOut(what=id_, why="there is no text in it")
            continue
        more: dict[str, Any] = {"tool_calls": calls} if isinstance(calls, list) and calls else {}
        if message.get("tool_call_id"):
            more["tool_call_id"] = message["tool_call_id"]
        yield Remark(
            id=id_,
            role=role,
            content=_content(content),
            at=_time(message),
            author=str(message.get("name") or ""),
            more=more,
        )


def _content(content: Any) -> Any:
    """Its texts; a message of the user may be wrapped in a JSON object with its time."""
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, Mapping)]
        content = "\n".join(text for text in texts if isinstance(text, str))
    if isinstance(content, str) and content.startswith("{"):
        wrapped = _json(content)
        if isinstance(wrapped, dict) and isinstance(wrapped.get("message"), str):
            return wrapped["message"]
    return content or ""


def _is_event(content: Any) -> bool:
    text = content
    if isinstance(content, list) and content and isinstance(content[0], Mapping):
        text = content[0].get("text")
    wrapped = _json(text) if isinstance(text, str) and text.startswith("{") else None
    return isinstance(wrapped, dict) and wrapped.get("type") in (
        "heartbeat",
        "login",
        "system_alert",
    )


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
