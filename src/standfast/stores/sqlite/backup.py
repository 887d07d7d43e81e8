"""A copy of a live file, and the way back.

The copy is made by SQLite's own backup, page by page inside one read transaction: it is the file
of one moment, writers go on meanwhile, and steps can be counted. ``VACUUM INTO`` would do too, but
builds every table and index anew, which takes longer and copies nothing that is broken, so that a
damaged file would seem to have a sound backup.

Nothing appears under its final name before it was read again and found sound.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import apsw

from standfast.errors import Incompatible, Invalid, NotFound, StandfastError, Unavailable
from standfast.stores.report import DoctorReport
from standfast.stores.sqlite import doctor
from standfast.stores.sqlite.cipher import set_key, share_key, unlock
from standfast.stores.sqlite.connection import (
    APPLICATION_ID,
    check_library,
    connect,
    connect_reader,
    snapshot,
)
from standfast.stores.sqlite.failures import speaking_of
from standfast.stores.sqlite.migrate import migrations
from standfast.types.files import check_is_file

PAGES_PER_STEP = 256
LOCK_SECONDS = 2.0
SUFFIXES = ("-wal", "-shm", "-journal")
UNREADABLE = (
    "cannot be read, so nobody knows what was forgotten since the backup; move it aside, "
    "and restore again if you accept that"
)

Progress = Callable[[int, int], None]
Path = str | os.PathLike[str]


def backup(
    path: Path, target: Path, *, force: bool = False, progress: Progress | None = None
) -> DoctorReport:
    """Copy the store file ``path`` to ``target``, while others go on writing to it.

    Invalid: the target exists and ``force`` was not given. Unavailable: no space, or the copy
    is not sound; nothing is left behind then.
    """
    source, final = os.fspath(path), os.fspath(target)
    check_library()
    _check_target(source, final, force=force)
    with _temporary(final) as copy:
        _copy(source, copy, progress or (lambda _done, _all: None))
        report = _examined(copy, source)
        _settle(copy)
        _prove(copy, source, report)
        _give_name(copy, final, force=force)
    return report


def prepare_restore(backup_file: Path, path: Path) -> str:
    """A checked copy of the backup beside ``path``, ready to be swapped in; its name.

    Incompatible: no store, or a newer one. Unavailable: the backup is damaged, or the file that
    it is to replace is in use.
    """
    source, final = os.fspath(backup_file), os.fspath(path)
    check_library()
    share_key(source, final)
    _must_be_ours(source)
    _check_place(source, final)
    state_of(final)
    with _temporary(final, keep=True) as copy:
        _copy(source, copy, lambda _done, _all: None)
        _examined(copy, source)
    return copy


def state_of(path: Path) -> tuple[int, int]:
    """Changes whenever anything in the file does. Unavailable while others have it open."""
    name = os.fspath(path)
    if not os.path.exists(name):
        return (0, 0)
    try:
        with locked(name) as db:
            if db.pragma("quick_check", 1) != "ok":
                raise Unavailable(f"{name} {UNREADABLE}")
            return _state(db)
    except apsw.Error as error:
        raise Unavailable(f"{name} {UNREADABLE}") from error


def swap_in(copy: str, path: Path, state: tuple[int, int]) -> str:
    """Put the prepared copy in the place of ``path`` in one step; where the old file is now,
    empty if there was none. Unavailable if the old one is in use, or no longer as it was in
    ``state``."""
    final = os.fspath(path)
    _settle(copy)
    if not os.path.exists(final):
        _give_name(copy, final, force=False)
        return ""
    with speaking_of(final), locked(final) as db:
        if _state(db) != state:
            raise Unavailable(f"{final} was changed meanwhile; restore again")
        aside = _keep_aside(final)
        # Whoever opens the old file from here on is told by SQLite that it was moved.
        os.replace(copy, final)
        _sync_folder(final)
    return aside


def discard(copy: str) -> None:
    """Remove what ``prepare_restore`` made, if it is still there."""
    for suffix in ("", *SUFFIXES):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(copy + suffix)
    set_key(copy, None)


# Looking before leaping


def _check_target(source: str, final: str, *, force: bool) -> None:
    if not os.path.exists(source):
        raise NotFound(f"there is no file {source}")
    if os.path.isdir(final):
        raise Invalid(f"{final} is a folder; name a file in it")
    check_is_file(final)
    if not os.path.isdir(os.path.dirname(os.path.abspath(final))):
        raise Invalid(f"there is no folder for {final}; make it first")
    if os.path.exists(final):
        if os.path.samefile(source, final):
            raise Invalid(f"{final} is the store itself; name another file")
        if not force:
            raise Invalid(f"{final} exists; name another file, or say force (--force)")
    _no_stray_log(final)


def _no_stray_log(final: str) -> None:
    """SQLite would play an old log into the new file."""
    for suffix in SUFFIXES:
        log = final + suffix
        if os.path.exists(log) and os.path.getsize(log) and suffix != "-shm":
            raise Invalid(f"{log} belongs to another file that was not closed; move it away")


def _check_place(source: str, final: str) -> None:
    if os.path.isdir(final):
        raise Incompatible(f"{final} is a folder; name a file")
    if os.path.exists(final):
        if os.path.samefile(source, final):
            raise Invalid(f"{final} is the backup itself; name the store to restore")
        return
    _no_stray_log(final)


def _must_be_ours(source: str) -> None:
    """Looked at without changing it, so that a backup stays what it was."""
    if not os.path.exists(source):
        raise NotFound(f"there is no file {source}")
    with speaking_of(source), contextlib.closing(connect(source)) as db:
        if db.pragma("application_id") != APPLICATION_ID:
            raise Incompatible(f"{source} is not a standfast store; name another file")
        version = int(db.pragma("user_version"))
    if version > len(migrations()):
        raise Incompatible(
            f"{source} was made by a newer standfast (schema {version}, this one knows "
            f"{len(migrations())}); upgrade standfast"
        )


def _examined(copy: str, source: str) -> DoctorReport:
    """The doctor's report on the copy, which must be good."""
    try:
        report = doctor.check(copy)
    except StandfastError as error:
        raise type(error)(str(error).replace(copy, source)) from error
    if not report.is_sound:
        said = "; ".join(finding.text for finding in report.findings[:3])
        raise Unavailable(f"{source} is not sound: {said}; run the doctor")
    return report


