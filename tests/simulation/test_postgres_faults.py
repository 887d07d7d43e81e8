"""PostgreSQL under faults: nothing acknowledged is lost, nothing is doubled, no journal has a gap.

`make proof` runs the same more often.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import httpx2
import psycopg
import pytest

from standfast.errors import Unavailable
from standfast.ports import Store
from standfast.stores.postgres import PostgresStore, pool
from standfast.testing.values import CHAT, NOW, ROOT, make_batch, make_message, make_record
from tests import postgres
from tests.servers import Server
from tests.serving import served

WRITER = Path(__file__).with_name("postgres_writer.py")
PASSWORD = "open-sesame"


async def check_sound(store: Store, acknowledged: dict[str, int]) -> None:
    """All that was acknowledged is there once, under its number, and no number is missing."""
    entries, after = [], 0
    while page := await store.journal(ROOT, after=after, limit=1000):
        entries += page
        after = page[-1].seq
    assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
    numbers = {entry.batch: entry.seq for entry in entries}
    assert len(numbers) == len(entries)
    assert {name: numbers.get(name) for name in acknowledged} == acknowledged
    messages, after = [], 0
    while found := await store.messages(CHAT, now=NOW, after=after, limit=1000):
        messages += found
        after = found[-1].seq
    assert sorted(message.id for message in messages) == sorted(numbers)
    assert [message.seq for message in messages] == list(range(1, len(messages) + 1))
    records = await store.records(ROOT, list(numbers), now=NOW)
    assert len(records) == len(numbers)


# The client


def test_X2_a_killed_client_leaves_whole_commits(proving: bool) -> None:
    chance = random.Random(15)
    acknowledged: dict[str, int] = {}
    with postgres.database() as address:
        for turn in range(60 if proving else 3):
            command = [sys.executable, str(WRITER), address, f"w{turn}", "10000"]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
                assert writer.stdout is not None
                told = [writer.stdout.readline()]
                time.sleep(chance.uniform(0, 0.3))
                writer.kill()
                told += writer.stdout.readlines()
            for line in told:
                if line.endswith("\n"):
                    name, seq = line.split()
                    acknowledged[name] = int(seq)

        async def look() -> None:
            store = await PostgresStore.open(address)
            await check_sound(store, acknowledged)
            await store.close()

        asyncio.run(look())
    assert len(acknowledged) >= 3


# The line in between


class Cutting:
    """A proxy that can lose the answer to a commit: the server has it, the client never hears."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self._server = (parts.hostname or "", parts.port or 0)
        self._listener = socket.create_server(("127.0.0.1", 0))
        port = self._listener.getsockname()[1]
        user = parts.netloc.rpartition("@")[0]
        self.address = urlunsplit(parts._replace(netloc=f"{user}@127.0.0.1:{port}"))
        self.armed = False
        self.cuts = 0
        self._ends: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(self._server)
            self._ends += [client, server]
            lost = threading.Event()
            for job in ((client, server, self._watch), (server, client, None)):
                threading.Thread(target=self._pass, args=(*job, lost), daemon=True).start()

    def _watch(self, data: bytes) -> bool:
        if self.armed and b"\0COMMIT\0" in data:
            self.armed = False
            self.cuts += 1
            return True
        return False

    def _pass(
        self, source: socket.socket, target: socket.socket, watch: object, lost: object
    ) -> None:
        assert isinstance(lost, threading.Event)
        with suppress(OSError):
            while data := source.recv(1 << 16):
                if watch is not None and watch(data):
                    lost.set()
                if watch is None and lost.is_set():
                    break  # the server has answered: it is committed
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        for end in (self._listener, *self._ends):
            end.close()


