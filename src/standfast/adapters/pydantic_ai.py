"""pydantic-ai: a history processor that puts memories before each request, and tools for an agent.

from standfast.adapters.pydantic_ai import history_processor, keep_messages, memory_toolset

agent = Agent(
    model,
    capabilities=[ProcessHistory(history_processor(memory, scope="user:ann"))],
    toolsets=[memory_toolset(memory, scope="user:ann")],
)
result = await agent.run("What tea do I like?")
await keep_messages(memory, "chat-1", result.all_messages(), scope="user:ann")
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.toolsets import FunctionToolset

from standfast import compat
from standfast.memory.sync import Memory
from standfast.packet.text import as_text

NAME = "pydantic-ai"
MARK = compat.PROMPT_MARK  # by which our own part is known when it comes back

Processor = Callable[[list[ModelMessage]], Awaitable[list[ModelMessage]]]


def history_processor(
    memory: Memory, *, scope: str | None = None, tokens: int | None = None
) -> Processor:
    """Before each request: the packet for what the user said last, instead of the one before."""

    async def process(messages: list[ModelMessage]) -> list[ModelMessage]:
        bare = [_without_packet(one) for one in messages]
        question = _question(bare)
        last = bare[-1] if bare else None
        if not question or not isinstance(last, ModelRequest):
            return bare
        packet = await asyncio.to_thread(memory.context, query=question, scope=scope, tokens=tokens)
        if not packet.text:
            return bare
        part = SystemPromptPart(content=packet.text, dynamic_ref=MARK)
        return [*bare[:-1], replace(last, parts=[part, *last.parts])]

    return process


def memory_toolset(memory: Memory, *, scope: str | None = None) -> FunctionToolset[Any]:
    """Two tools: one that finds memories, one that keeps a statement."""
    tools: FunctionToolset[Any] = FunctionToolset()

    async def recall_memories(query: str) -> str:
        """Find what is known from earlier conversations.

        Args:
            query: What you want to know, as a question or in keywords.
        """
        answer = await asyncio.to_thread(memory.recall, query, scope=scope)
        return as_text(answer) if answer.hits else "Nothing is known about it."

    async def remember_statement(text: str) -> str:
        """Keep one lasting statement for later conversations.

        Args:
            text: One statement that is understood without this conversation.
        """
        receipt = await asyncio.to_thread(
            memory.remember, text, scope=scope, source="assistant", actor=NAME
        )
        return receipt.items[0].status

    tools.add_function(recall_memories)
    tools.add_function(remember_statement)
    return tools


async def keep_messages(
    memory: Memory, session: str, messages: Sequence[ModelMessage], *, scope: str | None = None
) -> None:
    """Observe a history. What was kept before is known by its place and its words, so the whole
    history may be given every time."""
    told = list(_told(messages))
    if told:
        await asyncio.to_thread(
            memory.observe, session, told, scope=scope, channel=NAME, actor=NAME
        )


def _without_packet(message: ModelMessage) -> ModelMessage:
    if not isinstance(message, ModelRequest):
        return message
    parts = [
        part
        for part in message.parts
        if getattr(part, "dynamic_ref", None) not in compat.PROMPT_MARKS
    ]
    return message if len(parts) == len(message.parts) else replace(message, parts=parts)


def _question(messages: Sequence[ModelMessage]) -> str:
    for message in reversed(messages):
        if isinstance(message, ModelRequest):
            for part in reversed(message.parts):
                if isinstance(part, UserPromptPart):
                    return _words(part.content)
    return ""


def _words(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part for part in content or () if isinstance(part, str))


def _told(messages: Sequence[ModelMessage]) -> Iterator[dict[str, Any]]:
    number = 0
    for message in messages:
        answered = isinstance(message, ModelResponse)
        for part in message.parts:
            said = _said(part, message.timestamp if answered else None)
            if said is None or not said["content"].strip():
                continue
            number += 1
            words = f"{number}\0{said['role']}\0{said['content']}".encode()
            yield {**said, "id": hashlib.blake2b(words, digest_size=12).hexdigest()}


def _said(part: Any, at: Any) -> dict[str, Any] | None:
    if isinstance(part, UserPromptPart):
        return {"role": "user", "content": _words(part.content), "at": part.timestamp}
    if isinstance(part, TextPart):
        return {"role": "assistant", "content": part.content, **({"at": at} if at else {})}
    if isinstance(part, ToolReturnPart):
        answer = part.model_response_str()
        return {"role": "tool", "content": answer, "tool_call_id": part.tool_call_id}
    return None
