"""The store over an engine of sorted keys: commits, searches, and what is due."""

from __future__ import annotations

import asyncio
import random
import weakref
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar, cast

from standfast.errors import StandfastError, Unavailable
from standfast.index import search as indexed
from standfast.index.cache import IndexCache
from standfast.index.filters import check_asked, passes
from standfast.ports import Capabilities, is_forked
from standfast.scopes import root_of
from standfast.stores.commit import Changes, Needs, checked, decide, is_over, needs_of
from standfast.stores.keyspace.due import due_in, lagging_in
from standfast.stores.keyspace.engine import Get, KeyChanges, KeyEngine
from standfast.stores.keyspace.feed import KeyFeed
from standfast.stores.keyspace.held import FoundKeys, Questions, edge_asks, edges_in
from standfast.stores.keyspace.keys import HEADER, body_of, key, parts_of
from standfast.stores.keyspace.reads import KeyReads
from standfast.stores.keyspace.registry import KeyRegistry
from standfast.stores.keyspace.rewrite import Rewrite
from standfast.stores.leftovers import Leftovers
from standfast.types import (
    Batch,
    Hit,
    Kind,
    Listing,
    Record,
    Search,
    SessionKey,
    Status,
    Type,
    Where,
    Work,
    WorkKind,
)

T = TypeVar("T")

TRIES_MAX = 500  # of a commit that others overtake
UNCLEAR_MAX = 4  # of one whose connection is cut
LOOKS_MAX = 6  # of a search during which its records change
_LISTS = (
    "messages", "sessions", "cursors", "summaries", "records", "relations", "items", "used",
    "erase", "prune",
)  # fmt: skip
LARGE = 32  # rows of a batch that are prepared in another thread


