"""What a process has in temporary files that have no name any more."""

from __future__ import annotations

from pathlib import Path

import pytest


def nameless(process: int | str = "self") -> bytes:
    """All that is in them, as whoever takes the disk would read it."""
    folder = Path(f"/proc/{process}/fd")
    if not folder.exists():
        pytest.skip("this system does not show the open files of a process")
    found = b""
    for one in folder.iterdir():
        try:
            if "(deleted)" in str(one.readlink()):
                found += one.read_bytes()
        except OSError:
            continue  # closed meanwhile
    return found
