"""What the parts of one run share."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from standfast.changes import Change
from standfast.engine import Engine
from standfast.errors import Unavailable
from standfast.forgotten import Tombstones
from standfast.types import ReceiptItem, Record, Relation, Usage
from standfast.upkeep.consolidate.marks import Mark
from standfast.upkeep.consolidate.steps import Step, done_words, planned_item
from standfast.upkeep.leases import hold

LEASE_SECONDS = 300
CONSOLIDATING = "consolidate"  # the lease
REST_SECONDS_MAX = 0.1
RENEWED_AFTER = timedelta(seconds=60)
REASON = "consolidate"


@dataclass(slots=True, kw_only=True)
class ConsolidationRun:
    """One run over a root, or over some scopes of it. What it did is collected on the way."""

    engine: Engine
    root: str
    scopes: tuple[str, ...]
    change: str
    actor: str
    mark: Mark
    started: datetime
    renewed: datetime  # when the lease was taken or kept
    dry: bool = False
    gently: bool = False  # nobody waits for it
    worked_since: float = field(default_factory=time.perf_counter)
    holder: str = ""  # of the lease; a dry run has none
    wrote: bool = False
    items: list[ReceiptItem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)

    @property
    def whole(self) -> bool:
        return self.scopes == (self.root,)

    def begin(self) -> Change:
        """One more commit of the run's change."""
        return Change(self.engine, self.root, REASON, actor=self.actor, id=self.change)

    async def was_forgotten(self, scope: str, text: str, since: datetime) -> bool:
        """Was this text forgotten, and nothing it is made of said after ``since``?"""
        stones = await Tombstones.of(self.engine.store, self.root, self.engine.now())
        return stones is not None and await stones.covers(scope, text, since)

    async def give_way(self) -> None:
        """After each small piece of work: whoever asks something comes first, and where nobody
        waits for the run, half of the time is theirs."""
        worked = time.perf_counter() - self.worked_since
        await asyncio.sleep(min(worked, REST_SECONDS_MAX) if self.gently else 0)
        await self.keep_lease()
        self.worked_since = time.perf_counter()

    async def keep_lease(self) -> None:
        """Every now and then; who has lost it must not go on beside another worker."""
        engine = self.engine
        if not self.holder or abs(engine.now() - self.renewed) < RENEWED_AFTER:
            return
        self.renewed = engine.now()
        if not await hold(
            engine, engine.store, self.root, CONSOLIDATING, LEASE_SECONDS, self.holder
        ):
            raise Unavailable(f"another worker consolidates {self.root!r} by now")

    def tell(self, step: Step, skipped: str = "") -> None:
        if skipped:
            self.items.append(ReceiptItem(id=step.id, status="skipped", reason=skipped))
        elif self.dry:
            self.items.append(planned_item(step))
        else:
            status, reason = done_words(step)
            self.items.append(ReceiptItem(id=step.id, status=status, reason=reason))

    def tell_all(self, steps: Iterable[Step]) -> None:
        for step in steps:
            self.tell(step)


def still_there(record: Record) -> tuple[Relation, ...]:
    """Edges that are retired from the start and say nothing to anybody, but without both ends a
    commit is refused: what is forgotten while something is made of it does not come back."""
    return tuple(
        Relation(
            scope=record.scope,
            source=record.id,
            target=id_,
            kind="depends_on",
            learned_at=record.learned_at,
            retired_at=record.learned_at,
        )
        for id_ in record.derived_from
    )
