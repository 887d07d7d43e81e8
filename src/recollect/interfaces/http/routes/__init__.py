"""The routes, by topic. Each reads a request, calls one verb and answers."""

from __future__ import annotations

from fastapi import APIRouter, Depends

from recollect.interfaces.http.routes import agtos, health, identity, long
from recollect.interfaces.http.routes.calls import no_strangers
from recollect.interfaces.http.routes.verbs import TOPICS, verb_routes

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


def all_routes() -> APIRouter:
    router = APIRouter()
    strict = [Depends(no_strangers)]
    for verbs in map(verb_routes, TOPICS):
        router.include_router(verbs, dependencies=strict)
    for topic in (long, identity):
        router.include_router(topic.router, dependencies=strict)
    for topic in (agtos, health):
        router.include_router(topic.router)
    return router
