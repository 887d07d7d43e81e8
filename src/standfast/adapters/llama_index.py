"""A memory block for LlamaIndex on this memory.

    from standfast.adapters.llama_index import StandfastMemoryBlock

    memory = llama_index.core.memory.Memory.from_defaults(
        session_id="chat-1", memory_blocks=[StandfastMemoryBlock(store=memory, scope="user:ann")]
    )

What leaves LlamaIndex's short-term memory is observed; what fits the newest message is put before
the next call.
"""

from __future__ import annotations

import asyncio
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import BaseMemoryBlock
from pydantic import Field

from standfast.memory.sync import Memory

NAME = "llama-index"


class StandfastMemoryBlock(BaseMemoryBlock[str]):
    """Give it the highest priority but 0: what does not fit may be left out."""

    name: str = "Standfast"
    description: str | None = "What is known from earlier conversations."
    priority: int = 1
    store: Any = Field(description="the standfast.Memory to use", exclude=True)
    scope: str | None = None
    session: str = "llama-index"
    tokens: int | None = None

    async def _aget(self, messages: list[ChatMessage] | None = None, **_: Any) -> str:
        asked = [one for one in messages or () if one.role.value == "user" and one.content]
        if not asked:
            return ""
        memory: Memory = self.store
        packet = await asyncio.to_thread(
            memory.context, query=asked[-1].content, scope=self.scope, tokens=self.tokens
        )
        return packet.text

    async def _aput(self, messages: list[ChatMessage]) -> None:
        memory: Memory = self.store
        for one in messages:
            if not one.content:
                continue
            session = str(one.additional_kwargs.get("session_id") or self.session)
            role = {"chatbot": "assistant", "model": "assistant"}.get(
                one.role.value, one.role.value
            )
            told = {"role": role, "content": one.content}
            await asyncio.to_thread(
                memory.observe, session, told, scope=self.scope, channel=NAME, actor=NAME
            )
