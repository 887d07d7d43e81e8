"""Threads that read, and the one that read last is the first to read again.

Each has a connection of its own, with pages and records that it has seen. The pool of the standard
library hands work round in a circle, so that one question after the other finds each time another
connection, which has to read everything anew.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any

Job = tuple[Future[Any], Callable[..., Any], tuple[Any, ...]]


class Readers:
    """Up to so many threads, started when they are needed. From any thread."""

    def __init__(self, most: int, name: str) -> None:
        self._most = most
        self._name = name
        self._lock = Lock()
        self._threads: list[Thread] = []
        self._idle: list[SimpleQueue[Job | None]] = []  # who read last is the last
        self._waiting: deque[Job] = deque()  # while all of them read
        self._closed = False

    def submit(self, work: Callable[..., Any], *args: Any) -> Future[Any]:
        """As ``Executor.submit``."""
        job: Job = (Future(), work, args)
        with self._lock:
            if self._closed:
                raise RuntimeError("cannot read after the end")
            if self._idle:
                self._idle.pop().put(job)
            elif len(self._threads) < self._most:
                self._start(job)
            else:
                self._waiting.append(job)
        return job[0]

    def _start(self, job: Job) -> None:
        desk: SimpleQueue[Job | None] = SimpleQueue()
        name = f"{self._name}_{len(self._threads)}"
        # Whoever never closes a store must not wait for its readers when the program ends.
        thread = Thread(target=self._read, args=(desk,), name=name, daemon=True)
        desk.put(job)
        thread.start()
        self._threads.append(thread)

    def _read(self, desk: SimpleQueue[Job | None]) -> None:
        while (job := desk.get()) is not None:
            while job is not None:
                tell = _done(job)
                # Before anybody is told: who asks on for it finds this thread waiting.
                job = self._next(desk)
                tell()
                del tell  # it may hold much, and the next may take long to come

    def _next(self, desk: SimpleQueue[Job | None]) -> Job | None:
        """What waits; if nothing does, this thread waits for it."""
        with self._lock:
            if self._waiting:
                return self._waiting.popleft()
            self._idle.append(desk)
            if self._closed:
                desk.put(None)
            return None

    def shutdown(self) -> None:
        """Ends when everything that was handed in has been done."""
        with self._lock:
            self._closed = True
            for desk in self._idle:
                desk.put(None)
            threads = list(self._threads)
        for thread in threads:
            thread.join()


def _done(job: Job) -> Callable[[], None]:
    """It is done, and whoever waits for it is told when this is called."""
    future, work, args = job
    if not future.set_running_or_notify_cancel():
        return _nothing
    try:
        return partial(future.set_result, work(*args))
    except BaseException as error:
        return partial(future.set_exception, error)
    finally:
        del job, future  # else an error holds who waits for it, and is held by it


def _nothing() -> None:
    pass
