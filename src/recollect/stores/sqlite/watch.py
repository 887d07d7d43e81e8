"""The file that was opened, and whether it still is the file of that name.

Somebody may move, delete or replace it while it is open. The system goes on writing to what was
opened, and whatever is written there is gone with the last program that has it open.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from recollect.errors import Unavailable

Identity = tuple[int, int]


class FileWatch:
    """Knows the file by its number on the disk. Looking takes microseconds."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._file: Identity | None = None
        self._log: Identity | None = None

    def begin(self) -> None:
        """From now on it is this file."""
        self._file = _identity(self._path)

    @property
    def trouble(self) -> str:
        """What happened to it; "" if nothing did."""
        if self._file is None:
            return ""
        found = _identity(self._path)
        if found != self._file:
            what = "moved or deleted" if found is None else "replaced by another"
            return f"{self._path} was {what} while it was open"
        if self._log is not None and _identity(self._path + "-wal") != self._log:
            return f"the log beside {self._path} was removed while it was open{_by_whom()}"
        return ""

    def check(self, *, committed: bool = False) -> None:
        """Unavailable if something happened. ``committed``: a commit was made meanwhile, and may be
        gone with the file."""
        if trouble := self.trouble:
            raise Unavailable(
                f"{trouble}; nothing is written any more. Put it back, or open the store again",
                outcome_unknown=committed,
                lasting=True,
            )
        if committed and self._log is None:  # the first commit makes it, and it stays
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