def test_X2_an_answer_that_got_lost_is_applied_once(proving: bool) -> None:
    async def run(address: str) -> None:
        proxy = Cutting(address)
        store = await PostgresStore.open(proxy.address)
        acknowledged: dict[str, int] = {}
        for number in range(200 if proving else 12):
            name = f"b{number}"
            batch = make_batch(make_record(name), make_message(name), id=name)
            proxy.armed = True
            with pytest.raises(Unavailable) as raised:
                await store.commit(batch)
            assert raised.value.outcome_unknown
            assert raised.value.retry_after is not None
            acknowledged[name] = await store.commit(batch)
        assert proxy.cuts == len(acknowledged)
        await check_sound(store, acknowledged)
        await store.close()
        proxy.close()

    with postgres.database() as address:
        asyncio.run(run(address))


# The server


@pytest.fixture(scope="module")
def strict_server() -> Iterator[StrictServer]:
    """One of its own, that syncs its disk and wants a password."""
    postgres.server_address()  # skips where there can be none
    with tempfile.TemporaryDirectory(prefix="standfast-strict-") as folder:
        server = StrictServer(Path(folder))
        try:
            yield server
        finally:
            server.kill()


class StrictServer:
    def __init__(self, folder: Path) -> None:
        folder.chmod(0o755)
        secret = folder / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        self._data = folder / "data"
        self._install = postgres.made(self._data, "-A", "scram-sha-256", f"--pwfile={secret}")
        self._port = ""
        self.password = PASSWORD
        self.begin()

    def begin(self) -> None:
        settings = {"fsync": "on", "full_page_writes": "on", "password": self.password}
        if self._port:
            settings["port"] = self._port
        self._server: Server = postgres.begin(self._install, self._data, **settings)
        self._port = str(urlsplit(self._server.address).port)

    @property
    def address(self) -> str:
        return self._server.address

    @property
    def pids(self) -> list[int]:
        [pid] = self._server.pids
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return [pid, *map(int, children)]

    def kill(self) -> None:
        """As if it had crashed: no process of it has a chance to write anything."""
        pids = self.pids
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(pids[0], 0)

    @contextmanager
    def hanging(self) -> Iterator[None]:
        stopped = self.pids
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in reversed(stopped):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)


def test_X2_a_killed_server_loses_nothing_acknowledged(
    strict_server: StrictServer, proving: bool
) -> None:
    chance = random.Random(51)
    kills = 20 if proving else 1

    async def run() -> None:
        store = await PostgresStore.open(strict_server.address)
        acknowledged: dict[str, int] = {}
        over = asyncio.Event()

        async def work(writer: int) -> None:
            number = 0
            while not over.is_set():
                name = f"k{writer}-{number}"
                batch = make_batch(make_record(name), make_message(name), id=name)
                with suppress(Unavailable):
                    acknowledged[name] = await store.commit(batch)
                    number += 1
                    continue
                await asyncio.sleep(0.05)

        writers = [asyncio.create_task(work(writer)) for writer in range(8)]
        for _ in range(kills):
            await asyncio.sleep(chance.uniform(0.3, 0.8))
            await asyncio.to_thread(strict_server.kill)
            await asyncio.to_thread(strict_server.begin)
        await asyncio.sleep(0.5)
        over.set()
        await asyncio.gather(*writers)
        await check_sound(store, acknowledged)
        assert len(acknowledged) > 16
        await store.close()

    asyncio.run(run())


