"""Commits. Those that wait together share one transaction, and so two trips and one sync of the
server's disk: those of one root, one after the other; and those of several roots, as long as nobody
waits for another. What cannot go together goes alone."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import Counter, deque
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import psycopg
from psycopg import errors

from standfast.errors import Conflict, Invalid, Unavailable
from standfast.stores.commit import Changes, decide
from standfast.stores.postgres.changes import WrittenBatch, write
from standfast.stores.postgres.connection import DatabasePlace, Db, is_spread, roll_back
from standfast.stores.postgres.failures import AGAIN, RETRY_SECONDS, translated
from standfast.stores.postgres.held import Numbers, read
from standfast.stores.postgres.news import CHANNEL
from standfast.stores.postgres.pool import ThreadPool
from standfast.stores.prepared import Prepared, prepare
from standfast.types import Batch

# Whatever the database's default is: what is read behind the lock must be what is there by then.
BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
GROUP_MAX = 64  # of one root
GROUP_ROOTS = 16
GROUP_BYTES_MAX = 8 * 1024 * 1024
LIGHT_BYTES = 64 * 1024  # what is larger goes without other roots
TRIES = 5
ENDED = "the program that committed this is ending; commit it again"
COMMIT_SECONDS = 30.0
_NOTIFY = "SELECT pg_notify(%s, root) FROM unnest(%s::text[]) AS root"


@dataclass(slots=True, eq=False)
class PostgresCommit:
    """A batch on its way, and who waits for it."""

    prepared: Prepared
    waiting: asyncio.Future[int]
    answer: int | Exception | None = None

    @property
    def root(self) -> str:
        return self.prepared.batch.root

    @property
    def is_light(self) -> bool:
        """May others wait for it?"""
        batch = self.prepared.batch
        drops = batch.erase or batch.sweep or batch.drop_space
        return not drops and self.prepared.size < LIGHT_BYTES


Line = list[PostgresCommit]  # of one root


class CommitQueue:
    """One line of commits a root, and as many that work them off as there are connections."""

    def __init__(self, pool: ThreadPool, place: DatabasePlace) -> None:
        self._pool = pool
        self._place = place
        self._lock = threading.Lock()  # stores are used from one event loop, or from several
        self._lines: dict[str, deque[PostgresCommit]] = {}
        self._ready: deque[str] = deque()  # roots with a line that nobody works on
        self._workers: Counter[asyncio.AbstractEventLoop] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()
        self.trips = 0  # how often a commit has gone to the server and back

    async def commit(self, batch: Batch) -> int:
        """Whoever stops waiting does not stop the commit."""
        self._pool.check_open()
        loop = asyncio.get_running_loop()
        job = PostgresCommit(prepare(batch), loop.create_future())
        with self._lock:
            if batch.root not in self._lines:
                self._lines[batch.root] = deque()
                self._ready.append(batch.root)
            self._lines[batch.root].append(job)
            starts = bool(self._ready) and self._workers[loop] < self._pool.size
            self._workers[loop] += starts
        if starts:
            task = loop.create_task(self._work(loop))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return await job.waiting

    async def wait(self) -> None:
        """Until nothing is under way in this event loop."""
        loop = asyncio.get_running_loop()
        while tasks := [task for task in self._tasks if task.get_loop() is loop]:
            await asyncio.wait(tasks)

    async def _work(self, loop: asyncio.AbstractEventLoop) -> None:
        lines: list[Line] = []
        try:
            while lines := self._next(loop):
                left = await self._commit(lines)
                self._let_go(line for line in lines if line not in left)
                lines = left
                while lines:  # each waits for whoever holds its root, and nobody for it
                    await self._commit(lines[-1:])
                    self._let_go([lines.pop()])
        except BaseException:  # this event loop is being ended; others may wait in theirs
            _tell(self._abandoned(lines, loop))
            raise

    def _next(self, loop: asyncio.AbstractEventLoop) -> list[Line]:
        """What goes together: half of what waits, so that something is left for others who are
        free. None, and the worker ends, if nothing waits."""
        lines: list[Line] = []
        with self._lock:
            share = min(GROUP_ROOTS, -(-len(self._ready) // 2))
            while len(lines) < share:
                is_light = self._lines[self._ready[0]][0].is_light
                if lines and not is_light:
                    break
                lines.append(self._taken(self._ready.popleft()))
                if not is_light:
                    break
            if not lines:
                self._leave(loop)
        return lines

    def _taken(self, root: str) -> Line:
        waiting, line, size = self._lines[root], Line(), 0
        while waiting and len(line) < GROUP_MAX and size < GROUP_BYTES_MAX:
            if line and not (line[0].is_light and waiting[0].is_light):
                break
            line.append(waiting.popleft())
            size += line[-1].prepared.size
        return line

    def _let_go(self, lines: Iterable[Line]) -> None:
        with self._lock:
            for line in lines:
                if self._lines[line[0].root]:
                    self._ready.append(line[0].root)
                else:
                    del self._lines[line[0].root]

    def _leave(self, loop: asyncio.AbstractEventLoop) -> None:
        self._workers[loop] -= 1
        if not self._workers[loop]:
            del self._workers[loop]

    def _abandoned(self, lines: Iterable[Line], loop: asyncio.AbstractEventLoop) -> Line:
        """Everybody whom nobody will answer any more."""
        with self._lock:
            self._leave(loop)
            jobs = [job for line in lines for job in line]
            roots = [line[0].root for line in lines]
            if not self._workers:
                roots += self._ready
                self._ready.clear()
            for root in roots:
                jobs += self._lines.pop(root)
        for job in jobs:
            job.answer = Unavailable(ENDED, outcome_unknown=True)
        return jobs

    async def _commit(self, lines: list[Line]) -> list[Line]:
        """Everybody is told, but those of several roots that are left: to be had one by one."""
        left: list[Line] = []
        jobs = [job for line in lines for job in line]
        try:
            left = await self._pool.run(
                lambda db: self._committed(db, lines), seconds=COMMIT_SECONDS
            )
        except Exception as error:  # whatever it is, those who wait have to hear of it
            for job in jobs:
                job.answer = job.answer if job.answer is not None else error
        waiting = {id(job) for line in left for job in line}
        _tell(job for job in jobs if id(job) not in waiting)
        return left

    # On a thread

    def _committed(self, db: Db, lines: Iterable[Line]) -> list[Line]:
        """All in one transaction; if that fails for the sake of one, each root in its own, and at
        last each job. Who has its answer from an earlier try keeps it. Left is what another
        process works on."""
        open_ = [line for line in lines if any(job.answer is None for job in line)]
        if not is_spread(db):
            return self._together(db, open_) if open_ else []
        for line in open_:  # a transaction is of one shard
            self._together(db, [line])
        return []

    def _together(self, db: Db, lines: list[Line]) -> list[Line]:
        jobs = [[job for job in line if job.answer is None] for line in lines]
        try:
            there = self._transaction(db, jobs)
        except psycopg.Error as error:
            roll_back(db, failed=True)
            if isinstance(error, errors.ReadOnlySqlTransaction):
                db.close()  # another server takes writes now
            if db.closed:
                raise  # nothing was committed: the pool tries again with another connection
            if len(lines) == 1:
                for job in jobs[0]:
                    self._committed_alone(db, job)
            else:
                for line in lines:
                    self._together(db, [line])
            return []
        return [line for line in lines if line[0].root not in there]

    def _committed_alone(self, db: Db, job: PostgresCommit) -> None:
        for attempt in range(1, TRIES + 1):
            try:
                self._transaction(db, [[job]])
            except psycopg.Error as error:
                roll_back(db, failed=True)
                if db.closed:
                    raise
                if isinstance(error, AGAIN) and attempt < TRIES:
                    continue
                job.answer = translated(error, self._place.name)
            return

    def _transaction(self, db: Db, lines: list[Line]) -> Container[str]:
        """Answers every job once it is committed, or raises; then nothing was committed.
        Unavailable: nobody knows. The roots that could be had at once, if there are several."""
        ending: psycopg.Cursor[tuple[object, ...]] | None = None
        told: list[tuple[PostgresCommit, Changes | int | Exception]] = []
        numbers: dict[str, Numbers] = {}
        try:
            with db.pipeline():
                db.execute(BEGIN)
                for wave in zip_longest(*lines):
                    told += self._applied(db, [job for job in wave if job], numbers)
                wrote = {job.root for job, answer in told if isinstance(answer, Changes)}
                self.trips += 1
                ending = db.execute("COMMIT" if wrote else "ROLLBACK")
                if wrote:
                    # Behind the commit, so that nobody waits for its disk to be told.
                    db.execute(_NOTIFY, (CHANNEL, sorted(wrote)))
        except psycopg.Error as error:
            known = ending is not None and ending.statusmessage in ("COMMIT", "ROLLBACK")
            if ending is not None and not known and (db.closed or not error.sqlstate):
                raise self._unknown(error) from None
            if not known:
                raise  # else all was well, and only the hint got lost
        for job, answer in told:
            job.answer = answer.seq if isinstance(answer, Changes) else answer
        return numbers

    def _unknown(self, error: psycopg.Error) -> Unavailable:
        failure = translated(error, self._place.name)
        return Unavailable(
            f"the connection was lost during a commit, which may have landed: {failure}",
            outcome_unknown=True,
            retry_after=RETRY_SECONDS,
        )

    def _applied(
        self, db: Db, jobs: Sequence[PostgresCommit], numbers: dict[str, Numbers]
    ) -> list[tuple[PostgresCommit, Changes | int | Exception]]:
        """One of each root. For each: what was written, but is not committed yet; or its number,
        or why not."""
        self.trips += 1
        answers: list[tuple[PostgresCommit, Changes | int | Exception]] = []
        written: list[WrittenBatch] = []
        found = read(db, [job.prepared.batch for job in jobs], numbers)
        for job, held in zip(jobs, found, strict=True):
            if held is None:
                continue
            if isinstance(held, Unavailable):
                answers.append((job, held))
                continue
            if held.number is not None:
                answers.append((job, held.number))
                continue
            try:
                changes = decide(job.prepared.batch, held)
            except (Conflict, Invalid) as error:
                answers.append((job, error))
                continue
            written.append(WrittenBatch(job.prepared, changes, numbers[job.root]))
            answers.append((job, changes))
        write(db, written)
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
