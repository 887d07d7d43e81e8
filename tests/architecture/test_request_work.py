"""How much the server adds to a verb: calls of our functions around one request, and writes to its
connection. Counts, not times: a busy machine changes none.

Who makes every request do more has to say so here.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from standfast.access import keys
from standfast.interfaces.http import build_app
from standfast.interfaces.http.protocol import WholeAnswers
from standfast.memory import AsyncMemory
from standfast.settings import Settings
from tests.architecture.source import PACKAGE

AROUND = tuple(str(PACKAGE / name) for name in ("interfaces", "access"))
# At most: what was counted when this was written, and about a fifth more.
CALLS = 270
HEAD = b"HTTP/1.1 200 OK\r\n\r\n"


class Calls:
    """Of our functions around a verb; of the framework's those that look for a route."""

    def __init__(self) -> None:
        self.around = self.searches = 0

    def enter(self, frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            name = frame.f_code.co_filename
            self.around += name.startswith(AROUND)
            self.searches += name.endswith("routing.py") and frame.f_code.co_name == "matches"


def _scope(app: Any, key: str, body: bytes) -> dict[str, Any]:
    headers = {
        "host": "127.0.0.1",
        "content-type": "application/json",
        "authorization": f"Bearer {key}",
        "content-length": str(len(body)),
    }
    return {
        "type": "http",
        "app": app,
        "method": "POST",
        "path": "/v1/observe",
        "raw_path": b"/v1/observe",
        "query_string": b"",
        "http_version": "1.1",
        "scheme": "http",
        "client": ("127.0.0.1", 1234),
        "server": ("127.0.0.1", 80),
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }


async def _observed(app: Any, key: str, text: str) -> Calls:
    body = json.dumps({"session": "s", "messages": text, "scope": "user:ann"}).encode()
    status = 0

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        nonlocal status
        status = message.get("status", status)

    counted, before = Calls(), sys.getprofile()
    sys.setprofile(counted.enter)
    try:
        await app(_scope(app, key, body), receive, send)
    finally:
        sys.setprofile(before)
    assert status == 200
    return counted


async def _counted(path: Path) -> Calls:
    async with await AsyncMemory.open(path, embedder="hashing", background=False) as memory:
        _, key = await keys.create_key(memory._engine, scopes=("user:ann",))
        app = build_app(memory=memory, settings=Settings(), mcp=None)
        async with app.router.lifespan_context(app):
            await _observed(app, key, "The first one loads.")
            return await _observed(app, key, "The kite is red.")


def test_no_request_takes_more_work_than_it_may(tmp_path: Path) -> None:
    counted = asyncio.run(_counted(tmp_path / "m.db"))
    assert counted.around <= CALLS
    assert not counted.searches, "a verb is found by its name"


class _Sent:
    def __init__(self) -> None:
        self.written: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.written.append(data)

    def close(self) -> None:
        self.written.append(b"(closed)")

    @classmethod
    async def of(cls, *data: bytes | None) -> list[bytes]:
        """What goes out, none of it empty, where this is written; None: a turn of the loop."""
        sent = cls()
        whole = WholeAnswers(sent, asyncio.get_running_loop())  # type: ignore[arg-type]
        for one in data:
            if one is None:
                await asyncio.sleep(0)
            else:
                whole.write(one)
        whole.close()
        return [one for one in sent.written if one]


@pytest.mark.parametrize("body", [b"{}", b"HTTP/1.1 in a text"])
def test_the_head_of_an_answer_goes_with_its_body(body: bytes) -> None:
    written = asyncio.run(_Sent.of(HEAD, body, b""))
    assert written == [HEAD + body, b"(closed)"]


def test_a_head_waits_for_no_body_that_comes_later() -> None:
    written = asyncio.run(_Sent.of(HEAD, None, b"{}", HEAD))
    assert written == [HEAD, b"{}", HEAD, b"(closed)"]
