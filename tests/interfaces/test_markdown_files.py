"""Workspace files on a hostile disk: modes, links, bad content, crashes and crowds."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import os
import random
import re
import signal
import stat
import subprocess
import sys
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from standfast.errors import Invalid, Unavailable
from standfast.interfaces.markdown import folders
from standfast.interfaces.markdown.workspace import Workspace
from tests.commands import run_here
from tests.interfaces.workspaces import SCOPE, Desk

CLI = [sys.executable, "-m", "standfast.interfaces.cli"]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "workspace")


def mode(path: Path) -> str:
    return f"{stat.S_IMODE(path.stat().st_mode):04o}"


def run(*arguments: str, cwd: Path, umask: int = -1) -> subprocess.CompletedProcess[str]:
    before = os.umask(umask) if umask >= 0 else None
    try:
        with contextlib.chdir(cwd):
            return run_here(arguments)
    finally:
        if before is not None:
            os.umask(before)


# Making and repairing


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_B7_new_makes_everything_private_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    done = run("new", "w", cwd=tmp_path, umask=umask)
    assert done.returncode == 0, done.stderr
    made = {
        str(path.relative_to(tmp_path / "w")): mode(path) for path in (tmp_path / "w").rglob("*")
    }
    assert made == {
        "memory": "0700",
        "memory/MEMORY.md": "0600",
        "memory/HISTORY.md": "0600",
        "sessions": "0700",
        "config.yml": "0600",
        "memory.db": "0600",
    }
    assert "memory_window: 50" in (tmp_path / "w" / "config.yml").read_text()
    assert run("sync", "w", cwd=tmp_path, umask=0).returncode == 0
    files = [path for path in (tmp_path / "w").rglob("*") if path.is_file()]
    assert {mode(path) for path in files} == {"0600"}


def test_B7_new_leaves_what_is_there_alone_and_repairs_its_modes(tmp_path: Path) -> None:
    folder = tmp_path / "w" / "memory"
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_text("- Ann lives in Berlin\n")
    (folder / "MEMORY.md").chmod(0o644)
    folder.chmod(0o755)
    assert run("new", "w", cwd=tmp_path).returncode == 0
    assert (folder / "MEMORY.md").read_text() == "- Ann lives in Berlin\n"
    assert (mode(folder), mode(folder / "MEMORY.md")) == ("0700", "0600")
    assert run("new", "w", cwd=tmp_path).returncode == 0


def test_B7_doctor_reports_and_repairs_the_modes(tmp_path: Path) -> None:
    run("new", "w", cwd=tmp_path)
    for name, wrong in (("memory", 0o755), ("memory/MEMORY.md", 0o666), ("memory.db", 0o644)):
        (tmp_path / "w" / name).chmod(wrong)
    done = run("doctor", "--workspace", "w", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "memory had mode 0755, now 0700" in done.stdout
    assert "MEMORY.md had mode 0666, now 0600" in done.stdout
    assert mode(tmp_path / "w" / "memory") == "0700"
    assert mode(tmp_path / "w" / "memory.db") == "0600"
    again = run("doctor", "--workspace", "w", "--json", cwd=tmp_path)
    assert '"repaired": []' in again.stdout
    (tmp_path / "w" / "memory.db").unlink()  # its store may be elsewhere
    (tmp_path / "w" / "config.yml").chmod(0o640)
    assert "0640" in run("doctor", "--workspace", "w", cwd=tmp_path).stdout


@pytest.mark.parametrize(
    "path", ["w", "w/memory", "w/sessions", "w/memory/MEMORY.md", "w/config.yml"]
)
def test_B7_something_in_the_way_is_a_clear_error(tmp_path: Path, path: str) -> None:
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    if path.endswith((".md", ".yml")):
        (tmp_path / path).mkdir()
    else:
        (tmp_path / path).write_text("in the way")
    done = run("new", "w", cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert path.rpartition("/")[2] in done.stderr


def test_B7_sync_of_a_folder_that_is_no_workspace_makes_nothing(tmp_path: Path) -> None:
    done = run("sync", "w", cwd=tmp_path)
    assert done.returncode == 2
    assert "standfast new" in done.stderr
    assert list(tmp_path.iterdir()) == []


# Links and names


@pytest.mark.parametrize("name", ["memory/MEMORY.md", "memory/HISTORY.md", "config.yml"])
def test_B9_a_file_that_is_a_link_is_refused(desk: Desk, tmp_path: Path, name: str) -> None:
    target = tmp_path / "elsewhere.txt"
    target.write_text("- somebody else's file\n")
    (desk.path / name).unlink()
    (desk.path / name).symlink_to(target)
    desk.remember("Ann lives in Berlin")
    with pytest.raises(Invalid, match="link"):
        desk.sync()
    assert target.read_text() == "- somebody else's file\n"


@pytest.mark.parametrize("name", ["memory", "sessions"])
def test_B9_a_folder_that_leads_out_is_refused(desk: Desk, tmp_path: Path, name: str) -> None:
    (tmp_path / "elsewhere").mkdir()
    (desk.path / name).rename(tmp_path / "aside")
    (desk.path / name).symlink_to(tmp_path / "elsewhere")
    desk.chat(3)
    with pytest.raises(Invalid, match="link"):
        desk.sync()
    assert list((tmp_path / "elsewhere").iterdir()) == []
    with pytest.raises(Invalid, match="link"):
        Workspace.at(desk.path).repair()


def test_B3_a_link_in_place_of_a_session_is_replaced_and_not_followed(
    desk: Desk, tmp_path: Path
) -> None:
    target = tmp_path / "elsewhere.txt"
    target.write_text("precious")
    (desk.path / "sessions" / "chat.jsonl").symlink_to(target)
    desk.chat(3)
    desk.sync()
    assert target.read_text() == "precious"
    assert not (desk.path / "sessions" / "chat.jsonl").is_symlink()


def test_B3_session_names_stay_inside(desk: Desk, tmp_path: Path) -> None:
    names = ["../../escape", "..", ".hidden", "a/b", "x" * 500]
    for name in names:
        desk.chat(2, session=name)
    desk.sync()
    files = list((desk.path / "sessions").iterdir())
    assert len(files) == len(names)
    assert not list(tmp_path.rglob("escape*"))


def test_B3_files_of_somebody_else_are_left_alone(desk: Desk) -> None:
    other = desk.path / "sessions" / "telegram.jsonl"
    other.write_text('{"role": "user"}\n')
    desk.chat(3)
    desk.sync()
    with desk.open() as memory:
        memory.forget(session="chat", scope=SCOPE)
    desk.sync()
    assert [path.name for path in (desk.path / "sessions").iterdir()] == ["telegram.jsonl"]


# Bad content


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"- text\n" * 800_000, "larger than 5 MB"),
        (b"\x00\x01\x02binary", "binary"),
        ("- Jörg\n".encode("latin-1"), "UTF-8"),
    ],
    ids=["huge", "binary", "latin-1"],
)
def test_B9_a_file_that_cannot_be_read_is_refused_and_nothing_changes(
    desk: Desk, data: bytes, said: str
) -> None:
    ids = desk.remember("Ann lives in Berlin")
    desk.sync()
    desk.page.write_bytes(data)
    with pytest.raises(Invalid, match=said):
        desk.sync()
    assert desk.page.read_bytes() == data
    with desk.open() as memory:
        assert memory.get(ids)[0].status == "active"


def test_B9_a_pipe_in_place_of_the_file_does_not_hang(desk: Desk) -> None:
    desk.page.unlink()
    os.mkfifo(desk.page)
    with pytest.raises(Invalid, match="plain file"):
        desk.sync()


def test_a_damaged_snapshot_is_no_reason_to_retire_anything(desk: Desk) -> None:
    ids = desk.remember("Ann lives in Berlin", "Bob likes chess")
    desk.sync()
    for data in (b"", b"{", b'{"lines": 5}', b"\xff", b"[1]"):
        (desk.path / "memory" / ".last.json").write_bytes(data)
        desk.sync()
        with desk.open() as memory:
            assert {record.status for record in memory.get(ids)} == {"active"}
        assert len(desk.texts()) == 2


def test_another_scope_needs_another_workspace(desk: Desk) -> None:
    desk.remember("Ann lives in Berlin")
    desk.sync()
    with pytest.raises(Invalid, match="user:default"):
        desk.sync(scope="user:bob")


def test_the_scope_of_a_workspace_is_remembered(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "w")
    desk.remember("Ann lives in Berlin", scope="org:acme")
    desk.sync(scope="org:acme")
    desk.add("- Bob likes chess")
    desk.sync()
    with desk.open() as memory:
        assert memory.recall("chess", scope="org:acme", types=["fact"]).hits
        assert not memory.recall("chess", scope=SCOPE, types=["fact"]).hits


# A disk that fails


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES, errno.ENOSPC])
def test_B9_a_workspace_that_cannot_be_written_loses_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    desk.remember("Ann lives in Berlin")
    desk.sync()
    desk.add("- Bob likes chess")
    before = desk.page.read_bytes()
    real = os.open

    def refusing(path: Any, flags: int, *rest: Any, **named: Any) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR) and "memory" not in str(path):
            raise OSError(code, os.strerror(code), str(path))
        return real(path, flags, *rest, **named)

    with monkeypatch.context() as patch:
        patch.setattr(folders.os, "open", refusing)
        with pytest.raises(Unavailable, match=os.strerror(code)):
            desk.sync()
    assert desk.page.read_bytes() == before
    desk.sync()
    assert sorted(desk.texts()) == ["Ann lives in Berlin", "Bob likes chess"]


def test_B1_a_crash_between_writing_and_renaming_leaves_the_old_file(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.remember("Ann lives in Berlin")
    desk.sync()
    before = desk.page.read_bytes()
    desk.add("- Bob likes chess")
    edited = desk.page.read_bytes()

    def crash(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    for step in ("rename", "fsync"):
        with monkeypatch.context() as patch:
            patch.setattr(folders.os, step, crash)
            with pytest.raises(KeyboardInterrupt):
                desk.sync()
        assert desk.page.read_bytes() == edited
    desk.sync()
    assert before != desk.page.read_bytes()
    assert sorted(desk.texts()) == ["Ann lives in Berlin", "Bob likes chess"]
    with desk.open() as memory:
        assert len(memory.recall("chess", scope=SCOPE, types=["fact"]).hits) == 1


def test_B9_a_save_while_we_write_is_not_overwritten(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.remember("Ann lives in Berlin")
    desk.sync()
    desk.remember("Bob likes chess")
    from standfast.interfaces.markdown import sync

    real = sync.memory_page
    saves = iter(["- Carl plays the flute"])

    async def saved_meanwhile(*arguments: Any) -> Any:
        page = await real(*arguments)
        for line in saves:
            desk.add(line)
        return page

    monkeypatch.setattr(sync, "memory_page", saved_meanwhile)
    desk.sync()
    assert sorted(desk.texts()) == [
        "Ann lives in Berlin",
        "Bob likes chess",
        "Carl plays the flute",
    ]


# Crowds and crashes


def test_B9_two_syncs_at_once_take_an_edit_in_once(desk: Desk) -> None:
    desk.remember("Ann lives in Berlin")
    desk.sync()
    desk.add(*(f"- Number {n} is called {name}" for n, name in enumerate("ABCDEF")))
    desk.chat(51)
    syncs = [
        subprocess.Popen([*CLI, "sync", str(desk.path)], stderr=subprocess.PIPE) for _ in range(3)
    ]
    assert [sync.wait(60) for sync in syncs] == [0, 0, 0], [s.stderr for s in syncs]
    for sync in syncs:
        assert sync.stderr is not None
        sync.stderr.close()
    assert len(desk.texts()) == 7
    assert len(desk.entries()) == 1
    with desk.open() as memory:
        assert len(memory.recall("number called", scope=SCOPE, types=["fact"], limit=50).hits) == 6


def test_B9_who_holds_the_lock_is_waited_for_and_not_for_ever(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "LOCK_SECONDS", 0.2)
    with (desk.path / "memory" / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(Unavailable, match="being synced"):
            desk.sync()
    desk.sync()


SYNCING = """
import asyncio, sys
from standfast.interfaces.markdown.watch import opened_mirror
async def main():
    async with opened_mirror(sys.argv[1], embedder="hashing") as mirror:
        print("ready", flush=True)
        n = 0
        while True:
            said = [{"role": "user", "content": f"line {n}-{k} of {sys.argv[2]}"} for k in range(9)]
            await mirror.memory.observe("chat", said, scope="user:default")
            await mirror.sync()
            n += 1
