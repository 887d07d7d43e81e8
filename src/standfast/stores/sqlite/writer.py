"""The one thread that writes. Batches that wait together share one transaction (and so one
sync of the disk); each has its own savepoint, so a conflict fails only its own batch."""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import apsw

from standfast.errors import Unavailable
from standfast.ports import check_process
from standfast.stores.commit import decide, needs_of
from standfast.stores.prepared import Prepared, prepare
from standfast.stores.sqlite.changes import write
from standfast.stores.sqlite.connection import BUSY_MILLISECONDS, connect_writer
from standfast.stores.sqlite.failures import speaking_of
from standfast.stores.sqlite.held import read
from standfast.stores.sqlite.watch import FileWatch
from standfast.types import Batch

GROUP_BYTES_MAX = 8 * 1024 * 1024
LOG_PAGES = 1000  # after so many the log is moved into the file
CHECKPOINT_MILLISECONDS = 250  # how long an erasing commit waits for readers to let go

# Failures that end the transaction or leave it in doubt; all others concern one batch.
_OF_THE_GROUP = (
    apsw.FullError,
    apsw.IOError,
    apsw.ReadOnlyError,
    apsw.BusyError,
    apsw.LockedError,
    apsw.CantOpenError,
    apsw.CorruptError,
    apsw.NotADBError,
    apsw.NoMemError,
    apsw.InterruptError,
    apsw.AbortError,
)


@dataclass(slots=True)
class _Work:
    work: Callable[[apsw.Connection], Any]
    future: Future[Any]


@dataclass(slots=True)
class _Commit:
    batch: Batch
    waiting: asyncio.Future[int]
    prepared: Prepared | None = None
    is_half_written: bool = False
    answer: int | Exception = 0


class Writer:
    """Jobs are done in the order in which they were given. The connection is opened by the
    first one and reopened after a failure of the disk."""

    def __init__(self, path: str, group_max: int) -> None:
        self._path = path
        self.watch = FileWatch(path)
        self._group_max = max(1, group_max)
        self._jobs: queue.SimpleQueue[_Commit | _Work | None] = queue.SimpleQueue()
        # In this turn of each event loop.
        self._gathered: dict[asyncio.AbstractEventLoop, list[_Commit]] = {}
        self._lock = threading.Lock()  # keeps jobs out of a closed queue
        self._thread: threading.Thread | None = None
        self._closed = False
        self._process = os.getpid()
        self._db: apsw.Connection | None = None
        self._log_pages = 0
        self.trips = 0  # how often a commit has read or written

    def commit(self, batch: Batch) -> asyncio.Future[int]:
        """Whoever stops waiting does not stop the commit. What an event loop commits in one turn
        is handed over together, at its end: this thread would only be in its way before."""
        check_process(self._process)
        loop = asyncio.get_running_loop()
        job = _Commit(batch, loop.create_future())
        with self._lock:
            self._check_open()
            if loop not in self._gathered:
                loop.call_soon(self._hand_over, loop)
            self._gathered.setdefault(loop, []).append(job)
        return job.waiting

    def run(self, work: Callable[[apsw.Connection], Any]) -> Future[Any]:
        """Do something with the writing connection, outside any transaction."""
        check_process(self._process)
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()  # from here on nobody can cancel it
        with self._lock:
            self._check_open()
            self._give(*self._gathered, then=_Work(work, future))
        return future

    def _check_open(self) -> None:
        if self._closed:
            raise Unavailable("this store is closed; open it again")

    def _hand_over(self, loop: asyncio.AbstractEventLoop) -> None:
        with self._lock:
            self._give(loop)

    def _give(self, *loops: asyncio.AbstractEventLoop, then: _Work | None = None) -> None:
        """What these loops gathered, and some work behind it. Needs the lock."""
        jobs: list[_Commit | _Work] = [j for loop in loops for j in self._gathered.pop(loop, ())]
        jobs += [then] if then else []
        if self._thread is None and jobs:
            self._thread = threading.Thread(target=self._loop, name="standfast-writer", daemon=True)
            self._thread.start()
        for job in jobs:
            self._jobs.put(job)

    def close(self) -> None:
        """Finish what was given, then end."""
        with self._lock:
            self._closed = True
            self._give(*self._gathered)
            thread = self._thread
            self._thread = None
        if thread is not None:
            self._jobs.put(None)
            thread.join()

    # On the writer's thread

    def _loop(self) -> None:
        job = self._jobs.get()
        while job is not None:
            if isinstance(job, _Commit):
                job = self._do_group(job)
            else:
                self._do_work(job)
                job = self._jobs.get()
        self._disconnect()

    def _do_group(self, job: _Commit | _Work | None) -> _Commit | _Work | None:
        """Commit the job and those that wait behind it; the next job that is not among them."""
        group: list[_Commit] = []
        size = 0
        while isinstance(job, _Commit):
            group.append(job)
            size += self._prepare(job)
            if len(group) >= self._group_max or size >= GROUP_BYTES_MAX or self._jobs.empty():
                self._commit_group(group)
                return self._jobs.get()
            job = self._jobs.get()
        self._commit_group(group)
        return job

    def _prepare(self, job: _Commit) -> int:
        """Compute all that needs no lock; its size in bytes."""
        try:
            with speaking_of(self._path):
                job.prepared = prepare(job.batch, small=False)
        except Exception as error:
            job.answer = error
            return 0
        return job.prepared.size

    def _commit_group(self, group: list[_Commit]) -> None:
        fit = [job for job in group if job.prepared]
        committing = False
        try:
            if fit:
                self.watch.check()
                db = self._connected()
                db.execute("BEGIN IMMEDIATE")
                fit = self._apply(db, fit)
                committing = True
                db.execute("COMMIT" if fit else "ROLLBACK")
                self.watch.check(committed=True)
        except Exception as error:
            failure = self._recover(error, committing)
            for job in fit:
                job.answer = failure
        else:
            if any(job.batch.erase for job in fit):
                self._try_to_scrub(db)
        _tell(group)
        self._shorten_log()

    def _shorten_log(self) -> None:
        """While those who waited do something else; SQLite by itself would keep them waiting."""
        if self._db is not None and self._log_pages >= LOG_PAGES:
            self._log_pages = 0
            with contextlib.suppress(apsw.Error):
                self._db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)

    def _apply(self, db: apsw.Connection, group: list[_Commit]) -> list[_Commit]:
        """Apply the batches; those that fit. The others have their answer. Who does not fit has
        mostly written nothing yet; if somebody has, all is undone and done again, each behind a
        savepoint: those behind have seen what is not to be there."""
        fit = [job for job in group if self._fits(db, job)]
        if len(group) == 1 or not any(job.is_half_written for job in group):
            return fit
        db.execute("ROLLBACK")
        db.execute("BEGIN IMMEDIATE")
        return [job for job in group if self._fits_behind_savepoint(db, job)]

    def _fits_behind_savepoint(self, db: apsw.Connection, job: _Commit) -> bool:
        db.execute("SAVEPOINT batch")
        fits = self._fits(db, job)
        if not fits:
            db.execute("ROLLBACK TO batch")
        db.execute("RELEASE batch")
        return fits

    def _fits(self, db: apsw.Connection, job: _Commit) -> bool:
        """Apply one batch; False if it does not fit, which is its answer. Errors of the disk pass
        through: they concern the whole group."""
        try:
            job.answer = self._applied(db, job)
        except _OF_THE_GROUP:
            raise
        except Exception as error:
            job.answer = _in_our_words(error, self._path)
            return False
        return True

    def _applied(self, db: apsw.Connection, job: _Commit) -> int:
        """The batch's number in the journal of its root. Raises Conflict or Invalid."""
        prepared = job.prepared
        assert prepared is not None
        batch = prepared.batch
        self.trips += 1
        held, keys = read(db, batch, needs_of(batch))
        if held.number is not None:
            return held.number
        changes = decide(batch, held, prepared=True)
        self.trips += 1
        job.is_half_written = True
        write(db, prepared, changes, keys)
        job.is_half_written = False
        return changes.seq

    def _recover(self, error: Exception, committing: bool) -> Exception:
        """Leave no half transaction behind; what to tell those who wait."""
        db = self._db
        failure = _in_our_words(error, self._path, db)
        if db is not None and not isinstance(error, apsw.BusyError):
            # A log that could not be synced must not be synced again as if nothing had been:
            # the next group starts from what the disk really has.
            db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            db.close(True)
            self._db = None
        if committing and isinstance(error, apsw.IOError) and isinstance(failure, Unavailable):
            failure.outcome_unknown = True
        return failure

    def _try_to_scrub(self, db: apsw.Connection) -> None:
        with contextlib.suppress(apsw.Error):
            truncate_log(db)

    def _do_work(self, job: _Work) -> None:
        try:
            self.watch.check()
            done = job.work(self._connected())
            self.watch.check(committed=True)
            job.future.set_result(done)
        except Exception as error:
            job.future.set_exception(self._recover(error, False))

    def _connected(self) -> apsw.Connection:
        if self._db is None:
            self._db = connect_writer(self._path)
            self._db.set_wal_hook(self._note_log)
        return self._db

    def _note_log(self, _: apsw.Connection, __: str, pages: int) -> int:
        self._log_pages = pages
        return apsw.SQLITE_OK

    def _disconnect(self) -> None:
        if self._db is not None:
            self._db.close(True)
            self._db = None


