"""Taking something back."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from recollect.interfaces.http import models
from recollect.interfaces.http.answers import answer
from recollect.interfaces.http.examples import RECEIPT, REVIEW
from recollect.interfaces.http.openapi import about
from recollect.interfaces.http.routes.calls import Asking, MayErase, MayWrite
from recollect.interfaces.http.shapes import object_of, shape_of
from recollect.types import Receipt, ReviewItem

router = APIRouter(prefix="/v1", tags=["correcting"])
_RECEIPT = about(shape_of(Receipt), RECEIPT)


@router.post("/forget", **_RECEIPT)
async def forget(asked: models.Forget, writing: MayErase) -> Response:
    """Erase for good, with everything derived. Needs the right `erase`."""
    return await writing.once(lambda memory: memory.forget(**writing.given(asked)))


@router.post("/revoke", **_RECEIPT)
async def revoke(asked: models.Revoke, writing: MayWrite) -> Response:
    """Retire everything that came from somewhere, in one change that `undo` takes back."""
    return await writing.once(lambda memory: memory.revoke(**writing.given(asked)))


@router.post("/archive", **_RECEIPT)
async def archive(asked: models.Archive, writing: MayWrite) -> Response:
    """Retire records; `undo` takes it back."""
    return await writing.once(lambda memory: memory.archive(**writing.given(asked)))


@router.post("/undo", **_RECEIPT)
async def undo(asked: models.Undo, writing: MayWrite) -> Response:
    """Take a change back, by a change that can be undone too."""
    return await writing.once(lambda memory: memory.undo(**writing.given(asked)))


@router.get("/review", **about(object_of("Review", items=tuple[ReviewItem, ...]), REVIEW))
async def review(
    caller: Asking, scope: models.Scope | None = None, limit: models.Limit = 50
) -> Response:
    """What waits for a person's decision."""
    return answer({"items": await caller.memory.review(scope=scope, limit=limit)})


@router.post("/resolve", **_RECEIPT)
async def resolve(asked: models.Resolve, writing: MayWrite) -> Response:
    """Decide about something under review."""
    return await writing.once(lambda memory: memory.resolve(**writing.given(asked)))
