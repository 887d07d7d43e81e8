"""A local Slack: its web API and its socket, with the faults of the real one.

Pages with cursors, newest first; 429 with Retry-After; events that come twice, late or in another
order; connections that end; tokens that are revoked.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from aiohttp import WSMsgType, web

TEAM, BOT, CHANNEL = "T0001", "UBOT", "C0001"
BOT_TOKEN, APP_TOKEN = "xoxb-1-test", "xapp-1-test"
DAY = 86_400
START = 1_750_000_000


def said(n: int, text: str, *, user: str = "UANN", every: int = 600, **more: Any) -> dict[str, Any]:
    """The n-th message of a channel."""
    return {
        "type": "message",
        "user": user,
        "text": text,
        "ts": f"{START + n * every}.000100",
        **more,
    }


@dataclass
class Slack:
    """State of a workspace; all of it may be changed while it runs."""

    messages: list[dict[str, Any]] = field(default_factory=list)
    replies: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    page: int = 100
    limited: list[str] = field(default_factory=list)  # methods whose next call gets a 429
    retry_after: int = 1
    revoked: bool = False
    calls: Counter[str] = field(default_factory=Counter)
    answered: list[dict[str, Any]] = field(default_factory=list)  # to commands
    acks: list[str] = field(default_factory=list)
    member: bool = True

    def __post_init__(self) -> None:
        self._sockets: list[web.WebSocketResponse] = []
        self._unheard: dict[str, dict[str, Any]] = {}
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self.url = ""
        self._thread = threading.Thread(target=self._main, daemon=True)
        self._thread.start()
        assert self._ready.wait(30)

    # Running

    def _main(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())
        self._loop.run_forever()
        self._loop.run_until_complete(self._runner.cleanup())
        self._loop.close()

    async def _serve(self) -> None:
        app = web.Application()
        app.router.add_route("*", "/api/{method}", self._api)
        app.router.add_get("/socket", self._socket)
        app.router.add_post("/respond", self._respond)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        port = self._runner.addresses[0][1]
        self.url = f"http://127.0.0.1:{port}"
        self._ready.set()

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(30)

    # The web API

    async def _api(self, request: web.Request) -> web.Response:
        method = request.match_info["method"]
        self.calls[method] += 1
        given = {**request.query, **(await request.post())}
        if method in self.limited:
            self.limited.remove(method)
            self.calls["429"] += 1
            headers = {"Retry-After": str(self.retry_after)}
            error = {"ok": False, "error": "ratelimited"}
            return web.json_response(error, status=429, headers=headers)
        wanted = APP_TOKEN if method == "apps.connections.open" else BOT_TOKEN
        if self.revoked or request.headers.get("Authorization") != f"Bearer {wanted}":
            error = "token_revoked" if self.revoked else "invalid_auth"
            return web.json_response({"ok": False, "error": error})
        handler = getattr(self, "_" + method.replace(".", "_"), None)
        if handler is None:
            return web.json_response({"ok": False, "error": "unknown_method"})
        return web.json_response({"ok": True, **handler(given)})

    def _auth_test(self, _: Any) -> dict[str, Any]:
        return {"team_id": TEAM, "user_id": BOT, "bot_id": "B1"}

    def _apps_connections_open(self, _: Any) -> dict[str, Any]:
        return {"url": self.url.replace("http", "ws") + "/socket"}

    def _users_list(self, _: Any) -> dict[str, Any]:
        people = {"UANN": "Ann", "UBEN": "Ben"}
        return {"members": [{"id": i, "profile": {"display_name": n}} for i, n in people.items()]}

    def _users_conversations(self, _: Any) -> dict[str, Any]:
        return {"channels": [{"id": CHANNEL}] if self.member else []}

    def _conversations_info(self, _: Any) -> dict[str, Any]:
        return {
            "channel": {
                "id": CHANNEL,
                "name": "lighthouse",
                "topic": {"value": "the lighthouse project"},
                "purpose": {"value": ""},
            }
        }

    def _conversations_history(self, given: Any) -> dict[str, Any]:
        low, high = float(given.get("oldest") or 0), float(given.get("latest") or "inf")
        found = [m for m in self.messages if low < float(m["ts"]) < high]
        found.sort(key=lambda m: float(m["ts"]), reverse=True)
        return self._paged(found, given)

    def _conversations_replies(self, given: Any) -> dict[str, Any]:
        parent = [m for m in self.messages if m["ts"] == given["ts"]]
        return self._paged([*parent, *self.replies.get(given["ts"], [])], given)

    def _paged(self, found: list[dict[str, Any]], given: Any) -> dict[str, Any]:
        start = int(given.get("cursor") or 0)
        most = min(self.page, int(given.get("limit") or 100))
        end = start + most
        more = {"next_cursor": str(end)} if end < len(found) else {"next_cursor": ""}
        return {"messages": found[start:end], "response_metadata": more}

    async def _respond(self, request: web.Request) -> web.Response:
        self.answered.append(await request.json())
        return web.Response(text="ok")

    # The socket

    async def _socket(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.send_json({"type": "hello", "num_connections": 1})
        self._sockets.append(socket)
        for body in list(self._unheard.values()):
            await socket.send_json(body)
        async for message in socket:
            if message.type == WSMsgType.TEXT:
                told = json.loads(message.data)
                if told.get("envelope_id"):
                    self._unheard.pop(told["envelope_id"], None)
                    self.acks.append(told["envelope_id"])
        self._sockets.remove(socket)
        return socket

    @property
    def connected(self) -> bool:
        return bool(self._sockets)

    def hang_up(self) -> None:
        """As the real one does every few hours."""

        async def close() -> None:
            for socket in list(self._sockets):
                await socket.send_json({"type": "disconnect", "reason": "refresh_requested"})
                await socket.close()

        asyncio.run_coroutine_threadsafe(close(), self._loop).result(30)

    def send(self, kind: str, payload: dict[str, Any], envelope: str) -> None:
        """An event that nobody acknowledges is sent again to who comes next, as by the real one:
        a client may give up the connection that it was sent on."""
        body = {"envelope_id": envelope, "type": kind, "payload": payload,
                "accepts_response_payload": True}  # fmt: skip

        async def deliver() -> None:
            if kind == "events_api":
                self._unheard[envelope] = body
            await self._sockets[-1].send_json(body)

        asyncio.run_coroutine_threadsafe(deliver(), self._loop).result(30)

    def event(self, event: dict[str, Any], envelope: str) -> None:
        payload = {
            "type": "event_callback",
            "team_id": TEAM,
            "event_id": f"Ev{envelope}",
            "event": {"type": "message", "channel": CHANNEL, **event},
        }
        self.send("events_api", payload, envelope)

    def command(self, text: str, envelope: str, user: str = "UANN") -> None:
        payload = {
            "command": "/standfast",
            "text": text,
            "team_id": TEAM,
            "channel_id": CHANNEL,
            "user_id": user,
            "response_url": f"{self.url}/respond",
        }
        self.send("slash_commands", payload, envelope)
