"""Several processes that serve one store: what holds for one holds for all of them."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from standfast import Memory
from standfast.access import keys
from standfast.access.quotas import SharedRates
from standfast.interfaces.cli import main
from standfast.stores.dict import DictStore
from tests import postgres
from tests.interfaces.http.starts import Start, started

WORKERS = 2
RATE = 120


@dataclass
class Answer:
    status_code: int
    text: str

    def json(self) -> Any:
        return json.loads(self.text)


def ask(start: Start, path: str, body: object, **headers: str) -> Answer:
    """On a connection of its own, so that any of the processes may get it."""
    headers = {
        "Authorization": f"Bearer {start.snippets['key']}",
        "Content-Type": "application/json",
        **headers,
    }
    line = http.client.HTTPConnection(start.address.removeprefix("http://"), timeout=30)
    try:
        line.request("POST", path, json.dumps(body), headers)
        answer = line.getresponse()
        return Answer(answer.status, answer.read().decode())
    finally:
        line.close()


def workers_of(start: Start) -> list[int]:
    pid = start.process.pid
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@contextmanager
def store_at(kind: str, folder: Path) -> Iterator[str]:
    if kind == "sqlite":
        yield str(folder / "memory.db")
    else:
        with postgres.database() as address:
            yield address


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks at processes in /proc")
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_X2_several_processes_serve_one_store(kind: str, tmp_path: Path) -> None:
    with (
        store_at(kind, tmp_path) as store,
        started(
            tmp_path, "--store", store, "--workers", str(WORKERS), "--embedder", "hashing",
            STANDFAST_RATE=str(RATE),
        ) as start,
    ):  # fmt: skip
        assert start.printed.count("Your admin key") == 1
        assert "postgres@" in start.printed or kind == "sqlite"
        _eventually(lambda: len(workers_of(start)) == WORKERS)
        _writes_are_seen_by_all(start)
        _a_repeated_write_is_done_once(start)
        _who_opted_out_is_refused(start)
        _a_killed_worker_is_replaced(start)
        _a_revoked_key_is_refused(start, store)
        _the_rate_holds_for_all_together(start, store)
        code, said = start.end()
        assert code == 0, said
        assert "Traceback" not in said


def _eventually(true: object, seconds: float = 20) -> None:
    assert callable(true)
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _writes_are_seen_by_all(start: Start) -> None:
    for number in range(6):
        said = {"text": f"Ann keeps bees, hive {number}", "scope": "user:ann"}
        assert ask(start, "/v1/remember", said).status_code == 200
        found = ask(start, "/v1/recall", {"query": f"hive {number}", "scope": "user:ann"})
        assert f"hive {number}" in found.text


def _a_repeated_write_is_done_once(start: Start) -> None:
    said = {"text": "Ann has seven hives", "scope": "user:ann"}
    with ThreadPoolExecutor(8) as threads:
        answers = list(
            threads.map(
                lambda _: ask(start, "/v1/remember", said, **{"Idempotency-Key": "seven"}),
                range(8),
            )
        )
    assert {answer.status_code for answer in answers} == {200}
    assert len({str(answer.json()["items"]) for answer in answers}) == 1


def _who_opted_out_is_refused(start: Start) -> None:
    """Never half there: what one process would keep for itself, the others could not see."""
    policy = ask(start, "/v1/set_policy", {"scope": "user:eve", "persist": False})
    assert policy.status_code == 200, policy.text
    for _ in range(4):
        answer = ask(start, "/v1/remember", {"text": "Eve has a key", "scope": "user:eve"})
        assert answer.status_code == 503
        assert "several processes" in answer.text
        found = ask(start, "/v1/recall", {"query": "key", "scope": "user:eve"})
        assert found.json()["hits"] == []


def _a_killed_worker_is_replaced(start: Start) -> None:
    victim = workers_of(start)[0]
    os.kill(victim, signal.SIGKILL)
    _eventually(lambda: victim not in workers_of(start) and len(workers_of(start)) == WORKERS)
    assert ask(start, "/v1/recall", {"query": "hive", "scope": "user:ann"}).status_code == 200


def _a_revoked_key_is_refused(start: Start, store: str) -> None:
    with Memory.open(store, embedder="none", background=False) as memory:
        engine = memory._memory.engine
        key, secret = memory._loop.run(keys.create_key(engine, scopes=("user:ann",)))
        headers = {"Authorization": f"Bearer {secret}"}
        for _ in range(WORKERS * 2):
            assert ask(start, "/v1/recall", {"query": "hive"}, **headers).status_code == 200
        memory._loop.run(keys.revoke_key(engine, key.id))
        for _ in range(WORKERS * 2):
            assert ask(start, "/v1/recall", {"query": "hive"}, **headers).status_code == 401


def _the_rate_holds_for_all_together(start: Start, store: str) -> None:
    """So many a minute, whoever of the processes is asked."""
    with Memory.open(store, embedder="none", background=False) as memory:
        _, secret = memory._loop.run(keys.create_key(memory._memory.engine, scopes=("user:bob",)))
    begun = time.monotonic()

    def once(_: int) -> int:
        headers = {"Authorization": f"Bearer {secret}"}
        return ask(start, "/v1/recall", {"query": "x"}, **headers).status_code

    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(once, range(RATE + 60)))
    refilled = RATE * (time.monotonic() - begun) / 60
    assert answers.count(200) <= RATE + refilled + 1
    assert 429 in answers or refilled > 50


def test_a_store_of_one_process_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--store", "dict:", "serve", "--workers", "2"]) == 2
    assert "one process at a time" in capsys.readouterr().err
    assert main(["--store", "dict:", "serve", "--workers", "0"]) == 2


def test_rates_are_shared_through_the_store() -> None:
    """However many take from it, no more than the minute's worth is given out."""

    class Book:
        store = DictStore()
        time = datetime(2026, 11, 15, tzinfo=UTC)

        def now(self) -> datetime:
            return self.time

    async def run() -> None:
        book = Book()
        rates = [SharedRates(book, 120) for _ in range(3)]  # type: ignore[arg-type]
        taken = [await rates[turn % 3].take("ann") for turn in range(200)]
        assert taken.count(0.0) <= 120
        assert taken.count(0.0) >= 114  # but for what the others hold
        assert all(wait >= 0 for wait in taken)
        book.time += timedelta(seconds=30)
        taken = [await rates[turn % 3].take("ann") for turn in range(200)]
        assert 54 <= taken.count(0.0) <= 62
        assert await rates[0].take("bob") == 0.0

    asyncio.run(run())
