"""Folders on other kinds of machines, and parts that only POSIX has."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from standfast.wiring import data_folder
from standfast.wiring.configuration import config_folder

HOME = Path("~")


@pytest.mark.parametrize(
    ("platform", "environ", "data", "config"),
    [
        ("linux", {}, HOME / ".local/share", HOME / ".config"),
        ("linux", {"XDG_DATA_HOME": "/d", "XDG_CONFIG_HOME": "/c"}, Path("/d"), Path("/c")),
        ("darwin", {}, *[HOME / "Library/Application Support"] * 2),
        ("win32", {"LOCALAPPDATA": "/l", "APPDATA": "/a"}, Path("/l"), Path("/a")),
        ("win32", {}, HOME / "AppData/Local", HOME / "AppData/Roaming"),
    ],
)
def test_C6_folders_are_where_the_platform_has_them(
    platform: str, environ: dict[str, str], data: Path, config: Path
) -> None:
    assert data_folder(environ, platform) == data.expanduser() / "standfast"
    assert config_folder(environ, platform) == config.expanduser() / "standfast"


def test_C6_without_what_only_POSIX_has_the_memory_works_and_workspaces_say_why_not(
    tmp_path: Path,
) -> None:
    """As on Windows: no fcntl, no resource, no fork."""
    program = f"""
import os, sys
for name in ("fcntl", "resource", "pwd", "grp"):
    sys.modules[name] = None
del os.fork, os.register_at_fork
from standfast import Memory
from standfast.interfaces.cli import main
with Memory.open({str(tmp_path / "memory.db")!r}, embedder="hashing", background=False) as memory:
    memory.remember("I like tea")
    assert memory.recall("tea").hits
sys.exit(main(["sync", {str(tmp_path / "notes")!r}]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 7, done.stderr
    assert "POSIX" in done.stderr
    assert "Traceback" not in done.stderr
