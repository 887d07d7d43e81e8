"""What the first version wrote, under another name, in every kind of store: it opens, what was
forgotten stays so, and what was signed or sealed verifies. ``make.py`` beside the files made them.
"""

from __future__ import annotations

import asyncio
import base64
import gzip
import io
import json
import subprocess
import sys
import tarfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from standfast import AsyncMemory, Denied, Invalid, compat
from standfast.access import keys
from standfast.access.audit import verify_audit
from standfast.access.envelope import opened
from tests import postgres
from tests.redis import own_server

[FOLDER] = (Path(__file__).parents[2] / "fixtures").iterdir()
MADE = json.loads((FOLDER / "made.json").read_text())
SECRET = base64.b64encode(b"a key of tests, for these files.")
LATER = datetime(2026, 5, 20, tzinfo=UTC)
FORGOTTEN, FORGOTTEN_MESSAGE = "Ann is allergic to hazelnuts", "My bank is Example Savings"
KNOWN = {"Ann works as a structural engineer", "Ann plays the cello", "Ann likes white tea"}


def unpacked(name: str, path: Path) -> Path:
    path.write_bytes(gzip.decompress((FOLDER / name).read_bytes()))
    path.chmod(0o600)
    return path


def extracted(name: str, folder: Path) -> Path:
    with tarfile.open(FOLDER / name) as archive:
        archive.extractall(folder, filter="data")
    return folder / name.partition(".")[0]


