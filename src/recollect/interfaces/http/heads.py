"""HEAD: whatever can be read can be asked for without its body, as RFC 9110 wants it."""

from __future__ import annotations

from recollect.interfaces.http.guards import App, Message, Receive, Scope, Send


class Heads:
    """Asks for GET and keeps the head of the answer."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            return await self._app(scope, receive, send)

        async def head_only(message: Message) -> None:
            if message["type"] == "http.response.start":
                await send(message)
                # At once: of a stream nobody waits for the end.
                await send({"type": "http.response.body", "body": b"", "more_body": False})

        inner = {**scope, "method": "GET"}
        try:
            await self._app(inner, receive, head_only)
        finally:
            if "route" in inner:
                scope["route"] = inner["route"]  # for the metrics
