"""What an import puts aside meanwhile is encrypted, has no name, and is gone with its process."""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import apsw
import pytest

from standfast import Memory
from standfast.adapters.importers import import_foreign
from standfast.interfaces.cli import main
from tests.open_files import nameless

CANARY = "xylophonequokka"
ROWS = 400


def key_file(folder: Path) -> Path:
    path = folder / "store.key"
    path.write_bytes(base64.b64encode(b"k" * 32))
    path.chmod(0o600)
    return path


def csv_file(folder: Path) -> Path:
    path = folder / "notes.csv"
    path.write_text("text\n" + "".join(f"{CANARY} number {n}\n" for n in range(ROWS)))
    return path


def chat_file(folder: Path) -> Path:
    path = folder / "chat.jsonl"
    told = ({"role": "user", "text": f"{CANARY} number {n}"} for n in range(ROWS))
    path.write_text("\n".join(map(json.dumps, told)))
    return path


def store_file(folder: Path) -> Path:
    path = folder / "store.db"
    db = apsw.Connection(str(path))
    db.execute("CREATE TABLE store (prefix TEXT, key TEXT, value TEXT)")
    rows = [("u", f"k{n}", json.dumps({"text": f"{CANARY} number {n}"})) for n in range(ROWS)]
    db.executemany("INSERT INTO store VALUES (?, ?, ?)", rows)
    db.close()
    return path


FILES = {"csv": csv_file, "jsonl": chat_file, "langgraph": store_file}


@pytest.mark.parametrize("kind", FILES)
def test_X1_an_import_into_an_encrypted_store_leaves_nothing_plain(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    monkeypatch.setenv("STANDFAST_KEY_FILE", str(key_file(tmp_path)))
    looks: list[str] = []

    def look(what: str, done: int, _: int) -> None:
        if done % 100 == 0 or what not in looks:
            looks.append(what)
            assert CANARY.encode() not in nameless()
            assert list((tmp_path / "tmp").iterdir()) == []

    file = FILES[kind](tmp_path)
    with Memory.open(str(tmp_path / "m.db"), embedder="none", background=False) as memory:
        import_foreign(memory, kind, file, scope="user:ann", progress=look)
        assert memory.recall(CANARY, scope="user:ann", descend=True).hits
    assert {"reading", "writing"} <= set(looks)


def test_X1_a_migration_leaves_nothing_plain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STANDFAST_KEY_FILE", str(key_file(tmp_path)))
    source = str(tmp_path / "a.db")
    with Memory.open(source, embedder="none", background=False) as memory:
        memory.remember([f"{CANARY} number {n}" for n in range(50)], scope="user:ann")
    watched("standfast.verbs.migrate._lines_in", monkeypatch)
    assert main(["--store", source, "migrate", source, str(tmp_path / "b.db")]) == 0


def watched(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at the temporary files whenever this function is called."""
    module, _, function = name.rpartition(".")
    work: Callable[..., object] = getattr(import_module(module), function)

    def looking(*args: object) -> object:
        assert CANARY.encode() not in nameless()
        return work(*args)

    monkeypatch.setattr(name, looking)


STOPPED = """
import sys
from standfast import Memory
from standfast.adapters.importers import import_foreign
def told(what, done, total):
    if what == sys.argv[3] and done >= 100:
        print("ready", flush=True)
        sys.stdin.readline()
with Memory.open(sys.argv[1], background=False, embedder="none") as memory:
    import_foreign(memory, sys.argv[4], sys.argv[2], scope="user:ann", progress=told)
"""


@pytest.mark.parametrize("step", ["reading", "writing"])
@pytest.mark.parametrize("kind", FILES)
def test_X1_an_import_that_is_ended_leaves_no_file(kind: str, step: str, tmp_path: Path) -> None:
    tmp = tmp_path / "tmp"
    tmp.mkdir()
    environment = {
        **os.environ,
        "TMPDIR": str(tmp),
        "STANDFAST_KEY_FILE": str(key_file(tmp_path)),
    }
    program = [sys.executable, "-c", STOPPED, str(tmp_path / "m.db")]
    importer = subprocess.Popen(
        [*program, str(FILES[kind](tmp_path)), step, kind],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip
    with importer:
        assert importer.stdout is not None
        assert importer.stdout.readline() == "ready\n"
        assert CANARY.encode() not in nameless(importer.pid)
        importer.send_signal(signal.SIGTERM)
        importer.wait(30)
    assert list(tmp.iterdir()) == []
    for file in tmp_path.glob("m.db*"):
        assert CANARY.encode() not in file.read_bytes()
