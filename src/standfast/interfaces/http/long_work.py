"""Work that takes longer than a request should: begun here, looked at elsewhere.

It ends with its server. That is safe: importing, re-embedding, exporting and consolidating may all
be begun again; and a server that is started again says that it has to be.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import IO, Any, Literal

from standfast.access.keys import still_works
from standfast.access.quotas import TooMany
from standfast.access.shares import Company, TenantPlaces, tenants_of
from standfast.errors import Conflict, NotFound, StandfastError
from standfast.interfaces.caller import Caller
from standfast.interfaces.http.answers import json_bytes, length_of, outward
from standfast.interfaces.http.bodies import LINES
from standfast.interfaces.http.pace import Pace
from standfast.interfaces.http.problems import body_of, described, told
from standfast.interfaces.render import as_json
from standfast.memory import AsyncMemory
from standfast.memory.beside import beside
from standfast.memory.workbook import ALIVE, Entry, Workbook, short
from standfast.types import Receipt

log = logging.getLogger(__name__)

KEPT = timedelta(hours=1)
KEPT_MAX = 50  # of one tenant
FILES_MAX = 4  # of one tenant: each is as large as what was exported
LISTED_ITEMS_MAX = 100
RUNNING_MAX = 4  # for one tenant
PULSE_EVERY = 15  # looks
LOOK_SECONDS = 2.0  # at work that another server does
REVOKED_SECONDS = 1.0  # how often it is asked whether the key still works
NOTED = ("operation", "owner", "bound", "state", "progress", "begun_at", "ended_at", "problem")

State = Literal["running", "done", "failed", "cancelled"]
Work = Callable[["Job"], Coroutine[Any, Any, Receipt]]

STOPPED = "the server that did this was stopped meanwhile; begin again"
REVOKED = "the key that began this was revoked or has expired"
CANCELLED = "this was cancelled; what it had done stays, and it may be begun again"
ELSEWHERE = "another server does this work; cancel it there"
GONE = "what this wrote went with the server that wrote it; begin again"


@dataclass(slots=True, kw_only=True)
class Job:
    """One piece of work. ``file`` is what it wrote, where it wrote something. ``here``: this
    server does it; else it is only what the workbook says of it."""

    id: str
    operation: str
    owner: str
    begun_at: datetime
    bound: tuple[str, ...] = ()  # the scopes that whoever began it could not leave
    forgotten: dict[str, int] = field(default_factory=dict)  # as it was when it began
    state: State = "running"
    progress: int = 0
    ended_at: datetime | None = None
    receipt: Any = None  # as JSON
    problem: dict[str, Any] | None = None
    file: IO[bytes] | None = None
    media: str = LINES  # what the file is
    here: bool = True
    tenants: tuple[str, ...] = ()
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
            "receipt": self.receipt,
            "problem": self.problem,
            "file": f"/v1/work/{self.id}/file" if done and self.file is not None else None,
        }

    def listed(self) -> dict[str, Any]:
        """The same among others: of a long receipt, only how many things it tells of."""
        shown = self.shown()
        count = len(self.receipt["items"]) if self.receipt else 0
        if count > LISTED_ITEMS_MAX:
            note = f"{count:,} items: GET /v1/work/{self.id} lists them"
            notes = [*self.receipt["notes"], note]
            shown["receipt"] = {**self.receipt, "items": [], "survivors": [], "notes": notes}
        return shown

    def advance(self, progress: int) -> None:
        self.progress = progress
        self.announce()

    def counted(self, done: int, _: int) -> None:
        self.advance(done)

    def announce(self) -> None:
        """Wake whoever watches; who watches next waits for what comes next."""
        changed, self.changed = self.changed, asyncio.Event()
        changed.set()

    def end(self, state: State, problem: dict[str, Any] | None, at: datetime) -> None:
        """However often it is said, the first word counts."""
        if self.ended_at is None:
            self.state, self.problem, self.ended_at = state, problem, at
            self.announce()

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

    def __init__(self, memory: AsyncMemory, company: Company | None = None) -> None:
        """``company``: who uses the server beside whoever began some work."""
        self._engine = memory.engine
        self._pace = Pace(company or Company())
        self._book = Workbook(self._engine)
        self._jobs: dict[str, Job] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}  # by the work's id
        self._closing = False
        self.uploads = TenantPlaces(RUNNING_MAX, "uploads of this tenant arrive at once")

    def check_room(self, caller: Caller) -> None:
        """TooMany if this caller, or another key of the same tenant, has begun as much as one
        may."""
        tenants = {*tenants_of(caller.engine)}
        running = [j for j in self._jobs.values() if not j.ended_at and tenants & {*j.tenants}]
        if len(running) >= RUNNING_MAX:
            raise TooMany(f"{RUNNING_MAX} pieces of work are running; wait for one to end", 10)

    async def begin(self, caller: Caller, operation: str, work: Work) -> Job:
        self.check_room(caller)
        id_, now = self._engine.new_id(), self._engine.now()
        bound: tuple[str, ...] = caller.engine.bound
        job = Job(
            id=id_,
            operation=operation,
            owner=caller.name,
            begun_at=now,
            bound=bound,
            tenants=tenants_of(caller.engine),
        )
        self._jobs[job.id] = job
        job.forgotten = await self._book.forgotten(bound)
        await self._forget_old()
        await self._note(job)
        task = asyncio.create_task(self._run(job, work))
        self._tasks[job.id] = task
        if caller.key is not None:
            watching = asyncio.create_task(self._end_with_key(job, task))
            task.add_done_callback(lambda _: watching.cancel())
        # Also a task that was cancelled before its first step has ended.
        task.add_done_callback(lambda _: self._stopped(job))
        task.add_done_callback(lambda _: self._tasks.pop(job.id, None))
        return job

    async def get(self, caller: Caller, id_: str) -> Job:
        """Somebody else's work is not found, like work that never was."""
        await self._forget_old()
        job = self._jobs.get(id_) or self._remembered(await self._book.read(id_)).get(id_)
        if job is None or not _may_see(caller, job):
            raise NotFound(f"there is no work {id_!r}, or it ended long ago")
        return job

    async def file_of(self, caller: Caller, id_: str) -> tuple[IO[bytes], str]:
        """What an export wrote, and of which type it is. One that may hold what was forgotten since
        is gone."""
        job = await self.get(caller, id_)
        if job.file is None or job.state != "done":
            raise NotFound(
                f"work {id_!r} has written no file, or not yet, or {FILES_MAX} others since"
            )
        if await self._book.forgotten(job.bound) != job.forgotten:
            job.drop()
            raise NotFound(f"something was forgotten since work {id_!r} began; export again")
        return job.file, job.media

    async def all_of(self, caller: Caller) -> list[Job]:
        await self._forget_old()
        known = {**self._remembered(await self._book.read()), **self._jobs}
        return [job for _, job in sorted(known.items()) if _may_see(caller, job)]

    async def cancel(self, caller: Caller, id_: str) -> Job:
        """End it where it is. What is over stays as it ended."""
        job = await self.get(caller, id_)
        if job.state != "running":
            return job
        if not job.here:
            raise Conflict(ELSEWHERE, kind="work")
        job.end("cancelled", body_of(409, CANCELLED, error="Conflict"), self._engine.now())
        if task := self._tasks.get(id_):
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        await self._note(job)
        return job

    async def look_again(self, caller: Caller, job: Job, seconds: float) -> Job:
        """The job as it is when something has changed, or after so long."""
        await job.wait(seconds if job.here else min(seconds, LOOK_SECONDS))
        return job if job.here else await self.get(caller, job.id)

    async def watch(self, caller: Caller, job: Job) -> AsyncIterator[bytes]:
        """Server-sent events: one at once, one for each change, until it is over."""
        while True:
            name = "progress" if job.state == "running" else job.state
            shown = job.shown()
            data = await beside(length_of(shown), partial(_as_data, shown))
            yield b"event: %b\ndata: %b\n\n" % (name.encode(), data)
            if job.state != "running" or self._closing:
                return
            progress, pulses = job.progress, 0
            while (job.state, job.progress) == ("running", progress) and not self._closing:
                job = await self.look_again(caller, job, REVOKED_SECONDS)
                if not await self._may_go_on(caller.name):
                    return
                pulses += 1
                if pulses % PULSE_EVERY == 1:
                    yield b": still there\n\n"

    async def _run(self, job: Job, work: Work) -> None:
        beating = asyncio.create_task(self._beat(job))
        try:
            receipt = await self._pace.keeping(work(job), job.tenants[0])
            job.receipt = await beside(length_of(receipt), partial(as_json, receipt))
            job.end("done", None, self._engine.now())
        except StandfastError as error:
            status, more = described(error)
            job.end("failed", body_of(status, told(error), **more), self._engine.now())
        except Exception as error:
            log.error("%s failed: %s", job.operation, type(error).__name__)
            told_less = body_of(500, "the server failed to do this; it was logged")
            job.end("failed", told_less, self._engine.now())
        finally:
            beating.cancel()
            self._stopped(job)
        await self._note(job, receipt if job.state == "done" else None)

    async def _end_with_key(self, job: Job, task: asyncio.Task[None]) -> None:
        """Whoever may no longer come in does not go on with what they began."""
        while await self._may_go_on(job.owner):
            await asyncio.sleep(REVOKED_SECONDS)
        job.end("failed", body_of(403, REVOKED, error="Denied"), self._engine.now())
        task.cancel()

    async def may_go_on(self, caller: Caller) -> bool:
        return await self._may_go_on(caller.name)

    async def _may_go_on(self, key: str) -> bool:
        try:
            return not key or await still_works(self._engine, key)
        except StandfastError:
            return True  # the store does not answer: the work will find out by itself

    def _stopped(self, job: Job) -> None:
        """It has ended; if nothing was said of how, it was made to."""
        job.end("failed", body_of(503, STOPPED, error="Unavailable"), self._engine.now())
        if job.state != "done":
            job.drop()

    async def _beat(self, job: Job) -> None:
        while True:
            await asyncio.sleep(ALIVE.total_seconds() / 3)
            await self._note(job)

    async def _note(self, job: Job, receipt: Receipt | None = None) -> None:
        entry = {name: as_json(getattr(job, name)) for name in NOTED}
        entry |= {"receipt": short(receipt), "file": job.file is not None}
        await self._book.write(job.id, entry, kept=KEPT)

    def _remembered(self, entries: dict[str, Entry]) -> dict[str, Job]:
        """What other servers, or this one before it was started again, have written down."""
        found = {id_: self._read(id_, entry) for id_, entry in entries.items()}
        return {id_: job for id_, job in found.items() if not self._is_old(job)}

    def _read(self, id_: str, entry: Entry) -> Job:
        noted = {name: entry[name] for name in NOTED if name in entry}
        noted["bound"] = tuple(noted.get("bound", ()))
        for name in ("begun_at", "ended_at"):
            noted[name] = datetime.fromisoformat(noted[name]) if noted[name] else None
        job = Job(id=id_, here=False, receipt=entry["receipt"], **noted)
        if job.state == "running" and not self._book.is_alive(entry):
            until = datetime.fromisoformat(entry["alive_until"])
            job.end("failed", body_of(503, STOPPED, error="Unavailable"), until)
        elif job.state == "done" and entry["file"]:
            job.state, job.problem = "failed", body_of(503, GONE, error="Unavailable")
        return job

    def _is_old(self, job: Job) -> bool:
        return job.ended_at is not None and self._engine.now() - job.ended_at > KEPT

    def stop_watching(self) -> None:
        """The server is about to end: whoever watches is let go."""
        self._closing = True
        for job in self._jobs.values():
            job.announce()

    async def close(self) -> None:
        self.stop_watching()
        stopped = [job for job in self._jobs.values() if not job.ended_at]
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for job in stopped:
            self._stopped(job)
            await self._note(job)
        for job in self._jobs.values():
            job.drop()

    async def _forget_old(self) -> None:
        over = [job for job in self._jobs.values() if job.ended_at]
        by_tenants: dict[tuple[str, ...], list[Job]] = {}
        for job in over:
            by_tenants.setdefault(job.tenants, []).append(job)
        old = {job.id: job for job in over if self._is_old(job)}
        for jobs in by_tenants.values():
            old |= {job.id: job for job in jobs[:-KEPT_MAX]}
            for job in [job for job in jobs if job.file is not None][:-FILES_MAX]:
                job.drop()
        for job in old.values():
            job.drop()
            self._jobs.pop(job.id, None)
            await self._book.drop(job.id)


def _as_data(shown: dict[str, Any]) -> bytes:
    return json_bytes(outward(shown))


def _may_see(caller: Caller, job: Job) -> bool:
    """What was begun in some scopes is not shown to who may see less of them, such as the same
    key on another device."""
    own = job.owner == caller.name
    inside = bool(job.bound) and all(map(caller.engine.may_change, job.bound))
    return (own and (inside or not caller.engine.bound)) or caller.is_master
