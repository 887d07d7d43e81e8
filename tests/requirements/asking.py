"""Short ways to say what a test asks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from standfast import Memory, Receipt


def texts(memory: Memory, query: str, **options: Any) -> list[str]:
    return [hit.record.text for hit in memory.recall(query, **options).hits]


def stored(memory: Memory, text: str, **options: Any) -> str:
    """Remember it and answer with the new record's id."""
    receipt = memory.remember(text, **options)
    assert receipt.items[0].status == "stored", receipt
    return receipt.items[0].id


def stored_all(memory: Memory, texts: Iterable[str], **options: Any) -> list[str]:
    """The same for many at once, which takes a fraction of the time."""
    receipt = memory.remember(list(texts), **options)
    assert {item.status for item in receipt.items} == {"stored"}, receipt
    return [item.id for item in receipt.items]


def statuses(receipt: Receipt) -> list[str]:
    return [item.status for item in receipt.items]
