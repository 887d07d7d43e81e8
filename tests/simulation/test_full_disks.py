"""A server that is full: one clear line, what was kept stays, and forgetting makes room again."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from standfast.errors import StandfastError, Unavailable
from standfast.ports import Store
from standfast.stores.postgres import PostgresStore
from standfast.stores.redis import RedisStore
from standfast.stores.surreal import SurrealStore
from standfast.testing.values import NOW, ROOT, make_record, put
from standfast.types import Erase
from tests import postgres
from tests.redis import Server, own_server

WIDE = 20_000


@contextmanager
def small_disk(size: str) -> Iterator[Path]:
    """A file system in memory. Skips where nobody may make one."""
    with tempfile.TemporaryDirectory(prefix="standfast-disk-") as name:
        if sys.platform != "linux" or os.geteuid() != 0:
            pytest.skip("only root on Linux may mount a small disk")
        made = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", name],
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode:
            pytest.skip(f"no small disk can be mounted here: {made.stderr.strip()}")
        Path(name).chmod(0o777)
        try:
            yield Path(name)
        finally:
            subprocess.run(["umount", "-l", name], check=False)


def _text(number: int, width: int = WIDE) -> str:
    chance = random.Random(number)
    return f"fact {number} " + "".join(chance.choices("abcdefghij klmnopqrst", k=width))


async def _filled(store: Store, most: int, width: int = WIDE) -> tuple[list[str], StandfastError]:
    """What was acknowledged, and the first refusal."""
    kept: list[str] = []
    for number in range(most):
        try:
            await put(store, make_record(f"r{number}", _text(number, width)))
        except StandfastError as error:
            said = str(error)
            assert "\n" not in said
            assert len(said) < 250
            assert "standfast:" not in said, "no names of keys"
            return kept, error
        kept.append(f"r{number}")
    raise AssertionError(f"it never got full: {most} records")


async def _there(store: Store, ids: list[str]) -> set[str]:
    return {record.id for record in await store.records(ROOT, ids, now=NOW)}


def test_X1_a_full_redis_says_so_and_can_still_forget() -> None:
    server = own_server("--maxmemory", "6mb", "--maxmemory-policy", "noeviction")

    async def work() -> None:
        store = await RedisStore.open(server.url)
        kept, error = await _filled(store, 2000)
        assert isinstance(error, Unavailable)
        assert error.lasting
        assert "raise its maxmemory" in str(error)
        assert await _there(store, kept) == set(kept)
        gone = kept[: len(kept) // 2]
        await put(store, *(Erase(kind="record", id=id_) for id_ in gone))
        assert await _there(store, kept) == set(kept) - set(gone)
        await put(store, make_record("after", "there is room again"))
        await store.close()

    try:
        asyncio.run(work())
    finally:
        server.remove()


def test_X2_a_redis_without_disk_says_so_and_goes_on_when_there_is_some() -> None:
    with small_disk("5m") as disk:
        server = Server("--appendfsync", "everysec", folder=disk)
        server.start()

        async def work() -> None:
            store = await RedisStore.open(server.url)
            kept, error = await _filled(store, 2000)
            assert "cannot write to its disk (Errors writing to the AOF file" in str(error)
            assert "free some space" in str(error)
            assert await _there(store, kept) == set(kept)
            subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
            for _ in range(100):
                try:
                    await put(store, make_record("after", "there is room again"))
                    break
                except Unavailable:
                    await asyncio.sleep(0.1)
            await asyncio.sleep(1.5)  # the default of Redis: synced every second
            await store.close()
            server.kill()
            server.start()
            store = await RedisStore.open(server.url)
            assert await _there(store, [*kept, "after"]) == {*kept, "after"}
            await store.close()

        try:
            asyncio.run(work())
        finally:
            server.kill()


def test_X2_a_surrealdb_without_disk_says_so_and_is_whole_when_opened_again() -> None:
    with small_disk("5m") as disk:
        address = f"surrealkv://{disk}/memory"

        async def work() -> None:
            store = await SurrealStore.open(address)
            kept, error = await _filled(store, 2000)
            assert str(error).startswith("no space left for surrealkv://")
            assert "open it again" in str(error)  # until then the engine does not even read
            await store.close()
            subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
            store = await SurrealStore.open(address)
            assert await _there(store, kept) == set(kept)
            journal = await store.journal(ROOT, limit=10_000)
            assert [entry.seq for entry in journal] == list(range(1, len(journal) + 1))
            await put(store, make_record("after", "there is room again"))
            await store.close()

        asyncio.run(work())


@pytest.mark.proof
def test_X2_a_postgresql_without_disk_says_so_and_loses_nothing() -> None:
    """The server itself stops when it cannot write its log; nothing acknowledged is missing when
    it is begun again."""
    postgres.server_address()  # skips where there can be none
    with small_disk("110m") as disk:
        data = disk / "data"
        install = postgres.made(data)
        settings = {"fsync": "on", "full_page_writes": "on"}
        server = postgres.begin(install, data, **settings)

        async def fill() -> list[str]:
            store = await PostgresStore.open(server.address)
            kept, error = await _filled(store, 2000, 100_000)
            assert isinstance(error, Unavailable), error
            await store.close()
            return kept

        async def look(address: str, kept: list[str]) -> None:
            store = await PostgresStore.open(address)
            assert await _there(store, kept) == set(kept)
            await put(store, make_record("after", "there is room again"))
            await store.close()

        kept = asyncio.run(fill())
        assert kept
        subprocess.run(["mount", "-o", "remount,size=400m", str(disk)], check=True)
        deadline = time.monotonic() + 60
        while True:  # it has stopped, or is about to, or recovers by itself
            if not _runs(server.pids[0]):
                server = postgres.begin(install, data, **settings)
            try:
                asyncio.run(look(server.address, kept))
                break
            except Unavailable:
                assert time.monotonic() < deadline
                time.sleep(0.5)
        os.kill(server.pids[0], 2)
        os.waitpid(server.pids[0], 0)


def _runs(pid: int) -> bool:
    found, _ = os.waitpid(pid, os.WNOHANG)
    return not found
