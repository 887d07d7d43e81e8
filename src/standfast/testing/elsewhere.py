"""What another process does to a store that this one has open, too."""

from __future__ import annotations

import asyncio
import importlib
import multiprocessing
from collections.abc import Awaitable, Callable
from dataclasses import replace
from itertools import count
from typing import Any

from standfast.errors import Conflict
from standfast.ports import Store
from standfast.testing.values import make_message, make_record, one_record, put

SECONDS_MAX = 120


def run_elsewhere(opener: str, address: str, writers: int, rounds: int) -> None:
    """Let so many processes count, talk and write at once; returns when all are done."""
    spawn = multiprocessing.get_context("spawn")
    processes = [
        spawn.Process(target=_work, args=(opener, address, writer, rounds))
        for writer in range(writers)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(SECONDS_MAX)
        if process.exitcode is None:
            process.kill()
    assert [process.exitcode for process in processes] == [0] * writers


def _work(opener: str, address: str, writer: int, rounds: int) -> None:
    module, _, name = opener.partition(":")
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    asyncio.run(_write(found, address, writer, rounds))


async def _write(
    opened: Callable[[str], Awaitable[Store]], address: str, writer: int, rounds: int
) -> None:
    store = await opened(address)
    try:
        for turn in range(rounds):
            name = f"p{writer}-{turn}"
            await raise_counter(store, name)
            said = make_record(name, f"from process {writer}")
            await put(store, make_message(name), said, id=name)
    finally:
        await store.close()


async def raise_counter(store: Store, name: str) -> None:
    """Read, add one, write; again if somebody was quicker. No two may have the same name."""
    for attempt in count():
        record = await one_record(store, "counter")
        await asyncio.sleep(0)  # let the others read the same version
        more = replace(record, data={"n": record.data["n"] + 1})
        try:
            await put(store, more, id=f"{name} counts, try {attempt}")
        except Conflict as lost:
            if lost.kind != "record":
                raise
        else:
            return
