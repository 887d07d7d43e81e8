"""Connections: how they are made, what they have in common, and how one is cut off."""

from __future__ import annotations

import contextlib
import os
import re
import select as select_module
import selectors
import socket
import struct
from collections.abc import Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import psycopg
from psycopg import pq
from psycopg.adapt import Buffer, Dumper, Loader
from psycopg.conninfo import conninfo_to_dict
from psycopg.types.numeric import Int8BinaryDumper, Int8Dumper

from standfast import compat
from standfast.errors import Invalid
from standfast.index.derived import TERM
from standfast.types import Vector

SCHEMA = compat.POSTGRES_SCHEMA
CONNECT_SECONDS = 5
NATIVE_ABOVE = 200_000
LOCK_SECONDS = 10  # how long a commit waits for another one of its root

Db = psycopg.Connection[tuple[Any, ...]]
T = TypeVar("T")

_USUAL = {
    "connect_timeout": str(CONNECT_SECONDS),
    "application_name": "standfast",
    "keepalives_idle": "30",
    "keepalives_interval": "5",
    "keepalives_count": "3",
    "client_encoding": "UTF8",
}
# The extension may be in whatever schema it was made in. A commit that has been acknowledged is on
# the disk, whatever the database's default is; who asks for more than that gets it.
_PREPARE = (
    "SELECT set_config('search_path', concat_ws(', ', %s::text, (SELECT quote_ident(nspname)"
    " FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace"
    " WHERE extname = 'vector')), false),"
    " set_config('synchronous_commit', CASE current_setting('synchronous_commit')"
    " WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, false),"
    " set_config('lock_timeout', %s, false), set_config('timezone', 'UTC', false),"
    " set_config('jit', 'off', false),"
    " (SELECT relkind::text FROM pg_class WHERE oid = to_regclass(%s))"
)


class DatabasePlace:
    """Where a database is. Its ``name`` tells it without the secret."""

    def __init__(self, address: str) -> None:
        """Raises Invalid if it is no address. ``native_above`` behind its question mark is ours:
        the number of records from which on the database itself searches; 0: never."""
        address, native = _without(address, "native_above")
        try:
            self._given = {name: str(v) for name, v in conninfo_to_dict(address).items() if v}
        except psycopg.ProgrammingError as error:
            named = re.search(r'(?:query parameter|connection option)[^"]*"(\w+)"', str(error))
            raise Invalid(_no_address(named[1] if named else "")) from None
        if not all(port.isdecimal() for port in self._given.get("port", "0").split(",")):
            raise Invalid(_no_address("port"))
        self.native_above = _native_above(native)
        if "," in self._given.get("host", "") and "target_session_attrs" not in self._given:
            self._given["target_session_attrs"] = "read-write"
        self.options = {**_USUAL, **self._given}

    @cached_property
    def name(self) -> str:
        hosts = (self._given.get("host") or "localhost").split(",")
        ports = (self._given.get("port") or "5432").split(",")
        ports = ports if len(ports) == len(hosts) else ports * len(hosts)
        where = ",".join(f"{host}:{port}" for host, port in zip(hosts, ports, strict=True))
        return f"PostgreSQL at {where}/{self.database}"

    @property
    def database(self) -> str:
        return self._given.get("dbname") or self._given.get("user") or ""

    @property
    def user(self) -> str:
        return self._given.get("user") or ""


def _without(address: str, option: str) -> tuple[str, str]:
    """The address without an option of ours, and what that is; "" if it is not there."""
    found = re.search(rf"(?<=[?&]){option}=([^&]*)(&|$)", address)
    if not found:
        return address, ""
    return (address[: found.start()] + address[found.end() :]).rstrip("?&"), found[1]


def _native_above(text: str) -> int:
    if text and not text.isdecimal():
        raise Invalid(f"native_above={text!r} in the address is no number of records")
    return int(text) if text else NATIVE_ABOVE


def _no_address(option: str) -> str:
    """Says nothing of what else stands there: a password may be among it."""
    why = f" (look at its {option})" if option else ""
    return (
        f"this is no address of a PostgreSQL database{why}; "
        "write postgresql://user:password@host:5432/database"
    )


def connect(place: DatabasePlace) -> Db:
    """A connection without a transaction: whoever needs one begins it."""
    options: dict[str, Any] = dict(place.options)
    db: Db = psycopg.connect(autocommit=True, **options)
    try:
        db.adapters.register_dumper(int, Int8Dumper)  # in lists; their type must not vary
        db.adapters.register_dumper(int, Int8BinaryDumper)
        db.adapters.register_dumper(PackedVector, PackedVectorDumper)
        db.adapters.register_dumper(PackedHashes, PackedHashesDumper)
        db.adapters.register_loader("json", AsTextLoader)
        db.adapters.register_loader("json", AsTextBinaryLoader)
        db.prepare_threshold = 3
        row = db.execute(_PREPARE, (SCHEMA, f"{LOCK_SECONDS}s", f"{SCHEMA}.record")).fetchone()
        if row is not None and row[-1] == "p":
            db.cursor_factory = SpreadCursor
            db.execute("SET enable_partitionwise_join = on")  # a join is asked of the shard
    except BaseException:
        db.close()
        raise
    return db


