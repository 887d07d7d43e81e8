"""A memory service for Google's Agent Development Kit on this memory.

    from standfast.adapters.google_adk import StandfastMemoryService

    runner = Runner(..., memory_service=StandfastMemoryService(memory))

An app and its user are the scope ``app:...:user:...``. Events are observed once, however often a
session is added.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.genai import types

from standfast.errors import Invalid
from standfast.memory.sync import Memory
from standfast.scopes import make_scope
from standfast.types import Record

NAME = "google-adk"
FOUND_MAX = 10
NO_SESSION = "events"


class StandfastMemoryService(BaseMemoryService):
    """``limit`` is how many memories a search gives at most."""

    def __init__(self, memory: Memory, *, limit: int = FOUND_MAX) -> None:
        self.memory = memory
        self.limit = limit

    async def add_session_to_memory(self, session: Any) -> None:
        await self.add_events_to_memory(
            app_name=session.app_name,
            user_id=session.user_id,
            events=session.events,
            session_id=session.id,
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Any],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,  # noqa: ARG002
    ) -> None:
        told = [said for event in events if (said := _told(event)) is not None]
        if told:
            await asyncio.to_thread(
                self.memory.observe,
                session_id or NO_SESSION,
                told,
                scope=_scope(app_name, user_id),
                channel=NAME,
                actor=NAME,
            )

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        for one in memories:
            text = _text(one.content)
            if text:
                await asyncio.to_thread(
                    self.memory.remember,
                    text,
                    scope=_scope(app_name, user_id),
                    author=one.author or "",
                    source="assistant",
                    valid_from=one.timestamp or None,
                    data={NAME: {**one.custom_metadata, **(custom_metadata or {})}},
                    actor=NAME,
                )

    async def search_memory(
        self, *, app_name: str, user_id: str, query: str
    ) -> SearchMemoryResponse:
        answer = await asyncio.to_thread(
            self.memory.recall, query, scope=_scope(app_name, user_id), limit=self.limit
        )
        return SearchMemoryResponse(memories=[_entry(hit.record) for hit in answer.hits])

    async def delete_memory(
        self, *, app_name: str, user_id: str, memory_id: str | None = None
    ) -> None:
        """Erase one memory and the message it was said in."""
        if not memory_id:
            raise Invalid("say which memory to delete: memory_id")
        found = await asyncio.to_thread(self.memory.get, [memory_id])
        own = [one for one in found if one.scope == _scope(app_name, user_id)]
        if own:  # another user's is like one that never was
            # The scope is one user's: its other authors are the agents who answered them.
            await asyncio.to_thread(
                self.memory.forget,
                ids=[own[0].id],
                sources=True,
                several_authors=True,
                actor=NAME,
            )


def _scope(app_name: str, user_id: str) -> str:
    return make_scope(("app", app_name), ("user", user_id))


def _told(event: Any) -> dict[str, Any] | None:
    """What was said or called; None for an event without content."""
    content = event.content
    if content is None or not content.parts:
        return None
    text = _text(content)
    called = [part.function_call for part in content.parts if part.function_call]
    if not text and not called:
        return None
    said: dict[str, Any] = {
        "id": event.id,
        "role": "user" if event.author == "user" else "assistant",
        "content": text,
        "author": event.author or "",
        "at": event.timestamp,
    }
    if called:
        said["tool_calls"] = [
            {
                "id": call.id or "",
                "function": {"name": call.name, "arguments": dict(call.args or {})},
            }
            for call in called
        ]
    return said


def _text(content: Any) -> str:
    return "\n".join(part.text for part in content.parts or () if part.text)


def _entry(record: Record) -> MemoryEntry:
    role = "user" if record.data.get("role") == "user" else "model"
    at: datetime = record.at.astimezone(UTC)
    return MemoryEntry(
        id=record.id,
        content=types.Content(role=role, parts=[types.Part(text=record.text)]),
        author=record.author or None,
        timestamp=at.isoformat(),
    )
