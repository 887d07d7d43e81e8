"""Opening SurrealDB as a store: a folder of this process alone, its memory, or a server."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

from surrealdb import AsyncSurreal

from recollect.errors import Invalid, Unavailable
from recollect.ports import Capabilities
from recollect.stores.keyspace.store import KeyStore
from recollect.stores.surreal.engine import SurrealEngine
from recollect.stores.surreal.failures import speaking_of
from recollect.stores.surreal.tables import DEFINED

CACHE_BYTES = 1024**3
LEFTOVERS = "no query finds it any more; the engine's files may hold bytes until it compacts them"
NAMESPACE, DATABASE = "recollect", "memory"


class SurrealStore(KeyStore):
    """``recollect.ports.Store`` on SurrealDB. Use ``open``."""

    engine: SurrealEngine
    _lock: int | None = None  # a descriptor, held as long as the folder is open

    @classmethod
    async def open(cls, address: str, *, cache_bytes: int = CACHE_BYTES) -> SurrealStore:
        """``surrealkv://path``, ``mem://`` or ``ws://user:password@host:port/namespace/database``.

        Unavailable: it cannot be reached, or another process has the folder open. Denied: not
        with this password. Invalid: that is no such address. A commit to a folder is on the disk
        when it is acknowledged if SURREAL_SYNC_DATA is true, as ``recollect.wiring`` sees to: the
        engine reads that by itself.
        """
        scheme = address.partition(":")[0]
        if scheme in ("surrealkv", "mem"):
            return await cls._embedded(scheme, address, cache_bytes)
        url = urlsplit(address)
        name, endpoint, place = _named(url), _endpoint(url), _place(url)
        with speaking_of(name):
            db: Any = AsyncSurreal(endpoint)
            await db.connect()
            try:
                if url.username is not None:
                    secret = unquote(url.password or "")
                    await db.signin({"username": unquote(url.username), "password": secret})
                await db.use(*place)
            except BaseException:
                await db.close()
                raise
        return await cls._made(db, name, "server", cache_bytes)

    @classmethod
    async def _embedded(cls, scheme: str, address: str, cache_bytes: int) -> SurrealStore:
        lock, name = None, address
        if scheme == "surrealkv":
            folder = _folder(address)
            lock = _locked(folder)
            name = f"surrealkv://{folder}"
        try:
            with speaking_of(name):
                db: Any = AsyncSurreal(f"{name}/data" if lock is not None else "mem://")
                await db.connect()
                await db.use(NAMESPACE, DATABASE)
            store = await cls._made(db, name, scheme, cache_bytes)
        except BaseException:
            if lock is not None:
                os.close(lock)
            raise
        store._lock = lock
        return store

    @classmethod
    async def _made(cls, db: Any, name: str, kind: str, cache_bytes: int) -> SurrealStore:
        engine = SurrealEngine(db, name=name, alone=kind != "server")
        try:
            for line in filter(None, map(str.strip, DEFINED.splitlines())):
                await engine.ask(line)
        except BaseException:
            await engine.close()
            raise
        capabilities = Capabilities(
            name="surreal",
            search="exact",
            erasure="memory" if kind == "mem" else "engine",
            waits=True,
            processes=kind == "server",
            leftovers="" if kind == "mem" else LEFTOVERS,
        )
        store = cls(engine, capabilities, cache_bytes=cache_bytes)
        store.engine = engine
        return store

    async def close(self) -> None:
        await super().close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


async def open_address(address: str, *, cache_bytes: int) -> SurrealStore:
    return await SurrealStore.open(address, cache_bytes=cache_bytes)


def _folder(address: str) -> Path:
    path = address.removeprefix("surrealkv:").removeprefix("//")
    if not path:
        raise Invalid("no folder in the address; write surrealkv://path/to/folder")
    if "?" in path:
        raise Invalid("surrealkv:// takes no options; every commit is synced to the disk anyway")
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
