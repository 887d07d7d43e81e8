"""The one thread that writes. Batches that wait together share one transaction (and so one
sync of the disk); each has its own savepoint, so a conflict fails only its own batch."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import apsw

from recollect.errors import Unavailable
from recollect.stores.sqlite.apply import Prepared, apply, prepare
from recollect.stores.sqlite.connection import BUSY_MILLISECONDS, connect_writer
from recollect.stores.sqlite.failures import speaking_of
from recollect.types import Batch

GROUP_BYTES_MAX = 8 * 1024 * 1024
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
class _Job:
    work: Batch | Callable[[apsw.Connection], Any]
    future: Future[Any]
    prepared: Prepared | None = None
    answer: Any = None


class Writer:
    """Jobs are done in the order in which they were given. The connection is opened by the
    first one and reopened after a failure of the disk."""

    def __init__(self, path: str, group_max: int) -> None:
        self._path = path
        self._group_max = max(1, group_max)
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._lock = threading.Lock()  # keeps jobs out of a closed queue
        self._thread: threading.Thread | None = None
        self._closed = False
        self._db: apsw.Connection | None = None

    def commit(self, batch: Batch) -> Future[int]:
        return self._give(batch)

    def run(self, work: Callable[[apsw.Connection], Any]) -> Future[Any]:
        """Do something with the writing connection, outside any transaction."""
        return self._give(work)

    def _give(self, work: Batch | Callable[[apsw.Connection], Any]) -> Future[Any]:
        job = _Job(work, Future())
        job.future.set_running_or_notify_cancel()  # from here on nobody can cancel it
        with self._lock:
            if self._closed:
                raise Unavailable("this store is closed; open it again")
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._loop, name="recollect-writer", daemon=True
                )
                self._thread.start()
            self._jobs.put(job)
        return job.future

    def close(self) -> None:
        """Finish what was given, then end."""
        with self._lock:
            self._closed = True
            thread = self._thread
            self._thread = None
        if thread is not None:
            self._jobs.put(None)
            thread.join()

    # On the writer's thread

    def _loop(self) -> None:
        job = self._jobs.get()
        while job is not None:
            if isinstance(job.work, Batch):
                job = self._do_group(job)
            else:
                self._do_work(job)
                job = self._jobs.get()
        self._disconnect()

    def _do_group(self, job: _Job | None) -> _Job | None:
        """Commit the job and those that wait behind it; the next job that is not among them."""
        group: list[_Job] = []
        size = 0
        while job is not None and isinstance(job.work, Batch):
            size += self._prepare(job, group)
            if len(group) >= self._group_max or size >= GROUP_BYTES_MAX or self._jobs.empty():
                self._commit_group(group)
                return self._jobs.get()
            job = self._jobs.get()
        self._commit_group(group)
        return job

    def _prepare(self, job: _Job, group: list[_Job]) -> int:
        """Compute all that needs no lock, and put the job into the group, unless that already
        failed; its size in bytes."""
        assert isinstance(job.work, Batch)
        try:
            with speaking_of(self._path):
                job.prepared = prepare(job.work)
        except Exception as error:
            job.future.set_exception(error)
            return 0
        group.append(job)
        return job.prepared.size

    def _commit_group(self, group: list[_Job]) -> None:
        if not group:
            return
        applied: list[_Job] = []
        waiting = deque(group)
        committing = False
        try:
            db = self._connected()
            db.execute("BEGIN IMMEDIATE")
            while waiting:
                if self._apply(db, waiting[0]):
                    applied.append(waiting[0])
                waiting.popleft()
            committing = True
            db.execute("COMMIT")
        except Exception as error:
            failure = self._recover(error, committing)
            for job in (*applied, *waiting):
                job.future.set_exception(failure)
            return
        if any(isinstance(job.work, Batch) and job.work.erase for job in applied):
            self._try_to_scrub(db)
        for job in applied:
            job.future.set_result(job.answer)

    def _apply(self, db: apsw.Connection, job: _Job) -> bool:
        """Apply one batch in its savepoint; False if it does not fit and was answered so.
        Errors of the disk pass through: they concern the whole group."""
        assert job.prepared is not None
        db.execute("SAVEPOINT batch")
        try:
            job.answer = apply(db, job.prepared)
        except _OF_THE_GROUP:
            raise
        except Exception as error:
            db.execute("ROLLBACK TO batch")
            db.execute("RELEASE batch")
            job.future.set_exception(_in_our_words(error, self._path))
            return False
        db.execute("RELEASE batch")
        return True

    def _recover(self, error: Exception, committing: bool) -> Exception:
        """Leave no half transaction behind; what to tell those who wait."""
        db = self._db
        if db is not None and not isinstance(error, apsw.BusyError):
            # A log that could not be synced must not be synced again as if nothing had been:
            # the next group starts from what the disk really has.
            db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            db.close(True)
            self._db = None
        failure = _in_our_words(error, self._path)
        if committing and isinstance(error, apsw.IOError) and isinstance(failure, Unavailable):
            failure.outcome_unknown = True
        return failure

    def _try_to_scrub(self, db: apsw.Connection) -> None:
        with contextlib.suppress(apsw.Error):
            truncate_log(db)

    def _do_work(self, job: _Job) -> None:
        assert not isinstance(job.work, Batch)
        try:
            job.future.set_result(job.work(self._connected()))
        except Exception as error:
            job.future.set_exception(self._recover(error, False))

    def _connected(self) -> apsw.Connection:
        if self._db is None:
            self._db = connect_writer(self._path)
        return self._db

    def _disconnect(self) -> None:
        if self._db is not None:
            self._db.close(True)
            self._db = None


def _in_our_words(error: Exception, path: str) -> Exception:
    try:
        with speaking_of(path):
            raise error
    except Exception as translated:
        return translated


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
