"""Keys of store files. A file that has one is encrypted as a whole: its pages, its log, and every
copy that is made of it; each page carries a tag, so that a changed one is no answer.

The library is SQLite3 Multiple Ciphers (ChaCha20-Poly1305), which comes with ``apsw-sqlite3mc``.
Which key belongs to which file is known to this process and nobody else.
"""

from __future__ import annotations

import os

import apsw

from standfast.errors import Incompatible

KEY_BYTES = 32
CAN_ENCRYPT = hasattr(apsw, "mc_version")
NEEDED = (
    "encryption needs another build of apsw: "
    "pip uninstall apsw && pip install --force-reinstall apsw-sqlite3mc"
)

_KEYS: dict[str, bytes] = {}  # by absolute path


def set_key(path: str | os.PathLike[str], key: bytes | None) -> None:
    """From now on the file of this name is opened with this key; None: without one."""
    if key is None:
        _KEYS.pop(_name(path), None)
        return
    if not CAN_ENCRYPT:
        raise Incompatible(NEEDED)
    assert len(key) == KEY_BYTES
    _KEYS[_name(path)] = key


def key_of(path: str | os.PathLike[str]) -> bytes | None:
    return _KEYS.get(_name(path))


def share_key(copy: str | os.PathLike[str], path: str | os.PathLike[str]) -> None:
    """A copy of a file has the key of that file."""
    set_key(copy, key_of(path))


def unlock(connection: apsw.Connection, path: str) -> None:
    """The first thing to do with a connection."""
    key = key_of(path)
    if key is not None:
        connection.pragma("key", as_text(key))


def as_text(key: bytes | None) -> str:
    """As SQLite is told it: as it is, since whoever made it has drawn it by lot; "" for none."""
    return "" if key is None else f"raw:{key.hex()}"


def _name(path: str | os.PathLike[str]) -> str:
    return os.path.abspath(os.fspath(path))
