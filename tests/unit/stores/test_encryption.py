"""Encryption at rest: no plain byte in any file, whatever is done; and one clear line for
whoever has not the key."""

from __future__ import annotations

import asyncio
import io
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import httpx2
import pytest

from standfast import Memory
from standfast.access.spool import private_spool
from standfast.errors import Incompatible, Invalid, NotFound, StandfastError
from standfast.interfaces.cli import main
from standfast.interfaces.http.fairness import INLINE_BYTES
from standfast.settings import Settings
from standfast.stores.sqlite.cipher import CAN_ENCRYPT, NEEDED, set_key
from standfast.wiring.cipher import key_from
from standfast.wiring.files import backup_store, check_store, restore_store
from tests.interfaces.http.starts import environment_of, started

encrypting = pytest.mark.skipif(not CAN_ENCRYPT, reason=NEEDED)

CANARY = "xylophonequokka"
PLACES = (b"xylophonequokka", b"xylophonequokk", b"SQLite format 3", b"quokka")


def key_file(folder: Path, name: str = "store.key", filler: str = "k") -> Path:
    path = folder / name
    path.write_text(filler * 44)
    path.chmod(0o600)
    return path


def no_plain_byte(folder: Path) -> None:
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert any(path.suffix == ".db" for path in files)
    for path in files:
        content = path.read_bytes()
        for told in PLACES:
            assert told not in content, f"{told!r} stands in {path.name}"


