"""Another key for a file, or its first one, or none. Nobody else may have the file open meanwhile;
it happens in one transaction, so that who is killed has the old key still."""

from __future__ import annotations

import os

from standfast.errors import NotFound
from standfast.stores.report import DoctorReport
from standfast.stores.sqlite.backup import locked
from standfast.stores.sqlite.cipher import as_text, set_key
from standfast.stores.sqlite.connection import check_library
from standfast.stores.sqlite.doctor import check
from standfast.stores.sqlite.failures import speaking_of


def rekey(path: str | os.PathLike[str], key: bytes | None) -> DoctorReport:
    """Encrypt every page with the new key; the answer is the doctor's report on the file. ``None``
    leaves it plain. Unavailable: somebody has it open."""
    name = os.fspath(path)
    if not os.path.exists(name):
        raise NotFound(f"there is no file {name}")
    check_library()
    with speaking_of(name), locked(name) as db:
        db.execute("COMMIT")  # the lock stays: it is that of the connection
        db.pragma("rekey", as_text(key))
    set_key(name, key)
    return check(name)
