"""Links and things that are no files, in every place where a path is given: nothing is written
where they lead, no device is replaced, and one clear line says so."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from standfast.wiring.configuration import VARIABLE
from tests.commands import run_here

PRECIOUS = "precious"
WRITES = ("backup --force", "export")


def standfast(store: Path, *words: object) -> CompletedProcess[str]:
    return run_here(["--store", str(store), "--embedder", "none", *map(str, words)])


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "store" / "memory.db"
    assert standfast(path, "remember", "Ann likes tea").returncode == 0
    return path


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    path = tmp_path / "precious.txt"
    path.write_text(PRECIOUS)
    return path


@pytest.fixture(params=["pipe", "socket", "link to a pipe"])
def odd(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """Something that is there and is no file."""
    place = tmp_path / "odd"
    if request.param == "socket":
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(str(place))
            yield place
        return
    os.mkfifo(place)
    if request.param == "pipe":
        yield place
        return
    link = tmp_path / "link"
    link.symlink_to(place)
    yield link


def says_one_line(done: CompletedProcess[str], *words: str) -> None:
    assert done.returncode
    [line] = done.stderr.splitlines()
    for word in words:
        assert word in line


def test_X2_a_store_is_a_file(odd: Path, tmp_path: Path) -> None:
    """SQLite would open a device, and leave a journal beside it."""
    before = sorted(tmp_path.iterdir())
    for command in (("remember", "tea"), ("recall", "tea"), ("doctor",), ("rekey", "--plain")):
        says_one_line(standfast(odd, *command), str(odd), "name a file")
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("how", WRITES)
def test_X2_nothing_takes_the_place_of_what_is_no_file(store: Path, odd: Path, how: str) -> None:
    """Root who exports to a device would be without that device."""
    command, *options = how.split()
    kind = stat.S_IFMT(odd.lstat().st_mode)
    says_one_line(standfast(store, command, odd, *options), str(odd), "name a file")
    assert stat.S_IFMT(odd.lstat().st_mode) == kind


@pytest.mark.parametrize("how", WRITES)
@pytest.mark.parametrize("there", [True, False])
def test_X2_a_link_is_replaced_and_never_written_through(
    store: Path, precious: Path, tmp_path: Path, how: str, there: bool
) -> None:
    command, *options = how.split()
    target = tmp_path / "target"
    target.symlink_to(precious if there else tmp_path / "nowhere")
    standfast(store, command, target, *options)
    assert precious.read_text() == PRECIOUS
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal"])
def test_X2_a_log_that_is_a_link_is_refused(store: Path, precious: Path, suffix: str) -> None:
    for beside in store.parent.glob("memory.db-*"):
        beside.unlink()
    log = store.with_name(store.name + suffix)
    log.symlink_to(precious)
    says_one_line(standfast(store, "remember", "Ann likes coffee"), str(store))
    assert precious.read_text() == PRECIOUS
    log.unlink()
    assert "tea" in standfast(store, "recall", "tea").stdout


def test_X2_a_restore_leaves_what_the_store_was_a_link_to(store: Path, tmp_path: Path) -> None:
    copy, link = tmp_path / "copy.db", tmp_path / "link.db"
    assert standfast(store, "backup", copy).returncode == 0
    standfast(store, "remember", "Ann has a boat")
    link.symlink_to(store)
    standfast(link, "restore", copy, "--yes")
    assert "boat" in standfast(store, "recall", "boat").stdout
    assert "tea" in standfast(link, "recall", "tea").stdout


def test_settings_are_read_from_a_file(
    odd: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe that nobody writes to would be waited for without end."""
    monkeypatch.setenv(VARIABLE, str(odd))
    says_one_line(standfast(store, "stats"), str(odd), "name a file")
