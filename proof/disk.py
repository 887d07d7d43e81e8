"""A disk that fails: below SQLite, a file system that asks before every read and write whether it
is in trouble."""

from __future__ import annotations

import errno
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import apsw

FOR_GOOD = " for good"
NOW_AND_THEN = ("full disk", "write error", "short write", "sync error", "slow disk", "read error")
KINDS = (
    *NOW_AND_THEN,
    *(f"{one}{FOR_GOOD}" for one in ("full disk", "write error", "sync error", "read error")),
)


@dataclass(slots=True)
class Trouble:
    """What is wrong right now."""

    kind: str = ""
    dice: random.Random = field(default_factory=random.Random)
    hits: int = 0

    def strikes(self, kind: str) -> bool:
        chance = 0.06 if self.kind == kind else 1.0 if self.kind == f"{kind}{FOR_GOOD}" else 0.0
        struck = self.dice.random() < chance
        self.hits += struck
        return struck


NOW = Trouble()


class FaultyFile(apsw.VFSFile):
    """A file on a disk that may fail."""

    def __init__(self, vfs: str, name: Any, flags: list[int]) -> None:
        super().__init__(vfs, name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - SQLite's name
        if NOW.strikes("full disk"):
            raise apsw.FullError(f"no space left ({errno.ENOSPC})")
        if NOW.strikes("write error"):
            raise apsw.IOError("input/output error")
        if NOW.strikes("short write"):
            super().xWrite(data[: len(data) // 2], offset)
            raise apsw.IOError("short write")
        if NOW.strikes("slow disk"):
            time.sleep(0.003)
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802
        if NOW.strikes("sync error"):
            raise apsw.IOError("fsync failed")
        super().xSync(flags)

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        if NOW.strikes("read error"):
            raise apsw.IOError("input/output error")
        return super().xRead(amount, offset)


class FaultyDisk(apsw.VFS):
    """Over the one that this machine uses."""

    def __init__(self, base: str) -> None:
        super().__init__("standfast-proof", base)
        self._base = base

    def xOpen(self, name: Any, flags: list[int]) -> FaultyFile:  # noqa: N802
        return FaultyFile(self._base, name, flags)


@contextmanager
def faulty(dice: random.Random) -> Iterator[Trouble]:
    before = apsw.vfs_names()[0]
    disk = FaultyDisk(before)
    apsw.set_default_vfs("standfast-proof")
    NOW.dice, NOW.hits = dice, 0
    try:
        yield NOW
    finally:
        NOW.kind = ""
        apsw.set_default_vfs(before)
        disk.unregister()
