"""A disk that is full or cannot be written: a clear error, and nothing that was kept is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from standfast import Memory

# No file may grow beyond the limit: for SQLite that is a disk that is full. The limit is counted
# from the log of an open store that holds next to nothing, whatever size its pages have.
FILLING = """
import json, os, resource, signal, sys
from standfast import Memory, StandfastError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
kept, volatile, refused = [], [], ""
with Memory.open(sys.argv[1], embedder="none", background=False) as memory:
    memory.remember("the store is made", scope="user:bob")
    room = os.path.getsize(sys.argv[1] + "-wal") + 2_000_000
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
    for n in range(400):
        text = f"line number {n} " + "padding " * 200
        item = memory.observe("chat", [{"role": "user", "content": text, "id": f"m{n}"}],
                              scope="user:ann").items[0]
        (kept if item.status == "stored" else volatile).append((item.id, item.reason))
        if volatile:
            break
    try:
        memory.remember("a fact " * 20_000, scope="user:ann")
    except StandfastError as error:
        refused = f"{type(error).__name__}: {error}"
    found = [hit.record.lineage[0] for hit in
             memory.recall("line number", scope="user:ann", limit=1000).hits]
    # Space is there again.
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    again = memory.remember("there is room again", scope="user:ann").items[0].status
print(json.dumps({"kept": kept, "volatile": volatile, "refused": refused, "found": found,
                  "again": again}))
"""


def test_A1_a_full_disk_turns_a_session_volatile_and_loses_nothing(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    done = subprocess.run(
        [sys.executable, "-c", FILLING, str(file)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    kept = {id_ for id_, _ in said["kept"]}
    assert kept
    (lost_id, reason) = said["volatile"][0]
    assert "kept in this process only" in reason
    assert "Traceback" not in reason
    assert set(said["found"]) == kept | {lost_id}
    assert said["refused"].startswith("Unavailable: ")
    assert "ulimit" in said["refused"], "it is no failure of the disk"
    assert said["again"] == "stored"
    with Memory.open(str(file), background=False) as memory:
        hits = memory.recall("line number", scope="user:ann", limit=1000).hits
        assert {hit.record.lineage[0] for hit in hits} == kept


def test_a_path_that_cannot_be_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for path in (tmp_path, tmp_path / "file" / "below"):
        with pytest.raises(Exception, match=path.name) as error:
            Memory.open(str(path))
        assert type(error.value).__module__ == "standfast.errors"
