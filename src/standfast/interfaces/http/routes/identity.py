"""Who may connect: keys, and the users that devices belong to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, get_type_hints
from urllib.parse import urlsplit

from fastapi import Request
from starlette.responses import Response, StreamingResponse

from standfast.access import codes, keys
from standfast.access.audit import AuditReport, audit_lines, audit_roots, verify_audit
from standfast.access.keys import Device, Key
from standfast.errors import Denied
from standfast.interfaces.http import models
from standfast.interfaces.http.answers import answer, json_bytes
from standfast.interfaces.http.bodies import LINES
from standfast.interfaces.http.callers import BROWSER_COOKIE, Door
from standfast.interfaces.http.examples import AUDIT_REPORT, DEVICE, KEY
from standfast.interfaces.http.openapi import about
from standfast.interfaces.http.routes.calls import Asking, router_of, takes
from standfast.interfaces.http.secret_files import delete_used
from standfast.interfaces.http.shapes import object_of, shape_of
from standfast.interfaces.render import as_json
from standfast.types import Right

router = router_of("identity", "/v1")

_LINES = {"description": "One JSON line each", "content": {LINES: {"schema": {"type": "string"}}}}
_ME = object_of(
    "Caller", id=str, name=str, scopes=tuple[str, ...], rights=tuple[Right, ...], default_scope=str
)
_ME_SAID = {
    "id": "3f9a51c07b12",
    "name": "console",
    "scopes": ["user:ann"],
    "rights": ["read", "write"],
    "default_scope": "user:ann",
}
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


@router.get("/me", **about(_ME, _ME_SAID))
async def me(caller: Asking) -> Response:
    """Who asks, as this server sees it: the key's name, scopes and rights. No scopes: all."""
    engine = caller.engine
    said = {
        "id": caller.name,
        "name": caller.key.name if caller.key else caller.via,
        "scopes": list(engine.bound),
        "rights": sorted(engine.rights),
        "default_scope": engine.write_scope(None),
    }
    return answer(said)


# Not on the OpenAPI page: a program has a key, and a page that logs in by itself is none of ours.
@router.post("/login", include_in_schema=False)
@takes(asked=models.Login)
async def login(asked: Any, request: Request) -> Response:
    """Exchange a one-time code for a key that works in this browser only: half of it is set as a
    cookie, the other half is in this answer."""
    door: Door = request.app.state.door
    engine = request.app.state.memory.engine
    browser = request.cookies.get(BROWSER_COOKIE, "")
    if not codes.is_half(browser):  # other tabs go on with theirs
        browser = codes.new_browser(engine)
    try:
        key, half = await codes.redeem(engine, asked.code, browser=browser)
    except Denied as denied:
        raise door.failed(request, str(denied)) from None
    await asyncio.to_thread(delete_used, asked.code)
    response = answer({**as_json(key), "key": half}, 201)
    response.set_cookie(
        BROWSER_COOKIE,
        browser,
        path="/",
        httponly=True,
        samesite="strict",
        secure=_is_secure(request),
    )
    return response


def _is_secure(request: Request) -> bool:
    """Does the browser speak TLS? Who stands in front of the server does it for us, and the
    request comes in plain: then the name that others know us by says so."""
    public = urlsplit(request.app.state.public_url)
    by_name = public.netloc.lower() == request.headers.get("host", "").lower()
    return "https" in (request.url.scheme, public.scheme if by_name else "")


@router.post("/logout", include_in_schema=False)
async def logout(request: Request, caller: Asking) -> Response:
    """The key that asks works no more, from the next request on. Needs no right: everybody may
    give up their own."""
    if caller.key is None:
        raise Denied("there is no key to give up")
    engine = request.app.state.memory.engine
    return answer(await keys.revoke_key(engine, caller.key.id, actor=caller.actor))
