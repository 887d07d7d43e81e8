"""The store: an async face over one writing thread and a few reading ones.

A connection must not cross a fork: open the store in the child, not before it.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextvars import copy_context
from datetime import datetime
from functools import partial
from typing import TypeVar

import apsw

from standfast.errors import Unavailable
from standfast.index import search as indexed
from standfast.index.cache import IndexCache, IsLittle
from standfast.index.filters import check_asked, is_walk
from standfast.ports import (
    BESIDE_CHARACTERS,
    Capabilities,
    Clock,
    breath,
    check_process,
    is_forked,
    note_left_out,
)
from standfast.scopes import root_of
from standfast.stores.rows import damaged
from standfast.stores.sqlite import due, migrate, news, reads, snapshots, walk
from standfast.stores.sqlite.connection import (
    check_library,
    connect,
    connect_reader,
    create_private,
    snapshot,
)
from standfast.stores.sqlite.failures import speaking_of
from standfast.stores.sqlite.feed import FileMovedError, SqliteFeed
from standfast.stores.sqlite.news import NewsDesk
from standfast.stores.sqlite.readers import Readers
from standfast.stores.sqlite.registry import SqliteRegistry
from standfast.stores.sqlite.schema_check import schema_defects
from standfast.stores.sqlite.seen import ConnectionView, SeenRecords
from standfast.stores.sqlite.writer import Writer, truncate_log, wipe_pages
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

READERS = 4
CACHE_BYTES = 1024**3
KEYS_READ_HERE = 8
EDGES_READ_HERE = 64
RECORDS_READ_HERE = 16
GROWN_SCOPES_MAX = 10_000  # of which is known how much was written to them
WIPE_BYTES_MAX = 64 << 20  # a larger file is not written anew while others wait
WIPE_SECONDS, WIPE_PAUSE = 0.25, 20  # one that takes longer: at most 5 % of the time
UNCLEARED = (
    "unused parts of the file's pages may hold names or pieces of it, until it is written anew: "
    "`standfast doctor --rebuild` does that"
)


SCHEMA_DEFECTS_SHOWN = 3


class SqliteStore:
    """``standfast.ports.Store`` in one SQLite file. Use ``open``."""

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            name="sqlite",
            search="exact",
            erasure="nothing",
            waits=True,
            processes=True,
            leftovers=UNCLEARED if self._uncleared else "",
        )

    def __init__(self, path: str, *, cache_bytes: int, group_max: int) -> None:
        self._path = path
        self._writer = Writer(path, group_max)
        self._cache = IndexCache(cache_bytes)
        self._readers = Readers(READERS, "standfast-reader")
        self._local = threading.local()
        self._connections: list[apsw.Connection] = []
        self._seen = SeenRecords()
        self._grown: Counter[str] = Counter()  # scopes, by new records of this process
        self._written: set[str] = set()  # roots, since they were last searched
        self._closed = False
        self._process = os.getpid()
        self._uncleared = False  # pages may hold bytes of what was erased
        self._wiped = (0.0, 0.0)  # when all of them were written anew, and how long that took
        self._registry = SqliteRegistry(self._writer, self._read_here, self._read)
        self._news = NewsDesk(lambda roots: self._read(lambda db: news.heads(db, roots)))

    @property
    def registry(self) -> SqliteRegistry:
        return self._registry

    @classmethod
    async def open(
        cls,
        path: str | os.PathLike[str],
        *,
        clock: Clock | None = None,  # noqa: ARG003  every call brings its own time
        cache_bytes: int = CACHE_BYTES,
        group_max: int = 256,
    ) -> SqliteStore:
        """Open a file, or make one. ``cache_bytes`` bounds the search indexes in memory,
        ``group_max`` how many commits share one sync of the disk.

        Incompatible: another program's file, a newer schema or too old a library.
        Unavailable: the file cannot be opened, or made.
        """
        check_library()
        store = cls(os.fspath(path), cache_bytes=cache_bytes, group_max=group_max)
        try:
            await store._on_reader_thread(store._prepare_file)
        except BaseException:
            await store.close()
            raise
        return store

    def _prepare_file(self) -> None:
        create_private(self._path)
        connection = connect(self._path)
        try:
            migrate.bring_up_to_date(connection, self._path)
        finally:
            connection.close()
        store_id = migrate.store_id(self._connection())
        self._writer.watch.begin(store_id)

    @property
    def trouble(self) -> str:
        """What happened to the file while it was open; "" if nothing did."""
        return self._writer.watch.trouble

    async def check_schema(self) -> str:
        """How the schema differs from the one that this version writes; "" if it does not."""
        found = await self._read(lambda db: tuple(schema_defects(db)))
        return "; ".join(defect.text for defect in found[:SCHEMA_DEFECTS_SHOWN])

    async def check_same_file(self, device: int, inode: int) -> None:
        """Unavailable unless a program that opens this file now gets the store that is open here.
        The store's id is read through a connection of its own: others keep pages in memory."""

        def check() -> None:
            fresh = connect_reader(self._path)
            try:
                self._writer.watch.check_same((device, inode), migrate.store_id(fresh))
            finally:
                fresh.close()

        await self._on_reader_thread(check)

    # Writing

    async def commit(self, batch: Batch) -> int:
        number = await self._writer.commit(batch)
        if batch.records:
            self._grown.update([record.scope for record in batch.records if not record.version])
            self._written.add(batch.root)
            if len(self._grown) > GROWN_SCOPES_MAX:
                self._grown.clear()
                self._written.clear()
        if batch.erase:
            self._uncleared = True
            self._seen.let_go()
        return number

    @property
    def trips(self) -> int:
        """How often a commit has read or written, in all."""
        return self._writer.trips

    async def scrub(self) -> bool:
        """A large file is written anew only seldom, because nobody else writes meanwhile."""
        began = time.monotonic()
        if self._uncleared and self._may_wipe(began):
            work = self._writer.run(wipe_pages)
            self._uncleared = not await asyncio.shield(asyncio.wrap_future(work))
            self._wiped = began, time.monotonic() - began
            if not self._uncleared:
                return True
        done: bool = await asyncio.shield(asyncio.wrap_future(self._writer.run(truncate_log)))
        return done

    def _may_wipe(self, now: float) -> bool:
        at, took = self._wiped
        often = took > WIPE_SECONDS and now - at < WIPE_PAUSE * took
        try:
            return not often and os.path.getsize(self._path) <= WIPE_BYTES_MAX
        except OSError:  # the next write says what became of the file
            return False

    async def save_indexes(
        self, *, rows_max: int | None = None, seconds: float | None = None
    ) -> None:
        """What this process has built to search by, for those that come after it; see
        ``snapshots``. And what they would have to build of scopes to which it has written much:
        nobody who asks waits for it then. ``rows_max``: scopes with more are left to a process
        that has time. ``seconds``: after these nothing more is built."""
        until = None if seconds is None else time.monotonic() + seconds
        grown, self._grown = self._grown, Counter()
        for scope, rows in grown.items():
            if until is not None and time.monotonic() >= until:
                break
            if rows >= snapshots.GROWN_LEAST:
                await self._on_reader_thread(partial(self._save_grown, scope, rows_max))
        for scope in self._cache.scopes():
            await self._on_reader_thread(partial(self._save_index, scope, rows_max))

    def _save_grown(self, scope: str, rows_max: int | None) -> None:
        db, cache = self._connection(), self._cache
        if not snapshots.is_behind(db, scope, rows_max):
            return
        if scope not in cache.scopes():
            cache = IndexCache(0)  # for this one: it drives none out that somebody asks
        with snapshot(db):
            indexed.load(SqliteFeed(db), cache, scope, snapshots.newest_space(db, scope))
        snapshots.save(db, cache, self._writer.run, scope, rows_max=rows_max)

    def _save_index(self, scope: str, rows_max: int | None) -> None:
        snapshots.save(self._connection(), self._cache, self._writer.run, scope, rows_max=rows_max)

    async def close(self) -> None:
        if self._closed or is_forked(self._process):
            return
        self._closed = True
        await asyncio.shield(asyncio.to_thread(self._close))

    def _close(self) -> None:
        self._writer.close()
        self._readers.shutdown()
        for connection in self._connections:
            connection.close()
        # Whoever keeps a closed handle keeps nothing else.
        self._connections.clear()
        self._local = threading.local()
        self._seen.let_go()
        self._cache.clear()

    # Reading

    async def records(self, root: str | None, ids: Sequence[str], *, now: datetime) -> list[Record]:
        def read(db: apsw.Connection) -> list[Record]:
            return reads.records(db, root, ids, now)

        return (
            await self._read_here(read) if len(ids) <= RECORDS_READ_HERE else await self._read(read)
        )

    async def search(self, asked: Search) -> Sequence[Hit]:
        if not check_asked(asked) or not (asked.text or asked.vector is not None):
            self._check_open()
            return []

        def search(db: apsw.Connection) -> tuple[Sequence[Hit], list[str]]:
            feed = SqliteFeed(db, self._local.seen)
            return indexed.search(feed, self._cache, asked), feed.damaged

        found = None
        if len(asked.text) <= BESIDE_CHARACTERS:
            found = await self._indexed_here(
                asked.where,
                lambda feed, is_little: indexed.search_if_ready(
                    feed, self._cache, asked, is_little
                ),
            )
        if found is None:
            found = await self._read_at_once(search)
        hits, damaged_ids = found
        note_left_out(damaged_ids)
        return hits

    async def _indexed_here(
        self, where: Where, read: Callable[[SqliteFeed, IsLittle], T | None]
    ) -> tuple[T, list[str]] | None:
        """On the caller's thread, if that is quicker than the way to another one; and the ids of
        what is damaged. At first without a transaction, unless this process has written there:
        mostly nothing has changed."""
        await breath()
        with speaking_of(self._path):
            db, root = self._connection(), root_of(where.scopes[0])
            feed = SqliteFeed(db, self._local.seen)
            behind = [root] if root in self._written else []

            def is_little(scope: str, _: int) -> bool:
                behind.append(scope)
                return False

            try:
                found = None if behind else read(feed, is_little)
            except FileMovedError:
                return None
            if found is None and behind:
                self._written.discard(root)
                with snapshot(db):
                    feed = SqliteFeed(db, self._local.seen)
                    found = read(feed, feed.is_little)
        return None if found is None else (found, feed.damaged)

    async def listing(self, asked: Listing) -> list[Record]:
        if not check_asked(asked):
            self._check_open()
            return []
        if is_walk(asked):
            return await self._read_at_once(lambda db: walk.walked(db, asked))

        def listing(db: apsw.Connection) -> tuple[list[Record], list[str]]:
            feed = SqliteFeed(db, self._local.seen)
            found = indexed.listing(feed, self._cache, asked)
            if feed.damaged and asked.order in ("id", "newest"):  # it is one page of many
                raise damaged(feed.damaged[0])
            return found, feed.damaged

        found = await self._indexed_here(
            asked.where,
            lambda feed, is_little: indexed.listing_if_ready(feed, self._cache, asked, is_little),
        )
        if found is None or (found[1] and asked.order in ("id", "newest")):
            found = await self._read_at_once(listing)
        records, damaged_ids = found
        note_left_out(damaged_ids)
        return records

    async def find(self, asked: Find) -> list[Record]:
        if not check_asked(asked):
            self._check_open()
            return []
        return await self._read(lambda db: walk.found(db, asked))

    async def relations(self, root: str, ids: Sequence[str]) -> list[Relation]:
        if len(ids) <= KEYS_READ_HERE:  # few ids may have many edges
            enough = EDGES_READ_HERE + 1
            found = await self._read_here(lambda db: self._edges(db, root, ids, enough))
            if len(found) < enough:
                return found
        found, _ = await self._read(lambda db: reads.edges(db, root, ids))
        return found

    def _edges(
        self, db: apsw.Connection, root: str, ids: Sequence[str], most: int
    ) -> list[Relation]:
        seen: ConnectionView = self._local.seen
        return seen.edges(db, lambda: reads.edges(db, root, ids, most))

    async def sessions(
        self,
        root: str,
        keys: Sequence[SessionKey] = (),
        *,
        after: SessionKey | None = None,
        limit: int = 100,
    ) -> list[Session]:
        def read(db: apsw.Connection) -> list[Session]:
            return reads.sessions(db, root, keys, after, limit)

        if 0 < len(keys) <= KEYS_READ_HERE:
            return await self._read_here(read)
        return await self._read(read)

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
        return await self._read(
            lambda db: reads.messages(db, session, now, ids, (after, before), limit, newest)
        )

    async def summaries(
        self,
        session: SessionKey,
        *,
        after: int = 0,
        limit: int = 100,
        newest: bool = False,
    ) -> list[Summary]:
        return await self._read(lambda db: reads.summaries(db, session, after, limit, newest))

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
        def read(db: apsw.Connection) -> list[Item]:
            return reads.items(db, root, namespace, now, scopes, keys, prefix, after, limit)

        if 0 < len(keys) <= KEYS_READ_HERE or 0 < len(scopes) <= KEYS_READ_HERE:
            return await self._read_here(read)
        return await self._read(read)

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
        wanted = reads.ReadWish(
            root=root,
            after=after,
            before=before,
            limit=limit,
            newest=newest,
            change=change,
            touching=touching,
        )
        loop = asyncio.get_running_loop()
        deadline = loop.time() + wait
        while True:
            found = await self._read(lambda db: reads.journal(db, wanted))
            left = deadline - loop.time()
            if found or left <= 0:
                return found
            if root is None or change or touching:  # not every entry is the one
                await asyncio.sleep(min(news.POLL_SECONDS, left))
            else:
                await self._news.wait(root, after, left)

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

    async def tally(self, root: str, *, now: datetime) -> dict[tuple[str, Status], int]:
        return await self._read(lambda db: walk.tally(db, root, now))

    async def roots(self, *, after: str = "", limit: int = 100) -> list[str]:
        return await self._read(lambda db: reads.roots(db, after, limit))

    # Threads and connections

    async def _read(self, read: Callable[[apsw.Connection], T]) -> T:
        """One statement, or several that need not be of one moment."""
        return await self._on_reader_thread(lambda: read(self._connection()))

    async def _read_here(self, read: Callable[[apsw.Connection], T]) -> T:
        """A look-up of a few keys takes less than the way to another thread and back."""
        await breath()
        try:
            return read(self._connection())
        except Exception:
            with speaking_of(self._path):
                raise

    async def _read_at_once(self, read: Callable[[apsw.Connection], T]) -> T:
        """Several statements, all of one moment."""

        def reading() -> T:
            db = self._connection()
            with snapshot(db):
                return read(db)

        return await self._on_reader_thread(reading)

    async def _on_reader_thread(self, work: Callable[[], T]) -> T:
        def speaking() -> T:
            with speaking_of(self._path):
                return work()

        self._check_open()
        # In its context: what is left out there is noted for whoever asks here.
        return await asyncio.wrap_future(self._readers.submit(copy_context().run, speaking))

    def _connection(self) -> apsw.Connection:
        """This thread's own connection; it sees whatever any process has committed."""
        self._check_open()
        self._writer.watch.check_readable()
        found: apsw.Connection | None = getattr(self._local, "connection", None)
        if found is None:
            self._writer.watch.check()
            found = connect_reader(self._path)
            self._local.connection, self._local.seen = found, ConnectionView(self._seen)
            self._connections.append(found)
        return found

    def _check_open(self) -> None:
        check_process(self._process)
        if self._closed:
            raise Unavailable("this store is closed; open it again")