asyncio.run(main())
"""


def ids_in(history: str) -> list[str]:
    return re.findall(r"<!-- standfast:(\S+) -->", history)


def test_B2_B6_a_killed_sync_never_shrinks_or_doubles_the_log(desk: Desk, proving: bool) -> None:
    desk.window(8)
    desk.remember("Ann lives in Berlin", "Bob likes chess", "Carl plays the flute")
    desk.sync()
    dice = random.Random(20261115)
    before = desk.history.read_text()
    ids: list[str] = []
    for kill in range(40):
        # A busy machine needs more of them until enough is folded.
        if not proving and kill >= 6 and len(ids) > 3:
            break
        command = [sys.executable, "-c", SYNCING, str(desk.path), f"run {kill}"]
        syncing = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert syncing.stdout is not None
        assert syncing.stdout.readline() == b"ready\n"
        time.sleep(dice.uniform(0.05, 0.5))
        os.kill(syncing.pid, signal.SIGKILL)
        syncing.communicate()
        after = desk.history.read_text()
        assert after.startswith(before[: before.rfind("\n") + 1])
        before = after
        ids = ids_in(after)
    desk.sync()
    ids = ids_in(desk.history.read_text())
    assert len(ids) > 3
    assert max(Counter(ids).values()) == 1
    assert sorted(desk.texts()) == [
        "Ann lives in Berlin",
        "Bob likes chess",
        "Carl plays the flute",
    ]
    spans = [tuple(map(int, span)) for span in re.findall(r"messages (\d+) to (\d+)", before)]
    assert all(first[1] + 1 == second[0] for first, second in pairwise(spans))


def test_B9_watching_takes_a_save_in_by_itself(desk: Desk) -> None:
    # Whoever was started in the background may ignore this signal, and its children would too.
    ours = signal.signal(signal.SIGINT, signal.default_int_handler)
    watch = subprocess.Popen(
        [*CLI, "sync", str(desk.path), "--watch"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONFAULTHANDLER": "1"},
    )
    signal.signal(signal.SIGINT, ours)
    try:
        _until(lambda: (desk.path / "memory" / ".last.json").exists())
        desk.add("- Ann lives in Berlin")
        _until(lambda: "standfast:" in desk.page.read_text())
        desk.remember("Bob likes chess")
        _until(lambda: "Bob likes chess" in desk.page.read_text())
    finally:
        errors = _interrupted(watch)
    assert watch.returncode == 130, errors
    assert b"Traceback" not in errors


def _interrupted(process: subprocess.Popen[bytes]) -> bytes:
    """What it said on its way out; if it does not go, where each of its threads stands."""
    process.send_signal(signal.SIGINT)
    try:
        return process.communicate(timeout=60)[1]
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)
        return process.communicate(timeout=60)[1]


def _until(holds: Any, seconds: float = 60.0) -> None:
    ends = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < ends, "it did not happen"
        time.sleep(0.05)


def test_a_round_that_changes_nothing_writes_nothing_to_the_store(desk: Desk) -> None:
    desk.remember("Ann lives in Berlin")
    desk.chat(5)
    desk.sync()
    desk.sync()

    async def numbers() -> list[int]:
        from standfast.interfaces.markdown.view import last_number
        from standfast.interfaces.markdown.watch import opened_mirror

        found = []
        async with opened_mirror(str(desk.path), embedder="hashing") as mirror:
            for _ in range(3):
                await mirror.sync()
                found.append(await last_number(mirror.engine, mirror.root))
        return found

    assert len(set(asyncio.run(numbers()))) == 1
