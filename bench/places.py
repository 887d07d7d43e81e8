"""A place on a server for one measurement, gone afterwards: a database of its own on PostgreSQL, a
prefix of its own in Redis."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from urllib.parse import urlsplit, urlunsplit

from standfast.errors import Unavailable

DELETED_AT_ONCE = 1000
# What an address says for its engine to search by itself, and for the index to.
BY_ITSELF: dict[str, dict[str, object]] = {
    "postgresql": {"native_above": 1},
    "redis": {"search": "native"},
    "mem": {"search": "native"},
}
BY_INDEX: dict[str, dict[str, object]] = {
    "postgresql": {"native_above": 0},
    "redis": {"search": "exact"},
    "mem": {"search": "exact"},
}


def kind_of(address: str) -> str:
    """``postgresql``, ``redis`` or what else stands before the colon."""
    kind = address.partition("://")[0]
    return {"postgres": "postgresql", "rediss": "redis"}.get(kind, kind)


@contextmanager
def fresh(address: str) -> Iterator[str]:
    """The address of a place that nobody has used. Others are given as they are."""
    if kind_of(address) == "postgresql":
        with databases(address, 1) as [one]:
            yield one
    elif kind_of(address) == "redis":
        prefix = f"bench{time.time_ns()}"
        try:
            yield with_options(address, prefix=prefix)
        finally:
            _delete(address, prefix)
    else:
        yield address


@contextmanager
def databases(address: str, count: int) -> Iterator[list[str]]:
    """So many new databases on the server of this one."""
    import psycopg
    from psycopg import sql

    try:
        connected = psycopg.connect(address, autocommit=True)
    except psycopg.Error as error:
        raise Unavailable(str(error).partition("\n")[0]) from None
    with connected as db, ExitStack() as made:
        found = []
        for number in range(count):
            name = f"bench_{time.time_ns()}_{number}"
            db.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
            drop = sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name))
            made.callback(db.execute, drop)
            found.append(urlunsplit(urlsplit(address)._replace(path=f"/{name}")))
        yield found


def with_options(address: str, **options: object) -> str:
    """The same address with these behind its question mark."""
    given = "&".join(f"{name}={value}" for name, value in options.items())
    return f"{address}{'&' if '?' in address else '?'}{given}"


def _delete(address: str, prefix: str) -> None:
    import redis

    # Where the server is not there, the measurement said so already.
    with suppress(redis.ConnectionError), redis.Redis.from_url(address.partition("?")[0]) as server:
        keys: list[bytes] = []
        for key in server.scan_iter(f"{prefix}:*", count=DELETED_AT_ONCE):
            keys.append(key)
            if len(keys) == DELETED_AT_ONCE:
                server.unlink(*keys)
                keys.clear()
        if keys:
            server.unlink(*keys)
