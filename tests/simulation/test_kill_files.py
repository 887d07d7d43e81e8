"""Backup, restore, rekey and import killed at random moments: the old file stays, or all of the new
one is there, and again completes."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from standfast import Memory, StandfastError
from standfast.stores.sqlite import doctor
from standfast.stores.sqlite.cipher import CAN_ENCRYPT, NEEDED, set_key
from standfast.wiring.cipher import key_from

# Everything is loaded before it says "ready", so that the kill hits the work itself.
CHILD = """
import asyncio, sys
import standfast.verbs.import_, standfast.stores.sqlite.rekey, standfast.models.providers.hashing
from standfast import Memory
from standfast.wiring.files import backup_store, rekey_store, restore_store
verb, store, file = sys.argv[1:]
print("ready", flush=True)
if verb == "import":
    with Memory.open(store, embedder="hashing", background=False) as memory:
        memory.import_from(file)
elif verb == "backup":
    backup_store(store, None, file, force=True)
elif verb == "rekey":
    rekey_store(store, None, "" if file == "plain" else file)
else:
    asyncio.run(restore_store(store, None, file))
print("done", flush=True)
"""
SCOPE = "user:ann"
MANY = 800


def start(verb: str, store: Path, file: Path) -> subprocess.Popen[str]:
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, verb, str(store), str(file)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n", child.communicate()[1]
    return child


def run(verb: str, store: Path, file: Path) -> float:
    """To the end; how long the work took."""
    child = start(verb, store, file)
    begun = time.monotonic()
    said, errors = child.communicate(timeout=120)
    assert said.endswith("done\n"), errors
    return time.monotonic() - begun


def run_and_kill(verb: str, store: Path, file: Path, seconds: float) -> bool:
    """Was it killed before it was done?"""
    child = start(verb, store, file)
    time.sleep(seconds)
    os.kill(child.pid, signal.SIGKILL)
    said, _ = child.communicate(timeout=30)
    return "done" not in said


def fill(store: Path, count: int = MANY) -> None:
    with Memory.open(str(store), embedder="hashing", background=False) as memory:
        for start_ in range(0, count, 100):
            part = [f"message {n} about subject {n * 7}" for n in range(start_, start_ + 100)]
            memory.observe("chat", part, scope=SCOPE)
        memory.remember("Ann lives in Berlin", scope=SCOPE)


def records_of(store: Path) -> int:
    report = doctor.check(store)
    assert report.is_sound, report.findings
    return report.records


def copies_beside(store: Path) -> list[str]:
    return [name for name in os.listdir(store.parent) if ".copy-" in name]


@pytest.fixture
def full(tmp_path: Path) -> Path:
    path = tmp_path / "memory.db"
    fill(path)
    return path


@pytest.fixture
def kills(proving: bool) -> int:
    return 40 if proving else 1


def test_X2_an_import_that_was_killed_is_completed_by_doing_it_again(
    full: Path, tmp_path: Path, kills: int
) -> None:
    file, other = tmp_path / "export.jsonl", tmp_path / "other.db"
    with Memory.open(str(full), background=False) as memory:
        memory.export_to(file)
    whole = run("import", tmp_path / "measured.db", file)
    dice = random.Random(1)
    killed = sum(
        run_and_kill("import", other, file, dice.uniform(0, whole / 2)) for _ in range(kills)
    )
    assert killed
    with Memory.open(str(other), embedder="hashing", background=False) as memory:
        receipt = memory.import_from(file)
        assert {item.status for item in receipt.items} <= {"stored", "skipped"}
        reasons = {item.reason for item in receipt.items if item.status == "skipped"}
        assert reasons <= {"already there"}
        memory.export_to(tmp_path / "again.jsonl")
    assert records_of(other) == records_of(full) == MANY + 1
    first, again = (
        {
            re.sub(rb'"trust":\d', b"", line)  # trust does not travel without a signature
            for line in path.read_bytes().split(b"\n")
            if b'"type":"message"' in line
        }
        for path in (file, tmp_path / "again.jsonl")
    )
    assert first == again


def test_X2_a_backup_that_was_killed_leaves_no_half_file(
    full: Path, tmp_path: Path, kills: int
) -> None:
    target = tmp_path / "backups" / "memory.db"
    target.parent.mkdir()
    whole = run("backup", full, target)
    target.unlink()
    dice = random.Random(2)
    for _ in range(kills):
        run_and_kill("backup", full, target, dice.uniform(0, whole))
        assert not target.exists() or records_of(target) == MANY + 1
    assert records_of(full) == MANY + 1
    run("backup", full, target)
    assert records_of(target) == MANY + 1
    assert copies_beside(target) == []


def test_X2_X10_a_restore_that_was_killed_leaves_the_old_file_or_the_new_one(
    full: Path, tmp_path: Path, kills: int
) -> None:
    copy = tmp_path / "backup.db"
    run("backup", full, copy)
    with Memory.open(str(full), embedder="hashing", background=False) as memory:
        (home,) = [h.record.id for h in memory.recall("Ann Berlin", scope=SCOPE, limit=1).hits]
        memory.forget(ids=[home])
        memory.remember("Ann likes green tea", scope=SCOPE)
    whole = run("restore", full, copy)
    dice = random.Random(3)
    for _ in range(kills):
        with Memory.open(str(full), embedder="hashing", background=False) as memory:
            memory.remember("Ann likes green tea", scope=SCOPE)
        run_and_kill("restore", full, copy, dice.uniform(0, whole))
        assert records_of(full) in (MANY, MANY + 1)  # without the tea, or with it
        with Memory.open(str(full), background=False) as memory:
            assert memory.get([home]) == ()
    run("restore", full, copy)
    assert records_of(full) == MANY
    assert copies_beside(full) == []


PLAIN = Path("plain")  # no key


@pytest.mark.skipif(not CAN_ENCRYPT, reason=NEEDED)
@pytest.mark.parametrize("way", ["first", "another", "none"])
def test_X2_a_rekey_that_was_killed_leaves_a_file_for_the_old_key_or_the_new_one(
    full: Path, tmp_path: Path, kills: int, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = (key_file(tmp_path, name) for name in ("one", "other"))
    old, new = {"first": (PLAIN, one), "another": (one, other), "none": (one, PLAIN)}[way]

    def holding(key: Path) -> None:
        monkeypatch.setenv("STANDFAST_KEY_FILE", "" if key is PLAIN else str(key))
        set_key(full, key_from("" if key is PLAIN else str(key)))

    def opens_with(key: Path) -> bool:
        holding(key)
        try:
            return records_of(full) == MANY + 1
        except StandfastError:
            return False

    if old is not PLAIN:
        holding(PLAIN)
        run("rekey", full, old)
    dice = random.Random(5)
    has, wants = old, new
    killed = 0
    for _ in range(2 * kills):
        holding(has)
        killed += _killed_while_it_writes(full, wants, dice.uniform(0, 0.03))
        found = [key for key in (has, wants) if opens_with(key)]
        assert len(found) == 1, "the data is there under one key, and under no other"
        if found == [wants]:
            has, wants = wants, has
    assert killed
    holding(has)
    run("rekey", full, wants)
    assert opens_with(wants)


def _killed_while_it_writes(store: Path, key: Path, seconds: float) -> bool:
    """So long after it began to change the file. Was it killed before it was done?"""
    child = start("rekey", store, key)
    journal = store.with_name(f"{store.name}-journal")
    while child.poll() is None and not (journal.exists() and journal.stat().st_size):
        time.sleep(0.0005)
    time.sleep(seconds)
    if child.poll() is None:
        os.kill(child.pid, signal.SIGKILL)
    return "done" not in child.communicate(timeout=30)[0]


def key_file(folder: Path, name: str) -> Path:
    path = folder / f"{name}.key"
    path.write_text(name.ljust(44, "k"))
    path.chmod(0o600)
    return path
