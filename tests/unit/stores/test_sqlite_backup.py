"""Backup and restore of the file: while it is used, verified, and never half."""

from __future__ import annotations

import asyncio
import os
import resource
import stat
import subprocess
import sys
import threading
from pathlib import Path

import apsw
import pytest

from standfast import Incompatible, Invalid, Memory, NotFound, Receipt, Unavailable
from standfast.stores.sqlite import doctor, migrate
from standfast.stores.sqlite.backup import backup
from standfast.wiring.files import backup_store, restore_store

SCOPE = "user:ann"

FULL_DISK = """
import resource, sys
from standfast import Unavailable
from standfast.stores.sqlite.backup import backup
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    backup(*sys.argv[1:])
except Unavailable as error:
    print("unavailable:", error)
"""


def open_memory(path: Path) -> Memory:
    return Memory.open(str(path), embedder="hashing", background=False)


def remember(path: Path, *texts: str) -> list[str]:
    with open_memory(path) as memory:
        return [memory.remember(text, scope=SCOPE).items[0].id for text in texts]


def texts_of(path: Path) -> set[str]:
    with open_memory(path) as memory:
        return {hit.record.text for hit in memory.recall("", scope=SCOPE, limit=100).hits}


def restore(backup_file: Path, store: Path) -> Receipt:
    return asyncio.run(restore_store(str(store), None, str(backup_file)))


def damage(path: Path, sql: str) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(sql).fetchall()
    connection.close()


def beside(path: Path) -> set[str]:
    return set(os.listdir(path.parent)) - {path.name}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "store" / "memory.db"
    remember(path, "Ann likes tea", "Ann lives in Berlin")
    return path


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    (tmp_path / "backups").mkdir()
    return tmp_path / "backups" / "copy.db"


def test_a_backup_is_one_private_file_that_opens(store: Path, copy: Path) -> None:
    steps: list[tuple[int, int]] = []
    report = backup(store, copy, progress=lambda done, total: steps.append((done, total)))
    assert report.is_sound
    assert report.records == 2
    assert steps[-1][0] == steps[-1][1] > 0
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert beside(copy) == set()
    assert texts_of(copy) == {"Ann likes tea", "Ann lives in Berlin"}


def test_X2_a_backup_holds_all_that_was_committed_before_while_others_write(
    store: Path, copy: Path
) -> None:
    stop = threading.Event()
    written = 0

    def write() -> None:
        nonlocal written
        with open_memory(store) as memory:
            while not stop.is_set():
                memory.observe("chat", [f"message {written}"], scope=SCOPE)
                written += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        while written < 20:
            pass
        for round_ in range(3):
            before = written
            report = backup(store, copy, force=bool(round_))
            assert report.is_sound
            assert before <= report.messages <= written + 1
    finally:
        stop.set()
        writer.join()
    assert doctor.check(store).is_sound


def test_a_backup_overwrites_nothing_unless_told(store: Path, copy: Path) -> None:
    copy.write_text("precious")
    with pytest.raises(Invalid, match="exists"):
        backup(store, copy)
    assert copy.read_text() == "precious"
    backup(store, copy, force=True)
    assert doctor.check(copy).is_sound


def test_a_backup_goes_nowhere_it_must_not(store: Path, copy: Path, tmp_path: Path) -> None:
    for target, error in (
        (store, Invalid),
        (tmp_path, Invalid),
        (tmp_path / "no" / "folder.db", Invalid),
    ):
        with pytest.raises(error):
            backup(store, target, force=True)
    with pytest.raises(NotFound):
        backup(tmp_path / "missing.db", copy)
    Path(f"{copy}-wal").write_bytes(b"the log of another file")
    with pytest.raises(Invalid, match="not closed"):
        backup(store, copy)
    assert not copy.exists()
    with pytest.raises(Invalid, match="needs a store file"):
        backup_store("dict:", None, str(copy))


@pytest.mark.parametrize("sql", ["UPDATE record SET text = 'x'", "DELETE FROM scope"])
def test_a_damaged_store_gets_no_backup(store: Path, copy: Path, sql: str) -> None:
    damage(store, sql)
    with pytest.raises(Unavailable, match="not sound"):
        backup(store, copy)
    assert not copy.exists()
    assert beside(copy) == set()


def test_a_full_disk_leaves_nothing_behind(store: Path, copy: Path) -> None:
    assert store.stat().st_size > 100_000 > resource.getpagesize()
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(store), str(copy)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stdout.startswith("unavailable:"), done.stderr
    assert not copy.exists()
    assert beside(copy) == set()


# Restore


