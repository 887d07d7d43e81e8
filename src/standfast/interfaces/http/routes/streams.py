"""Changes as they happen: server-sent events, resumed by id."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from typing import Annotated, Any

from fastapi import Header, Query, Request
from starlette.responses import Response, StreamingResponse

from standfast.access.quotas import TooMany
from standfast.access.shares import tenants_of
from standfast.errors import StandfastError, Unavailable
from standfast.interfaces.caller import Caller
from standfast.interfaces.http.answers import json_bytes, outward
from standfast.interfaces.http.callers import Door
from standfast.interfaces.http.routes.calls import Asking, router_of
from standfast.memory.stream import StreamEvent, stream_changes

router = router_of("listing", "/v1")

STREAMS_MAX = 16  # for one caller
TENANT_STREAMS_MAX = 64  # for all keys of a root together
_EVENTS = {
    "description": "Events named hello, change or gap, each with its id. The data of a change is "
    "its entry in the journal, without what memories say unless `text` is asked for. Ends with "
    "an event `bye` when the key works no more.",
    "content": {"text/event-stream": {"schema": {"type": "string"}}},
}


class Streams:
    """Who listens now. They are let go when the server is about to end."""

    def __init__(self) -> None:
        self._closing = asyncio.Event()
        self._listening: Counter[str] = Counter()  # by key, and by root

    def stop(self) -> None:
        self._closing.set()

    def check_room(self, caller: Caller) -> None:
        if self._listening[f"key {caller.name}"] >= STREAMS_MAX:
            raise TooMany(f"{STREAMS_MAX} streams are open for this key; close one", 10)
        for tenant in filter(None, tenants_of(caller.engine)):
            if self._listening[f"root {tenant}"] >= TENANT_STREAMS_MAX:
                raise TooMany(f"{TENANT_STREAMS_MAX} streams are open for {tenant}; close one", 10)

    async def events(
        self, request: Request, caller: Caller, first: StreamEvent, rest: AsyncIterator[StreamEvent]
    ) -> AsyncIterator[bytes]:
        names = [f"key {caller.name}", *(f"root {one}" for one in tenants_of(caller.engine))]
        self._listening.update(names)
        ending = asyncio.create_task(self._closing.wait())
        try:
            yield _line(first)
            async with aclosing(rest):  # type: ignore[type-var]
                while (event := await _next(rest, ending)) is not None:
                    if event.name == "pulse":
                        if not await _still_welcome(request):
                            yield b"event: bye\ndata: {}\n\n"
                            return
                        yield b": still there\n\n"
                    else:
                        yield _line(event)
        except Unavailable:  # the store is away: whoever comes again is told why
            return
        finally:
            ending.cancel()
            self._listening.subtract(names)
            self._listening += Counter()  # only those who still listen


async def _next(rest: AsyncIterator[StreamEvent], ending: asyncio.Task[Any]) -> StreamEvent | None:
    """What comes next; None if the server is about to end."""
    coming = asyncio.ensure_future(anext(rest))
    try:
        await asyncio.wait((coming, ending), return_when=asyncio.FIRST_COMPLETED)
        return coming.result() if coming.done() else None
    finally:
        coming.cancel()
        with suppress(asyncio.CancelledError, StopAsyncIteration, StandfastError):
            await coming


async def _still_welcome(request: Request) -> bool:
    """A key that was revoked meanwhile hears no more."""
    door: Door = request.app.state.door
    try:
        await door.caller(request)
    except StandfastError:
        return False
    return True


def _line(event: StreamEvent) -> bytes:
    data = json_bytes(outward(event.data))
    return b"id: %b\nevent: %b\ndata: %b\n\n" % (event.place.encode(), event.name.encode(), data)


LastEventId = Annotated[
    str | None, Header(alias="Last-Event-ID", description="the id of the last event that came")
]
Scope = Annotated[str | None, Query(max_length=4096, description="only this scope, and below it")]
After = Annotated[
    str,
    Query(max_length=8192, description="the same in the address; `start`: the whole journal"),
]
WithText = Annotated[bool, Query(description="with every field and the texts of records")]


@router.get("/changes/stream", response_class=StreamingResponse, responses={200: _EVENTS})
async def changes_stream(
    request: Request,
    caller: Asking,
    scope: Scope = None,
    after: After = "",
    text: WithText = False,
    last_event_id: LastEventId = None,
) -> Response:
    """Changes as they happen, in order within each root. Whoever comes back with the id of the
    last event misses nothing."""
    streams: Streams = request.app.state.streams
    streams.check_room(caller)
    rest = stream_changes(caller.memory, scope=scope, after=last_event_id or after, text=text)
    first = await anext(rest)  # what is wrong is told before the answer begins
    return StreamingResponse(
        streams.events(request, caller, first, rest), media_type="text/event-stream"
    )
