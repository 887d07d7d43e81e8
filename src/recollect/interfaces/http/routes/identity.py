"""Who may connect: keys, and the users that devices belong to."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, get_type_hints

from starlette.responses import Response, StreamingResponse

from recollect.access import keys
from recollect.access.audit import AuditReport, audit_lines, audit_roots, verify_audit
from recollect.access.keys import Device, Key
from recollect.interfaces.http import models
from recollect.interfaces.http.answers import answer, json_bytes
from recollect.interfaces.http.bodies import LINES
from recollect.interfaces.http.examples import AUDIT_REPORT, DEVICE, KEY
from recollect.interfaces.http.openapi import about
from recollect.interfaces.http.routes.calls import Asking, router_of, takes
from recollect.interfaces.http.shapes import object_of, shape_of
from recollect.interfaces.render import as_json

router = router_of("identity", "/v1")

_LINES = {"description": "One JSON line each", "content": {LINES: {"schema": {"type": "string"}}}}
_NEW = object_of("NewKey", **get_type_hints(Key), key=str)


@router.get("/keys", **about(object_of("Keys", keys=tuple[Key, ...]), {"keys": [KEY]}))
async def list_keys(caller: Asking) -> Response:
    """All keys that this one may see, but no secrets."""
    return answer({"keys": await keys.list_keys(caller.memory.engine)})


@router.post("/keys", **about(_NEW, {**KEY, "key": "rck_..."}, status=201))
@takes(asked=models.CreateKey)
async def create_key(asked: Any, caller: Asking) -> Response:
    """Make a key. Its secret is in this answer and nowhere else."""
    key, secret = await keys.create_key(caller.memory.engine, **asked.given(), actor=caller.actor)
    return answer({**as_json(key), "key": secret}, 201)


@router.post("/keys/{id}/rotate", **about(_NEW, {**KEY, "key": "rck_..."}, status=201))
@takes(asked=models.RotateKey)
async def rotate_key(id: str, asked: Any, caller: Asking) -> Response:
    """A key that takes this one's place; the old one works on for a while."""
    key, secret = await keys.rotate_key(
        caller.memory.engine, id, **asked.given(), actor=caller.actor
    )
    return answer({**as_json(key), "key": secret}, 201)


@router.delete("/keys/{id}", **about(shape_of(Key), {**KEY, "revoked_at": KEY["created_at"]}))
async def revoke_key(id: str, caller: Asking) -> Response:
    """The key and those made with it work no more; what they began ends."""
    return answer(await keys.revoke_key(caller.memory.engine, id, actor=caller.actor))


@router.get(
    "/devices", **about(object_of("Devices", devices=tuple[Device, ...]), {"devices": [DEVICE]})
)
async def list_devices(caller: Asking) -> Response:
    """Which device belongs to whom."""
    return answer({"devices": await keys.list_devices(caller.memory.engine)})


@router.put("/devices", **about(shape_of(Device), DEVICE))
@takes(asked=models.MapDevice)
async def map_device(asked: Any, caller: Asking) -> Response:
    """What this device hears belongs to that scope from now on."""
    device = await keys.map_device(
        caller.memory.engine, asked.device, asked.scope, actor=caller.actor
    )
    return answer(device)


@router.get("/audit", response_class=StreamingResponse, responses={200: _LINES})
async def audit_log(caller: Asking, root: str | None = None) -> Response:
    """Who did what in the roots that this key owns, as JSON lines. Needs the right `audit`."""
    engine = caller.memory.engine
    await audit_roots(engine, root)  # what is wrong with it is said before the first line

    async def lines() -> AsyncIterator[bytes]:
        async for where, name, line in audit_lines(engine, root):
            yield json_bytes({"root": where, "line": name, **line}) + b"\n"

    return StreamingResponse(lines(), media_type=LINES)


@router.get("/audit/verify", **about(shape_of(AuditReport), AUDIT_REPORT))
async def verify_log(caller: Asking, root: str | None = None) -> Response:
    """Is the log as it was written? Needs the right `audit`."""
    return answer(await verify_audit(caller.memory.engine, root))