def _prove(copy: str, source: str, report: DoctorReport) -> None:
    """A backup is worth what can be restored of it: it is, into a file of its own, once."""
    with _temporary(copy) as proof:
        _copy(copy, proof, lambda _done, _all: None)
        restored = _examined(proof, source)
    if (restored.records, restored.messages) != (report.records, report.messages):
        raise Unavailable(f"the backup of {source} cannot be restored whole; run the doctor")


# Copying


def _copy(source: str, copy: str, progress: Progress) -> None:
    with speaking_of(source):
        origin = connect_reader(source)
    try:
        share_key(copy, source)
        with contextlib.closing(apsw.Connection(copy)) as db, speaking_of(copy, db):
            unlock(db, copy)
            db.pragma("page_size", origin.pragma("page_size"))  # encrypted ones must be alike
            db.set_busy_timeout(0)
            db.execute("PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF").fetchall()
            with snapshot(origin):
                origin.execute("SELECT count(*) FROM sqlite_schema").fetchall()
                with db.backup("main", origin, "main") as pages:
                    while not pages.done:
                        pages.step(PAGES_PER_STEP)
                        progress(pages.page_count - pages.remaining, pages.page_count)
            _leave_out(db)
    finally:
        origin.close()


def _leave_out(db: apsw.Connection) -> None:
    """Of a copy: what can be made anew, and would only have to be forgotten in one more place."""
    if db.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'snapshot'").get:
        db.execute("PRAGMA secure_delete = ON; DELETE FROM snapshot").fetchall()


