"""Several processes that serve one store on one port: begun, ended and replaced together.

They share the listening socket, so the system gives each connection to one of them. What they share
otherwise is in the store: leases, limits, marks of repeated writes, keys.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Protocol

from standfast.errors import Invalid, StandfastError
from standfast.types.frozen import frozen
from standfast.wiring import shares_with_processes

WORKERS_MAX = 64
AGAIN_SECONDS = 1.0  # before a process that ended by itself is replaced
FAILED = 1


@frozen(kw_only=False)
class Role:
    """What a process is among those that serve the store. The first one greets, and makes the first
    key."""

    shared: bool  # there are others
    first: bool
    started: Callable[[], None]  # to be called when requests can come


class RunWorker(Protocol):
    def __call__(self, started: Callable[[], None], *, first: bool = True) -> None:
        """Serve until told to stop; ``started`` is called when requests can come."""


def check_workers(workers: int, store: str | None, profile: str | None) -> None:
    """Invalid if so many processes cannot serve this store."""
    if not 1 <= workers <= WORKERS_MAX:
        raise Invalid(f"{workers} workers: say from 1 to {WORKERS_MAX}")
    if workers == 1:
        return
    if not hasattr(os, "fork"):
        raise Invalid("several workers need a system that can fork; run one, or several servers")
    if not shares_with_processes(store, profile):
        raise Invalid(
            "this store is opened by one process at a time; run one worker, or use SQLite or "
            "PostgreSQL"
        )


def _tell(pipe: int | None) -> None:
    if pipe is not None:
        os.write(pipe, b"+")


class Crew:
    """The parent of the workers. It opens nothing itself: threads do not cross a fork."""

    def __init__(self, run: RunWorker, size: int) -> None:
        self._run = run
        self._size = size
        self._pids: set[int] = set()
        self._ending = False
        # Nobody writes into it: it ends when the parent does, however that may be.
        self._life, self._lifeline = os.pipe()

    def work(self) -> None:
        """Until told to stop. StandfastError if the first worker cannot start."""
        before = {sig: signal.signal(sig, self._end) for sig in (signal.SIGINT, signal.SIGTERM)}
        try:
            if self._begin_first():
                for _ in range(self._size - 1):
                    self._begin()
            self._watch()
        finally:
            for sig, handler in before.items():
                signal.signal(sig, handler)

    def _begin_first(self) -> bool:
        """It makes tables and the first key, so the others wait for it. False if it failed."""
        read, write = os.pipe()
        self._begin(first=True, told=write)
        os.close(write)
        with os.fdopen(read, "rb") as answer:
            return answer.read(1) == b"+"

    def _begin(self, *, first: bool = False, told: int | None = None) -> None:
        pid = os.fork()
        if pid:
            self._pids.add(pid)
            return
        code = FAILED
        try:
            for sig in (signal.SIGINT, signal.SIGTERM):
                signal.signal(sig, signal.SIG_DFL)
            os.close(self._lifeline)
            threading.Thread(target=self._outlive_nobody, daemon=True).start()
            self._run(partial(_tell, told), first=first)
            code = 0
        except StandfastError as error:
            print(f"standfast: {error}", file=sys.stderr)
            code = error.exit_code
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def _outlive_nobody(self) -> None:
        """In a worker: who would be left behind by a parent that was killed ends as told."""
        os.read(self._life, 1)
        os.kill(os.getpid(), signal.SIGTERM)

    def _watch(self) -> None:
        """Replace who ends without being told; if nobody can start, end."""
        begun = time.monotonic()
        while self._pids:
            try:
                pid, status = os.wait()
            except InterruptedError:
                continue
            except ChildProcessError:
                return
            self._pids.discard(pid)
            if self._ending:
                continue
            code = os.waitstatus_to_exitcode(status)
            if code > 0 and time.monotonic() - begun < AGAIN_SECONDS:
                self._end(signal.SIGTERM, None)
                raise SystemExit(code)
            print("standfast: a worker ended; another takes its place", file=sys.stderr)
            time.sleep(AGAIN_SECONDS)
            if not self._ending:
                self._begin()

    def _end(self, sig: int, _: FrameType | None) -> None:
        self._ending = True
        for pid in self._pids:
            try:
                os.kill(pid, sig)
            except ProcessLookupError:
                continue