@contextmanager
def plain(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[str]:
    del patch
    yield str(unpacked("plain.db.gz", folder / "plain.db"))


@contextmanager
def encrypted(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[str]:
    key = folder / "store.key"
    key.write_bytes(SECRET)
    key.chmod(0o600)
    patch.setenv("STANDFAST_KEY_FILE", str(key))
    yield str(unpacked("encrypted.db.gz", folder / "encrypted.db"))


@contextmanager
def redis_store(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[str]:
    del folder, patch
    redis = pytest.importorskip("redis")
    server = own_server()
    try:
        client = redis.Redis(port=server.port)
        for line in gzip.decompress((FOLDER / "redis.txt.gz").read_bytes()).splitlines():
            name, value = map(base64.b64decode, line.split(b" "))
            client.restore(name, 0, value)
        client.close()
        yield server.url
    finally:
        server.remove()


@contextmanager
def postgresql(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[str]:
    del folder, patch
    address = postgres.new_database()
    import psycopg

    with psycopg.connect(address, autocommit=True) as db:
        db.execute(gzip.decompress((FOLDER / "postgresql.sql.gz").read_bytes()))
    yield address
    postgres.drop_database(address)


@contextmanager
def surreal(folder: Path, patch: pytest.MonkeyPatch) -> Iterator[str]:
    del patch
    pytest.importorskip("surrealdb")
    yield f"surrealkv:{extracted('surreal.tar.gz', folder)}"


STORES = {
    "plain": plain,
    "encrypted": encrypted,
    "redis": redis_store,
    "postgresql": postgresql,
    "surreal": surreal,
}

Ask = Callable[[Callable[[AsyncMemory], Awaitable[Any]]], Any]


def asked(address: str, work: Callable[[AsyncMemory], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        memory = await AsyncMemory.open(
            address, embedder="hashing", background=False, clock=lambda: LATER
        )
        async with memory:
            return await work(memory)

    return asyncio.run(run())


@pytest.fixture(params=STORES)
def store(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[str, Ask]]:
    with STORES[request.param](tmp_path, monkeypatch) as address:
        yield request.param, lambda work: asked(address, work)


async def texts_of(memory: AsyncMemory) -> set[str]:
    hits = (await memory.recall("", scope="user:ann", limit=50, types=["fact"])).hits
    return {hit.record.text for hit in hits}


def test_it_opens(store: tuple[str, Ask]) -> None:
    name, ask = store

    async def work(memory: AsyncMemory) -> None:
        assert await texts_of(memory) >= KNOWN
        (first, *_) = (await memory.recall("which tea?", scope="user:ann")).hits
        assert first.record.text == "Ann likes white tea"
        [old] = await memory.get([MADE[name]["ids"]["Ann likes black tea"]])
        assert old.status == "superseded"
        said = (await memory.context(session="chat/1", scope="user:ann")).messages
        assert [one["content"] for one in said] == [
            "I moved to Porto in May",
            "How do you like it there?",
        ]
        await memory.remember("Ann has a dog", scope="user:ann")
        assert "Ann has a dog" in await texts_of(memory)
        assert [hit.record.text for hit in (await memory.recall("bicycle", scope="user:bob")).hits]

    ask(work)


def test_its_schema_is_sound(store: tuple[str, Ask]) -> None:
    async def defects(memory: AsyncMemory) -> str:
        check = getattr(memory.engine.store, "check_schema", None)
        return await check() if check is not None else ""

    name, ask = store
    assert ask(defects) == "", name


def test_what_was_forgotten_stays_so(store: tuple[str, Ask], tmp_path: Path) -> None:
    """Neither a message that is sent again nor an export from before brings it back."""
    _, ask = store
    before = unpacked("before.jsonl.gz", tmp_path / "before.jsonl")

    async def work(memory: AsyncMemory) -> None:
        message = {"role": "user", "content": FORGOTTEN_MESSAGE, "id": "m3"}
        await memory.observe("chat/1", [message], scope="user:ann")
        receipt = await memory.import_from(before)
        assert any("forgotten" in item.reason for item in receipt.items)
        assert FORGOTTEN not in await texts_of(memory)
        whole = io.BytesIO()
        await memory.export_to(whole)
        assert b"hazelnuts" not in whole.getvalue()
        assert FORGOTTEN_MESSAGE.encode() not in whole.getvalue()

    ask(work)


def test_its_keys_work_as_far_as_they_did(store: tuple[str, Ask]) -> None:
    name, ask = store
    secrets = MADE[name]["keys"]

    async def work(memory: AsyncMemory) -> None:
        key, _ = await keys.with_key(memory.engine, secrets["person"])
        assert (key.name, key.scopes) == ("ann's", ("user:ann",))
        key, _ = await keys.with_key(memory.engine, secrets["admin"])
        assert "admin" in key.rights
        with pytest.raises(Denied):
            await keys.with_key(memory.engine, secrets["revoked"])
        assert await keys.scope_of_device(memory.engine, "speaker") == "user:ann"

    ask(work)


def test_its_audit_log_verifies(store: tuple[str, Ask]) -> None:
    _, ask = store
    report = ask(lambda memory: verify_audit(memory.engine))
    assert report.seals
    assert report.lines > report.seals
    assert not report.findings


def imported(path: Path, key: str) -> Any:
    return asked("dict:", lambda memory: memory.import_from(path, trusted_key=key))


def test_its_signed_export_verifies(tmp_path: Path) -> None:
    path, key = tmp_path / "signed.jsonl", (FOLDER / "sign.pub").read_text()
    receipt = imported(unpacked("signed.jsonl.gz", path), key)
    assert any(item.status == "stored" for item in receipt.items)
    assert not [item for item in receipt.items if item.status == "failed"]
    signed = path.read_bytes()
    end = json.loads(signed.splitlines()[-1])
    other = end["signature"][:-4] + "AA=="
    path.write_bytes(signed.replace(end["signature"].encode(), other.encode()))
    with pytest.raises(Invalid, match="did not sign"):
        imported(path, key)


def test_its_encrypted_export_opens() -> None:
    with (FOLDER / "signed.jsonl.age").open("rb") as sealed:
        inside = opened(sealed, FOLDER / "age.key")
    with inside:
        inside.seek(0)
        assert inside.read() == gzip.decompress((FOLDER / "signed.jsonl.gz").read_bytes())


def test_a_key_in_the_keyring_is_found_under_the_old_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = {(compat.FIRST_NAME, "store"): SECRET.decode()}
    ring = SimpleNamespace(get_password=lambda *entry: kept.get(entry))
    monkeypatch.setitem(sys.modules, "keyring", ring)
    monkeypatch.setenv("STANDFAST_KEY_FILE", "keyring:")
    path = unpacked("encrypted.db.gz", tmp_path / "encrypted.db")
    assert asked(str(path), texts_of) >= KNOWN


def test_the_lines_of_its_workspace_are_the_same_facts(tmp_path: Path) -> None:
    folder = extracted("workspace.tar.gz", tmp_path)
    page = folder / "memory" / "MEMORY.md"
    command = [sys.executable, "-m", "standfast.interfaces.cli", "--embedder", "hashing"]
    done = subprocess.run([*command, "sync", folder], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.strip()) == (0, "nothing to do")
    with page.open("a") as file:
        file.write("- Ann has a dog\n")
    done = subprocess.run([*command, "sync", folder], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0
    [stored] = [line for line in done.stdout.splitlines() if not line.startswith("change ")]
    assert stored.startswith("stored")
    known = asked(str(folder / "memory.db"), lambda memory: memory.stats())
    assert known.records == 3