def test_X2_a_server_that_hangs_is_given_up_and_comes_back_by_itself(
    strict_server: StrictServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The API says 503 and when to come again, health says so, and nothing piles up."""
    monkeypatch.setattr(pool, "CALL_SECONDS", 1.0)
    threads = threading.active_count()
    with served(strict_server.address) as server:
        secret = server.key("user:ann")
        with httpx2.Client(
            base_url=server.url, headers={"Authorization": f"Bearer {secret}"}, timeout=30
        ) as client:

            def remember(text: str) -> httpx2.Response:
                return client.post("/v1/remember", json={"text": text, "scope": "user:ann"})

            assert remember("Ann has a cat").status_code == 200
            with strict_server.hanging():
                for _ in range(3):
                    answer = remember("Ann walks a dog")
                    assert answer.status_code == 503
                    assert int(answer.headers["Retry-After"]) >= 1
                    assert PASSWORD not in answer.text
                health = client.get("/health")
                assert health.status_code == 503
                assert health.json()["store"] == "slow"
                assert "is too slow" in health.json()["why"]
                nobody = httpx2.get(f"{server.url}/health", timeout=30).json()
                assert nobody == {**health.json(), "why": ""}  # since the same moment
            deadline = time.monotonic() + 20
            while remember("Ann rides a horse").status_code != 200:
                assert time.monotonic() < deadline
                time.sleep(0.1)
            texts = client.post("/v1/recall", json={"query": "Ann", "scope": "user:ann"}).text
            assert "cat" in texts
            assert "horse" in texts
            assert client.get("/health").status_code == 200
    assert threading.active_count() <= threads + 2


def test_X2_a_changed_password_is_told(strict_server: StrictServer) -> None:
    async def run() -> None:
        old = strict_server.address
        store = await PostgresStore.open(old)
        await store.commit(make_batch(make_record("before the change")))
        with psycopg.connect(old, autocommit=True) as db:
            db.execute("ALTER ROLE postgres PASSWORD 'other-sesame'")
            db.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
            )
        try:
            for attempt in (store.roots(), store.commit(make_batch(make_record("after it")))):
                with pytest.raises(Unavailable) as raised:
                    await attempt
                assert raised.value.lasting
                assert "wrong user or password" in str(raised.value)
                assert PASSWORD not in str(raised.value)
        finally:
            new = old.replace(PASSWORD, "other-sesame")
            with psycopg.connect(new, autocommit=True) as db:
                db.execute(f"ALTER ROLE postgres PASSWORD '{PASSWORD}'")
        assert await store.roots()  # and it is right again
        await store.close()

    asyncio.run(run())


# A replica that takes over


@pytest.mark.proof
def test_X2_a_promoted_replica_has_all_that_was_acknowledged() -> None:
    """Synchronous replication, the primary killed under eight writers, an address of two hosts."""
    postgres.server_address()
    with tempfile.TemporaryDirectory(prefix="standfast-replica-") as folder:
        base = Path(folder)
        base.chmod(0o755)
        one, two = base / "one", base / "two"
        for place in (one, two):
            place.mkdir()
            place.chmod(0o755)
        install = postgres.made(one / "data")
        primary = postgres.begin(install, one / "data", fsync="on", synchronous_standby_names="*")
        postgres.copy(install, primary.address, two / "data")
        replica = postgres.begin(install, two / "data", fsync="on", hot_standby="on")
        try:
            asyncio.run(_fail_over(install, primary, replica, two / "data"))
        finally:
            for server in (primary, replica):
                with suppress(ProcessLookupError):
                    os.kill(server.pids[0], signal.SIGQUIT)


async def _fail_over(install: Path, primary: Server, replica: Server, data: Path) -> None:
    ports = [urlsplit(server.address).port for server in (primary, replica)]
    address = f"postgresql://postgres@127.0.0.1:{ports[0]},127.0.0.1:{ports[1]}/postgres"
    store = await PostgresStore.open(address)
    acknowledged: dict[str, int] = {}
    over = asyncio.Event()

    async def work(writer: int) -> None:
        number = 0
        while not over.is_set():
            name = f"f{writer}-{number}"
            with suppress(Unavailable):
                batch = make_batch(make_record(name), make_message(name), id=name)
                acknowledged[name] = await store.commit(batch)
                number += 1
                continue
            await asyncio.sleep(0.1)

    writers = [asyncio.create_task(work(writer)) for writer in range(8)]
    await asyncio.sleep(1.5)
    before = len(acknowledged)
    os.kill(primary.pids[0], signal.SIGKILL)
    await asyncio.sleep(0.2)
    await asyncio.to_thread(postgres.promote, install, data)
    await asyncio.sleep(3)
    over.set()
    await asyncio.gather(*writers)
    await check_sound(store, acknowledged)
    assert len(acknowledged) > before > 0
    await store.close()
