"""Threads with a connection each: a call runs on one of them and has its connection for itself.

A call that a server does not answer is given up: its connection is cut, so that the thread is free
again, and whoever waited is told. Those that wait for a thread are given up after as long. So a
server that hangs holds nobody longer than that, and nothing piles up.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import TypeVar, cast

import psycopg

from standfast.errors import Unavailable
from standfast.ports import check_process
from standfast.stores.postgres.connection import (
    DatabasePlace,
    Db,
    connect,
    cut,
    is_lost,
    roll_back,
)
from standfast.stores.postgres.failures import RETRY_SECONDS, speaking_of

T = TypeVar("T")
WAITING_MAX = 1000  # calls that wait for a thread
CALL_SECONDS = 10.0  # then a server that does not answer is given up
LONG_SECONDS = 300.0  # for what may rightly take long
CUT_SECONDS = 1.0  # until a connection that was cut is given up by its thread


class ThreadPool:
    """``size`` connections, made when they are needed and again when they were lost."""

    def __init__(self, place: DatabasePlace, size: int, name: str) -> None:
        self._place = place
        self.size = size
        self._threads = ThreadPoolExecutor(size, thread_name_prefix=f"standfast-{name}")
        self._local = threading.local()
        self._guard = threading.Lock()
        self._open: set[Db] = set()
        self._spare: Db | None = None
        self._waiting = 0
        self._closed = False
        self._process = os.getpid()

    def spare(self, db: Db) -> None:
        """A connection that is there already, for the first thread that needs one."""
        self._spare = db
        self._open.add(db)

    async def run(
        self, work: Callable[[Db], T], *, again: bool = True, seconds: float | None = None
    ) -> T:
        """Do it on one of the threads. With ``again`` it may run twice, if the connection turns
        out to be lost. Unavailable: there is none, or no answer in time."""
        seconds = CALL_SECONDS if seconds is None else seconds
        self.check_open()
        if self._waiting >= WAITING_MAX:
            raise self._too_slow("too many calls wait for it")
        loop = asyncio.get_running_loop()
        call = _Call(loop.time() + seconds, loop)
        self._waiting += 1
        # In a copy of the caller's context: what is noted there is noted for the caller.
        do = partial(copy_context().run, self._do, call, work, again)
        self._threads.submit(self._answer, call, do)
        call.timer = loop.call_later(seconds, self._give_up, call)
        return cast(T, await call.answer)

    def _give_up(self, call: _Call) -> None:
        call.give_up()
        call.timer = call.loop.call_later(CUT_SECONDS, self._let_go, call)

    def _let_go(self, call: _Call) -> None:
        """It is still trying to connect, and will not begin any more."""
        if not call.answer.done():
            call.answer.set_exception(self._too_slow("no connection in time"))

    def _answer(self, call: _Call, do: Callable[[], T]) -> None:
        """On a thread. Whoever stops waiting does not stop what was begun."""
        answer: T | None = None
        failure: BaseException | None = None
        try:
            answer = do()
        except BaseException as error:
            failure = error
        with contextlib.suppress(RuntimeError):  # the loop was closed: nobody waits
            call.loop.call_soon_threadsafe(self._done, call, answer, failure)

    def _done(self, call: _Call, answer: object, failure: BaseException | None) -> None:
        self._waiting -= 1
        if call.timer is not None:
            call.timer.cancel()
        if call.answer.done():
            return
        if failure is not None:
            call.answer.set_exception(failure)
        else:
            call.answer.set_result(answer)

    def _do(self, call: _Call, work: Callable[[Db], T], again: bool) -> T:
        before = self._connected() or self._spare is not None
        with speaking_of(self._place.name):
            try:
                return self._once(call, work)
            except psycopg.Error:
                if call.given_up:
                    raise self._too_slow("no answer in time") from None
                if not (again and before) or self._connected():
                    raise
            return self._once(call, work)  # with a new connection: the old one was lost

    def _once(self, call: _Call, work: Callable[[Db], T]) -> T:
        if call.is_late:
            raise self._too_slow("no connection was free in time")
        db = self._connection()
        if not call.begins(db):
            raise self._too_slow("no connection was free in time")
        try:
            return work(db)
        except psycopg.errors.ReadOnlySqlTransaction:
            db.close()  # another server takes writes now
            raise
        except psycopg.Error:
            call.ends()
            roll_back(db, failed=True)
            raise
        finally:
            call.ends()
            roll_back(db)
            if db.closed:
                self._forget(db)

    def _too_slow(self, why: str) -> Unavailable:
        return Unavailable(
            f"{self._place.name} is too slow: {why}; try again",
            retry_after=RETRY_SECONDS,
            slow=True,
        )

    def _connected(self) -> bool:
        """Does this thread still have a connection that works?"""
        db: Db | None = getattr(self._local, "db", None)
        return db is not None and not db.closed

    def _connection(self) -> Db:
        self.check_open()
        db: Db | None = getattr(self._local, "db", None)
        if db is not None and is_lost(db):
            self._forget(db)
            db.close()
            db = None
        if db is None or db.closed:
            with self._guard:
                db, self._spare = self._spare, None
            if db is not None and is_lost(db):
                self._forget(db)
                db.close()
            if db is None or db.closed:
                db = connect(self._place)
            self._local.db = db
            with self._guard:
                self._open.add(db)
        return db

    def _forget(self, db: Db) -> None:
        self._local.db = None
        with self._guard:
            self._open.discard(db)

    def check_open(self) -> None:
        check_process(self._process)
        if self._closed:
            raise Unavailable("this store is closed; open it again")

    def close(self) -> None:
        """Finish what was given, then end. Blocks."""
        self._closed = True
        self._threads.shutdown(wait=True)
        for db in self._open:
            with contextlib.suppress(psycopg.Error):
                db.close()


class _Call:
    """One call, as seen from the event loop that waits for it and from the thread that does it."""

    def __init__(self, deadline: float, loop: asyncio.AbstractEventLoop) -> None:
        self._deadline = deadline
        self.loop = loop
        self.answer: asyncio.Future[object] = loop.create_future()
        self.timer: asyncio.TimerHandle | None = None
        self._lock = threading.Lock()
        self._db: Db | None = None
        self.given_up = False

    @property
    def is_late(self) -> bool:
        return self.given_up or self.loop.time() >= self._deadline

    def begins(self, db: Db) -> bool:
        """False if it was given up already: then nothing may be begun."""
        with self._lock:
            self._db = None if self.given_up else db
            return not self.given_up

    def ends(self) -> None:
        with self._lock:
            self._db = None

    def give_up(self) -> None:
        with self._lock:
            self.given_up = True
            if self._db is not None:
                cut(self._db)
