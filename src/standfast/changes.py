"""A change: the unit of work. Verbs fill it, it commits what it holds and tells what came of it.

This is the only place that builds a ``Batch``, and with it the only one that writes. It asks again
where the outcome of a commit is unknown, begins again where somebody else was faster, goes over to
the volatile store where nothing may or can be kept, and makes the receipt.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

from standfast.engine import ACTIVE_SPACE, WANTED_SPACE, Engine
from standfast.errors import Conflict, Invalid, Unavailable
from standfast.index.vectors import embedding_text
from standfast.ports import Cell, Store
from standfast.scopes import root_of
from standfast.types import (
    AUDIT,
    MARKS,
    Batch,
    CursorMove,
    Erase,
    Item,
    ItemStatus,
    Message,
    Receipt,
    ReceiptItem,
    Record,
    Relation,
    RelationKind,
    Session,
    Summary,
    Usage,
    Vector,
)

ATTEMPTS_MAX = 16
FIRST_PAUSE_SECONDS = 0.002
LONGEST_PAUSE_SECONDS = 0.5
PER_COMMIT = 100
VOLATILE = "kept in this process only"
OPTED_OUT = f"{VOLATILE}: opted out of persistence"
SHARED = (
    "this server is several processes, of which none sees what another keeps for itself; "
    "serve it with one process, or declare that it may be kept"
)

EdgeKey = tuple[str, str, str]
Told = Callable[[], Any]
Result = TypeVar("Result")


class Change:
    """What one call of a verb writes in one root of one store. ``id`` is the name by which it can
    be undone; bookkeeping that nobody undoes has none. It may be committed several times, each
    time with what it holds then: those commits are one change."""

    def __init__(
        self,
        engine: Engine,
        root: str,
        reason: str,
        *,
        store: Store | None = None,
        actor: str = "",
        id: str = "",
    ) -> None:
        self.engine = engine
        self.store = engine.store if store is None else store
        self.root = root
        self.reason = reason
        self.actor = actor
        self.id = id
        self.told: list[ReceiptItem] = []
        self.notes: list[str] = []
        self.embedded = 0  # texts that were embedded for it
        self.why_volatile = ""
        self.space = ""
        self._vectors: dict[str, Vector] = {}  # by text: copies of a record read alike
        self.clear()

    def clear(self) -> None:
        """Hold nothing, to be filled anew. What was told and embedded stays."""
        self.records: dict[str, Record] = {}  # as they will be
        self.relations: dict[EdgeKey, Relation] = {}
        self.messages: list[Message] = []
        self.sessions: list[Session] = []
        self.cursors: list[CursorMove] = []
        self.summaries: list[Summary] = []
        self.items: list[Item] = []
        self.erasures: list[Erase] = []
        self.vectors: dict[str, Vector] = {}  # of records that are there already
        self.used: list[str] = []

    @classmethod
    async def of_scope(
        cls, engine: Engine, scope: str, reason: str, *, authors: Iterable[str] = (), actor: str
    ) -> Change:
        """One that can be undone, where its scope and its authors want it kept: in this process
        only if one of them opted out."""
        change = cls(engine, root_of(scope), reason, actor=actor, id=engine.new_id())
        if not await engine.persists(scope, authors):
            change.turn_volatile(OPTED_OUT)
        return change

    def turn_volatile(self, why: str) -> None:
        if self.engine.shared:
            raise Unavailable(f"{why}, and {SHARED}", lasting=True)
        self.store = self.engine.volatile
        self.engine.volatile_roots.add(self.root)
        self.why_volatile = why

    def aside(self, why: str) -> Change:
        """A second change for what may not be kept of the same call; both tell as one."""
        other = Change(self.engine, self.root, self.reason, actor=self.actor, id=self.id)
        other.turn_volatile(why)
        other.told, other.notes = self.told, self.notes
        return other

    def or_volatile(self, error: Unavailable) -> None:
        """The way out where the store cannot be written to, if there still is one. A server that
        says when to come again is asked again then: what one process keeps, others do not see."""
        if self.why_volatile or error.retry_after is not None:
            raise error
        self.turn_volatile(f"{VOLATILE}: {error}")

    # Filling

    def put(self, *records: Record) -> None:
        self.records |= {record.id: record for record in records}

    def draw(self, *edges: Relation) -> None:
        self.relations |= {edge_key(edge): edge for edge in edges}

    def link(self, source: Record, kind: RelationKind, target: Record) -> None:
        """A new edge."""
        self.draw(self._edge(source.id, kind, target.id, source.scope, source.lineage))

    async def link_again(
        self, source: str, kind: RelationKind, targets: Iterable[str], *, scope: str
    ) -> None:
        """Edges that may be there: a record that was replaced, brought back by undo and is
        replaced again has its edge. One that holds is as old as it is."""
        wanted = list(targets)
        ours = self.records.get(source)
        known: list[Relation] = []
        if wanted and (ours is None or ours.version):
            known = await self.store.relations(self.root, (source,))
        there = {edge_key(edge): edge for edge in known}
        for target in wanted:
            edge = self._edge(source, kind, target, scope, ours.lineage if ours else ())
            before = there.get(edge_key(edge))
            if before is None or before.retired_at is not None:
                self.draw(replace(edge, version=before.version if before else 0))

    def _edge(
        self, source: str, kind: RelationKind, target: str, scope: str, lineage: tuple[str, ...]
    ) -> Relation:
        return Relation(
            scope=scope,
            source=source,
            target=target,
            kind=kind,
            learned_at=self.engine.now(),
            lineage=lineage,
        )

    def tell(self, id_: str, status: ItemStatus, reason: str = "", record: str = "") -> None:
        self.told.append(ReceiptItem(id=id_, status=status, reason=reason, record=record))

    async def embed(self, records: Iterable[Record] | None = None) -> str:
        """See to vectors for these records, or for all new ones of this change. Answers with a
        note if some are left for later."""
        wanted = self._new() if records is None else records
        fresh = [record for record in wanted if embedding_text(record) not in self._vectors]
        vectors, space, note = await _vectors_of(self.engine, fresh)
        self.space = space or self.space
        self.embedded += len(vectors)
        self._vectors |= {embedding_text(r): vectors[r.id] for r in fresh if r.id in vectors}
        return note

    def vector_of(self, record: Record) -> Vector | None:
        return self._vectors.get(embedding_text(record))

    def _new(self) -> list[Record]:
        return [record for record in self.records.values() if record.version == 0]

    # Writing

    def batch(self, **parts: Any) -> Batch:
        """What it holds as one batch; ``parts`` are fields that only some need."""
        made = {one.id: vector for one in self._new() if (vector := self.vector_of(one))}
        vectors = {**self.vectors, **made}
        batch = Batch(
            id=self.engine.new_id(),
            root=self.root,
            at=self.engine.now(),
            reason=self.reason,
            actor=self.actor,
            change=self.id,
            messages=tuple(self.messages),
            sessions=tuple(self.sessions),
            cursors=tuple(self.cursors),
            summaries=tuple(self.summaries),
            records=tuple(self.records.values()),
            relations=tuple(self.relations.values()),
            items=tuple(self.items),
            vectors=vectors,
            space=self.space if vectors else "",
            erase=tuple(self.erasures),
            used=tuple(self.used),
        )
        return replace(batch, **parts) if parts else batch

    @property
    def empty(self) -> bool:
        return not (
            self.records
            or self.relations
            or self.messages
            or self.sessions
            or self.cursors
            or self.summaries
            or self.items
            or self.erasures
            or self.vectors
            or self.used
        )

    async def commit(self, *, answer: Told | None = None, **parts: Any) -> bool:
        """All of it or nothing; False if there was nothing to write. ``answer`` says what the
        verb will answer, if this is its last commit. Conflict: somebody else was faster."""
        if self.empty and not parts:
            return False
        batch = self.batch(**parts)
        engine, store = self.engine, self.store
        meter = engine.meter if store is engine.store else None
        if meter is not None:
            await meter.admit(batch)
        if engine.once is None or store is not engine.store:
            await _written(engine, store, batch)
        else:
            await engine.once.commit(batch, answer, lambda one: _written(engine, store, one))
        if meter is not None:
            await meter.count(batch)
        return True

    async def commit_in_parts(self, size: int = PER_COMMIT) -> bool:
        """As commits of a bounded size, one behind the other. Records go before the edges that
        link them."""
        records, edges = list(self.records.values()), list(self.relations.values())
        items, erasures, sessions = self.items, self.erasures, self.sessions
        wrote = False
        most = max(len(records), len(edges), len(items), len(erasures), len(sessions))
        for start in range(0, most, size):
            part = slice(start, start + size)
            self.clear()
            self.put(*records[part])
            self.draw(*edges[part])
            self.items, self.erasures = items[part], erasures[part]
            self.sessions = sessions[part]
            wrote = await self.commit() or wrote
        return wrote

    def receipt(self, *notes: str, wrote: bool = True) -> Receipt:
        """What was told; it names the change only if something was written."""
        return Receipt(
            items=tuple(self.told),
            change=self.id if wrote else "",
            notes=tuple(dict.fromkeys(note for note in (*self.notes, *notes) if note)),
            usage=Usage(texts_embedded=self.embedded),
        )


def edge_key(edge: Relation) -> EdgeKey:
    return edge.source, edge.kind, edge.target


def slices(many: Sequence[Result], size: int = PER_COMMIT) -> Iterator[Sequence[Result]]:
    return (many[start : start + size] for start in range(0, len(many), size))


async def retried(
    attempt: Callable[[Conflict | None], Awaitable[Result]],
    too_fast: str,
    *,
    on_unavailable: Callable[[Unavailable], None] | None = None,
) -> Result:
    """Look, fill and commit; where somebody was faster, look again. ``attempt`` is told what was
    in the way of the one before, and may raise that itself to give up. ``on_unavailable`` makes
    a way out, or raises."""
    conflict: Conflict | None = None
    for number in range(ATTEMPTS_MAX):
        try:
            return await attempt(conflict)
        except Conflict as error:
            if error is conflict:
                raise
            conflict = error
            await _back_off(number)
        except Unavailable as error:
            if on_unavailable is None:
                raise
            conflict = None
            on_unavailable(error)
    raise Unavailable(too_fast)


async def _back_off(number: int) -> None:
    """Exponential backoff with full jitter: writers that pause alike would meet again."""
    longest = min(FIRST_PAUSE_SECONDS * 2**number, LONGEST_PAUSE_SECONDS)
    await asyncio.sleep(random.uniform(0, longest))


async def put_item(engine: Engine, item: Item, reason: str, *, actor: str = "") -> None:
    """One item, and nothing that could be undone. Conflict: it is not as it was read."""
    change = Change(engine, root_of(item.scope), reason, actor=actor)
    change.items.append(item)
    await change.commit()


async def _written(engine: Engine, store: Store, batch: Batch) -> int:
    """Commit; where the outcome is unknown ask again with the same id, which is safe. An edge
    whose other end was erased meanwhile is a conflict: whoever looks again sees it."""
    again = False
    audit = engine.audit if store is engine.store and _is_audited(batch) else None
    if audit is not None:
        batch = await audit.with_line(engine, batch)
    while True:
        try:
            number = await store.commit(batch)
        except Unavailable as error:
            if store is engine.store:
                engine.disk.trouble = str(error)
            if again:
                error.outcome_unknown = True  # the first try may have landed all the same
                raise
            if not error.outcome_unknown:
                raise
            again = True
        except Invalid:
            if gone := await _missing_ends(store, batch):
                told = f"records were erased meanwhile: {', '.join(gone)}"
                raise Conflict(told, kind="record", ids=gone) from None
            raise
        else:
            if store is engine.store:
                engine.disk.trouble = ""
                engine.disk.heard = engine.disk.heard or bool(batch.messages)
            if audit is not None:
                audit.committed(batch)
            return number


def _is_audited(batch: Batch) -> bool:
    """Not the log itself, and not what changes no memory: counters, vectors, marks."""
    told = [item for item in batch.items if item.namespace not in (AUDIT, MARKS)]
    return bool(
        batch.records or batch.messages or batch.relations or batch.erase or batch.sessions or told
    )


async def _missing_ends(store: Store, batch: Batch) -> tuple[str, ...]:
    """The records that edges of a batch name, but that neither it nor the store has."""
    ends = {end for edge in batch.relations for end in (edge.source, edge.target)}
    wanted = sorted(ends - {record.id for record in batch.records})
    found = await store.records(batch.root, wanted, now=batch.at) if wanted else []
    return tuple(id_ for id_ in wanted if id_ not in {record.id for record in found})


# Vectors


async def claim_space(engine: Engine, space: str) -> None:
    """The first vector decides the space of the store; whoever comes second finds out by
    reading it."""
    with suppress(Conflict):
        await engine.store.registry.put(Cell(key=ACTIVE_SPACE, value=space), now=engine.now())


async def _note_wish(engine: Engine, space: str) -> None:
    """Whoever opens the store next without naming an embedder waits for this one too: a service
    without its key today must not leave the store to another one for ever."""
    if space in engine.claimed:
        return
    with suppress(Conflict, Unavailable):  # what is written counts, not the note of it
        now = engine.now()
        if not await engine.space():
            known = await engine.store.registry.get((WANTED_SPACE,), now=now)
            if not known or known[0].value != space:
                version = known[0].version if known else 0
                cell = Cell(key=WANTED_SPACE, value=space, version=version)
                await engine.store.registry.put(cell, now=now)
    engine.claimed.add(space)


async def _vectors_of(
    engine: Engine, records: Sequence[Record]
) -> tuple[dict[str, Vector], str, str]:
    """Vectors by record id, their space, and a note when some are left for later."""
    embedder = engine.embedder
    if embedder is None or not records:
        return {}, "", ""
    if not embedder.local:
        await _note_wish(engine, embedder.space)
        return {}, "", "vectors pending: maintenance will add them"
    if trouble := await engine.vector_trouble():
        return {}, "", f"vectors pending: {trouble}"
    embedded = await engine.embed_records(records)
    found = {
        record.id: vector
        for record, vector in zip(records, embedded.vectors, strict=True)
        if vector is not None
    }
    if not found:
        return {}, "", f"vectors pending: {embedded.trouble}" if embedded.trouble else ""
    if embedder.space not in engine.claimed:
        try:
            if not await engine.space():
                await claim_space(engine, embedder.space)
        except Unavailable as error:  # what is to be written may still find a place
            return {}, "", f"vectors pending: {error}"
        if trouble := await engine.vector_trouble():
            return {}, "", f"vectors pending: {trouble}"
        engine.claimed.add(embedder.space)
    return found, embedder.space, ""


async def flush_uses(engine: Engine) -> None:
    """Counters are a hint, not a memory: losing them to a full disk is no error."""
    by_root: dict[str, list[str]] = {}
    for (root, id_), times in engine.used.items():
        by_root.setdefault(root, []).extend([id_] * times)
    engine.used.clear()  # the same counter serves every narrowed handle
    for root, ids in by_root.items():
        change = Change(engine, root, "uses")
        change.used += (
            ids if root not in engine.volatile_roots else await _not_volatile(engine, root, ids)
        )
        try:
            await change.commit()
        except Unavailable:
            return


async def _not_volatile(engine: Engine, root: str, ids: list[str]) -> list[str]:
    """Those that are not in this process only."""
    if root not in engine.volatile_roots:
        return ids
    found = await engine.store.records(root, list(dict.fromkeys(ids)), now=engine.now())
    here = {record.id for record in found}
    return [id_ for id_ in ids if id_ in here]