def test_a_restore_brings_the_old_state_back_and_keeps_the_replaced_file(
    store: Path, copy: Path
) -> None:
    backup(store, copy)
    remember(store, "Ann likes coffee")
    for number in (1, 2):
        receipt = restore(copy, store)
        assert receipt.items[0].status == "restored"
        assert texts_of(store) == {"Ann likes tea", "Ann lives in Berlin"}
        assert f"the replaced file is {store}.before-restore-{number}" in receipt.notes
    assert stat.S_IMODE(store.stat().st_mode) == 0o600
    assert doctor.check(store).is_sound
    assert "Ann likes coffee" in texts_of(Path(f"{store}.before-restore-1"))
    assert doctor.check(copy).is_sound


def test_a_restore_works_where_there_is_no_store(store: Path, copy: Path, tmp_path: Path) -> None:
    backup(store, copy)
    fresh = tmp_path / "fresh.db"
    restore(copy, fresh)
    assert texts_of(fresh) == texts_of(store)


def test_X10_what_was_forgotten_since_does_not_come_back(store: Path, copy: Path) -> None:
    canary = "xylophone quokka"
    with open_memory(store) as memory:
        message = {"role": "user", "content": f"I saw a {canary}", "id": "m1"}
        memory.observe("chat", [message, "and then?"], scope=SCOPE)
        old = memory.remember(f"Ann saw a {canary}", scope=SCOPE).items[0].id
    backup(store, copy)
    with open_memory(store) as memory:
        memory.forget(ids=["m1"], session="chat", scope=SCOPE)
        memory.forget(ids=[old])
    receipt = restore(copy, store)
    assert {item.id for item in receipt.items[1:]} == {"m1", old}
    assert any("still holds what was forgotten" in note for note in receipt.notes)
    assert "and then?" in texts_of(store)
    assert canary.encode() not in store.read_bytes()
    assert canary.encode() in copy.read_bytes()
    with open_memory(store) as memory:  # and the tombstones came along
        again = memory.observe("chat", [message], scope=SCOPE)
        assert again.items[0].reason == "forgotten before"


def test_X10_the_state_of_a_forgotten_session_does_not_come_back(store: Path, copy: Path) -> None:
    with open_memory(store) as memory:
        for session in ("gone", "kept"):
            memory.observe(session, ["hello"], scope=SCOPE)
            memory.set_state(session, {"looking for": f"quokka {session}"}, scope=SCOPE)
    backup(store, copy)
    with open_memory(store) as memory:
        memory.forget(session="gone", scope=SCOPE)
    restore(copy, store)
    assert b"quokka gone" not in store.read_bytes()
    with open_memory(store) as memory:
        assert "quokka kept" in memory.context(session="kept", scope=SCOPE).text


def test_X10_an_opt_out_since_the_backup_stays_in_force(store: Path, copy: Path) -> None:
    backup(store, copy)
    with open_memory(store) as memory:
        memory.set_policy(SCOPE, persist=False)
    restore(copy, store)
    with open_memory(store) as memory:
        assert memory.remember("Ann likes jazz", scope=SCOPE).items[0].status == "volatile"


def test_a_store_that_is_in_use_is_not_replaced(
    store: Path, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("standfast.stores.sqlite.backup.LOCK_SECONDS", 0.1)
    backup(store, copy)
    with open_memory(store) as memory:
        memory.remember("Ann likes coffee", scope=SCOPE)
        with pytest.raises(Unavailable, match="in use"):
            restore(copy, store)
        memory.remember("Ann baked a cake", scope=SCOPE)
    assert {"Ann likes coffee", "Ann baked a cake"} <= texts_of(store)
    assert beside(store) == set()


def test_a_bad_backup_is_refused_and_the_store_untouched(store: Path, copy: Path) -> None:
    before = texts_of(store)
    with pytest.raises(NotFound):
        restore(copy, store)
    copy.write_bytes(b"dear diary" * 1000)
    with pytest.raises(Incompatible, match="not a standfast store"):
        restore(copy, store)
    copy.unlink()
    damage(copy, "CREATE TABLE theirs (a)")
    with pytest.raises(Incompatible, match="not a standfast store"):
        restore(copy, store)
    backup(store, copy, force=True)
    damage(copy, f"PRAGMA user_version = {len(migrate.migrations()) + 1}")
    with pytest.raises(Incompatible, match="newer standfast"):
        restore(copy, store)
    backup(store, copy, force=True)
    damage(copy, "UPDATE record SET text = 'x'")
    with pytest.raises(Unavailable, match="not sound"):
        restore(copy, store)
    with pytest.raises(Invalid, match="the backup itself"):
        restore(store, store)
    assert texts_of(store) == before
    assert beside(store) == set()


def test_a_store_that_cannot_be_read_is_not_replaced_behind_ones_back(
    store: Path, copy: Path
) -> None:
    backup(store, copy)
    content = store.read_bytes()
    store.write_bytes(content[:4096] + b"\xff" * 40_000 + content[44_096:])
    with pytest.raises(Unavailable, match="move it aside"):
        restore(copy, store)
    store.rename(f"{store}.damaged")
    restore(copy, store)
    assert "Ann likes tea" in texts_of(store)
