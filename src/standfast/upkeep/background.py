"""When upkeep runs. What it does is loaded with the first round: a program that opens a memory,
asks it something and ends has none."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace

from standfast.changes import flush_uses
from standfast.engine import Engine
from standfast.errors import StandfastError
from standfast.types import Receipt

log = logging.getLogger(__name__)

PAUSE_SECONDS = 5.0
PAUSE_SECONDS_BUSY = 0.2
PAUSE_SECONDS_MAX = 300.0
PAUSE_SECONDS_FAILING = 60.0
CLOSING_ROWS = 200_000  # of a scope whose index is still saved while a process ends: about a second
CLOSING_SECONDS = 5.0  # in which it makes ready what it has written, for who asks next
LOOK_SECONDS = 600.0  # between two looks for what is not done in every round


async def run_beside(engine: Engine) -> None:
    """For a process whose upkeep another one does: what nobody else can see, which is how often
    records were used here, and the sessions that are kept in this process only."""
    while True:
        await asyncio.sleep(PAUSE_SECONDS)
        from standfast.upkeep.learn import LearnRound
        from standfast.upkeep.loop import work_on_volatile

        try:
            await flush_uses(engine)
            await work_on_volatile(engine, LearnRound(), everything=False)
            await engine.store.scrub()  # of what was erased here; nobody else knows of it
        except StandfastError as error:
            log.warning("upkeep failed: %s", error, extra={"action": "maintain"})


async def run_in_background(engine: Engine) -> None:
    """Rounds of upkeep for as long as the memory is open. What fails is said once and tried
    again later, less and less often; a full disk must not fill the log too."""
    pause = PAUSE_SECONDS
    look_again = 0.0
    while True:
        await asyncio.sleep(pause)
        from standfast.upkeep.consolidate import consolidate_due
        from standfast.upkeep.inspection import inspect
        from standfast.upkeep.loop import one_round

        try:
            receipt = await one_round(replace(engine, yields=True), shared=True)
            if asyncio.get_running_loop().time() >= look_again:
                look_again = asyncio.get_running_loop().time() + LOOK_SECONDS
                await save_indexes(engine)
                await consolidate_due(engine)
                await inspect(engine)
            pause = _pause_after(receipt, pause)
        except StandfastError as error:
            if pause < PAUSE_SECONDS_MAX:
                log.warning("upkeep failed: %s", error, extra={"action": "maintain"})
            pause = min(pause * 2, PAUSE_SECONDS_MAX)
        except Exception as error:  # a defect of ours must not end all upkeep without a word
            log.error("upkeep failed: %s", type(error).__name__, extra={"action": "maintain"})
            pause = min(pause * 2, PAUSE_SECONDS_MAX)


async def save_indexes(
    engine: Engine, *, rows_max: int | None = None, seconds: float | None = None
) -> None:
    """What was built to search by is kept for the processes that come after this one, by stores
    that can. Nothing is lost where they cannot: it is built again."""
    save: Callable[..., Awaitable[None]] | None = getattr(engine.store, "save_indexes", None)
    if save is not None:
        try:
            await save(rows_max=rows_max, seconds=seconds)
        except StandfastError as error:
            log.debug("indexes were not saved: %s", error, extra={"action": "maintain"})


async def save_closing(engine: Engine) -> None:
    """The same where somebody waits for the end; nothing is built if they said not to."""
    seconds = CLOSING_SECONDS if engine.close_seconds > 0 else 0.0
    await save_indexes(engine, rows_max=CLOSING_ROWS, seconds=seconds)


async def last_round(engine: Engine) -> None:
    """Learn from what this process was told before it ends, for ``close_seconds`` at most. No
    model is asked: it would not have answered by then. It reads the same later."""
    await save_closing(engine)
    if not engine.disk.heard or engine.profile.learn == "off" or engine.close_seconds <= 0:
        return
    from standfast.upkeep.loop import one_round

    try:
        async with asyncio.timeout(engine.close_seconds):
            await one_round(replace(engine, unasked=True), everything=True, shared=True)
    except TimeoutError:
        left = "not all that was said was learned from before closing; the next round does the rest"
        log.warning(left, extra={"action": "close"})
    except StandfastError as error:
        log.warning("nothing was learned before closing: %s", error, extra={"action": "close"})


def _pause_after(receipt: Receipt, pause: float) -> float:
    """Soon again while there is work; less often while all of it fails, because a service that
    is down is asked in vain."""
    if not receipt.items:
        return PAUSE_SECONDS
    if all(item.status == "failed" for item in receipt.items):
        return min(max(pause, PAUSE_SECONDS) * 2, PAUSE_SECONDS_FAILING)
    return PAUSE_SECONDS_BUSY
