"""How a server and its helpers talk: a header in JSON and a body, behind their lengths."""

from __future__ import annotations

import asyncio
import json
from typing import Any

HEAD_BYTES = 8  # two lengths


def frame(header: dict[str, Any], body: bytes = b"") -> bytes:
    said = json.dumps(header).encode()
    return len(said).to_bytes(4, "big") + len(body).to_bytes(4, "big") + said + body


async def read_frame(reader: asyncio.StreamReader) -> tuple[dict[str, Any], bytes]:
    """IncompleteReadError if the other side is gone."""
    head = await reader.readexactly(HEAD_BYTES)
    said = await reader.readexactly(int.from_bytes(head[:4], "big"))
    return json.loads(said), await reader.readexactly(int.from_bytes(head[4:], "big"))
