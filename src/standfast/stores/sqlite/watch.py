"""The file that was opened, and whether it still is the file of that name.

Somebody may move, delete or replace it while it is open. The system goes on reading and writing
what was opened: whatever is written there is gone with the last program that has it open, and
whatever is read is not what anybody else finds under that name.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from standfast.errors import Unavailable

Identity = tuple[int, int]  # device, inode
_REMEDY = "Put it back, or open the store again"


class FileWatch:
    """Knows the file by its number on the disk. Looking takes microseconds."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.store_id = ""  # as the file had it when it was opened
        self._file: Identity | None = None
        self._log: Identity | None = None

    def begin(self, store_id: str) -> None:
        """From now on it is this file."""
        self._file = _identity(self._path)
        self._log = _identity(self._path + "-wal")  # whoever reads has made it, and it stays
        self.store_id = store_id

    def check_same(self, file: Identity, store_id: str) -> None:
        """Unavailable unless this file, with this id in it, is the one that was opened. A copy
        that was written over the file in place keeps the inode, but not the id."""
        self.check()
        if file != self._file or store_id != self.store_id:
            raise Unavailable(f"{self._path} is not the file that is open here", lasting=True)

    @property
    def trouble(self) -> str:
        """What happened to it; "" if nothing did."""
        if replaced := self._replaced:
            return replaced
        if self._log is not None and _identity(self._path + "-wal") != self._log:
            return f"the log beside {self._path} was removed while it was open{_by_whom()}"
        return ""

    @property
    def _replaced(self) -> str:
        if self._file is None or (found := _identity(self._path)) == self._file:
            return ""
        what = "moved or deleted" if found is None else "replaced by another"
        return f"{self._path} was {what} while it was open"

    def check_readable(self) -> None:
        """Unavailable if this is another file now: a store that is no longer there would answer.
        Where only the log is gone, this process alone can still read what was committed."""
        if replaced := self._replaced:
            raise Unavailable(f"{replaced}; nothing is read any more. {_REMEDY}", lasting=True)

    def check(self, *, committed: bool = False) -> None:
        """Unavailable if something happened. ``committed``: a commit was made meanwhile, and may be
        gone with the file."""
        if trouble := self.trouble:
            raise Unavailable(
                f"{trouble}; nothing is written any more. {_REMEDY}",
                outcome_unknown=committed,
                lasting=True,
            )
        if committed and self._log is None:
            self._log = _identity(self._path + "-wal")


def _identity(path: str) -> Identity | None:
    with suppress(OSError):
        found = os.stat(path)
        return found.st_dev, found.st_ino
    return None


def _by_whom() -> str:
    """A second SQLite in the same process takes locks and log away when it closes the file."""
    if "_sqlite3" not in sys.modules:
        return ""
    return " (Python's own sqlite3 does that, if it had the file open here: look from elsewhere)"
