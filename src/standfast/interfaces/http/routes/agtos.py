"""agtOS's two routes, exact in shape; what is degraded goes into a header."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from starlette.responses import Response

from standfast.errors import Invalid, Unavailable
from standfast.interfaces.caller import Caller
from standfast.interfaces.http.answers import DEGRADED_HEADER, answer, header_text
from standfast.interfaces.http.examples import EPISODES
from standfast.interfaces.http.openapi import about
from standfast.interfaces.http.problems import told
from standfast.interfaces.http.routes.calls import Asking, router_of
from standfast.interfaces.http.shapes import object_of
from standfast.types import Record, Type

router = router_of("agtOS", "/api/memory", strict=False)

DEGRADED = "degraded"  # how a note begins that says what did not work
# Summaries of conversations and tasks; a single turn is none.
TYPES: tuple[Type, ...] = ("episode", "summary", "interaction")

Episode = object_of(
    "Episode",
    id=str,
    summary=str,
    keywords=tuple[str, ...],
    topic=str,
    timestamp=int,
    importance=float,
    type=str,
)
_EPISODES = about(
    object_of("Episodes", episodes=tuple[Episode, ...], count=int, available=bool),  # type: ignore[valid-type]
    EPISODES,
)
_EPISODES["responses"][200]["headers"] = {
    DEGRADED_HEADER: {"schema": {"type": "string"}, "description": "what did not work"}
}


@router.get("/episodes", **_EPISODES)
async def episodes(caller: Asking, limit: Annotated[int, Query(ge=1, le=100)] = 20) -> Response:
    """The newest episodes."""
    return await _found(caller, "", limit)


@router.get("/search", operation_id="search_episodes", **_EPISODES)
async def search_episodes(
    q: Annotated[str, Query(min_length=1, max_length=10_000)],
    caller: Asking,
    limit: Annotated[int, Query(ge=1, le=50)] = 10,
) -> Response:
    """Episodes by meaning and by keyword."""
    if not q.strip():
        raise Invalid("q is empty; say what to look for")
    return await _found(caller, q, limit)


async def _found(caller: Caller, query: str, limit: int) -> Response:
    try:
        found = await caller.memory.recall(query, limit=limit, types=TYPES)
    except Unavailable as error:
        headers = {DEGRADED_HEADER: header_text(told(error))}
        return answer({"episodes": [], "count": 0, "available": False}, headers=headers)
    shown = [as_episode(hit.record) for hit in found.hits]
    body = {"episodes": shown, "count": len(shown), "available": True}
    degraded = "; ".join(note for note in found.notes if note.startswith(DEGRADED))
    return answer(body, headers={DEGRADED_HEADER: header_text(degraded)} if degraded else {})


def as_episode(record: Record) -> dict[str, Any]:
    told = record.data.get("keywords")  # whoever may write decides what it is
    keywords = (isinstance(told, list) and told) or list(record.tags)
    return {
        "id": record.id,
        "summary": record.text,
        "keywords": [str(word) for word in keywords],
        "topic": str(record.data.get("topic") or (keywords[0] if keywords else "")),
        "timestamp": int(record.at.timestamp() * 1000),
        "importance": record.importance,
        "type": "task" if record.data.get("kind") == "task" else "conversation",
    }
