"""Webhooks: programs elsewhere that are told of changes. Needs the right `admin`."""

from __future__ import annotations

from typing import Any, get_type_hints

from starlette.responses import Response

from standfast.interfaces.http import models
from standfast.interfaces.http.answers import answer
from standfast.interfaces.http.examples import WEBHOOK
from standfast.interfaces.http.openapi import about
from standfast.interfaces.http.routes.calls import Asking, router_of, takes
from standfast.interfaces.http.shapes import object_of, shape_of
from standfast.interfaces.render import as_json
from standfast.memory import webhooks
from standfast.memory.webhooks import Webhook

router = router_of("identity", "/v1")

_NEW = object_of("NewWebhook", **get_type_hints(Webhook), secret=str)
_ALL = object_of("Webhooks", webhooks=tuple[Webhook, ...])


@router.get("/webhooks", **about(_ALL, {"webhooks": [WEBHOOK]}))
async def list_webhooks(caller: Asking) -> Response:
    """The webhooks of the scopes that this key may change, and how delivery goes."""
    return answer({"webhooks": await webhooks.list_webhooks(caller.memory)})


@router.post("/webhooks", **about(_NEW, {**WEBHOOK, "secret": "whs_..."}, status=201))
@takes(asked=models.AddWebhook)
async def add_webhook(asked: Any, caller: Asking) -> Response:
    """Tell an address of every change from now on. The secret that signs is in this answer only."""
    hook, secret = await webhooks.add_webhook(caller.memory, **asked.given())
    return answer({**as_json(hook), "secret": secret}, 201)


@router.delete("/webhooks/{id}", **about(shape_of(Webhook), WEBHOOK))
async def remove_webhook(id: str, caller: Asking) -> Response:
    """It is told nothing more."""
    return answer(await webhooks.remove_webhook(caller.memory, id))
