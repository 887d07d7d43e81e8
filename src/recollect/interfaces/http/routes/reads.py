"""Finding something."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Query
from starlette.responses import Response

from recollect.errors import NotFound
from recollect.interfaces.http import models
from recollect.interfaces.http.answers import answer, etag_of, matches
from recollect.interfaces.http.examples import ANSWER, ENTRIES, PACKET, RECORD, RECORDS
from recollect.interfaces.http.openapi import about
from recollect.interfaces.http.routes.calls import Asking
from recollect.interfaces.http.shapes import object_of, shape_of
from recollect.types import Answer, Entry, Packet, Record, Shape

router = APIRouter(prefix="/v1", tags=["reading"])
_ANSWER = about(shape_of(Answer), ANSWER)
_PACKET = about(shape_of(Packet), PACKET)
_ETAG = {"ETag": {"schema": {"type": "string"}, "description": "the same while it says the same"}}


@router.post("/recall", **_ANSWER)
async def recall(asked: models.Recall, caller: Asking) -> Response:
    """The memories that answer a question, best first, each with its reasons."""
    return answer(await caller.memory.recall(**asked.given()))


@router.post("/context", **_PACKET)
async def context(asked: models.ContextBody, caller: Asking) -> Response:
    """One packet for the next model call."""
    packet = await caller.memory.context(**asked.given())
    return answer(packet, headers={"ETag": etag_of(packet)})


@router.get(
    "/context",
    operation_id="get_context",
    **about(
        shape_of(Packet),
        PACKET,
        responses={304: {"description": "It says the same as the one you have", "headers": _ETAG}},
    ),
)
async def get_context(
    caller: Asking,
    session: models.Name | None = None,
    query: models.Question | None = None,
    scope: Annotated[list[models.Scope] | None, Query(max_length=models.SCOPES_MAX)] = None,
    tokens: int | None = None,
    shape: Shape = "openai",
    now: str | None = None,
    if_none_match: Annotated[str | None, Header(alias="If-None-Match")] = None,
) -> Response:
    """The same packet; 304 if it says the same as the one that `If-None-Match` names."""
    asked: dict[str, Any] = {"session": session, "query": query, "scope": scope, "now": now}
    packet = await caller.memory.context(**asked, tokens=tokens, shape=shape)
    headers = {"ETag": etag_of(packet), "Cache-Control": "private, no-cache"}
    if if_none_match is not None and matches(if_none_match, headers["ETag"]):
        return Response(status_code=304, headers=headers)
    return answer(packet, headers=headers)


@router.post("/find_procedures", **_ANSWER)
async def find_procedures(asked: models.FindProcedures, caller: Asking) -> Response:
    """Procedures for a task."""
    return answer(await caller.memory.find_procedures(**asked.given()))


@router.post("/get", **about(object_of("Records", records=tuple[Record, ...]), RECORDS))
async def get(asked: models.Get, caller: Asking) -> Response:
    """Records by id; what does not exist or cannot be seen is left out."""
    return answer({"records": await caller.memory.get(asked.ids)})


@router.get("/records/{id}", operation_id="get_record", **about(shape_of(Record), RECORD))
async def get_record(id: str, caller: Asking) -> Response:
    """One record by id."""
    found = await caller.memory.get([id])
    if not found:
        raise NotFound(f"there is no record {id!r}")
    return answer(found[0])


@router.get("/history", **about(object_of("Entries", entries=tuple[Entry, ...]), ENTRIES))
async def history(
    caller: Asking,
    id: models.Name | None = None,
    scope: models.Scope | None = None,
    limit: models.Limit = 50,
) -> Response:
    """What happened to one record, oldest first; without an id, the newest changes of a scope's
    root."""
    return answer({"entries": await caller.memory.history(id, scope=scope, limit=limit)})
