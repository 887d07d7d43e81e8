"""Looking around, page by page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from recollect.interfaces.http import examples, models
from recollect.interfaces.http.answers import answer
from recollect.interfaces.http.openapi import about
from recollect.interfaces.http.routes.calls import Asking
from recollect.interfaces.http.shapes import object_of, page_of, shape_of
from recollect.types import (
    Entry,
    Kind,
    Message,
    Record,
    Relation,
    Session,
    Source,
    Status,
    Type,
)
from recollect.verbs.lists import Consent, Due, Spent, Stats

router = APIRouter(prefix="/v1", tags=["listing"])

Cursor = Annotated[str, Query(max_length=4000, description="`next` of the page before")]
Tags = Annotated[Sequence[models.Name], Query(max_length=64)]
Kinds = Annotated[Sequence[Kind], Query()]
Types = Annotated[Sequence[Type], Query()]
Statuses = Annotated[Sequence[Status], Query()]
Sources = Annotated[Sequence[Source], Query()]
Authors = Annotated[Sequence[models.Name], Query(max_length=64)]


@router.get("/records", **about(page_of("RecordPage", Record), examples.RECORD_PAGE))
async def records(
    caller: Asking,
    scope: models.Scope | None = None,
    descend: bool = False,
    kinds: Kinds = (),
    types: Types = (),
    tags: Tags = (),
    statuses: Statuses = (),
    sources: Sources = (),
    authors: Authors = (),
    session: models.Name | None = None,
    since: str | None = None,
    until: str | None = None,
    newest: bool = False,
    cursor: Cursor = "",
    limit: models.Limit = 100,
) -> Response:
    """Records in the order of their making, or the newest first; of every status unless told
    otherwise."""
    some: dict[str, Any] = {"kinds": kinds, "types": types, "tags": tags, "statuses": statuses}
    some |= {"sources": sources, "authors": authors, "since": since, "until": until}
    some |= {"session": session, "newest": newest}
    page = await caller.memory.records(
        scope=scope, descend=descend, cursor=cursor, limit=limit, **some
    )
    return answer(page)


@router.get(
    "/relations",
    **about(object_of("Relations", relations=tuple[Relation, ...]), examples.RELATIONS),
)
async def relations(id: models.Name, caller: Asking) -> Response:
    """The edges of a record whose other end can be seen."""
    return answer({"relations": await caller.memory.relations(id)})


@router.get("/sessions", **about(page_of("SessionPage", Session), examples.SESSION_PAGE))
async def sessions(
    caller: Asking,
    scope: models.Scope | None = None,
    descend: bool = False,
    cursor: Cursor = "",
    limit: models.Limit = 100,
) -> Response:
    """Sessions in order of scope and name."""
    page = await caller.memory.sessions(scope=scope, descend=descend, cursor=cursor, limit=limit)
    return answer(page)


@router.get("/messages", **about(page_of("MessagePage", Message), examples.MESSAGE_PAGE))
async def messages(
    session: models.Name,
    caller: Asking,
    scope: models.Scope | None = None,
    newest: bool = False,
    cursor: Cursor = "",
    limit: models.Limit = 100,
) -> Response:
    """What was said in a session, in order; with `newest` from the last message back."""
    page = await caller.memory.messages(
        session, scope=scope, newest=newest, cursor=cursor, limit=limit
    )
    return answer(page)


@router.get(
    "/pending", **about(object_of("Messages", messages=tuple[Message, ...]), examples.MESSAGES)
)
async def pending(caller: Asking, scope: models.Scope | None = None) -> Response:
    """Messages that wait for the next context there."""
    return answer({"messages": await caller.memory.pending(scope=scope)})


@router.get("/changes", **about(page_of("EntryPage", Entry), examples.ENTRY_PAGE))
async def changes(
    caller: Asking,
    scope: models.Scope | None = None,
    cursor: Cursor = "",
    limit: models.Limit = 50,
) -> Response:
    """The journal of a scope's root, newest first."""
    return answer(await caller.memory.changes(scope=scope, cursor=cursor, limit=limit))


@router.get("/usage", **about(page_of("UsagePage", Spent), examples.USAGE_PAGE))
async def usage(
    caller: Asking,
    scope: models.Scope | None = None,
    day: Annotated[str | None, Query(pattern=r"^\d{4}-\d{2}-\d{2}$")] = None,
    cursor: Cursor = "",
    limit: models.Limit = 100,
) -> Response:
    """What models cost, by root scope, day, operation and model."""
    return answer(await caller.memory.usage(scope=scope, day=day, cursor=cursor, limit=limit))


@router.get("/due", **about(shape_of(Due), examples.DUE))
async def due(
    caller: Asking, scope: models.Scope | None = None, limit: models.Limit = 100
) -> Response:
    """What upkeep has still to do, and what is stuck."""
    return answer(await caller.memory.due(scope=scope, limit=limit))


@router.get("/stats", **about(shape_of(Stats), examples.STATS))
async def stats(
    caller: Asking, scope: models.Scope | None = None, descend: bool = False
) -> Response:
    """How many records there are, by kind, type and status, and how many sessions. If `complete`
    is false, `sessions` means "at least"; records are always exact."""
    return answer(await caller.memory.stats(scope=scope, descend=descend))


@router.get(
    "/policies", **about(object_of("Policies", policies=tuple[Consent, ...]), examples.POLICIES)
)
async def policies(caller: Asking, scope: models.Scope | None = None) -> Response:
    """Who opted out of being kept, or in again."""
    return answer({"policies": await caller.memory.policies(scope=scope)})
