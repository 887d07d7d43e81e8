"""Opening SurrealDB as a store: a folder of this process alone, its memory, or a server."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import logging
import os
import shutil
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from surrealdb import AsyncSurreal

from standfast import compat
from standfast.errors import Invalid, Unavailable
from standfast.index.filters import check_asked
from standfast.ports import Capabilities
from standfast.scopes import root_of
from standfast.stores.keyspace.engine import Get
from standfast.stores.keyspace.keys import HEADER, Header
from standfast.stores.keyspace.near import NearSearch, NearStore, search_in
from standfast.stores.keyspace.words import ALL, REACHED, check_index_version, reached_in
from standfast.stores.surreal.engine import SECONDS
from standfast.stores.surreal.failures import speaking_of
from standfast.stores.surreal.near import SurrealNear
from standfast.stores.surreal.tables import DEFINED, TABLES, schema_defects
from standfast.types import Hit, Search

CACHE_BYTES = 1024**3
LEFTOVERS = "no query finds it any more; the engine's files may hold bytes until it compacts them"
NAMESPACE, DATABASE = compat.SURREAL_NAMESPACE, compat.SURREAL_DATABASE
OPTIONS = {"search", "native_above"}
SCHEMA_DEFECTS_SHOWN = 3
UNBORN_BYTES = 1024  # of all files of a folder; its tables alone take more

logger = logging.getLogger("standfast")


class SurrealStore(NearStore):
    """``standfast.ports.Store`` on SurrealDB. Use ``open``."""

    engine: SurrealNear
    _builder: asyncio.Task[None] | None = None
    _lock: int | None = None  # a descriptor, held as long as the folder is open

    @classmethod
    async def open(cls, address: str, *, cache_bytes: int = CACHE_BYTES) -> SurrealStore:
        """``surrealkv://path``, ``mem://`` or ``ws://user:password@host:port/namespace/database``;
        ``?search=native`` (or exact, both) and ``native_above=`` say who searches.

        Unavailable: it cannot be reached, or another process has the folder open. Denied: not
        with this password. Invalid: that is no such address. A commit to a folder is on the disk
        when it is acknowledged if SURREAL_SYNC_DATA is true, as ``standfast.wiring`` sees to: the
        engine reads that by itself.
        """
        scheme = address.partition(":")[0]
        address, options = _options(address)
        if scheme in ("surrealkv", "mem"):
            return await cls._embedded(scheme, address, options, cache_bytes)
        url = urlsplit(address)
        name, endpoint, place = _named(url), _endpoint(url), _place(url)

        async def connected() -> Any:
            db: Any = AsyncSurreal(endpoint)
            if not scheme.startswith("http"):  # there every question is a connection of its own
                await db.connect()
            try:
                if url.username is not None:
                    secret = unquote(url.password or "")
                    await db.signin({"username": unquote(url.username), "password": secret})
                await db.use(*place)
            except BaseException:
                with contextlib.suppress(NotImplementedError):  # over HTTP nothing is open
                    await db.close()
                raise
            return db

        with speaking_of(name):
            async with asyncio.timeout(SECONDS):
                db = await connected()
        return await cls._made(db, name, "server", options, cache_bytes, connected)

    @classmethod
    async def _embedded(
        cls, scheme: str, address: str, options: dict[str, str], cache_bytes: int
    ) -> SurrealStore:
        lock, name = None, address
        if scheme == "surrealkv":
            folder = _folder(address)
            lock = _locked(folder)
            name = f"surrealkv://{folder}"
        try:
            if lock is not None:
                _drop_unborn(folder / "data", lock)
            with speaking_of(name):
                db: Any = AsyncSurreal(f"{name}/data" if lock is not None else "mem://")
                await db.connect()
                await db.use(NAMESPACE, DATABASE)
            store = await cls._made(db, name, scheme, options, cache_bytes)
            if lock is not None:
                _mark_born(lock)
        except BaseException:
            if lock is not None:
                os.close(lock)
            raise
        store._lock = lock
        return store

    @classmethod
    async def _made(
        cls,
        db: Any,
        name: str,
        kind: str,
        options: dict[str, str],
        cache_bytes: int,
        again: Callable[[], Awaitable[Any]] | None = None,
    ) -> SurrealStore:
        search, above = search_in(options)
        engine = SurrealNear(
            db, name=name, alone=again is None, begins=search == "native", again=again
        )
        try:
            for line in filter(None, map(str.strip, DEFINED.splitlines())):
                await engine.ask(line)
            await check_index_version(engine, name)
        except BaseException:
            await engine.close()
            raise
        capabilities = Capabilities(
            name="surreal",
            search=search,
            erasure="memory" if kind == "mem" else "engine",
            waits=True,
            processes=kind == "server",
            leftovers="" if kind == "mem" else LEFTOVERS,
        )
        store = cls(engine, capabilities, cache_bytes=cache_bytes)
        store.engine, store.near, store.native_above = engine, NearSearch(engine), above
        return store

    async def check_schema(self) -> str:
        """What others put onto the tables; "" if nothing."""
        found = [(one, await self.engine.ask(f"INFO FOR TABLE {one}")) for one in TABLES]
        defects = [text for one, told in found for text in schema_defects(one, told)]
        return "; ".join(defects[:SCHEMA_DEFECTS_SHOWN])

    async def search(self, asked: Search) -> Sequence[Hit]:
        found = await super().search(asked)
        if self.engine.wanted and (self._builder is None or self._builder.done()):
            self._builder = asyncio.create_task(self._build())
        return found

    async def _is_native(self, asked: Search) -> bool:
        """Not before the engine has what it searches; that is built meanwhile."""
        if self.capabilities.search == "exact" or asked.where.matching or not check_asked(asked):
            return False
        root = root_of(asked.where.scopes[0])
        header, raw = await self._read(root, [Get(HEADER), Get(REACHED)])
        made = Header.read(header).made
        if self.capabilities.search == "both" and made < self.native_above:
            return False
        if made and reached_in(raw) != ALL:
            self.engine.wanted[root, "", ""] = None
            return False
        return await super()._is_native(asked)

    async def _build(self) -> None:
        """A little at a time, between the commits of others. What fails is tried again by the
        next search that wants it."""
        while self.engine.wanted:
            root, space, scope = next(iter(self.engine.wanted))
            try:
                done = await self._build_some(root, space, scope)
            except Unavailable as error:
                logger.warning("cannot build the search index of %s: %s", root, error)
                done = True
            if done:
                self.engine.wanted.pop((root, space, scope), None)
            await asyncio.sleep(0)

    async def _build_some(self, root: str, space: str, scope: str) -> bool:
        async with self._locks.setdefault(root, asyncio.Lock()):
            return await self.engine.build(root, space, scope)

    async def built(self) -> None:
        """Wait until nothing is being built."""
        if self._builder is not None:
            await self._builder

    async def close(self) -> None:
        self.engine.wanted.clear()  # the builder ends after the step that it is in
        await asyncio.gather(self.built(), return_exceptions=True)
        await super().close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


async def open_address(address: str, *, cache_bytes: int) -> SurrealStore:
    return await SurrealStore.open(address, cache_bytes=cache_bytes)


def _options(address: str) -> tuple[str, dict[str, str]]:
    """The address without what stands behind its question mark, and that."""
    plain, _, query = address.partition("?")
    options = {name: values[-1] for name, values in parse_qs(query, keep_blank_values=True).items()}
    unknown = sorted(set(options) - OPTIONS)
    if unknown:
        known = " and ".join(f"{name}=" for name in sorted(OPTIONS))
        raise Invalid(
            f"{unknown[0]!r}: SurrealDB takes no options but {known} (commits are synced anyway)"
        )
    search_in(options)
    return plain, options


def _folder(address: str) -> Path:
    path = address.removeprefix("surrealkv:").removeprefix("//")
    if not path:
        raise Invalid("no folder in the address; write surrealkv://path/to/folder")
    return Path(path).expanduser().absolute()


def _locked(folder: Path) -> int:
    """Two processes on one folder would break it, and the engine does not look."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(folder / "lock", os.O_CREAT | os.O_RDWR, 0o600)
    except OSError as error:
        raise Unavailable(f"cannot open {folder}: {error.strerror}") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise Unavailable(f"{folder} is open already; close it there first") from None
    return lock


