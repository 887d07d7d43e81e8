"""What SQLite complains about, in words that say what to do."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from recollect.errors import Incompatible, Invalid, RecollectError, Unavailable
from recollect.stores.sqlite.cipher import key_of


def translated(error: apsw.Error, path: str, number: int = 0) -> RecollectError:
    """The error of ours that stands for one of SQLite's; ``number`` is the system's, if known."""
    if number == errno.EFBIG and isinstance(error, apsw.IOError):
        return Unavailable(
            f"{path} or its log has reached the largest size that the system allows a file here; "
            "raise the limit (ulimit -f), or move the store to another file system"
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


def _unreadable(path: str) -> Incompatible:
    """Nobody can tell what is encrypted with another key from what is no store at all."""
    if key_of(path) is None:
        return Incompatible(
            f"{path} is not a recollect store, or is encrypted; name another file, or its key "
            "(RECOLLECT_KEY_FILE)"
        )
    return Incompatible(
        f"{path} cannot be opened with this key: it has another one, is not encrypted (recollect "
        "rekey encrypts it), or is not a recollect store"
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