class KeyStore(KeyReads):
    """``standfast.ports.Store`` over an engine; ``capabilities`` are the engine's."""

    def __init__(self, engine: KeyEngine, capabilities: Capabilities, *, cache_bytes: int) -> None:
        super().__init__(engine)
        self.capabilities = capabilities
        self.trips = 0  # of commits, to the engine and back
        self._cache = IndexCache(cache_bytes)
        self._registry = KeyRegistry(engine, self._check)
        self._leftovers = Leftovers()
        self._locks: weakref.WeakValueDictionary[str, asyncio.Lock] = weakref.WeakValueDictionary()

    @property
    def registry(self) -> KeyRegistry:
        return self._registry

    # Writing

    async def commit(self, batch: Batch) -> int:
        self._check()
        batch = checked(batch)
        return await asyncio.shield(self._noted(batch))

    async def _noted(self, batch: Batch) -> int:
        try:
            return await self._committed(batch)
        finally:  # it may have been written, whatever is said
            self._leftovers.note(batch)

    async def _committed(self, batch: Batch) -> int:
        lock = self._locks.setdefault(batch.root, asyncio.Lock())
        async with lock:  # others of this process wait here, not at the engine
            needs, unclear = needs_of(batch), 0
            tried: KeyChanges | None = None
            for attempt in range(TRIES_MAX):
                if attempt:
                    await asyncio.sleep(random.uniform(0, min(0.002 * attempt, 0.1)))
                found, fresh = await self._found(batch, needs)
                if found.held.number is not None:
                    return found.held.number
                if tried is not None and not _is_untried(tried, found):
                    return _landed(tried, found)
                try:
                    changes = decide(batch, found.held)
                except StandfastError:
                    await self._engine.release(batch.root, fresh)
                    raise
                tried, written = await self._prepared(Rewrite(changes, found), found, batch), False
                try:
                    self.trips += 1
                    written = await self._engine.write(batch.root, tried)
                    if not written:
                        tried = None
                except Unavailable as error:
                    unclear += 1
                    if not error.outcome_unknown or unclear == UNCLEAR_MAX:
                        raise
                if written:
                    await self._tidy(batch, changes, found)
                    return changes.seq
            raise Unavailable(f"too many write to {batch.root!r} at once; try again", retry_after=1)

    async def _found(self, batch: Batch, needs: Needs) -> tuple[FoundKeys, list[str]]:
        """And the ids that nobody had before."""
        questions = Questions(batch, needs)
        ids = [record.id for record in batch.records if record.version == 0]
        ids += [summary.id for summary in batch.summaries]
        self.trips += 1
        answers, owners = await self._engine.begin(batch.root, questions.asks, ids)
        found = questions.found(answers)
        for id_, owner in owners.items():
            if owner not in ("", batch.root):
                await self._meet(found, batch, id_, owner)
        return found, [id_ for id_, owner in owners.items() if not owner]

    async def _meet(self, found: FoundKeys, batch: Batch, id_: str, owner: str) -> None:
        """Somebody else's id looks like one that is taken, unless theirs is no more."""
        body, summary = await self._engine.read(
            owner, [Get(key(".i", id_), follow=True), Get(key(".u", id_))]
        )
        record = body_of(cast(bytes, body)).record if body else None
        over = record is not None and is_over(record.expires_at, batch.at)
        free = summary is None and (record is None or over)
        if free and await self._engine.take_over(id_, owner, batch.root, at_once=over):
            found.left_behind += [(owner, id_)] if over else []
            return
        own = next((one for one in batch.records if one.id == id_), None)
        if own is not None:
            stranger = replace(own, scope=owner, expires_at=None, version=1)
            found.held.records = {**found.held.records, id_: stranger}
        found.held.summaries = {**found.held.summaries, id_: SessionKey(owner, "")}

    async def _tidy(self, batch: Batch, changes: Changes, found: FoundKeys) -> None:
        """Ids that are free again, and expired records of others whose ids were taken."""
        swept = [body_of(raw).record.id for at, raw in found.expired if is_record(at) and raw]
        gone = [id_ for id_ in (*changes.records_gone, *swept) if id_ not in changes.records]
        made = {summary.id for summary in changes.summaries}
        ended = {id_ for id_, at in found.summaries.items() if talk_of(at) in changes.sessions_gone}
        gone += [id_ for id_ in {*changes.summaries_gone, *ended} if id_ not in made]
        if gone:
            await self._engine.release(batch.root, gone)
        for owner, id_ in found.left_behind:
            theirs = Needs(root=owner, batch="", records=(id_,))
            questions = Questions(nothing_in(batch, owner), theirs)
            there = questions.found(await self._engine.read(owner, questions.asks))
            if id_ in there.bodies:
                drop = Changes(batch=nothing_in(batch, owner), seq=there.header.head)
                drop.records_gone[id_] = there.bodies[id_].record
                prepared = await self._prepared(Rewrite(drop, there), there, drop.batch)
                await self._engine.write(owner, prepared)  # else it is swept, like any other

    async def _prepared(self, rewrite: Rewrite, found: FoundKeys, batch: Batch) -> KeyChanges:
        missing = rewrite.needs_edges
        if missing:
            asks = list(edge_asks(missing))
            answers = await self._engine.read(batch.root, asks)
            found.edges |= edges_in(missing, iter(answers))
        if len(batch.records) + len(batch.vectors) + len(batch.messages) > LARGE:
            return await asyncio.to_thread(rewrite.made)
        return rewrite.made()

    async def scrub(self) -> bool:
        self._check()
        if not self._leftovers.taken():
            return True
        done = False
        try:
            done = await self._engine.scrub()
        finally:
            if not done:
                self._leftovers.put_back()
        return done

    async def close(self) -> None:
        if not self._closed and not is_forked(self._process):
            self._closed = True
            self._cache.clear()
            await self._engine.close()

    # Searching

    async def search(self, asked: Search) -> Sequence[Hit]:
        self._check()
        if not check_asked(asked) or not (asked.text or asked.vector is not None):
            return []
        hits, late = await self._looked(
            asked.where, lambda feed: indexed.search(feed, self._cache, asked)
        )
        return [hit for hit in hits if passes(hit.record, asked.where)] if late else hits

    async def listing(self, asked: Listing) -> list[Record]:
        self._check()
        if not check_asked(asked):
            return []
        if self.is_walk(asked):
            return await self.walked(asked)
        found, late = await self._looked(
            asked.where, lambda feed: indexed.listing(feed, self._cache, asked)
        )
        return [one for one in found if passes(one, asked.where)] if late else found

    async def counts(
        self, scopes: Sequence[str], *, now: datetime, descend: bool = False
    ) -> dict[tuple[Kind, Type, Status], int]:
        self._check()
        found: dict[tuple[Kind, Type, Status], int] = {}
        for root in sorted({root_of(scope) for scope in scopes}):
            own = tuple(scope for scope in scopes if root_of(scope) == root)
            where = Where(scopes=own, now=now, descend=descend, statuses=())
            counted, _ = await self._looked(
                where, lambda feed, where=where: indexed.counts(feed, self._cache, where)
            )
            for name, count in counted.items():
                found[name] = found.get(name, 0) + count
        return found

    async def _looked(self, where: Where, look: Callable[..., T]) -> tuple[T, bool]:
        """Look again if what was found has changed meanwhile; True: it has, up to the last."""
        root, loop = root_of(where.scopes[0]), asyncio.get_running_loop()
        for _ in range(LOOKS_MAX):
            feed = KeyFeed(self._engine, root, loop)
            found = await asyncio.to_thread(look, feed)
            if not feed.late:
                return found, False
        return found, True

    # What is due

    async def due(
        self,
        now: datetime,
        *,
        root: str | None = None,
        kinds: Sequence[WorkKind] = (),
        space: str = "",
        reader: str = "",
        limit: int = 100,
    ) -> list[Work]:
        self._check()
        order: tuple[WorkKind, ...] = ("expire", "fold", "embed", "review")
        found: dict[WorkKind, list[Work]] = {kind: [] for kind in order}
        # What rests is known for one space: who asks for a part leaves it as it is.
        kinds = ("fold",) if reader else kinds
        wanted = space if not kinds or "embed" in kinds else None
        busy = await self._engine.busy(now, wanted) if root is None else [root]
        rests = root is None and wanted is not None

        def look(one: str) -> Awaitable[list[Work]]:
            if reader:
                return lagging_in(self._engine, one, reader, max(0, limit))
            return due_in(self._engine, one, now, wanted or "", max(0, limit), rests=rests)

        for some in _chunks(busy, 32):
            answers = await asyncio.gather(*map(look, some))
            for work in answers:
                for one in work:
                    found[one.kind].append(one)
        asked = [kind for kind in order if not kinds or kind in kinds]
        return [one for kind in asked for one in found[kind]][: max(0, limit)]


def nothing_in(batch: Batch, root: str) -> Batch:
    """Of the same moment and id, without anything in it."""
    empty: dict[str, Any] = {**dict.fromkeys(_LISTS, ()), "vectors": {}}
    return replace(batch, root=root, sweep=False, drop_space="", **empty)


def is_record(at: bytes) -> bool:
    """Of what expires, by its key."""
    return parts_of(at)[2] == "r"


def talk_of(at: bytes) -> SessionKey:
    """The session of a summary, by its key."""
    return SessionKey(*parts_of(at)[1:3])


def _is_untried(tried: KeyChanges, found: FoundKeys) -> bool:
    """After a cut connection: is the root as it was before the write?"""
    return tried.expected[HEADER] == found.raw


def _landed(tried: KeyChanges, found: FoundKeys) -> int:
    """What a commit without a number answers, if it was the last one there."""
    if tried.puts[HEADER] != found.raw:
        raise Unavailable(
            "the connection was cut while uses were counted; they may be missing",
            outcome_unknown=True,
        )
    return found.header.head


def _chunks(things: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    for start in range(0, len(things), size):
        yield things[start : start + size]
