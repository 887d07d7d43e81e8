"""Work that takes longer than a request should: begun here, looked at elsewhere.

A server that is started again knows nothing of it. That is safe: importing, re-embedding,
exporting and consolidating may all be begun again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import IO, Any, Literal

from recollect.errors import NotFound, RecollectError
from recollect.interfaces.http.answers import json_bytes
from recollect.interfaces.http.callers import Caller
from recollect.interfaces.http.problems import TooMany, body_of, described, told
from recollect.interfaces.rendering import as_json
from recollect.ports import Clock, NewId
from recollect.types import Receipt

log = logging.getLogger(__name__)

KEPT = timedelta(hours=1)
KEPT_MAX = 200
RUNNING_MAX = 4  # for one caller
PULSE_SECONDS = 15.0

State = Literal["running", "done", "failed"]
Work = Callable[["Job"], Awaitable[Receipt]]


@dataclass(slots=True, kw_only=True)
class Job:
    """One piece of work. ``file`` is what it wrote, where it wrote something."""

    id: str
    operation: str
    owner: str
    begun_at: datetime
    state: State = "running"
    progress: int = 0
    ended_at: datetime | None = None
    receipt: Receipt | None = None
    problem: dict[str, Any] | None = None
    file: IO[bytes] | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def shown(self) -> dict[str, Any]:
        done = self.state == "done"
        return {
            "id": self.id,
            "operation": self.operation,
            "state": self.state,
            "progress": self.progress,
            "begun_at": as_json(self.begun_at),
            "ended_at": as_json(self.ended_at),
            "receipt": as_json(self.receipt),
            "problem": self.problem,
            "file": f"/v1/work/{self.id}/file" if done and self.file is not None else None,
        }

    def advance(self, progress: int) -> None:
        self.progress = progress
        self.announce()

    def announce(self) -> None:
        """Wake whoever watches; who watches next waits for what comes next."""
        changed, self.changed = self.changed, asyncio.Event()
        changed.set()

    async def wait(self, seconds: float) -> None:
        """Until something changed, or for so long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.changed.wait()

    def drop(self) -> None:
        if self.file is not None:
            self.file.close()
            self.file = None


class Jobs:
    """All work of this server. What is over is kept for a while."""

    def __init__(self, clock: Clock, new_id: NewId) -> None:
        self._clock = clock
        self._new_id = new_id
        self._jobs: dict[str, Job] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = False

    def begin(self, caller: Caller, operation: str, work: Work) -> Job:
        self._forget_old()
        running = [j for j in self._jobs.values() if j.owner == caller.name and not j.ended_at]
        if len(running) >= RUNNING_MAX:
            raise TooMany(f"{RUNNING_MAX} pieces of work are running; wait for one to end", 10)
        job = Job(id=self._new_id(), operation=operation, owner=caller.name, begun_at=self._clock())
        self._jobs[job.id] = job
        task = asyncio.create_task(self._run(job, work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return job

    def get(self, caller: Caller, id_: str) -> Job:
        """Somebody else's work is not found, like work that never was."""
        self._forget_old()
        job = self._jobs.get(id_)
        if job is None or (job.owner != caller.name and not caller.is_master):
            raise NotFound(f"there is no work {id_!r}, or it ended long ago")
        return job

    def all_of(self, caller: Caller) -> list[Job]:
        self._forget_old()
        return [j for j in self._jobs.values() if j.owner == caller.name or caller.is_master]

    async def watch(self, job: Job) -> AsyncIterator[bytes]:
        """Server-sent events: one at once, one for each change, until it is over."""
        while True:
            name = "progress" if job.state == "running" else job.state
            yield b"event: " + name.encode() + b"\ndata: " + json_bytes(job.shown()) + b"\n\n"
            if job.state != "running" or self._closing:
                return
            progress = job.progress
            while (job.state, job.progress) == ("running", progress) and not self._closing:
                await job.wait(PULSE_SECONDS)
                yield b": still there\n\n"

    async def _run(self, job: Job, work: Work) -> None:
        try:
            job.receipt = await work(job)
            job.state = "done"
        except RecollectError as error:
            status, more = described(error)
            job.problem, job.state = body_of(status, told(error), **more), "failed"
        except Exception as error:
            log.error("%s failed: %s", job.operation, type(error).__name__)
            job.problem = body_of(500, "the server failed to do this; it was logged")
            job.state = "failed"
        except asyncio.CancelledError:
            job.problem = body_of(503, "the server was stopped meanwhile; begin again")
            job.state = "failed"
        job.ended_at = self._clock()
        job.announce()

    def stop_watching(self) -> None:
        """The server is about to end: whoever watches is let go."""
        self._closing = True
        for job in self._jobs.values():
            job.announce()

    async def close(self) -> None:
        self.stop_watching()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for job in self._jobs.values():
            job.drop()

    def _forget_old(self) -> None:
        over = [job for job in self._jobs.values() if job.ended_at]
        old = [j for j in over if j.ended_at and self._clock() - j.ended_at > KEPT]
        for job in {j.id: j for j in (*old, *over[: max(0, len(over) - KEPT_MAX)])}.values():
            job.drop()
            del self._jobs[job.id]
