"""The store: an async face over threads with a connection each.

A connection must not cross a fork: open the store in the child, not before it.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeVar

from standfast.errors import Unavailable
from standfast.index import native
from standfast.index import search as indexed
from standfast.index.cache import IndexCache
from standfast.index.filters import check_asked, is_walk
from standfast.ports import Capabilities, check_process, is_forked
from standfast.scopes import root_of
from standfast.stores.leftovers import Leftovers
from standfast.stores.postgres import due, reads, walk
from standfast.stores.postgres.connection import DatabasePlace, Db
from standfast.stores.postgres.failures import speaking_of
from standfast.stores.postgres.feed import PostgresFeed
from standfast.stores.postgres.migrate import bring_up_to_date
from standfast.stores.postgres.native import PostgresSearch
from standfast.stores.postgres.news import NewsBoard
from standfast.stores.postgres.pool import LONG_SECONDS, ThreadPool
from standfast.stores.postgres.registry import PostgresRegistry
from standfast.stores.postgres.schema_check import foreign_code
from standfast.stores.postgres.writer import CommitQueue
from standfast.stores.rows import damaged
from standfast.types import (
    Batch,
    Entry,
    Find,
    Hit,
    Item,
    Kind,
    Listing,
    Message,
    Record,
    Relation,
    Search,
    Session,
    SessionKey,
    Status,
    Summary,
    Type,
    Where,
    Work,
    WorkKind,
)

T = TypeVar("T")

READERS = 6
WRITERS = 4
CACHE_BYTES = 1024**3
SIZES_MAX = 10_000
SIZE_SECONDS = 60.0
SCHEMA_DEFECTS_SHOWN = 3
LOOK_SECONDS = 1.0  # how often those who wait look without having been told
LEFTOVERS = (
    "erased from every table, and the dead rows vacuumed; the bytes stay in the server's log (WAL) "
    "until checkpoints recycle it, and in replicas, archives and backups until they are replaced"
)
_ONE_MOMENT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"


class PostgresStore:
    """``standfast.ports.Store`` in a PostgreSQL database. Use ``open``."""

    def __init__(self, place: DatabasePlace, *, cache_bytes: int) -> None:
        self._place = place
        self._readers = ThreadPool(place, READERS, "reader")
        self._writers = ThreadPool(place, WRITERS, "writer")
        self._queue = CommitQueue(self._writers, place)
        self._news = NewsBoard(place)
        self._cache = IndexCache(cache_bytes)
        self._registry = PostgresRegistry(self._readers)
        self._native = PostgresSearch(self._readers)
        self._large: dict[tuple[object, ...], tuple[bool, float]] = {}  # scopes: so large? until
        self._leftovers = Leftovers()
        self._closed = False
        self._process = os.getpid()

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            name="postgresql",
            search="both" if self._place.native_above else "exact",
            erasure="engine",
            waits=True,
            processes=True,
            leftovers=LEFTOVERS,
        )

    @property
    def registry(self) -> PostgresRegistry:
        return self._registry

    @classmethod
    async def open(cls, address: str, *, cache_bytes: int = CACHE_BYTES) -> PostgresStore:
        """Open a database, or make its tables. ``cache_bytes`` bounds the search indexes in memory.

        Invalid: no address. Incompatible: another program's or a newer schema, too old a server, no
        pgvector. Unavailable: it cannot be reached, or the user may not do it.
        """
        place = DatabasePlace(address)
        log = logging.getLogger("psycopg")
        if log.level == logging.NOTSET:  # what it warns of is raised here, in our words
            log.setLevel(logging.ERROR)

        def prepare() -> Db:
            with speaking_of(place.name):
                return bring_up_to_date(place)

        db = await asyncio.to_thread(prepare)
        store = cls(place, cache_bytes=cache_bytes)
        store._readers.spare(db)
        return store

    # Writing

    async def commit(self, batch: Batch) -> int:
        try:
            return await self._queue.commit(batch)
        finally:  # it may have been written, whatever is said
            self._leftovers.note(batch)
            if batch.erase:
                self._native.let_go()

    @property
    def trips(self) -> int:
        """How often commits have gone to the server and back, in all."""
        return self._queue.trips

    async def scrub(self) -> bool:
        """Drop what was erased from the tables' files, as far as no snapshot still sees it. A table
        that somebody else is vacuuming already is left to them."""
        self._check_open()
        if not self._leftovers.taken():
            return True
        tables = "record, message, summary, embedding, item, touch"
        sql = f"VACUUM (SKIP_LOCKED, TRUNCATE off) {tables}"
        try:
            await self._writers.run(lambda db: db.execute(sql), seconds=LONG_SECONDS)
        except BaseException:
            self._leftovers.put_back()
            raise
        return True

    async def close(self) -> None:
        if self._closed or is_forked(self._process):
            return
        self._closed = True
        await asyncio.shield(self._close())

    async def _close(self) -> None:
        await self._queue.wait()
        await asyncio.to_thread(self._end)

    def _end(self) -> None:
        self._news.close()
        self._writers.close()
        self._readers.close()
        self._cache.clear()

    # Reading

    async def records(self, root: str | None, ids: Sequence[str], *, now: datetime) -> list[Record]:
        return await self._read(lambda db: reads.records(db, root, ids, now))

    async def search(self, asked: Search) -> Sequence[Hit]:
        if not check_asked(asked) or not (asked.text or asked.vector is not None):
            self._check_open()
            return []
        # What stands in a record's data the engine does not ask: those are read through.
        if not asked.where.matching and await self._is_large(asked.where):
            return await native.search(self._native, asked)
        return await self._readers.run(
            lambda db: indexed.search(_feed(db, asked), self._cache, asked), seconds=LONG_SECONDS
        )

    async def _is_large(self, where: Where) -> bool:
        """Are there more records than one process should hold? Looked up now and then."""
        if not self._place.native_above:
            return False
        key, now = (where.scopes, where.descend, where.exact), time.monotonic()
        large, until = self._large.get(key, (False, 0.0))
        if now >= until:
            large = await self._native.is_larger(where, self._place.native_above)
            if len(self._large) >= SIZES_MAX:
                self._large.clear()
            self._large[key] = (large, now + SIZE_SECONDS)
        return large

    async def listing(self, asked: Listing) -> list[Record]:
        if not check_asked(asked):
            self._check_open()
            return []
        if is_walk(asked):
            return await self._read(lambda db: walk.walked(db, asked))

        def listing(db: Db) -> list[Record]:
            feed = _feed(db, asked)
            found = indexed.listing(feed, self._cache, asked)
            if feed.damaged and asked.order in ("id", "newest"):  # it is one page of many
                raise damaged(feed.damaged[0])
            return found

        return await self._readers.run(listing, seconds=LONG_SECONDS)

    async def find(self, asked: Find) -> list[Record]:
        if not check_asked(asked):
            self._check_open()
            return []
        return await self._read(lambda db: walk.found(db, asked))

    async def relations(self, root: str, ids: Sequence[str]) -> list[Relation]:
        return await self._read(lambda db: reads.relations(db, root, ids))

    async def sessions(
        self,
        root: str,
        keys: Sequence[SessionKey] = (),
        *,
        after: SessionKey | None = None,
        limit: int = 100,
    ) -> list[Session]:
        return await self._read(lambda db: reads.sessions(db, root, keys, after, limit))

    async def messages(
        self,
        session: SessionKey,
        *,
        now: datetime,
        ids: Sequence[str] = (),
        after: int = 0,
        before: int | None = None,
        limit: int = 100,
        newest: bool = False,
    ) -> list[Message]:
        root, between = root_of(session.scope), (after, before)
        return await self._read(
            lambda db: reads.messages(db, root, session, now, ids, between, limit, newest)
        )

    async def summaries(
        self,
        session: SessionKey,
        *,
        after: int = 0,
        limit: int = 100,
        newest: bool = False,
    ) -> list[Summary]:
        root = root_of(session.scope)
        return await self._read(lambda db: reads.summaries(db, root, session, after, limit, newest))

    async def items(
        self,
        root: str,
        namespace: str | None,
        *,
        now: datetime,
        scopes: Sequence[str] = (),
        keys: Sequence[str] = (),
        prefix: str = "",
        after: Item | None = None,
        limit: int = 100,
    ) -> list[Item]:
        return await self._read(
            lambda db: reads.items(db, root, namespace, now, scopes, keys, prefix, after, limit)
        )

    async def journal(
        self,
        root: str | None,
        *,
        after: int = 0,
        before: int | None = None,
        limit: int = 100,
        newest: bool = False,
        change: str = "",
        touching: str = "",
        wait: float = 0.0,
    ) -> list[Entry]:
        def read(db: Db) -> list[Entry]:
            return reads.journal(db, root, (after, before), limit, newest, change, touching)

        found = await self._read(read)
        if found or wait <= 0 or root is None:
            return found
        loop = asyncio.get_running_loop()
        deadline = loop.time() + wait
        with self._news.expecting(root) as told:
            while not found and (left := deadline - loop.time()) > 0:
                told.clear()
                found = await self._read(read)
                if not found:
                    await _until(told, min(left, LOOK_SECONDS))
        return found or await self._read(read)

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
        return await self._read(lambda db: due.due(db, now, root, kinds, space, reader, limit))

    async def counts(
        self, scopes: Sequence[str], *, now: datetime, descend: bool = False
    ) -> dict[tuple[Kind, Type, Status], int]:
        return await self._read(lambda db: walk.counts(db, scopes, now, descend=descend))

    async def roots(self, *, after: str = "", limit: int = 100) -> list[str]:
        return await self._read(lambda db: reads.roots(db, after, limit))

    async def check_schema(self) -> str:
        """What runs as code in the schema and is not ours; "" if nothing does. The doctor compares
        all of it."""
        found = await self._read(lambda db: tuple(foreign_code(db)))
        return "; ".join(defect.text for defect in found[:SCHEMA_DEFECTS_SHOWN])

    async def _read(self, read: Callable[[Db], T]) -> T:
        return await self._readers.run(read)

    def _check_open(self) -> None:
        check_process(self._process)
        if self._closed:
            raise Unavailable("this store is closed; open it again")


def _feed(db: Db, asked: Search | Listing) -> PostgresFeed:
    return PostgresFeed(db, root_of(asked.where.scopes[0]), _ONE_MOMENT)


async def _until(event: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        pass