def _drop_unborn(data: Path, lock: int) -> None:
    """Killed while it makes its first files, the engine cannot open them again. Nothing was
    acknowledged before the tables were defined, so it begins anew; never where they were."""
    if not os.fstat(lock).st_size and data.is_dir() and _size_of(data) < UNBORN_BYTES:
        shutil.rmtree(data)


def _mark_born(lock: int) -> None:
    """The tables are defined: what is short from now on has lost something."""
    if not os.fstat(lock).st_size:
        os.write(lock, b"born\n")
        os.fsync(lock)


def _size_of(folder: Path) -> int:
    return sum(one.stat().st_size for one in folder.rglob("*") if one.is_file())


def _place(url: SplitResult) -> tuple[str, str]:
    parts = [unquote(part) for part in url.path.split("/") if part and part != "rpc"]
    if len(parts) > 2:
        raise Invalid(f"{_named(url)} names more than a namespace and a database")
    return (*parts, *(NAMESPACE, DATABASE)[len(parts) :])[:2]  # type: ignore[return-value]


def _endpoint(url: SplitResult) -> str:
    try:
        port = f":{url.port}" if url.port else ""
    except ValueError:
        raise Invalid(f"no port number in {_named(url)}; write ws://host:8000") from None
    if not url.hostname:
        raise Invalid(f"no host in {_named(url)}; write ws://host:8000/namespace/database")
    host = f"[{url.hostname}]" if ":" in url.hostname else url.hostname
    return f"{url.scheme}://{host}{port}"


def _named(url: SplitResult) -> str:
    """The address without user, password and options."""
    host = url.netloc.rpartition("@")[2]
    return f"{url.scheme}://{host}{url.path}"
