"""Learning on demand: before a read, learn what was said in its scopes and is not learned yet.

Background maintenance learns a few seconds later anyway. A caller that writes and asks at once must
not find an empty memory, so a read does the work first, for a bounded time. Nothing that goes wrong
here fails the read: its notes say what is left.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from standfast.errors import Conflict, StandfastError
from standfast.ports import cell_key
from standfast.scopes import is_within, root_of
from standfast.types import ALL_RIGHTS, Answer, Batch, Message, Packet, Work
from standfast.upkeep.learn.lanes import READER, cause_of
from standfast.upkeep.learn.round import LearnRound, learn_sessions, work_of
from standfast.upkeep.leases import TRIES, lagging
from standfast.upkeep.readers import has_model, why_not

if TYPE_CHECKING:
    from standfast.engine import Engine
    from standfast.ports import Store

A = TypeVar("A", Answer, Packet)

READ_SECONDS = 0.2  # that a read may spend on learning
COMMIT_SECONDS_MAX = 1.0  # another writer may hold the store for longer: a reader never waits so
MESSAGES_AT_LEAST = 8  # are learned from however slow the machine is
CHARACTERS_MAX = 4_000  # of a message that is read at once; maintenance reads longer ones
MESSAGES_PER_COMMIT = 8  # so that the time is looked at often
SESSIONS_MAX = 20  # learned from before one read
BACKLOG_MAX = 10_000  # sessions of a root that are looked through
NAMED_MAX = 3  # sessions in a note
ROUNDS_MAX = 3  # another worker may have learned a part meanwhile
FAILED_SECONDS = 600.0  # a read leaves a session alone in which learning failed
FAILED = "degraded: what was said last is not learned yet: "

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Allowance:
    """How many messages a read may still learn from: some at least, more while there is time."""

    until: float
    learned: int = 0

    def next_piece(self) -> int:
        if monotonic() < self.until:
            return MESSAGES_PER_COMMIT
        return max(0, MESSAGES_AT_LEAST - self.learned)

    def spend(self, messages: int) -> None:
        self.learned += messages

    def first_long(self, messages: Sequence[Message]) -> int | None:
        """The place of the first message that takes too long to read while somebody waits."""
        lengths = (len(one.text) for one in messages)
        return next((at for at, length in enumerate(lengths) if length > CHARACTERS_MAX), None)


@dataclass(slots=True, kw_only=True)
class ReadScopes:
    """Where a read looks. No scopes: everywhere."""

    scopes: tuple[str, ...]
    descend: bool
    session: str = ""  # the one that is asked about: learned from first

    @property
    def root(self) -> str | None:
        roots = {root_of(scope) for scope in self.scopes}
        return roots.pop() if len(roots) == 1 else None

    def reach(self, scope: str) -> bool:
        return not self.scopes or any(
            is_within(one, scope) or (self.descend and is_within(scope, one)) for one in self.scopes
        )


async def learn_before_read(
    engine: Engine,
    scope: str | Iterable[str] | None,
    *,
    descend: bool = False,
    session: str | None = None,
) -> tuple[str, ...]:
    """Learn in the scopes of a read and their parents; say in notes what is left. Only where the
    profile learns after each message, and without a language model, which would keep the caller
    waiting."""
    if engine.profile.learn != "turns" or has_model(engine, engine.store):
        return ()
    where = await _where(engine, scope, descend=descend, session=session or "")
    if why := why_not(engine, engine.store):
        return (why,) if await _due(engine, engine.store, where) else ()
    allowance = Allowance(monotonic() + READ_SECONDS)
    left: list[Work] = []
    try:
        async with asyncio.timeout(None) as limit:
            whole = _as_maintenance(engine, ImpatientStore(engine.store, limit))
            left += await _learn_in(whole, whole.store, where, allowance)
            if engine.volatile_roots:
                left += await _learn_in(whole, engine.volatile, where, allowance)
    except TimeoutError:
        return (f"{FAILED}another writer keeps the store; maintenance continues",)
    except StandfastError as error:
        return (FAILED + str(error),)
    except Exception as error:  # a defect in learning must not cost the answer
        log.error("learning before a read failed: %s", cause_of(error), extra={"action": "learn"})
        return (FAILED + cause_of(error),)
    return (_left_note(left),) if left else ()


class ImpatientStore:
    """A store whose commits do not wait long for other writers."""

    def __init__(self, store: Store, limit: asyncio.Timeout) -> None:
        self._store = store
        self._limit = limit

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def commit(self, batch: Batch) -> int:
        self._limit.reschedule(asyncio.get_running_loop().time() + COMMIT_SECONDS_MAX)
        number = await self._store.commit(batch)
        if not self._limit.expired():
            self._limit.reschedule(None)
        return number


def _as_maintenance(engine: Engine, store: Any) -> Engine:
    """By nobody's key and on nobody's quota, whoever asks."""
    whole = replace(engine, store=store, bound=(), rights=ALL_RIGHTS, holder="person", key="")
    return replace(whole, meter=None, once=None)


def with_notes(answer: A, notes: Sequence[str]) -> A:
    """The answer of a read, with what learning before it left to do."""
    return replace(answer, notes=(*answer.notes, *notes)) if notes else answer


def _left_note(left: Sequence[Work]) -> str:
    named = ", ".join(f"session {one.id!r}" for one in left[:NAMED_MAX])
    more = f" and {len(left) - NAMED_MAX} more" if len(left) > NAMED_MAX else ""
    return f"not learned yet: {named}{more}; maintenance continues"


async def _where(
    engine: Engine, scope: str | Iterable[str] | None, *, descend: bool, session: str
) -> ReadScopes:
    # With this profile an agent's sessions also teach its organisation.
    descend = descend or engine.profile.learn_for_agents
    if scope is None and not engine.bound:
        return ReadScopes(scopes=(), descend=True, session=session)
    by_root, descend = await engine.read_scopes(scope, descend=descend)
    scopes = tuple(one for some in by_root.values() for one in some)
    return ReadScopes(scopes=scopes, descend=descend, session=session)


async def _learn_in(
    engine: Engine, store: Store, where: ReadScopes, allowance: Allowance
) -> list[Work]:
    """The sessions that are left."""
    work = await _due(engine, store, where)
    if not work:
        return []
    async with _lock(engine, where.root or ""):
        engine = await engine.steady()
        for _ in range(ROUNDS_MAX):
            due = await _without_failed(engine, store, await _due(engine, store, where))
            if not due or not allowance.next_piece():
                break
            try:
                await learn_sessions(
                    engine,
                    store,
                    due[:SESSIONS_MAX],
                    LearnRound(),
                    everything=True,
                    pace=allowance,
                )
            except Conflict:
                continue  # another worker was faster: look again
    return await _due(engine, store, where)


async def _due(engine: Engine, store: Store, where: ReadScopes) -> list[Work]:
    """Sessions that this read may see and that are not learned from to their end."""
    work = await lagging(store, engine.now(), READER, BACKLOG_MAX, where.root)
    seen = [one for one in work if where.reach(one.scope)]
    return sorted(seen, key=lambda one: one.id != where.session)


async def _without_failed(engine: Engine, store: Store, work: list[Work]) -> list[Work]:
    """Maintenance tries those again in which learning just failed: every read would fail too."""
    left = {cell_key(TRIES, one.root, one.scope, work_of(one.id)): one for one in work}
    now = engine.now()
    for cell in await store.registry.get(list(left), now=now) if left else []:
        last = datetime.fromisoformat(cell.value["last"])
        if abs(now - last) < timedelta(seconds=FAILED_SECONDS):
            del left[cell.key]
    return list(left.values())


def _lock(engine: Engine, root: str) -> asyncio.Lock:
    """One read of a process learns in a root at a time: others wait instead of doing the same."""
    return engine.callers.locks.setdefault(root, asyncio.Lock())