@encrypting
def test_X1_no_plain_byte_of_a_canary_under_any_verb(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, aside = tmp_path / "kept", tmp_path / "aside"
    kept.mkdir()
    aside.mkdir()
    monkeypatch.setenv("TMPDIR", str(kept))
    monkeypatch.setenv("STANDFAST_KEY_FILE", str(key_file(aside)))
    file = kept / "memory.db"
    with Memory.open(file, embedder="hashing", background=False) as memory:
        said = f"The {CANARY} lives in Oslo"
        id_ = (
            memory.remember(said, scope="user:ann", tags=[CANARY], data={CANARY: said}).items[0].id
        )
        memory.observe("s", [{"role": "user", "content": said}], scope="user:ann")
        memory.note("s", said, scope="user:ann")
        memory.set_state("s", {CANARY: said}, scope="user:ann")
        memory.save_procedure(CANARY, [said], scope="user:ann")
        memory.recall(said, scope="user:ann")
        memory.context(session="s", query=said, scope="user:ann")
        memory.end("s", scope="user:ann", outcome=said)
        memory.maintain()
        no_plain_byte(kept)
        out = io.BytesIO()
        memory.export_to(out)
        assert CANARY.encode() in out.getvalue(), "an export is for people, unless it is encrypted"
        memory.import_from(io.BytesIO(out.getvalue()))
        memory.archive([id_])
        no_plain_byte(kept)
        backup_store(file, None, kept / "backup.db")
        no_plain_byte(kept)
    assert check_store(file, None, rebuild=True).is_sound
    asyncio.run(restore_store(file, None, kept / "backup.db"))
    no_plain_byte(kept)
    with Memory.open(file, embedder="hashing", background=False) as memory:
        assert memory.recall(CANARY, scope="user:ann").hits
        memory.forget(ids=[id_])
        no_plain_byte(kept)


@encrypting
def test_another_key_and_no_key_are_one_clear_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, key, other = tmp_path / "m.db", key_file(tmp_path), key_file(tmp_path, "other", "z")
    store = ["--store", str(file), "--embedder", "hashing"]
    assert main([*store, "--key-file", str(key), "remember", "Tea is at five"]) == 0
    assert "STANDFAST_KEY_FILE" not in os.environ
    for arguments, said in (
        ([], "is encrypted; name another file, or its key (STANDFAST_KEY_FILE)"),
        (["--key-file", str(other)], "cannot be opened with this key"),
        (["--key-file", str(tmp_path / "none")], "there is no key file"),
    ):
        capsys.readouterr()
        code = main([*store, *arguments, "recall", "tea"])
        told = capsys.readouterr().err
        assert code in (3, 7)
        assert said in told
        assert len(told.strip().splitlines()) == 1


@encrypting
def test_a_file_gets_a_key_another_one_and_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, key, other = tmp_path / "m.db", key_file(tmp_path), key_file(tmp_path, "other", "z")
    store = ["--store", str(file), "--embedder", "hashing"]
    assert main([*store, "remember", f"The {CANARY} is at five"]) == 0
    assert CANARY.encode() in file.read_bytes()
    assert main([*store, "rekey", "--new-key-file", str(key)]) == 0
    no_plain_byte(tmp_path)
    assert main([*store, "--key-file", str(key), "rekey", "--new-key-file", str(other)]) == 0
    no_plain_byte(tmp_path)
    assert main([*store, "--key-file", str(key), "recall", "five"]) == 7
    capsys.readouterr()
    assert main([*store, "--key-file", str(other), "recall", "five"]) == 0
    assert CANARY in capsys.readouterr().out
    assert main([*store, "--key-file", str(other), "rekey", "--plain"]) == 0
    assert main([*store, "recall", "five"]) == 0


@encrypting
def test_X1_a_served_store_has_its_key_in_every_process(tmp_path: Path) -> None:
    """The helpers of a server too; and nobody changes the key while it is served."""
    file, key, other = tmp_path / "m.db", key_file(tmp_path), key_file(tmp_path, "other", "z")
    store = ("--store", str(file), "--embedder", "hashing")
    with started(tmp_path, *store, "--key-file", str(key)) as server:
        held = {"Authorization": f"Bearer {server.snippets['key']}"}
        with httpx2.Client(base_url=server.address, headers=held, timeout=60) as client:
            for text in (f"The {CANARY} is at five", f"The {CANARY} " * (INLINE_BYTES // 16)):
                answer = client.post("/v1/remember", json={"text": text, "scope": "user:ann"})
                assert answer.status_code == 200, answer.text
            rekeyed = run_command(tmp_path, "--key-file", str(key), *store[:2], "rekey", "--plain")
            assert rekeyed.returncode != 0
            assert "in use by another program" in rekeyed.stderr
            assert len(rekeyed.stderr.strip().splitlines()) == 1, rekeyed.stderr
            found = client.post("/v1/recall", json={"query": CANARY, "scope": "user:ann"})
            assert len(found.json()["hits"]) == 2
        assert server.end() == (0, "")
    no_plain_byte(tmp_path)
    refused = run_command(tmp_path, "serve", "--port", "0", *store, "--key-file", str(other))
    assert refused.returncode == 7
    assert "cannot be opened with this key" in refused.stderr
    assert len(refused.stderr.strip().splitlines()) == 1, refused.stderr


def run_command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "standfast.interfaces.cli", *arguments]
    return subprocess.run(
        command, env=environment_of(folder), capture_output=True, text=True, timeout=60, check=False
    )


@encrypting
def test_a_key_may_be_in_the_keyring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = {("standfast", "store"): "k" * 44}
    fake = SimpleNamespace(get_password=lambda service, name: kept.get((service, name)))
    monkeypatch.setitem(sys.modules, "keyring", fake)
    assert key_from("keyring:standfast/store") == key_from(str(key_file(tmp_path)))
    with pytest.raises(NotFound, match="keyring set standfast other"):
        key_from("keyring:standfast/other")
    kept["standfast", "short"] = "too short"
    with pytest.raises(Invalid, match="too few for a key"):
        key_from("keyring:standfast/short")
    settings = Settings(key_file="keyring:standfast/store")
    file = tmp_path / "m.db"
    with Memory.open(file, embedder="hashing", background=False, settings=settings) as memory:
        memory.remember(f"The {CANARY} is at five", scope="user:ann")
    no_plain_byte(tmp_path)
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(Incompatible, match="pip install keyring"):
        key_from("keyring:standfast/store")


@encrypting
def test_a_changed_byte_of_an_encrypted_file_is_no_answer(tmp_path: Path) -> None:
    settings = Settings(key_file=str(key_file(tmp_path)))
    file = tmp_path / "m.db"
    with Memory.open(file, embedder="hashing", background=False, settings=settings) as memory:
        id_ = memory.remember(f"The {CANARY} is at five", scope="user:ann").items[0].id
    content = bytearray(file.read_bytes())
    for page in range(1, len(content) // 4096):
        content[page * 4096 + 2000] ^= 1
    file.write_bytes(content)
    with pytest.raises(StandfastError):  # noqa: SIM117
        with Memory.open(file, embedder="hashing", background=False, settings=settings) as memory:
            memory.get([id_])


def test_a_key_file_is_private_and_long_enough(tmp_path: Path) -> None:
    short = key_file(tmp_path, "short", "")
    short.write_text("too short")
    with pytest.raises(Invalid, match="less than 32 bytes"):
        key_from(str(short))
    public = key_file(tmp_path, "public")
    public.chmod(0o644)
    if os.name == "posix":
        with pytest.raises(Invalid, match="chmod 600"):
            key_from(str(public))
    with pytest.raises(NotFound, match="there is no key file"):
        key_from(str(tmp_path / "nothing"))
    assert key_from("") is None
    first, again = key_from(str(key_file(tmp_path, "a"))), key_from(str(key_file(tmp_path, "b")))
    assert first is not None
    assert first == again
    assert len(first) == 32


@pytest.mark.skipif(CAN_ENCRYPT, reason="this build can encrypt")
def test_a_build_that_cannot_encrypt_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(Incompatible, match="apsw-sqlite3mc"):
        set_key(tmp_path / "m.db", bytes(32))


def test_a_spool_reads_back_and_keeps_nothing_plain() -> None:
    with private_spool() as spool:
        lines = [f"{number} {CANARY}\n".encode() for number in range(20_000)]
        for line in lines:
            spool.write(line)
        spool.seek(0)
        assert list(spool) == lines
        spool.seek(len(lines[0]) + 3)
        assert spool.read(4) == b"".join(lines)[len(lines[0]) + 3 :][:4]
        raw = getattr(spool, "raw", None)
        assert raw is not None, "cryptography is installed with the tests"
        raw._file.seek(0)
        assert CANARY.encode() not in raw._file.read()
