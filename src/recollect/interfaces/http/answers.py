"""Answers as JSON: our own values, not looked at a second time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from recollect.interfaces.rendering import as_json, without_paths
from recollect.types import Packet

DEGRADED_HEADER = "X-Recollect-Degraded"


def json_bytes(value: Any) -> bytes:
    """UTF-8; half a surrogate pair, which no UTF-8 can carry, stays the escape it came as."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


def outward(value: Any) -> Any:
    """As JSON. Some reasons and notes are the words of an error, which may name a file here."""
    body = as_json(value)
    if isinstance(body, dict):
        if isinstance(notes := body.get("notes"), list):
            body["notes"] = [without_paths(note) for note in notes]
        for item in body.get("items") or ():
            if isinstance(item, dict) and isinstance(reason := item.get("reason"), str):
                item["reason"] = without_paths(reason)
        if isinstance(body.get("receipt"), dict):  # of long work
            body["receipt"] = outward(body["receipt"])
    return body


def answer(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(
        json_bytes(outward(value)),
        status_code=status,
        headers=dict(headers or {}),
        media_type="application/json",
    )


def etag_of(packet: Packet) -> str:
    """The same while the packet would say the same. Weak: scores may differ behind the comma."""
    said = {
        "text": packet.text,
        "messages": as_json(packet.messages),
        "pending": [(message.scope, message.id) for message in packet.pending],
    }
    return f'W/"{hashlib.sha256(json_bytes(said)).hexdigest()[:32]}"'


def matches(if_none_match: str, etag: str) -> bool:
    """Is it one of those that the client has? Compared weakly, as RFC 9110 says."""
    known = [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
    return "*" in known or etag.removeprefix("W/") in known


def header_text(text: str) -> str:
    """Text that no header can be broken with."""
    return "".join(c if " " <= c <= "~" else "?" for c in " ".join(text.split()))[:500]
