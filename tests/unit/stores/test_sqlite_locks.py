"""A lock that somebody holds, and one that the system refuses to everybody."""

from __future__ import annotations

import asyncio
import errno
import os
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from standfast.errors import Unavailable
from standfast.stores.sqlite import SqliteStore, connection

pytestmark = pytest.mark.skipif(os.name != "posix", reason="elsewhere files are locked otherwise")

# SQLite and Python both ask the system for locks, and are told the same.
REFUSED = """
import asyncio, ctypes, fcntl, os, sys
import apsw
from standfast.errors import Unavailable
from standfast.stores.sqlite import SqliteStore, connection

path, number = sys.argv[1], int(sys.argv[2])
connection.BUSY_MILLISECONDS = 50
library = ctypes.CDLL(None, use_errno=True)

@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_void_p, use_errno=True)
def system(descriptor, command, argument):
    if command in (fcntl.F_SETLK, fcntl.F_SETLKW):
        ctypes.set_errno(number)
        return -1
    return library.fcntl(descriptor, command, ctypes.c_void_p(argument))

class System(apsw.VFS):
    def __init__(self):
        super().__init__("hooked", "unix")

def refuse(*_):
    raise OSError(number, os.strerror(number))

hooked = System()
hooked.xSetSystemCall("fcntl", ctypes.cast(system, ctypes.c_void_p).value)
fcntl.lockf = refuse
try:
    asyncio.run(SqliteStore.open(path))
except Unavailable as error:
    print(error)
"""


@pytest.mark.parametrize(
    "number", [errno.ENOLCK, errno.EACCES, errno.EPERM, errno.ENOTSUP, errno.EINVAL]
)
def test_a_lock_that_the_system_refuses_is_not_held_by_another_program(
    tmp_path: Path, number: int
) -> None:
    command = [sys.executable, "-c", REFUSED, str(tmp_path / "memory.db"), str(number)]
    said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    assert f"refuses locks ({os.strerror(number)})" in said
    assert "local disk" in said
    assert "another program" not in said
    assert len(said.splitlines()) == 1


def test_a_lock_that_another_program_holds_is_called_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "memory.db"
    monkeypatch.setattr(connection, "BUSY_MILLISECONDS", 50)
    holder = apsw.Connection(str(path))
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(Unavailable, match="locked by another program"):
        asyncio.run(SqliteStore.open(path))
    holder.close()
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
