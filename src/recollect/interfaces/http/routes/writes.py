"""Putting something in."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from recollect.interfaces.http import models
from recollect.interfaces.http.examples import RECEIPT
from recollect.interfaces.http.openapi import about
from recollect.interfaces.http.routes.calls import MayWrite
from recollect.interfaces.http.shapes import shape_of
from recollect.types import Message, Packet, Receipt

router = APIRouter(prefix="/v1", tags=["writing"])
_RECEIPT = about(shape_of(Receipt), RECEIPT)


@router.post("/observe", **_RECEIPT)
async def observe(asked: models.Observe, writing: MayWrite) -> Response:
    """Append messages to a session's log; each becomes a searchable turn."""
    return await writing.once(lambda memory: memory.observe(**writing.given(asked)))


@router.post("/remember", **_RECEIPT)
async def remember(asked: models.Remember, writing: MayWrite) -> Response:
    """Keep one statement. What says the same already is merged."""
    return await writing.once(lambda memory: memory.remember(**writing.given(asked)))


@router.post("/confirm", **_RECEIPT)
async def confirm(asked: models.Confirm, writing: MayWrite) -> Response:
    """A packet was used: the messages in its `pending` are consumed."""
    now = writing.caller.engine.now()
    pending = tuple(
        Message(id=m.id, scope=m.scope, session=m.session, role="user", text="", at=now)
        for m in asked.pending
    )
    packet = Packet(text="", stable_text="", tokens=0, counter="", hash="", pending=pending)
    return await writing.once(lambda memory: memory.confirm(packet))


@router.post("/set_state", **_RECEIPT)
async def set_state(asked: models.SetState, writing: MayWrite) -> Response:
    """Set the state of a session's task; an empty one takes it away."""
    return await writing.once(lambda memory: memory.set_state(**writing.given(asked)))


@router.post("/end", **_RECEIPT)
async def end(asked: models.End, writing: MayWrite) -> Response:
    """A session is over: keep an episode of it, unless it was trivial."""
    return await writing.once(lambda memory: memory.end(**writing.given(asked)))


@router.post("/note", **_RECEIPT)
async def note(asked: models.Note, writing: MayWrite) -> Response:
    """Add a short note by role to the block of a session."""
    return await writing.once(lambda memory: memory.note(**writing.given(asked)))


@router.post("/relate", **_RECEIPT)
async def relate(asked: models.Relate, writing: MayWrite) -> Response:
    """Link two records of one root."""
    return await writing.once(lambda memory: memory.relate(**writing.given(asked)))


@router.post("/save_procedure", **_RECEIPT)
async def save_procedure(asked: models.SaveProcedure, writing: MayWrite) -> Response:
    """Keep how something is done: ordered steps under a name."""
    return await writing.once(lambda memory: memory.save_procedure(**writing.given(asked)))


@router.post("/procedure_used", **_RECEIPT)
async def procedure_used(asked: models.ProcedureUsed, writing: MayWrite) -> Response:
    """Count that a procedure was followed, and whether it worked."""
    return await writing.once(lambda memory: memory.procedure_used(**writing.given(asked)))


@router.post("/set_policy", **_RECEIPT)
async def set_policy(asked: models.SetPolicy, writing: MayWrite) -> Response:
    """Opt a scope, or one author in it, out of being kept, or in again."""
    return await writing.once(lambda memory: memory.set_policy(**writing.given(asked)))
