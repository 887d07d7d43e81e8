"""standfast: the memory of an AI agent. Importing this does nothing; names load when used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from standfast.errors import (
        Conflict,
        Denied,
        Incompatible,
        Invalid,
        NotFound,
        StandfastError,
        Unavailable,
    )
    from standfast.memory import AsyncMemory
    from standfast.memory.sync import Memory
    from standfast.packet.text import as_text
    from standfast.scopes import make_scope
    from standfast.types import (
        Answer,
        Entry,
        Hit,
        Message,
        Packet,
        Receipt,
        ReceiptItem,
        Record,
        Relation,
        ReviewItem,
        Usage,
        Why,
    )

__version__ = "0.1.0"

_HOMES = {
    "Answer": "types",
    "AsyncMemory": "memory",
    "Conflict": "errors",
    "Denied": "errors",
    "Entry": "types",
    "Hit": "types",
    "Incompatible": "errors",
    "Invalid": "errors",
    "Memory": "memory.sync",
    "Message": "types",
    "NotFound": "errors",
    "Packet": "types",
    "Receipt": "types",
    "ReceiptItem": "types",
    "StandfastError": "errors",
    "Record": "types",
    "Relation": "types",
    "ReviewItem": "types",
    "Unavailable": "errors",
    "Usage": "types",
    "Why": "types",
    "as_text": "packet.text",
    "make_scope": "scopes",
}

__all__ = [
    "Answer",
    "AsyncMemory",
    "Conflict",
    "Denied",
    "Entry",
    "Hit",
    "Incompatible",
    "Invalid",
    "Memory",
    "Message",
    "NotFound",
    "Packet",
    "Receipt",
    "ReceiptItem",
    "Record",
    "Relation",
    "ReviewItem",
    "StandfastError",
    "Unavailable",
    "Usage",
    "Why",
    "as_text",
    "make_scope",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"standfast.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'standfast' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
