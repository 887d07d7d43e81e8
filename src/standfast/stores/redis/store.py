"""Opening a Redis server as a store: what it must be able to, and what it must not do."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qs, urlsplit, urlunsplit

from redis.asyncio import BlockingConnectionPool, Redis, RedisCluster

from standfast import compat
from standfast.errors import Incompatible, Invalid
from standfast.ports import Capabilities
from standfast.stores.keyspace.near import NearSearch, NearStore, search_in
from standfast.stores.keyspace.words import check_index_version
from standfast.stores.redis.engine import RedisEngine
from standfast.stores.redis.failures import speaking_of
from standfast.stores.redis.near import NearEngine

CACHE_BYTES = 1024**3
OLDEST = 8
SECONDS = 10.0  # that an answer may take
CONNECTIONS = 64
LISTENERS_MAX = 5000  # as many as a server lets in by itself, and half of them left to others
PREFIX = compat.REDIS_PREFIX
PERSISTENCE = ("aof", "any")  # what the server must have
TLS = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile", "ssl_cert_reqs")  # handed to the client
OPTIONS = {"prefix", "persistence", "search", "native_above", *TLS}
LEFTOVERS = (
    "gone from the server's memory at once; its append-only file is being rewritten without it; "
    "snapshots, backups and replicas that are behind may hold bytes of it until they are replaced"
)

logger = logging.getLogger("standfast")


class RedisStore(NearStore):
    """``standfast.ports.Store`` on Redis. Use ``open``."""

    @classmethod
    async def open(cls, address: str, *, cache_bytes: int = CACHE_BYTES) -> RedisStore:
        """``redis://[user:password@]host[:port][/number][?prefix=name&persistence=any]``.

        Unavailable: it cannot be reached. Denied: not with this password. Incompatible: it is
        too old, or would lose what it is given. Invalid: that is no such address.
        """
        engine, options = engine_at(address)
        search, above = search_in(options)
        try:
            facts = await facts_of(engine)
            check_server(facts, engine.name, accepts_loss=options.get("persistence") == "any")
            await engine.begin_anew()
            await check_index_version(engine, engine.name)
        except BaseException:
            await engine.close()
            raise
        capabilities = Capabilities(
            name="redis",
            search=search,
            erasure="engine",
            waits=True,
            processes=True,
            leftovers=LEFTOVERS,
        )
        store = cls(engine, capabilities, cache_bytes=cache_bytes)
        store.near = NearSearch(engine)
        store.native_above = above
        return store


async def open_address(address: str, *, cache_bytes: int) -> RedisStore:
    return await RedisStore.open(address, cache_bytes=cache_bytes)


def _parts(address: str) -> tuple[SplitResult, dict[str, str]]:
    """The URL as the client takes it, and the options of our own."""
    url = urlsplit(address)
    try:
        url.port  # noqa: B018 - it is looked at to see whether it is one
    except ValueError:
        raise Invalid(f"no port number in {_named(url)}; write redis://host:6379") from None
    if not url.hostname:
        raise Invalid(f"no host in {_named(url)}; write redis://host:6379")
    if url.path.strip("/") and not url.path.strip("/").isdigit():
        raise Invalid(f"{url.path.strip('/')!r} is no number of a Redis database; leave it out")
    options = {name: values[-1] for name, values in parse_qs(url.query).items()}
    unknown = sorted(set(options) - OPTIONS)
    if unknown:
        known = ", ".join(sorted(OPTIONS))
        raise Invalid(f"unknown option {unknown[0]!r} in {_named(url)}; there are: {known}")
    if options.get("persistence", "aof") not in PERSISTENCE:
        raise Invalid(f"persistence= takes one of {', '.join(PERSISTENCE)}")
    for name in ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile"):
        if name in options and not Path(options[name]).is_file():
            raise Invalid(f"{name}= in the address names no file")
    search_in(options)
    if not options.get("prefix", PREFIX).isalnum():
        raise Invalid("prefix= takes letters and digits only")
    return url, options


def _named(url: SplitResult) -> str:
    """The address without user, password and options."""
    host = url.hostname or ""
    host = f"[{host}]" if ":" in host else host
    try:
        port = f":{url.port}" if url.port else ""
    except ValueError:
        port = ""
    return urlunsplit((url.scheme, host + port, url.path, "", ""))


def engine_at(address: str, *, seconds: float | None = None) -> tuple[NearEngine, dict[str, str]]:
    """Not connected yet, and the options of its address. Invalid: that is no such address."""
    seconds = SECONDS if seconds is None else seconds
    url, options = _parts(address)
    cluster = url.scheme.partition("+")[2] == "cluster"
    plain = urlunsplit((url.scheme.partition("+")[0], url.netloc, url.path, "", ""))
    given: dict[str, Any] = {
        "socket_timeout": seconds,
        "socket_connect_timeout": seconds / 2,
        "client_name": "standfast",
        **{name: options[name] for name in TLS if name in options},
    }
    client: Any
    listening: Any = None
    if cluster:
        client = RedisCluster.from_url(plain, **given)
    else:
        # Whoever finds all of them in use waits: many at once are no reason to refuse anybody.
        pool = BlockingConnectionPool.from_url(
            plain, max_connections=CONNECTIONS, timeout=seconds, health_check_interval=30, **given
        )
        client = Redis.from_pool(pool)
        listening = Redis.from_url(plain, max_connections=LISTENERS_MAX, **given)
    prefix = options.get("prefix", PREFIX)
    engine = NearEngine(
        client, name=_named(url), prefix=prefix, cluster=cluster, listening=listening
    )
    return engine, options


async def facts_of(engine: RedisEngine) -> dict[str, Any]:
    """What the server says about itself; of a cluster, one of its masters."""
    with speaking_of(engine.name, opening=True):
        if engine.cluster:
            await engine.client.initialize()
            nodes = engine.client.get_primaries()
            answers = await engine.client.info(target_nodes=nodes[0])
            return dict(answers)
        return dict(await engine.client.info())


def check_server(
    facts: dict[str, Any], name: str, *, accepts_loss: bool, oldest: int = OLDEST
) -> None:
    """Incompatible if the server cannot keep what it is given; a warning if it may lose some."""
    version = str(facts.get("redis_version", "0"))
    if int(version.split(".")[0]) < oldest:
        raise Incompatible(f"{name} is Redis {version}; standfast needs Redis {oldest} or newer")
    policy = str(facts.get("maxmemory_policy", "noeviction"))
    if policy.startswith("allkeys"):
        raise Incompatible(
            f"{name} throws memories away when it is full (maxmemory-policy {policy}); "
            "set maxmemory-policy noeviction"
        )
    if int(facts.get("aof_enabled", 0)):
        return
    if not accepts_loss:
        raise Incompatible(
            f"{name} does not persist what it acknowledges: its append-only file is off; "
            "set appendonly yes, or add ?persistence=any to the URL to accept losing memories"
        )
    logger.warning(
        "%s does not persist what it acknowledges (appendonly is off): "
        "memories will be lost when it stops",
        name,
    )