def _settle(copy: str) -> None:
    """One file without a log beside it, safely on the disk."""
    with speaking_of(copy), contextlib.closing(connect(copy)) as db:
        db.pragma("journal_mode", "delete")
    with open(copy, "rb+") as file:
        os.fsync(file.fileno())


@contextmanager
def _temporary(final: str, *, keep: bool = False) -> Iterator[str]:
    """A private file beside the final one. It goes when the body fails, and what a killed
    program left there goes now."""
    folder, name = os.path.split(os.path.abspath(final))
    prefix = f".{name.lstrip('.')}.copy-"  # a copy of a copy is of the same file
    _tidy(folder, prefix)
    try:
        handle, copy = tempfile.mkstemp(prefix=f"{prefix}{os.getpid()}-", dir=folder)
    except OSError as error:
        raise Unavailable(f"cannot write beside {final}: {error.strerror or error}") from error
    os.close(handle)
    try:
        yield copy
    except OSError as error:
        discard(copy)
        raise Unavailable(f"cannot write {final}: {error.strerror or error}") from error
    except BaseException:
        discard(copy)
        raise
    if not keep:
        discard(copy)


def _tidy(folder: str, prefix: str) -> None:
    for found in os.listdir(folder):
        owner = found.removeprefix(prefix).partition("-")[0]
        if found.startswith(prefix) and owner.isdigit() and not _is_running(int(owner)):
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(folder, found))


def _is_running(process: int) -> bool:
    if os.name != "posix":
        return True  # elsewhere the same call would end it
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _give_name(copy: str, final: str, *, force: bool) -> None:
    if force:
        os.replace(copy, final)
    else:
        _link(copy, final)
        os.unlink(copy)
    _sync_folder(final)


def _link(existing: str, new: str) -> None:
    """A second name, which must be free. Where there are no links, a look must do."""
    try:
        os.link(existing, new)
    except FileExistsError:
        raise Invalid(f"{new} exists; name another file") from None
    except OSError:
        _copy_whole(existing, new)


def _copy_whole(existing: str, new: str) -> None:
    handle = os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with open(existing, "rb") as source, os.fdopen(handle, "wb") as target:
        while part := source.read(1 << 20):
            target.write(part)
        target.flush()
        os.fsync(target.fileno())


def _keep_aside(final: str) -> str:
    number = 1
    while os.path.exists(aside := f"{final}.before-restore-{number}"):
        if os.path.samefile(final, aside):
            return aside  # a restore that was killed came this far
        number += 1
    try:
        os.link(final, aside)
    except OSError:
        # Copying is no way out: closing the file would drop the lock that we hold on it.
        raise Unavailable(
            f"the disk under {final} knows no hard links; move the old file aside by hand"
        ) from None
    return aside


def _sync_folder(path: str) -> None:
    if os.name != "posix":
        return  # folders cannot be opened there
    folder = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


# The file that is to be replaced


@contextmanager
def locked(path: str) -> Iterator[apsw.Connection]:
    """Nobody else has the file open, and nobody can use it until the body ends. Its log is
    merged into it, so that the file by itself is complete."""
    db = connect(path)
    try:
        db.set_busy_timeout(0)
        _take(db, path)
        yield db
    finally:
        db.close()


def _take(db: apsw.Connection, path: str) -> None:
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            db.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
            db.pragma("journal_mode", "delete")
            db.execute("BEGIN EXCLUSIVE")
            return
        except (apsw.BusyError, apsw.LockedError):
            if time.monotonic() > deadline:
                raise Unavailable(
                    f"{path} is in use by another program; stop it (a server, an agent, another "
                    "terminal) and try again"
                ) from None
            time.sleep(0.05)


def _state(db: apsw.Connection) -> tuple[int, int]:
    if not db.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'root'").get:
        return (0, 0)
    heads, stamps = db.execute("SELECT total(head), total(stamp) FROM root").get
    written = db.execute("SELECT total(seq) FROM sqlite_sequence").get  # the registry, for one
    return (int(heads), int(stamps + written))
