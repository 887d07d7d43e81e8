"""What a caller may write; mypy agrees with all of it. Read by ``tests/unit/test_types.py``."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import assert_type

from standfast import Answer, AsyncMemory, Memory, Packet, Receipt


def blocking() -> None:
    with Memory.open(Path("memory.db"), embedder="hashing", profile="otto") as memory:
        assert_type(memory, Memory)
        assert_type(memory.remember("x", kind="semantic", durability="core"), Receipt)
        assert_type(memory.recall("x", scope=["user:ann"], types=["fact"], limit=3), Answer)
        assert_type(memory.remember(["x", {"text": "y", "tags": ["z"]}]), Receipt)
        assert_type(memory.recall("x", where={"tags": {"all": ["z"]}}), Answer)
        assert_type(memory.context(shape="anthropic"), Packet)
        memory.export_to(Path("export.jsonl"))
        memory.import_from("export.jsonl", dry_run=True)


async def awaited() -> None:
    async with await AsyncMemory.open("dict:", background=False) as memory:
        assert_type(memory, AsyncMemory)
        assert_type(await memory.recall("x", statuses=["active", "disputed"]), Answer)


def connected() -> None:
    Memory.connect("http://127.0.0.1:4777", key="rck_x", timeout=5.0).close()
    asyncio.run(awaited())