class SpreadCursor(psycopg.Cursor[tuple[Any, ...]]):
    """Where the tables are spread over servers (see spread.py). The front knows none of their
    keys: their own server replaces the row that is there already."""

    def execute(self, query: Any, params: Any = None, **rest: Any) -> Any:
        return super().execute(_replacing(query), params, **rest)

    def executemany(self, query: Any, params_seq: Any, **rest: Any) -> None:
        super().executemany(_replacing(query), params_seq, **rest)


_CONFLICT = re.compile(r" ON CONFLICT \((?:root|scope)[\w, ]*\)\s+DO UPDATE SET [\w.,= ]+")


def _replacing(query: Any) -> Any:
    return _CONFLICT.sub("", query) if isinstance(query, str) else query


def is_spread(db: Db) -> bool:
    """Is this the front of a store that is spread over servers?"""
    return db.cursor_factory is SpreadCursor


def is_lost(db: Db) -> bool:
    """Has the server ended a connection on which nothing is under way? Asks nobody."""
    if db.closed:
        return True
    if not _has_news(db.pgconn.socket):
        return False
    try:
        db.pgconn.consume_input()
    except psycopg.Error:
        return True
    return db.closed


def _has_news(line: int) -> bool:
    if hasattr(select_module, "poll"):
        poll = select_module.poll()
        poll.register(line, select_module.POLLIN)
        return bool(poll.poll(0))
    with selectors.DefaultSelector() as asked:
        asked.register(line, selectors.EVENT_READ)
        return bool(asked.select(0))


def cut(db: Db) -> None:
    """End a connection that another thread waits on: what it waits for fails at once."""
    with contextlib.suppress(OSError, psycopg.Error):
        line = socket.socket(fileno=os.dup(db.pgconn.socket))
        with line:
            line.shutdown(socket.SHUT_RDWR)


def select(db: Db, sql: str, *given: Any) -> list[tuple[Any, ...]]:
    return db.execute(sql, given).fetchall()


def roll_back(db: Db, *, failed: bool = False) -> None:
    """Whatever was begun; a broken connection has nothing left of it. ``failed``: in a pipeline,
    so that statements behind the wrong one were never prepared, though the driver believes it:
    a transaction that is rolled back makes it prepare them anew."""
    if db.closed:
        return
    with contextlib.suppress(psycopg.Error):
        if failed and db.info.transaction_status == pq.TransactionStatus.IDLE:
            db.execute("BEGIN")
        db.rollback()


class PackedHashes(bytes):
    """The terms of a record (see index/derived.py), whose hashes go into a column of the type
    bigint[]."""


class PackedHashesDumper(Dumper):
    """In the binary format of an array: one dimension, no NULL, its type, how many, from 1 on; and
    each number with its length."""

    format = pq.Format.BINARY
    oid = 1016  # bigint[]
    _NUMBER = np.dtype([("length", ">i4"), ("number", ">u8")])

    def dump(self, obj: Any) -> Buffer:
        hashes = np.frombuffer(obj, dtype=TERM)["hash"]
        if not len(hashes):
            return struct.pack(">iii", 0, 0, 20)
        rows = np.empty(len(hashes), dtype=self._NUMBER)
        rows["length"], rows["number"] = 8, hashes
        return struct.pack(">iiiii", 1, 0, 20, len(hashes), 1) + rows.tobytes()


class PackedVector(bytes):
    """A row of float32 numbers, little-endian, on its way into a column of the type vector."""


class PackedVectorDumper(Dumper):
    """In the binary format of the extension: how many, nothing, the numbers big-endian. Its type is
    left to the server, which knows the column."""

    format = pq.Format.BINARY
    oid = 0

    def dump(self, obj: Any) -> Buffer:
        numbers = np.frombuffer(obj, dtype="<f4").astype(">f4")
        return len(numbers).to_bytes(2, "big") + b"\0\0" + numbers.tobytes()


def vector_of(sent: bytes) -> Vector:
    """What ``vector_send`` has answered."""
    return np.frombuffer(sent, dtype=">f4", offset=4).astype("<f4").tobytes()


class AsTextLoader(Loader):
    """JSON as it was written: ``stores.rows`` reads it."""

    format = pq.Format.TEXT

    def load(self, data: Buffer) -> str:
        return bytes(data).decode()


class AsTextBinaryLoader(AsTextLoader):
    """The same where answers come in binary."""

    format = pq.Format.BINARY


# A text may hold a NUL, which PostgreSQL cannot: it is written as two characters, like the first
# of these two itself.
_MARK = "\x1a"


def to_text(text: str) -> str:
    if "\x00" in text or _MARK in text:
        return text.replace(_MARK, _MARK + "1").replace("\x00", _MARK + "0")
    return text


def from_text(text: str) -> str:
    if _MARK in text:
        return text.replace(_MARK + "0", "\x00").replace(_MARK + "1", _MARK)
    return text


def columns(table: str, names: Sequence[str]) -> str:
    return ", ".join(f"{table}.{name}" for name in names)
