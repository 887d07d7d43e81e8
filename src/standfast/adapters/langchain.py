"""LangChain's chat-message history on this memory: what was said stays, and can be recalled.

    from standfast.adapters.langchain import StandfastChatMessageHistory

    history = StandfastChatMessageHistory(memory, "chat-1", scope="user:ann")
    chain = RunnableWithMessageHistory(runnable, lambda id: history)

Each message is a line of the session's log, so ``memory.recall`` and ``memory.context`` find it,
and comes back as the very message it was.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import (
    BaseMessage,
    convert_to_openai_messages,
    message_to_dict,
    messages_from_dict,
)

from standfast.errors import NotFound
from standfast.memory.sync import Memory
from standfast.packet.window import heard_alone, is_own
from standfast.text.dialects import original_of
from standfast.types import Message

NAME = "langchain"
PAGE = 1000
ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool",
         "function": "function", "developer": "developer"}  # fmt: skip


class StandfastChatMessageHistory(BaseChatMessageHistory):
    """The messages of one session. Thread-safe, and one of several handles on it."""

    def __init__(self, memory: Memory, session: str, *, scope: str | None = None) -> None:
        self.memory = memory
        self.session = session
        self.scope = scope

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """All of them, the oldest first."""
        found: list[BaseMessage] = []
        cursor = ""
        while True:
            try:
                page = self.memory.messages(
                    self.session, scope=self.scope, cursor=cursor, limit=PAGE
                )
            except NotFound:
                return found
            found += [_message(one) for one in page.items]
            if not page.next:
                return found
            cursor = page.next

    async def aget_messages(self) -> list[BaseMessage]:
        return await asyncio.to_thread(lambda: self.messages)

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        if told := [_told(one) for one in messages]:
            self.memory.observe(self.session, told, scope=self.scope, channel=NAME, actor=NAME)

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        await asyncio.to_thread(self.add_messages, list(messages))

    def clear(self) -> None:
        """Erase the session's messages for good, with all that was learned from them."""
        try:
            # To clear a session is to erase it, whoever spoke in it.
            self.memory.forget(
                session=self.session, scope=self.scope, several_authors=True, actor=NAME
            )
        except NotFound:
            return

    async def aclear(self) -> None:
        await asyncio.to_thread(self.clear)


def _told(message: BaseMessage) -> dict[str, Any]:
    """As OpenAI writes it, so that roles and tool calls are understood; and as it is."""
    (plain,) = _as_list(convert_to_openai_messages([message]))
    fields = ("content", "tool_calls", "tool_call_id")
    told: dict[str, Any] = {name: plain[name] for name in fields if name in plain}
    told["role"] = _role(message)
    if isinstance(getattr(message, "name", None), str) and message.name:
        told["author"] = message.name
    told[NAME] = json.loads(json.dumps(message_to_dict(message), default=str))
    return told


def _role(message: BaseMessage) -> str:
    return ROLES.get(message.type) or ROLES.get(getattr(message, "role", "")) or "user"


def _as_list(found: Any) -> Iterable[dict[str, Any]]:
    return found if isinstance(found, list) else [found]


def _message(one: Message) -> BaseMessage:
    """What others wrote into the session is there too, in its plain form."""
    heard = heard_alone(one)
    kept = original_of(one).get(NAME)
    if isinstance(kept, dict) and is_own(one):
        with suppress(ValueError, KeyError, TypeError):  # anybody may have written that field
            (message,) = messages_from_dict([kept])
            if _role(message) == one.role:
                return message
    kinds = {role: kind for kind, role in ROLES.items()}
    kind = kinds.get(heard.role, "human")
    kind = "system" if kind == "developer" else kind
    data = {"content": heard.text, "type": kind}
    (message,) = messages_from_dict([{"type": kind, "data": data}])
    return message
