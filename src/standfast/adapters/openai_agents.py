"""A ``Session`` of the OpenAI Agents SDK on this memory.

    from standfast.adapters.openai_agents import StandfastSession

    result = await Runner.run(agent, "hello", session=StandfastSession("chat-1", memory))

Every item is a line of the session's log and comes back as it was; what was said is found by
``memory.recall`` and goes into ``memory.context`` like everything else.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from agents.memory.session import SessionABC
from agents.memory.session_settings import (
    SessionSettings,
    coerce_session_settings,
    resolve_session_limit,
)

from standfast.errors import NotFound
from standfast.memory.sync import Memory
from standfast.packet.window import heard_alone, is_own
from standfast.text.dialects import original_of
from standfast.types import Message

if TYPE_CHECKING:
    from agents.items import TResponseInputItem

R = TypeVar("R")

NAME = "openai-agents"
FIELD = "agents_item"
PAGE = 1000


class StandfastSession(SessionABC):
    """One session. Several of them may use one memory, and several programs one session."""

    def __init__(
        self,
        session_id: str,
        memory: Memory,
        *,
        scope: str | None = None,
        session_settings: SessionSettings | dict[str, Any] | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = coerce_session_settings(session_settings or {})
        self.memory = memory
        self.scope = scope

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The newest ``limit`` of them, or all; the oldest first."""
        wanted = resolve_session_limit(limit, self.session_settings)
        return await _beside(lambda: [_item(one) for one in self._newest(wanted)][::-1])

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        told = [_told(dict(item)) for item in items]
        if told:
            await _beside(
                lambda: self.memory.observe(
                    self.session_id, told, scope=self.scope, channel=NAME, actor=NAME
                )
            )

    async def pop_item(self) -> TResponseInputItem | None:
        """The newest item, which is erased with everything learned from it."""
        return await _beside(self._pop)

    async def clear_session(self) -> None:
        await _beside(self._clear)

    def _newest(self, limit: int | None) -> list[Message]:
        found: list[Message] = []
        cursor = ""
        while limit is None or len(found) < limit:
            size = PAGE if limit is None else min(limit - len(found), PAGE)
            try:
                page = self.memory.messages(
                    self.session_id, scope=self.scope, newest=True, cursor=cursor, limit=size
                )
            except NotFound:
                break
            found += page.items
            if not page.next:
                break
            cursor = page.next
        return found

    def _pop(self) -> Any:
        for last in self._newest(1):
            self.memory.forget(
                session=self.session_id,
                ids=[last.id],
                scope=self.scope,
                several_authors=True,
                actor=NAME,
            )
            return _item(last)
        return None

    def _clear(self) -> None:
        try:
            self.memory.forget(
                session=self.session_id, scope=self.scope, several_authors=True, actor=NAME
            )
        except NotFound:
            return


async def _beside(work: Callable[[], R]) -> R:
    """In a thread; what was begun is finished, whoever stops waiting for it."""
    return await asyncio.shield(asyncio.to_thread(work))


def _told(item: dict[str, Any]) -> dict[str, Any]:
    """The item beside what is to be read of it."""
    told: dict[str, Any] = {FIELD: json.loads(json.dumps(item, default=_plain))}
    kind = item.get("type", "message")
    if kind == "function_call":
        call = {"name": item.get("name"), "arguments": item.get("arguments")}
        calls = [{"id": item.get("call_id"), "type": "function", "function": call}]
        return told | {"role": "assistant", "content": "", "tool_calls": calls}
    if kind == "function_call_output":
        call_id = str(item.get("call_id") or "")
        content = _texts(item.get("output"))
        return told | {"role": "tool", "content": content, "tool_call_id": call_id}
    role = str(item.get("role") or ("note" if kind != "message" else "user"))
    return told | {"role": role, "content": _texts(item.get("content"))}


def _plain(value: Any) -> Any:
    dump = getattr(value, "model_dump", None)
    return dump(exclude_unset=True) if dump else str(value)


def _texts(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list | tuple) else ()
    texts = [part.get("text") for part in parts if isinstance(part, Mapping)]
    return "\n".join(text for text in texts if isinstance(text, str))


def _item(message: Message) -> Any:
    """What others wrote into the session is there too, in its plain form."""
    heard = heard_alone(message)
    kept = original_of(message).get(FIELD)
    if (
        isinstance(kept, dict)
        and is_own(message)
        and kept.get("role", message.role) == message.role
    ):
        return kept
    role = heard.role if heard.role in ("user", "assistant", "developer", "system") else "user"
    return {"role": role, "content": heard.text}
