"""What a service said, made fit to be shown: one short line with nothing secret in it."""

from __future__ import annotations

import re
from collections.abc import Mapping

SAID_MAX = 200


def message_in(body: object) -> str:
    """The sentence that providers put into ``error.message``; pages of HTML are left out."""
    if isinstance(body, Mapping):
        inner = body.get("error", body)
        message = inner.get("message", "") if isinstance(inner, Mapping) else inner
        return message if isinstance(message, str) else ""
    return "" if not isinstance(body, str) or "<" in body else body


def scrubbed(text: str, key: str) -> str:
    """One short line without the key, and without anything that looks like one."""
    if key:
        text = text.replace(key, "[key]")
    text = re.sub(r"\b(?:sk|pk|AIza|key)[-_][\w*.-]{6,}|\bAIza\w{20,}", "[key]", text)
    text = re.sub(r"(?i)bearer\s+\S+", "bearer [key]", text)
    line = " ".join(text.split())
    return line if len(line) <= SAID_MAX else line[:SAID_MAX] + "..."
