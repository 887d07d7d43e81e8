"""What all surfaces have in common: a verb and its arguments in, everything that is said out.

Verbs and arguments are those of the library. A surface that cannot be asked something says why.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from standfast import Memory, StandfastError
from standfast.interfaces.render import as_json
from standfast.types import Message, Packet

Arguments = Mapping[str, Any]


@dataclass(frozen=True)
class Call:
    verb: str
    arguments: Arguments

    def __str__(self) -> str:
        return f"{self.verb}({', '.join(f'{k}={v!r}' for k, v in self.arguments.items())})"


def call(verb: str, **arguments: Any) -> Call:
    return Call(verb, arguments)


@dataclass(frozen=True)
class Said:
    """An answer. ``text`` is all of it, with the status and the headers where there are some."""

    ok: bool
    text: str


class Surface(Protocol):
    """One way to reach a memory, for somebody who may not reach all of it."""

    def ask(self, asked: Call) -> Said: ...

    def close(self) -> None: ...


class Library:
    """The verbs themselves, bound to a scope; or those of the client, by its key."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def ask(self, asked: Call) -> Said:
        arguments = dict(asked.arguments)
        written = io.BytesIO()
        if asked.verb == "export_to":
            arguments["path"] = written
        if asked.verb == "import_from":
            arguments["path"] = io.BytesIO(arguments.pop("lines"))
        if asked.verb == "confirm":
            arguments = {"packet": packet_of(arguments["pending"])}
        try:
            value = getattr(self._memory, asked.verb)(**arguments)
        except StandfastError as error:
            return Said(False, f"{type(error).__name__}: {error}")
        told = json.dumps(as_json(value), ensure_ascii=False)
        return Said(True, f"{told}\n{written.getvalue().decode()}")

    def close(self) -> None:
        self._memory.close()


def packet_of(pending: list[dict[str, str]]) -> Packet:
    """A packet that delivers these messages, whoever's they are."""
    at = datetime(2026, 1, 1, tzinfo=UTC)
    messages = tuple(
        Message(id=m["id"], scope=m["scope"], session="~pending", role="user", text="", at=at)
        for m in pending
    )
    return Packet(text="", stable_text="", tokens=0, counter="", hash="", pending=messages)
