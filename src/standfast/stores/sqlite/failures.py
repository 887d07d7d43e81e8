"""What SQLite complains about, in words that say what to do."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from standfast.errors import Incompatible, Invalid, StandfastError, Unavailable
from standfast.stores.sqlite.cipher import key_of


def translated(error: apsw.Error, path: str, number: int = 0) -> StandfastError:
    """The error of ours that stands for one of SQLite's; ``number`` is the system's, if known."""
    if number == errno.EFBIG and isinstance(error, apsw.IOError):
        return Unavailable(
            f"{path} or its log has reached the largest size that the system allows a file here; "
            "raise the limit (ulimit -f), or move the store to another file system"
        )
    if refusal := _refused_lock(error, path, number):
        return Unavailable(
            f"the file system of {path} refuses locks ({refusal}), as some network drives do; "
            "put the store on a local disk"
        )
    match error:
        case apsw.FullError():
            return Unavailable(f"no space left for {path}; free some and try again")
        case apsw.ReadOnlyError() | apsw.PermissionsError() | apsw.AuthError():
            return Unavailable(f"{path} is read-only; make the file and its folder writable")
        case apsw.BusyError() | apsw.LockedError() | apsw.ProtocolError():
            return Unavailable(f"{path} is locked by another program; try again")
        case apsw.CantOpenError():
            return Unavailable(f"cannot open {path}; check that the file and its folder allow it")
        case apsw.NotADBError():
            return _unreadable(path)
        case apsw.CorruptError():
            return Unavailable(f"{path} is damaged ({error}); run the doctor or restore a backup")
        case apsw.IOError():
            return Unavailable(f"the disk failed under {path} ({error}); try again")
        case apsw.ConstraintError() | apsw.MismatchError() | apsw.TooBigError():
            return Invalid(f"the store cannot hold this: {error}")
        case apsw.ConnectionClosedError():
            return Unavailable("this store is closed; open it again")
    return Unavailable(f"{path}: {type(error).__name__}: {error}")


# What SQLite could not lock, though nobody else holds a lock.
_LOCK_FAILURES = (
    apsw.SQLITE_IOERR_LOCK,
    apsw.SQLITE_IOERR_RDLOCK,
    apsw.SQLITE_IOERR_CHECKRESERVEDLOCK,
    apsw.SQLITE_IOERR_SHMLOCK,
)


def _refused_lock(error: apsw.Error, path: str, number: int) -> str:
    """Why the system refuses every lock; "" where that is not what is wrong. SQLite calls a lock
    that the system refuses (ENOLCK, EACCES) busy, and keeps no error number of it."""
    extended = getattr(error, "extendedresult", 0)
    if isinstance(error, apsw.IOError) and extended in _LOCK_FAILURES:
        return os.strerror(number) if number else _refusal_beside(path) or str(error)
    if isinstance(error, apsw.BusyError | apsw.ProtocolError | apsw.PermissionsError):
        return _refusal_beside(path)
    return ""


def _refusal_beside(path: str) -> str:
    """Why a file of its own beside the store cannot be locked. Never the store itself: to close
    another descriptor of it would drop the locks that SQLite holds there."""
    if os.name != "posix":
        return ""
    try:
        with tempfile.TemporaryFile(dir=os.path.dirname(os.path.abspath(path))) as probe:
            return _refusal_of(probe.fileno())
    except OSError:
        return ""  # a folder that nobody may write says nothing about locks


def _refusal_of(descriptor: int) -> str:
    import fcntl

    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as refused:
        return refused.strerror or str(refused)
    return ""


def _unreadable(path: str) -> Incompatible:
    """Nobody can tell what is encrypted with another key from what is no store at all."""
    if key_of(path) is None:
        return Incompatible(
            f"{path} is not a standfast store, or is encrypted; name another file, or its key "
            "(STANDFAST_KEY_FILE)"
        )
    return Incompatible(
        f"{path} cannot be opened with this key: it has another one, is not encrypted (standfast "
        "rekey encrypts it), or is not a standfast store"
    )


def _number_of(db: apsw.Connection | None) -> int:
    try:
        return db.system_errno if db is not None else 0
    except apsw.ConnectionClosedError:
        return 0


@contextmanager
def speaking_of(path: str, db: apsw.Connection | None = None) -> Iterator[None]:
    """Errors of SQLite and of unfit values leave as errors of ours. ``db``: who is asked what the
    system said."""
    try:
        yield
    except apsw.Error as error:
        raise translated(error, path, _number_of(db)) from error
    except UnicodeEncodeError as error:
        raise Invalid("text with half a character (a lone surrogate); repair the text") from error
    except OverflowError as error:
        raise Invalid(f"a number is too large to store: {error}") from error
