"""Claude's data export: the archive, its folder, or ``conversations.json`` or ``memories.json``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from standfast.adapters.importers.files import CONVERSATIONS, MEMORIES, exported
from standfast.adapters.importers.markdown import statements
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

ROLES = {"human": "user", "user": "user", "assistant": "assistant"}


def read_claude(wish: Wish) -> Iterator[Foreign]:
    for path, member, one in exported(wish.path, "Claude", partial=wish.partial):
        yield from _memories(one) if member == MEMORIES else _conversation(one, path)


def _conversation(one: Any, path: Path) -> Iterator[Foreign]:
    if not isinstance(one, Mapping) or not isinstance(one.get("chat_messages"), list):
        raise Invalid(f"{path} is not Claude's {CONVERSATIONS}: one has no chat_messages")
    yield Conversation(
        id=str(one.get("uuid") or one.get("created_at")),
        title=str(one.get("name") or ""),
        at=one.get("created_at"),
        remarks=_remarks(one["chat_messages"]),
    )


def _remarks(messages: list[Any]) -> Iterator[Remark | LeftOut]:
    for number, message in enumerate(messages):
        if not isinstance(message, Mapping):
            yield LeftOut(what=f"message {number}", why="it is no message")
            continue
        text = _text(message)
        id_ = str(message.get("uuid") or number)
        if not text:
            yield LeftOut(what=id_, why="there is no text in it")
            continue
        files = [
            str(file.get("file_name"))
            for name in ("attachments", "files")
            for file in listed(message.get(name))
            if isinstance(file, Mapping) and file.get("file_name")
        ]
        yield Remark(
            id=id_,
            role=ROLES.get(str(message.get("sender")), "note"),
            content=text,
            at=message.get("created_at"),
            more={"imported": {"files": files}} if files else {},
        )


def _text(message: Mapping[str, Any]) -> str:
    """The parts that were said; a model's thoughts and the answers of tools are not."""
    blocks = message.get("content")
    said = [
        str(block["text"])
        for block in listed(blocks)
        if isinstance(block, Mapping) and block.get("type") == "text" and block.get("text")
    ]
    text = "\n".join(said) or message.get("text") or ""
    attached = [
        str(file["extracted_content"])
        for file in listed(message.get("attachments"))
        if isinstance(file, Mapping) and file.get("extracted_content")
    ]
    return "\n\n".join(part for part in (str(text).strip(), *attached) if part)


def _memories(one: Any) -> Iterator[Foreign]:
    if not isinstance(one, Mapping):
        yield LeftOut(what="a memory", why="it is no memory")
        return
    projects = one.get("project_memories")
    texts = {"": one.get("conversations_memory")}
    texts |= projects if isinstance(projects, Mapping) else {}
    for project, text in texts.items():
        for heading, told in statements(text) if isinstance(text, str) else ():
            owner = f"{project}: " if project else ""
            yield ForeignRecord(
                id=f"{owner}{told}",
                text=told,
                tags=(f"project:{project}",) if project else (),
                data={"heading": heading} if heading else {},
            )
