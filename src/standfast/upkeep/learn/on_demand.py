"""Learning on demand: before a read, learn what was said in its scopes and is not learned yet.

Background maintenance learns a few seconds later anyway. A caller that writes and asks at once must
not find an empty memory, so a read does the work first, for a bounded time.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary

from standfast.errors import StandfastError
from standfast.scopes import is_within, root_of
from standfast.types import Answer, Packet, Work
from standfast.upkeep.learn.lanes import READER
from standfast.upkeep.learn.round import LearnRound, has_model, learn_sessions
from standfast.upkeep.leases import lagging

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from standfast.engine import Engine
    from standfast.ports import Store

A = TypeVar("A", Answer, Packet)

READ_SECONDS = 0.2  # that a read may spend on learning
MESSAGES_AT_LEAST = 8  # are learned from however slow the machine is
MESSAGES_PER_COMMIT = 8  # so that the time is looked at often
SESSIONS_MAX = 20  # looked at before one read
ROUNDS_MAX = 3  # another worker may have learned a part meanwhile

# One read of a process learns at a time: others wait for it instead of doing the same work.
_TURNS: WeakKeyDictionary[Store, asyncio.Lock] = WeakKeyDictionary()


@dataclass(slots=True)
class Allowance:
    """How many messages the reads before this one leave to learn from."""

    until: float
    learned: int = 0

    def next_piece(self) -> int:
        if self.learned < MESSAGES_AT_LEAST:
            return MESSAGES_AT_LEAST - self.learned
        return MESSAGES_PER_COMMIT if time.monotonic() < self.until else 0

    def spend(self, messages: int) -> None:
        self.learned += messages


async def learn_before_read(
    engine: Engine, scope: str | Iterable[str] | None, *, descend: bool = False
) -> tuple[str, ...]:
    """Learn in the scopes of a read and their parents; say in notes what is left. Only where the
    profile learns after each message, and without a language model, which would keep the caller
    waiting."""
    if engine.profile.learn != "turns" or has_model(engine, engine.store):
        return ()
    scopes, descend = await _scopes_of(engine, scope, descend=descend)
    stores = [engine.store, *([engine.volatile] if engine.volatile_roots else [])]
    allowance = Allowance(time.monotonic() + READ_SECONDS)
    left: list[str] = []
    try:
        for store in stores:
            left += await _learn_in(engine, store, scopes, allowance, descend=descend)
    except StandfastError as error:
        return (f"degraded: what was said last is not learned yet, {error}",)
    return (
        (f"not learned from yet: {', '.join(left)}; maintenance goes on with it",) if left else ()
    )


def with_notes(answer: A, notes: Sequence[str]) -> A:
    """The answer of a read, with what learning before it left to do."""
    return replace(answer, notes=(*answer.notes, *notes)) if notes else answer


async def _scopes_of(
    engine: Engine, scope: str | Iterable[str] | None, *, descend: bool
) -> tuple[list[str], bool]:
    """No scopes: everywhere."""
    if scope is None and not engine.bound:
        return [], True
    by_root, descend = await engine.read_scopes(scope, descend=descend)
    return [one for some in by_root.values() for one in some], descend


async def _learn_in(
    engine: Engine,
    store: Store,
    scopes: Sequence[str],
    allowance: Allowance,
    *,
    descend: bool,
) -> list[str]:
    """The sessions that are left."""
    work = await _due(engine, store, scopes, descend=descend)
    if not work:
        return []
    whole = replace(engine, bound=())
    async with _turn(store):
        for _ in range(ROUNDS_MAX):
            before = allowance.learned
            await learn_sessions(whole, store, work, LearnRound(), everything=True, pace=allowance)
            work = await _due(engine, store, scopes, descend=descend)
            if not work or not allowance.next_piece() or allowance.learned == before:
                break
    return [f"session {one.id!r}" for one in work]


async def _due(engine: Engine, store: Store, scopes: Sequence[str], *, descend: bool) -> list[Work]:
    """Sessions that this read may see and that are not learned from to their end."""
    roots = {root_of(scope) for scope in scopes}
    root = roots.pop() if len(roots) == 1 else None
    work = await lagging(store, engine.now(), READER, SESSIONS_MAX, root)
    return [one for one in work if not scopes or _reaches(scopes, one.scope, descend=descend)]


def _reaches(scopes: Iterable[str], session: str, *, descend: bool) -> bool:
    return any(
        is_within(scope, session) or (descend and is_within(session, scope)) for scope in scopes
    )


@asynccontextmanager
async def _turn(store: Store) -> AsyncIterator[None]:
    lock = _TURNS.setdefault(store, asyncio.Lock())
    try:
        await asyncio.wait_for(lock.acquire(), READ_SECONDS)
    except TimeoutError:
        yield
        return
    try:
        yield
    finally:
        lock.release()
