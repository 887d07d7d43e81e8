"""Commits. Those of one root that wait together share one transaction (and so one sync of the
server's disk); each is read while the one before is written. Roots do not wait for each other."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import psycopg
from psycopg import errors

from recollect.errors import Conflict, Invalid, Unavailable
from recollect.stores.commit import Changes, decide, needs_of
from recollect.stores.postgres.changes import write
from recollect.stores.postgres.connection import DatabasePlace, Db, roll_back
from recollect.stores.postgres.failures import AGAIN, RETRY_SECONDS, translated
from recollect.stores.postgres.held import Numbers, read
from recollect.stores.postgres.news import CHANNEL
from recollect.stores.postgres.pool import ThreadPool
from recollect.stores.prepared import Prepared, prepare
from recollect.types import Batch

# Whatever the database's default is: what is read behind the lock must be what is there by then.
BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
GROUP_MAX = 64
GROUP_BYTES_MAX = 8 * 1024 * 1024
TRIES = 5
ENDED = "the program that committed this is ending; commit it again"
COMMIT_SECONDS = 30.0


@dataclass(slots=True, eq=False)
class PostgresCommit:
    """A batch on its way, and who waits for it."""

    prepared: Prepared
    waiting: asyncio.Future[int]
    answer: int | Exception | None = None


class CommitQueue:
    """One line of commits a root."""

    def __init__(self, pool: ThreadPool, place: DatabasePlace) -> None:
        self._pool = pool
        self._place = place
        self._lock = threading.Lock()  # stores are used from one event loop, or from several
        self._lines: dict[str, deque[PostgresCommit]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.trips = 0  # how often a commit has gone to the server and back

    async def commit(self, batch: Batch) -> int:
        """Whoever stops waiting does not stop the commit."""
        self._pool.check_open()
        loop = asyncio.get_running_loop()
        job = PostgresCommit(prepare(batch), loop.create_future())
        with self._lock:
            first = batch.root not in self._lines
            self._lines.setdefault(batch.root, deque()).append(job)
        if first:
            task = loop.create_task(self._drain(batch.root))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return await job.waiting

    async def wait(self) -> None:
        """Until nothing is under way in this event loop."""
        loop = asyncio.get_running_loop()
        while tasks := [task for task in self._tasks if task.get_loop() is loop]:
            await asyncio.wait(tasks)

    async def _drain(self, root: str) -> None:
        jobs: list[PostgresCommit] = []
        try:
            while jobs := self._next(root):
                await self._commit(jobs)
        finally:  # also if this event loop is being ended, for those who wait in others
            with self._lock:
                jobs += self._lines.pop(root, ())
            for job in jobs:
                job.answer = Unavailable(ENDED, outcome_unknown=True)
            _tell(jobs)

    def _next(self, root: str) -> list[PostgresCommit]:
        """Those that go together; none, and the line is closed, if nobody waits."""
        with self._lock:
            line = self._lines[root]
            jobs: list[PostgresCommit] = []
            size = 0
            while line and len(jobs) < GROUP_MAX and size < GROUP_BYTES_MAX:
                jobs.append(line.popleft())
                size += jobs[-1].prepared.size
            if not jobs:
                del self._lines[root]
            return jobs

    async def _commit(self, jobs: list[PostgresCommit]) -> None:
        try:
            await self._pool.run(lambda db: self._committed(db, jobs), seconds=COMMIT_SECONDS)
        except Exception as error:  # whatever it is, those who wait have to hear of it
            for job in jobs:
                job.answer = job.answer if job.answer is not None else error
        _tell(jobs)

    # On a thread

    def _committed(self, db: Db, jobs: list[PostgresCommit]) -> None:
        """All in one transaction; if that fails for the sake of one, each in its own. Who has its
        answer from an earlier try keeps it."""
        jobs = [job for job in jobs if job.answer is None]
        try:
            self._transaction(db, jobs)
        except psycopg.Error as error:
            roll_back(db, failed=True)
            if isinstance(error, errors.ReadOnlySqlTransaction):
                db.close()  # another server takes writes now
            if db.closed:
                raise  # nothing was committed: the pool tries again with another connection
            for job in jobs:
                self._committed_alone(db, job)

    def _committed_alone(self, db: Db, job: PostgresCommit) -> None:
        for attempt in range(1, TRIES + 1):
            try:
                self._transaction(db, [job])
            except psycopg.Error as error:
                roll_back(db, failed=True)
                if db.closed:
                    raise
                if isinstance(error, AGAIN) and attempt < TRIES:
                    continue
                job.answer = translated(error, self._place.name)
            return

    def _transaction(self, db: Db, jobs: list[PostgresCommit]) -> None:
        """Answers every job once it is committed, or raises; then nothing was committed.
        Unavailable: nobody knows."""
        ending: psycopg.Cursor[tuple[object, ...]] | None = None
        try:
            with db.pipeline():
                db.execute(BEGIN)
                answers = self._all_applied(db, [job.prepared for job in jobs])
                wrote = any(isinstance(answer, Changes) for answer in answers)
                self.trips += 1
                ending = db.execute("COMMIT" if wrote else "ROLLBACK")
                if wrote:
                    # Behind the commit, so that nobody waits for its disk to be told.
                    db.execute("SELECT pg_notify(%s, %s)", (CHANNEL, jobs[0].prepared.batch.root))
        except psycopg.Error as error:
            known = ending is not None and ending.statusmessage in ("COMMIT", "ROLLBACK")
            if ending is not None and not known and (db.closed or not error.sqlstate):
                raise self._unknown(error) from None
            if not known:
                raise  # else all was well, and only the hint got lost
        for job, answer in zip(jobs, answers, strict=True):
            job.answer = answer.seq if isinstance(answer, Changes) else answer

    def _unknown(self, error: psycopg.Error) -> Unavailable:
        failure = translated(error, self._place.name)
        return Unavailable(
            f"the connection was lost during a commit, which may have landed: {failure}",
            outcome_unknown=True,
            retry_after=RETRY_SECONDS,
        )

    def _all_applied(self, db: Db, batches: Sequence[Prepared]) -> list[Changes | int | Exception]:
        """For each: what was written, but is not committed yet; or its number, or why not."""
        answers: list[Changes | int | Exception] = []
        numbers: Numbers | None = None
        for prepared in batches:
            batch = prepared.batch
            self.trips += 1
            held, numbers = read(db, batch, needs_of(batch), numbers)
            if held.number is not None:
                answers.append(held.number)
                continue
            try:
                changes = decide(batch, held)
            except (Conflict, Invalid) as error:
                answers.append(error)
                continue
            write(db, prepared, changes, numbers)
            answers.append(changes)
        return answers


def _tell(jobs: Iterable[PostgresCommit]) -> None:
    """Answer those who wait, in whatever event loop."""
    here = asyncio.get_running_loop()
    for job in jobs:
        loop = job.waiting.get_loop()
        if loop is here:
            _answer(job)
        else:
            with contextlib.suppress(RuntimeError):  # it was closed: nobody waits
                loop.call_soon_threadsafe(_answer, job)


def _answer(job: PostgresCommit) -> None:
    if job.waiting.done():
        return
    if isinstance(job.answer, int):
        job.waiting.set_result(job.answer)
    else:
        job.waiting.set_exception(job.answer or Unavailable("the commit got no answer; try again"))
