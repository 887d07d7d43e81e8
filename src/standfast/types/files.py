"""What a name on the disk stands for."""

from __future__ import annotations

import os
import stat

from standfast.errors import Invalid


def check_is_file(path: str | os.PathLike[str]) -> None:
    """Invalid if something is there, by this name or where it leads, that is no file: a database
    would be made beside a device, and what is written anew would take a device's place."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return  # nothing is there, or it is told by whoever opens it
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise Invalid(f"{os.fspath(path)} is a pipe, a socket or a device; name a file")