def _tell(group: Iterable[_Commit]) -> None:
    """Answer those who wait, all of an event loop at once: waking it takes longer than a commit."""
    loops: dict[asyncio.AbstractEventLoop, list[_Commit]] = {}
    for job in group:
        loops.setdefault(job.waiting.get_loop(), []).append(job)
    for loop, jobs in loops.items():
        with contextlib.suppress(RuntimeError):  # it was closed: nobody waits
            loop.call_soon_threadsafe(_answer, jobs)


def _answer(jobs: Iterable[_Commit]) -> None:
    for job in jobs:
        if job.waiting.cancelled():
            continue
        if isinstance(job.answer, Exception):
            job.waiting.set_exception(job.answer)
        else:
            job.waiting.set_result(job.answer)


def _in_our_words(error: Exception, path: str, db: apsw.Connection | None = None) -> Exception:
    try:
        with speaking_of(path, db):
            raise error
    except Exception as translated:
        return translated


def wipe_pages(db: apsw.Connection) -> bool:
    """Write the file anew and empty its log: what was moved within a page leaves bytes where
    nothing is any more. False as for ``truncate_log``, or without room for a copy."""
    try:
        db.execute("VACUUM")
    except (apsw.FullError, apsw.BusyError, apsw.LockedError):
        return False
    return truncate_log(db)


def truncate_log(db: apsw.Connection) -> bool:
    """Move the log into the file and empty it, so that no erased byte stays in it. False if a
    reader still holds an old snapshot open."""
    db.set_busy_timeout(CHECKPOINT_MILLISECONDS)
    try:
        busy, _, _ = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").get
        return bool(busy == 0)
    except apsw.BusyError:
        return False
    finally:
        db.set_busy_timeout(BUSY_MILLISECONDS)
