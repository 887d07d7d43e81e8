"""The routes, by topic. Each reads a request, calls one verb and answers."""

from __future__ import annotations

from starlette.routing import BaseRoute

from standfast.interfaces.http.routes import (
    agtos,
    health,
    identity,
    long,
    oauth,
    streams,
    webhooks,
)
from standfast.interfaces.http.routes.verbs import TOPICS, verb_routes

TAGS = {
    "writing": "Put something in.",
    "reading": "Find something.",
    "correcting": "Take something back.",
    "listing": "Look around.",
    "long work": "What takes longer than a request should.",
    "identity": "Who may connect. Needs the right `admin`.",
    "agtOS": "As agtOS shapes them.",
    "server": "The server itself.",
}


def all_routes() -> list[BaseRoute]:
    """In one list, made now: a router that is included in another is made by the first request
    that comes by."""
    about_access = [identity.router, webhooks.router, oauth.router]
    plain = [streams.router, long.router, *about_access, agtos.router, health.router]
    routers = [*map(verb_routes, TOPICS), *plain]
    return [route for router in routers for route in router.routes]
