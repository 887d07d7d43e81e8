"""Secrets that are handed over in a temporary file: readable for its owner alone, and deleted when
the secret is first used or has expired. Where nobody used it and no server ran since, the next
`standfast serve` or `standfast console` deletes it."""

from __future__ import annotations

import os
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Literal

from standfast.access.codes import CODE_LASTS
from standfast.wiring.configuration import unit_folder

Kind = Literal["console", "admin-key"]

FIRST_KEY = "first start"  # the name of the one key that is handed over so
LASTS: dict[Kind, timedelta] = {"console": CODE_LASTS, "admin-key": timedelta(days=1)}
SWEEP_SECONDS = 60.0
BYTES_MAX = 4096


def write_secret(kind: Kind, secret: str) -> str:
    """The path of a new file that holds it."""
    delete_expired()
    descriptor, path = tempfile.mkstemp(prefix=_prefix(kind), suffix=".txt", dir=_folder())
    with open(descriptor, "w") as file:  # mkstemp made it 0600
        file.write(f"{secret}\n")
    return path


def delete_used(secret: str) -> None:
    """It was used: whoever wanted to read it has."""
    for kind in LASTS:
        for path, _ in _files(kind):
            with suppress(OSError):
                if secret.encode() in path.read_bytes()[:BYTES_MAX]:
                    path.unlink()


def delete_expired() -> None:
    for kind, lasts in LASTS.items():
        for path, written_at in _files(kind):
            if time.time() - written_at >= lasts.total_seconds():
                with suppress(OSError):
                    path.unlink()


def _files(kind: Kind) -> Iterator[tuple[Path, float]]:
    """This user's own, and when each was written. A link in a folder that others may write to
    leads nowhere."""
    for path in Path(_folder()).glob(f"{_prefix(kind)}*.txt"):
        with suppress(OSError):
            found = path.lstat()
            if stat.S_ISREG(found.st_mode) and found.st_uid == _user():
                yield path, found.st_mtime


def _folder() -> str:
    """The temporary one; the unit's own under systemd, whose PrivateTmp=yes nobody else can see."""
    return unit_folder() or tempfile.gettempdir()


def _prefix(kind: Kind) -> str:
    return f"standfast-{kind}-"


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0  # as Windows says of every file
